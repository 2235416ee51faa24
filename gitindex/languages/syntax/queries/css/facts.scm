; CSS.

(class_selector (class_name (identifier) @name)) @def.selector
(id_selector (id_name) @name) @def.selector
(keyframes_statement (keyframes_name) @name) @def.keyframes
(declaration (property_name) @name (#match? @name "^--")) @def.variable
(comment) @comment

(import_statement) @import

((plain_value) @use.reference (#match? @use.reference "^--"))
