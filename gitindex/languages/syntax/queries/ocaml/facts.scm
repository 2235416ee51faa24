; OCaml, implementations and interfaces.

(let_binding pattern: (value_name) @name) @def.variable
(let_binding pattern: (value_name) @name (parameter)) @def.function
(let_binding pattern: (value_name) @name body: [(fun_expression) (function_expression)]) @def.function
(let_binding body: (_) @body)
(external (value_name) @name) @def.function
(value_specification (value_name) @name) @def.prototype
(type_binding name: (type_constructor) @name) @def.type
(constructor_declaration (constructor_name) @name) @def.enumerator
(field_declaration (field_name) @name) @def.field
(exception_definition (constructor_declaration (constructor_name) @name)) @def.type
(module_binding (module_name) @name) @def.module
(module_binding body: (_) @body)
(module_type_definition (module_type_name) @name) @def.interface
(class_binding (class_name) @name) @def.class
(method_definition (method_name) @name) @def.method
(instance_variable_definition (instance_variable_name) @name) @def.field
(let_expression) @local
(comment) @comment

[(value_name) (module_name) (constructor_name) (field_name) (method_name)] @use.reference
(type_constructor) @use.type
(application_expression function: (value_path (value_name) @use.call))
