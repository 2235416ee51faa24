; PHP.

(namespace_definition name: (_) @name.text body: (_) @body) @def.namespace
(namespace_definition name: (_) @name.text !body) @def.package
(class_declaration name: (name) @name body: (_) @body) @def.class
(interface_declaration name: (name) @name body: (_) @body) @def.interface
(trait_declaration name: (name) @name body: (_) @body) @def.trait
(enum_declaration name: (name) @name body: (_) @body) @def.enum
(enum_case name: (name) @name) @def.enumerator
(function_definition name: (name) @name body: (_) @body) @def.function
(method_declaration name: (name) @name body: (_)? @body) @def.method
(const_declaration (const_element . (name) @name)) @def.constant
(property_declaration (property_element name: (variable_name (name) @name))) @def.field
(property_promotion_parameter name: (variable_name (name) @name)) @def.property
(expression_statement (assignment_expression left: (variable_name (name) @name))) @def.variable
(function_call_expression
  function: (name) @_define
  arguments: (arguments . (argument [(string) @name.marked (encapsed_string) @name.marked]))
  (#eq? @_define "define")) @def.constant
(function_call_expression
  function: (name) @_define
  arguments: (arguments . (_) . (argument [(string) @name.marked (encapsed_string) @name.marked]))
  (#eq? @_define "class_alias")) @def.class
(use_as_clause (name) @name .) @def.method
[(anonymous_function) (arrow_function)] @local
(object_creation_expression (anonymous_class)) @local
[(if_statement) (try_statement)] @guard
(comment) @comment

[
  (namespace_use_declaration)
  (require_expression)
  (require_once_expression)
  (include_expression)
  (include_once_expression)
] @import

(name) @use.reference
(named_type [(name) @use.type (qualified_name (name) @use.type)])
(member_access_expression name: (name) @use.attribute)
(class_constant_access_expression (_) (name) @use.attribute)
(scoped_property_access_expression name: (variable_name (name) @use.attribute))
(function_call_expression function: [(name) @use.call (qualified_name (name) @use.call)])
(member_call_expression name: (name) @use.call)
(nullsafe_member_call_expression name: (name) @use.call)
(scoped_call_expression name: (name) @use.call)
(object_creation_expression [(name) @use.call (qualified_name (name) @use.call)])
(base_clause [(name) @use.inherit (qualified_name (name) @use.inherit)])
(class_interface_clause [(name) @use.inherit (qualified_name (name) @use.inherit)])
(use_declaration [(name) @use.inherit (qualified_name (name) @use.inherit)])
(attribute [(name) @use.decorator (qualified_name (name) @use.decorator)])

; A member or a variable by a computed name.
(dynamic_variable_name) @flag.dynamic_attribute
(member_call_expression name: [(variable_name) (binary_expression) (encapsed_string)] @flag.dynamic_attribute)
(member_access_expression name: [(variable_name) (binary_expression)] @flag.dynamic_attribute)
(scoped_call_expression name: (variable_name) @flag.dynamic_attribute)
(object_creation_expression (variable_name) @flag.dynamic_attribute)
