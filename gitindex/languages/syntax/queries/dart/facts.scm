; Dart. Its grammar puts a body beside its signature, so a definition spans the signature.

(class_definition name: (identifier) @name body: (_) @body) @def.class
(mixin_declaration (identifier) @name (class_body) @body) @def.trait
(extension_declaration name: (identifier) @name body: (_) @body) @def.class
(enum_declaration name: (identifier) @name body: (_) @body) @def.enum
(enum_constant name: (identifier) @name) @def.enumerator
(type_alias (type_identifier) @name) @def.type
(function_signature name: (identifier) @name) @def.function
(getter_signature name: (identifier) @name) @def.function
(setter_signature name: (identifier) @name) @def.function
(constructor_signature name: (identifier) @name . parameters: (_)) @def.constructor
(factory_constructor_signature (identifier) @name . (formal_parameter_list)) @def.constructor
(initialized_identifier . (identifier) @name) @def.variable
(static_final_declaration . (identifier) @name) @def.constant
(function_body) @local
[(comment) (documentation_comment)] @comment

(import_or_export) @import

(identifier) @use.reference
(type_identifier) @use.type
(superclass (type_identifier) @use.inherit)
(mixins (type_identifier) @use.inherit)
(interfaces (type_identifier) @use.inherit)
(annotation name: (identifier) @use.decorator)
