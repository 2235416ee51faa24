; Receivers of Lua. The vocabulary is that of scopes/read.py.

(dot_index_expression table: (_) @receiver field: (identifier) @of)
(method_index_expression table: (_) @receiver method: (identifier) @of)
