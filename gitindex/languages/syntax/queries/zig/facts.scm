; Zig.

(function_declaration name: (identifier) @name body: (_)? @body) @def.function
(variable_declaration . (identifier) @name) @def.variable
(variable_declaration . (identifier) @name (struct_declaration "{" @body)) @def.struct
(variable_declaration . (identifier) @name (enum_declaration "{" @body)) @def.enum
(variable_declaration . (identifier) @name (union_declaration "{" @body)) @def.union
(container_field name: (identifier) @name) @def.field
(test_declaration) @local
(comment) @comment

(builtin_function (builtin_identifier) @_load (arguments (string))
  (#any-of? @_load "@import" "@cImport")) @import.call

(identifier) @use.reference
(field_expression member: (identifier) @use.attribute)
(call_expression function: [
  (identifier) @use.call
  (field_expression member: (identifier) @use.call)
])
