; What only JavaScript has.

(formal_parameters (_) @bind.param)
(formal_parameters (assignment_pattern left: (_) @bind.param right: (_) @value))
(export_statement !source (export_clause (export_specifier name: (_) @value alias: "default" @export.name)))
