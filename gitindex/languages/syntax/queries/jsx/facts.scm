; JSX: an element calls its component.

(jsx_opening_element name: [
  (identifier) @use.call
  (member_expression property: (property_identifier) @use.call)
])
(jsx_self_closing_element name: [
  (identifier) @use.call
  (member_expression property: (property_identifier) @use.call)
])
