; C#.

(namespace_declaration name: (_) @name.path body: (_) @body) @def.namespace
(file_scoped_namespace_declaration name: (_) @name.path) @def.package
(class_declaration name: (identifier) @name body: (_)? @body) @def.class
(record_declaration name: (identifier) @name body: (_)? @body) @def.class
(struct_declaration name: (identifier) @name body: (_)? @body) @def.struct
(interface_declaration name: (identifier) @name body: (_)? @body) @def.interface
(enum_declaration name: (identifier) @name body: (_) @body) @def.enum
(enum_member_declaration name: (identifier) @name) @def.enumerator
(delegate_declaration name: (identifier) @name) @def.type
(method_declaration name: (identifier) @name body: (_)? @body) @def.method
(local_function_statement name: (identifier) @name body: (_)? @body) @def.function
(constructor_declaration name: (identifier) @name body: (_)? @body) @def.constructor
(destructor_declaration name: (identifier) @name body: (_)? @body) @def.method
(conversion_operator_declaration type: (_) @name body: (_)? @body) @def.method
(operator_declaration operator: _ @name body: (_)? @body) @def.method
(property_declaration name: (identifier) @name accessors: (_) @body) @def.accessor
(property_declaration name: (identifier) @name value: (_) @body) @def.accessor
(event_declaration name: (identifier) @name) @def.accessor
(indexer_declaration "this" @name) @def.accessor
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @def.field
(event_field_declaration
  (variable_declaration (variable_declarator name: (identifier) @name))) @def.field
(record_declaration (parameter_list (parameter name: (identifier) @name) @def.field))
[(lambda_expression) (anonymous_method_expression)] @local
(comment) @comment

(using_directive) @import

(identifier) @use.reference
(member_access_expression name: (identifier) @use.attribute)
(invocation_expression function: [
  (identifier) @use.call
  (generic_name (identifier) @use.call)
  (member_access_expression name: [(identifier) @use.call (generic_name (identifier) @use.call)])
  (conditional_access_expression (member_binding_expression name: (identifier) @use.call))
])
(object_creation_expression type: [
  (identifier) @use.call
  (generic_name (identifier) @use.call)
  (qualified_name name: (identifier) @use.call)
])
(_ type: [(identifier) @use.type (nullable_type (identifier) @use.type)])
(method_declaration returns: (identifier) @use.type)
(generic_name (identifier) @use.type)
(type_argument_list (identifier) @use.type)
(array_type type: (identifier) @use.type)
(base_list [
  (identifier) @use.inherit
  (generic_name (identifier) @use.inherit)
  (qualified_name name: (identifier) @use.inherit)
  (primary_constructor_base_type (identifier) @use.inherit)
])
(attribute name: [(identifier) @use.decorator (qualified_name name: (identifier) @use.decorator)])
