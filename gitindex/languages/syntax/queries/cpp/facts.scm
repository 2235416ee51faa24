; What C++ adds to C.

(class_specifier name: [
  (type_identifier) @name
  (template_type name: (type_identifier) @name)
  (qualified_identifier scope: [(namespace_identifier) @receiver (template_type name: (_) @receiver)] name: (type_identifier) @name)
] body: (_) @body) @def.class
(struct_specifier name: [
  (template_type name: (type_identifier) @name)
  (qualified_identifier scope: [(namespace_identifier) @receiver (template_type name: (_) @receiver)] name: (type_identifier) @name)
] body: (_) @body)
(namespace_definition name: [
  (namespace_identifier) @name
  (nested_namespace_specifier) @name.path
] body: (_) @body) @def.namespace
(alias_declaration name: (type_identifier) @name) @def.type
(concept_definition name: (identifier) @name) @def.type
(template_declaration) @outer
(lambda_expression) @local
(access_specifier) @access

(field_declaration declarator: [
  (function_declarator)
  (pointer_declarator (function_declarator))
  (reference_declarator (function_declarator))
]) @def.prototype
(declaration declarator: [
  (function_declarator declarator: [(qualified_identifier) (operator_name) (destructor_name)])
  (reference_declarator (function_declarator))
  (operator_cast)
]) @def.prototype
(function_declarator declarator: [
  (field_identifier) @name
  (operator_name) @name.text
  (destructor_name) @name.text
  (template_function name: (identifier) @name)
])
(function_declarator declarator: (attributed_declarator [(identifier) @name (field_identifier) @name]))
(function_definition declarator: [
  (operator_cast) @name.text
  (qualified_identifier scope: [(namespace_identifier) @receiver (template_type name: (_) @receiver)] name: (operator_cast) @name.text)
])
(declaration declarator: (operator_cast) @name.text)
(declaration declarator: (qualified_identifier scope: [(namespace_identifier) @receiver (template_type name: (_) @receiver)] name: (identifier) @name))
(init_declarator declarator: (qualified_identifier scope: [(namespace_identifier) @receiver (template_type name: (_) @receiver)] name: (identifier) @name))
(pointer_declarator declarator: (qualified_identifier scope: [(namespace_identifier) @receiver (template_type name: (_) @receiver)] name: (identifier) @name))
(array_declarator declarator: (qualified_identifier scope: [(namespace_identifier) @receiver (template_type name: (_) @receiver)] name: (identifier) @name))
(function_declarator declarator: (qualified_identifier scope: [(namespace_identifier) @receiver (template_type name: (_) @receiver)] name: [
  (identifier) @name
  (operator_name) @name.text
  (destructor_name) @name.text
  (operator_cast) @name.text
  (template_function name: (identifier) @name)
  (qualified_identifier scope: [(namespace_identifier) @receiver (template_type name: (_) @receiver)] name: [
    (identifier) @name
    (operator_name) @name.text
    (destructor_name) @name.text
    (qualified_identifier scope: [(namespace_identifier) @receiver (template_type name: (_) @receiver)] name: [(identifier) @name (destructor_name) @name.text])
  ])
]))
(reference_declarator [(identifier) @name (field_identifier) @name (type_identifier) @name])

(using_declaration) @import

(namespace_identifier) @use.reference
(call_expression function: [
  (qualified_identifier name: [
    (identifier) @use.call
    (template_function name: (identifier) @use.call)
    (qualified_identifier name: (identifier) @use.call)
  ])
  (template_function name: (identifier) @use.call)
  (field_expression field: (template_method name: (field_identifier) @use.call))
])
(new_expression type: [
  (type_identifier) @use.call
  (template_type name: (type_identifier) @use.call)
  (qualified_identifier name: (type_identifier) @use.call)
])
(base_class_clause [
  (type_identifier) @use.inherit
  (template_type name: (type_identifier) @use.inherit)
  (qualified_identifier name: (type_identifier) @use.inherit)
  (qualified_identifier name: (template_type name: (type_identifier) @use.inherit))
])
