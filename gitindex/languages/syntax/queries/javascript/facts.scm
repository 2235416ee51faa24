; JavaScript.

(class_declaration name: (identifier) @name body: (_) @body) @def.class
(field_definition property: [
  (property_identifier) @name
  (private_property_identifier) @name
]) @def.field
(field_definition
  property: [(property_identifier) @name (private_property_identifier) @name]
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @def.method
(class_heritage [
  (identifier) @use.inherit
  (member_expression property: (property_identifier) @use.inherit)
  (call_expression arguments: (arguments (identifier) @use.inherit))
])
