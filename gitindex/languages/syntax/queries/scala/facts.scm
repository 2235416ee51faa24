; Scala 2 and 3.

(package_clause name: (_) @name.text) @def.package
(class_definition name: (identifier) @name body: (_)? @body) @def.class
(object_definition name: (identifier) @name body: (_)? @body) @def.object
(package_object name: (identifier) @name body: (_)? @body) @def.object
(trait_definition name: (identifier) @name body: (_)? @body) @def.trait
(enum_definition name: (identifier) @name body: (_) @body) @def.enum
(simple_enum_case name: (identifier) @name) @def.enumerator
(full_enum_case name: (identifier) @name) @def.enumerator
(function_definition name: (_) @name body: (_) @body) @def.function
(function_declaration name: (_) @name) @def.function
(val_definition pattern: [
  (identifier) @name
  (tuple_pattern (identifier) @name)
  (identifiers (identifier) @name)
]) @def.variable
(var_definition pattern: [
  (identifier) @name
  (tuple_pattern (identifier) @name)
  (identifiers (identifier) @name)
]) @def.variable
(val_declaration name: (identifier) @name) @def.variable
(var_declaration name: (identifier) @name) @def.variable
(type_definition name: (type_identifier) @name) @def.type
(given_definition name: (identifier) @name body: (_)? @body) @def.variable
(class_definition class_parameters: (class_parameters
  (class_parameter name: (identifier) @name) @def.field))
[(lambda_expression) (case_block)] @local
(instance_expression (template_body) @local)
[(comment) (block_comment)] @comment

(import_declaration) @import

(identifier) @use.reference
(type_identifier) @use.type
(field_expression field: (identifier) @use.attribute)
(call_expression function: [
  (identifier) @use.call
  (field_expression field: (identifier) @use.call)
  (generic_function function: [
    (identifier) @use.call
    (field_expression field: (identifier) @use.call)
  ])
])
(instance_expression [(type_identifier) @use.call (generic_type type: (type_identifier) @use.call)])
(extends_clause [
  (type_identifier) @use.inherit
  (generic_type type: (type_identifier) @use.inherit)
  (stable_type_identifier (type_identifier) @use.inherit)
])
(annotation name: (type_identifier) @use.decorator)
