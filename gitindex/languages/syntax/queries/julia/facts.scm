; Julia.

(module_definition name: (identifier) @name . (_) @body) @def.module
(function_definition (signature [
  (call_expression . [(identifier) @name (field_expression (identifier) @name .)])
  (where_expression . (call_expression . [(identifier) @name (field_expression (identifier) @name .)]))
  (typed_expression . (call_expression . [(identifier) @name (field_expression (identifier) @name .)]))
]) . (_)? @body) @def.function
(macro_definition (signature (call_expression . (identifier) @name)) . (_)? @body) @def.macro
(assignment . (call_expression . (identifier) @name) (operator) @body) @def.function
(abstract_definition (type_head [
  (identifier) @name
  (binary_expression . (identifier) @name)
])) @def.type
(struct_definition (type_head [
  (identifier) @name
  (parametrized_type_expression . (identifier) @name)
  (binary_expression . [
    (identifier) @name
    (parametrized_type_expression . (identifier) @name)
  ])
]) . (_)? @body) @def.struct
(struct_definition (typed_expression . (identifier) @name) @def.field)
(const_statement (assignment . (identifier) @name) @def.constant)
(assignment . (identifier) @name) @def.variable
[(line_comment) (block_comment)] @comment

[(using_statement) (import_statement)] @import

(identifier) @use.reference
(call_expression . [(identifier) @use.call (field_expression (identifier) @use.call .)])
