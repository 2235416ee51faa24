; Go.

(package_clause (package_identifier) @name) @def.package
(function_declaration name: (identifier) @name body: (block)? @body) @def.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @receiver
    (pointer_type (type_identifier) @receiver)
    (generic_type type: (type_identifier) @receiver)
    (pointer_type (generic_type type: (type_identifier) @receiver))
  ]))
  name: (field_identifier) @name
  body: (block)? @body) @def.method
(type_spec name: (type_identifier) @name) @def.type
(type_alias name: (type_identifier) @name) @def.type
(type_spec type: (struct_type (field_declaration_list) @body)) @def.struct
(type_spec type: (interface_type "{" @body)) @def.interface
(field_declaration name: (field_identifier) @name) @def.field
(method_elem name: (field_identifier) @name) @def.method
(const_spec name: (identifier) @name) @def.constant
(var_spec name: (identifier) @name) @def.variable
(func_literal) @local
(comment) @comment

(import_spec) @import

(identifier) @use.reference
(field_identifier) @use.attribute
(type_identifier) @use.type
(package_identifier) @use.reference
(call_expression function: [
  (identifier) @use.call
  (selector_expression field: (field_identifier) @use.call)
  (type_instantiation_expression type: (_) @use.call)
])
(field_declaration !name type: [
  (type_identifier) @use.inherit
  (qualified_type name: (type_identifier) @use.inherit)
])
(interface_type (type_elem [
  (type_identifier) @use.inherit
  (qualified_type name: (type_identifier) @use.inherit)
]))
