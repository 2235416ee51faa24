; JSON.

(pair key: (string) @name.marked) @def.key
(pair value: [(object) (array)] @body)
(comment) @comment
