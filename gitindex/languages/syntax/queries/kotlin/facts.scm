; Kotlin.

(package_header (qualified_identifier) @name.text) @def.package
(class_declaration "class" name: (identifier) @name) @def.class
(class_declaration "interface" name: (identifier) @name) @def.interface
(class_declaration (enum_class_body)) @def.enum
(object_declaration name: (identifier) @name) @def.object
(companion_object name: (identifier)? @name) @def.object
(class_declaration [(class_body) (enum_class_body)] @body)
(object_declaration (class_body) @body)
(companion_object (class_body) @body)
(enum_entry . (identifier) @name) @def.enumerator
(function_declaration name: (identifier) @name (function_body)? @body) @def.function
(secondary_constructor "constructor" @name (block)? @body) @def.constructor
(property_declaration (variable_declaration . (identifier) @name)) @def.variable
(property_declaration
  (multi_variable_declaration (variable_declaration . (identifier) @name))) @def.variable
(class_parameter ["val" "var"] . (identifier) @name) @def.field
(type_alias type: (identifier) @name) @def.type
[(lambda_literal) (anonymous_function) (anonymous_initializer) (object_literal)] @local
[(getter) (setter)] @local
[(line_comment) (block_comment)] @comment

(import) @import

(identifier) @use.reference
(user_type (identifier) @use.type)
(navigation_expression (_) (identifier) @use.attribute)
(call_expression . [
  (identifier) @use.call
  (navigation_expression (_) (identifier) @use.call)
])
(delegation_specifier [
  (user_type (identifier) @use.inherit)
  (constructor_invocation (user_type (identifier) @use.inherit))
  (explicit_delegation (user_type (identifier) @use.inherit))
])
(annotation [
  (user_type (identifier) @use.decorator)
  (constructor_invocation (user_type (identifier) @use.decorator))
])
