; TOML.

(table . [
  (bare_key) @name
  (dotted_key) @name.path
  (quoted_key) @name.marked
] . (pair)? @body) @def.table
(table_array_element . [
  (bare_key) @name
  (dotted_key) @name.path
  (quoted_key) @name.marked
] . (pair)? @body) @def.table
(pair . [(bare_key) @name (dotted_key) @name.path (quoted_key) @name.marked]) @def.key
(comment) @comment
