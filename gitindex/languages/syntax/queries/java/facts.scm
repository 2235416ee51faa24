; Java.

(package_declaration [(identifier) @name.text (scoped_identifier) @name.text]) @def.package
(class_declaration name: (identifier) @name body: (_) @body) @def.class
(record_declaration name: (identifier) @name body: (_) @body) @def.class
(interface_declaration name: (identifier) @name body: (_) @body) @def.interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @def.interface
(enum_declaration name: (identifier) @name body: (_) @body) @def.enum
(enum_constant name: (identifier) @name body: (_)? @body) @def.enumerator
(method_declaration name: (identifier) @name body: (_)? @body) @def.method
(constructor_declaration name: (identifier) @name body: (_) @body) @def.constructor
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @def.constructor
(annotation_type_element_declaration name: (identifier) @name) @def.method
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @def.field
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @def.constant
(record_declaration parameters: (formal_parameters
  (formal_parameter name: (identifier) @name) @def.field))
[(lambda_expression) (static_initializer)] @local
(object_creation_expression (class_body) @local)
(enum_constant body: (class_body) @local)
[(line_comment) (block_comment)] @comment

(import_declaration) @import

(identifier) @use.reference
(type_identifier) @use.type
(field_access field: (identifier) @use.attribute)
(method_invocation name: (identifier) @use.call)
(method_reference (identifier) @use.call .)
(object_creation_expression type: [
  (type_identifier) @use.call
  (generic_type (type_identifier) @use.call)
  (scoped_type_identifier (type_identifier) @use.call .)
])
(superclass [
  (type_identifier) @use.inherit
  (generic_type (type_identifier) @use.inherit)
  (scoped_type_identifier (type_identifier) @use.inherit .)
])
(type_list [
  (type_identifier) @use.inherit
  (generic_type (type_identifier) @use.inherit)
  (scoped_type_identifier (type_identifier) @use.inherit .)
])
(marker_annotation name: (_) @use.decorator)
(annotation name: (_) @use.decorator)
