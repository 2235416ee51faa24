; C, and what C++ has of it.

(function_definition) @def.function
(function_definition body: (_) @body)
(declaration) @def.variable
(declaration declarator: [
  (function_declarator declarator: (identifier))
  (pointer_declarator (function_declarator declarator: (identifier)))
  (pointer_declarator (pointer_declarator (function_declarator declarator: (identifier))))
]) @def.prototype
(function_declarator declarator: (identifier) @name)
(declaration declarator: (identifier) @name)
(init_declarator declarator: (identifier) @name)
(pointer_declarator declarator: (identifier) @name)
(array_declarator declarator: (identifier) @name)
(parenthesized_declarator (identifier) @name)

(type_definition) @def.type
(type_definition declarator: [(type_identifier) (primitive_type)] @name)
(pointer_declarator declarator: (type_identifier) @name)
(array_declarator declarator: (type_identifier) @name)
(function_declarator declarator: (type_identifier) @name)
(parenthesized_declarator (type_identifier) @name)

(struct_specifier name: (type_identifier)? @name body: (_) @body) @def.struct
(union_specifier name: (type_identifier)? @name body: (_) @body) @def.union
(enum_specifier name: (type_identifier)? @name body: (_) @body) @def.enum
(enumerator name: (identifier) @name) @def.enumerator
(field_declaration) @def.field
(field_declaration declarator: (field_identifier) @name)
(pointer_declarator declarator: (field_identifier) @name)
(array_declarator declarator: (field_identifier) @name)
; A call outside of functions is that of a macro: these declare what their one argument names, with a size.
(translation_unit (expression_statement (call_expression
  function: (identifier) @_declare
  arguments: [
    (argument_list . (identifier) @name .)
    (argument_list . (identifier) @name . (number_literal) .)
  ])
  (#match? @_declare "^_*(DEFINE|DECLARE)_|_HEAD$")) @def.variable)
(preproc_def name: (identifier) @name) @def.macro
(preproc_function_def name: (identifier) @name) @def.macro
[(parameter_list) (preproc_params)] @local
(comment) @comment

(preproc_include) @import

(identifier) @use.reference
(field_identifier) @use.attribute
(type_identifier) @use.type
(call_expression function: [
  (identifier) @use.call
  (field_expression field: (field_identifier) @use.call)
])
