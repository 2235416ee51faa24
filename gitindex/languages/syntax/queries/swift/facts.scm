; Swift.

(class_declaration declaration_kind: ["class" "actor"]
  name: (type_identifier) @name body: (_) @body) @def.class
(class_declaration declaration_kind: "struct"
  name: (type_identifier) @name body: (_) @body) @def.struct
(class_declaration declaration_kind: "enum"
  name: (type_identifier) @name body: (_) @body) @def.enum
(class_declaration declaration_kind: "extension"
  name: (user_type . (type_identifier) @name)) @impl
(protocol_declaration name: (type_identifier) @name body: (_) @body) @def.protocol
(enum_entry name: (simple_identifier) @name) @def.enumerator
; One pattern, and bodies apart: each of a function's children costs 150 ms when the query is made.
(function_declaration name: [
  (simple_identifier)
  (custom_operator)
  "+" "-" "*" "/" "%" "==" "!=" "<" ">" "<=" ">=" "===" "!=="
] @name) @def.function
(function_body) @body
(protocol_function_declaration name: (simple_identifier) @name) @def.function
(init_declaration name: "init" @name) @def.constructor
(deinit_declaration "deinit" @name) @def.method
(subscript_declaration "subscript" @name (computed_property) @body) @def.method
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.variable
(protocol_property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)) @def.field
(typealias_declaration name: (type_identifier) @name) @def.type
(associatedtype_declaration name: (type_identifier) @name) @def.type
[(lambda_literal) (computed_property)] @local
[(comment) (multiline_comment)] @comment

(import_declaration) @import

(simple_identifier) @use.reference
(type_identifier) @use.type
(navigation_suffix suffix: (simple_identifier) @use.attribute)
(call_expression . [
  (simple_identifier) @use.call
  (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @use.call))
])
(inheritance_specifier inherits_from: (user_type (type_identifier) @use.inherit))
(attribute (user_type (type_identifier) @use.decorator))
