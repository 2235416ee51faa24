; Lua.

(function_declaration name: [
  (identifier) @name
  (dot_index_expression) @name.path
  (method_index_expression) @name.path
] body: (_)? @body) @def.function
(assignment_statement
  (variable_list . name: [(identifier) @name (dot_index_expression) @name.path] .)
  (expression_list . value: (function_definition body: (_)? @body))) @def.function
(assignment_statement (variable_list name: (identifier) @name)) @def.variable
(assignment_statement (variable_list name: (dot_index_expression) @name.path)) @def.variable
(variable_declaration (variable_list name: (identifier) @name)) @def.variable
(field
  name: [(identifier) @name (string content: (_) @name)]
  value: (function_definition body: (_)? @body)) @def.function
(function_definition) @local
(variable_declaration) @outer
(if_statement) @guard
(comment) @comment

(function_call
  name: (identifier) @_load
  arguments: (arguments . (string))
  (#any-of? @_load "require" "dofile" "loadfile")) @import.call

(identifier) @use.reference
(dot_index_expression field: (identifier) @use.attribute)
(function_call name: [
  (identifier) @use.call
  (dot_index_expression field: (identifier) @use.call)
  (method_index_expression method: (identifier) @use.call)
])
