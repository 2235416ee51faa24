; Scopes of JavaScript and TypeScript. The vocabulary is that of scopes/read.py.

[
  (function_declaration)
  (generator_function_declaration)
  (function_expression)
  (generator_function)
  (arrow_function)
  (method_definition)
] @scope.function
[(class_declaration) (class)] @scope.class
[
  (statement_block)
  (for_statement)
  (for_in_statement)
  (switch_body)
  (catch_clause)
  (class_static_block)
] @scope.block

(function_declaration name: (_) @bind.function)
(generator_function_declaration name: (_) @bind.function)
(function_expression name: (_) @bind.own)
(class_declaration name: (_) @bind.class)
(class name: (_) @bind.own)

(arrow_function parameter: (identifier) @bind.param)
(catch_clause parameter: (_) @bind.param)

(lexical_declaration (variable_declarator name: (_) @bind.var))
(lexical_declaration (variable_declarator name: (_) @bind.var value: (_) @value))
(variable_declaration (variable_declarator name: (_) @bind.hoist))
(variable_declaration (variable_declarator name: (_) @bind.hoist value: (_) @value))
(for_in_statement kind: ["let" "const"] left: (_) @bind.var right: (_) @each)
(for_in_statement kind: "var" left: (_) @bind.hoist right: (_) @each)

(import_clause (identifier) @bind.import)
(namespace_import (identifier) @bind.import)
(import_specifier name: (identifier) @bind.import !alias)
(import_specifier alias: (identifier) @bind.import)

(assignment_expression left: (member_expression object: (_) @object property: (property_identifier) @field)
  right: (_) @value)

(variable_declarator name: (identifier) @object value: (object (pair key: (property_identifier) @field value: (_) @value)))

; What a name gets after its declaration.

; What the module offers under which name.
(export_statement "default" value: (_) @export.default)
(export_statement "default" declaration: (_ name: (_) @export.default))
(export_statement !source (export_clause (export_specifier name: (_) @value alias: (_) @export.name)))
(assignment_expression
  left: (member_expression object: (identifier) @_exports property: (property_identifier) @export.name)
  right: (_) @value
  (#eq? @_exports "exports"))
(assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    property: (property_identifier) @export.name)
  right: (_) @value
  (#eq? @_module "module") (#eq? @_exports "exports"))
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: (_) @export.whole
  (#eq? @_module "module") (#eq? @_exports "exports"))

; The exports as a value: what gets them may store anything under any name.
((arguments (identifier) @export.open) (#eq? @export.open "exports"))
((arguments (member_expression object: (identifier) @_module property: (property_identifier) @_exports) @export.open)
  (#eq? @_module "module") (#eq? @_exports "exports"))
((subscript_expression object: (identifier) @export.open) (#eq? @export.open "exports"))
((subscript_expression
  object: (member_expression object: (identifier) @_module property: (property_identifier) @_exports) @export.open)
  (#eq? @_module "module") (#eq? @_exports "exports"))

; Any name there may be a member of the object.
(with_statement body: (_) @with)

; Names in a destructuring pattern: each takes a member of a value.
(shorthand_property_identifier_pattern) @taken
(pair_pattern key: (property_identifier) @taken)
(variable_declarator
  name: (object_pattern [
    (shorthand_property_identifier_pattern) @taken
    (object_assignment_pattern left: (shorthand_property_identifier_pattern) @taken)
    (pair_pattern key: (property_identifier) @taken)
  ])
  value: (_) @holder)

[(shorthand_property_identifier) (shorthand_property_identifier_pattern)] @short

(class_declaration decorator: (decorator (_) @decorator) name: (_) @head)
(export_statement decorator: (decorator (_) @decorator) declaration: (class_declaration name: (_) @head))

(statement_identifier) @label

(comment) @comment
[(string) (template_string)] @string
(template_substitution) @code
(subscript_expression index: (_) @dynamic)
(call_expression function: [(identifier) @_access (member_expression property: (property_identifier) @_access)]
  arguments: (arguments (string) @dynamic)
  (#any-of? @_access "getOwnPropertyDescriptor" "defineProperty" "deleteProperty" "hasOwnProperty" "hasOwn"
    "spyOn" "get" "set" "has" "apply" "require" "replaceProperty" "stub" "mock"))
(call_expression function: (identifier) @_run arguments: (arguments (string) @evaluated)
  (#any-of? @_run "eval" "Function" "setTimeout" "setInterval"))
(new_expression constructor: (identifier) @_run arguments: (arguments (string) @evaluated) (#eq? @_run "Function"))
(call_expression function: (import) arguments: (arguments (_) @dynamic))
(binary_expression left: (string) @dynamic operator: "in")

(member_expression object: (_) @receiver property: (_) @of)
