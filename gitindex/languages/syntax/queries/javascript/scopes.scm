; What only JavaScript has.

(formal_parameters (_) @bind.param)
(formal_parameters (assignment_pattern left: (_) @bind.param right: (_) @value))
(export_statement !source (export_clause (export_specifier name: (_) @value alias: "default" @export.name)))
(class_declaration name: (_) @head (class_heritage (_) @base))
(variable_declarator name: (identifier) @head value: (class (class_heritage (_) @base)))
(formal_parameters (assignment_pattern)) @defaults
(method_definition (decorator (_) @decorator) name: (_) @head)
(field_definition property: (_) @field value: (_) @value)
