; Haskell.

(header module: (module) @name.text) @def.package
(function name: (variable) @name) @def.function
(bind name: (variable) @name) @def.function
(class_declarations (signature name: (variable) @name) @def.method)
(data_type name: (name) @name) @def.type
(newtype name: (name) @name) @def.type
(type_synonym name: (name) @name) @def.type
(class name: (name) @name declarations: (_) @body) @def.class
(instance name: (name) @name) @impl
(data_constructor constructor: [
  (prefix name: (constructor) @name)
  (record name: (constructor) @name)
]) @def.enumerator
(newtype_constructor name: (constructor) @name) @def.enumerator
(field name: (field_name (variable) @name)) @def.field
[(comment) (haddock)] @comment

(variable) @use.reference
(constructor) @use.reference
(name) @use.type
(apply function: (variable) @use.call)
