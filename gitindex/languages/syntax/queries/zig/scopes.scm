; Receivers of Zig. The vocabulary is that of scopes/read.py.

(field_expression object: (_) @receiver member: (identifier) @of)
