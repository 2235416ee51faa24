; HTML: headings, and what can be linked to.

(attribute (attribute_name) @_id
  (quoted_attribute_value (attribute_value) @name) (#eq? @_id "id")) @def.anchor
(start_tag (tag_name) @_a (attribute (attribute_name) @_name
  (quoted_attribute_value (attribute_value) @name)) @def.anchor
  (#eq? @_a "a") (#eq? @_name "name"))
(element (start_tag (tag_name) @_heading) (text) @name.text
  (#any-of? @_heading "title" "h1" "h2" "h3" "h4" "h5" "h6")) @def.heading
(comment) @comment
