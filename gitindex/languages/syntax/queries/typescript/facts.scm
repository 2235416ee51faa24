; TypeScript and TSX.

(class_declaration name: (type_identifier) @name body: (_) @body) @def.class
(abstract_class_declaration name: (type_identifier) @name body: (_) @body) @def.class
(interface_declaration name: (type_identifier) @name body: (_) @body) @def.interface
(enum_declaration name: (identifier) @name body: (_) @body) @def.enum
(enum_body [
  (property_identifier) @name @def.enumerator
  (enum_assignment name: (property_identifier) @name) @def.enumerator
  (enum_assignment name: (string) @name.marked) @def.enumerator
])
(type_alias_declaration name: (type_identifier) @name) @def.type
(module name: [(identifier) @name (nested_identifier) @name.path (string) @name.marked]
  body: (_) @body) @def.namespace
(internal_module name: [(identifier) @name (nested_identifier) @name.path]
  body: (_) @body) @def.namespace
(function_signature name: (identifier) @name) @def.function
(abstract_method_signature name: (property_identifier) @name) @def.method
(method_signature name: [
  (property_identifier) @name
  (private_property_identifier) @name
  (string) @name.marked
]) @def.method
(property_signature name: [(property_identifier) @name (string) @name.marked]) @def.field
(public_field_definition name: [
  (property_identifier) @name
  (private_property_identifier) @name
]) @def.field
(public_field_definition
  name: [(property_identifier) @name (private_property_identifier) @name]
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @def.method
(required_parameter (accessibility_modifier) pattern: (identifier) @name) @def.property
(optional_parameter (accessibility_modifier) pattern: (identifier) @name) @def.property
(construct_signature "new" @name) @def.method
(ambient_declaration) @outer
(export_statement "=" (identifier) @export.default)
[(type_annotation (object_type) @local) (type_arguments (object_type) @local)]
(function_type) @local

(type_identifier) @use.type
(nested_type_identifier name: (type_identifier) @use.type)
(extends_clause value: [
  (identifier) @use.inherit
  (member_expression property: (property_identifier) @use.inherit)
  (call_expression arguments: (arguments (identifier) @use.inherit))
])
(extends_type_clause type: [
  (type_identifier) @use.inherit
  (generic_type name: (type_identifier) @use.inherit)
  (nested_type_identifier name: (type_identifier) @use.inherit)
])
(implements_clause [
  (type_identifier) @use.inherit
  (generic_type name: (type_identifier) @use.inherit)
  (nested_type_identifier name: (type_identifier) @use.inherit)
])

; `(a[b] as any)()` and `a[b]!()`: a member that is called by a computed name.
(call_expression function: [
  (parenthesized_expression (as_expression (subscript_expression index: [(identifier) (member_expression)])))
  (non_null_expression (subscript_expression index: [(identifier) (member_expression)]))
] @flag.dynamic_attribute)
