; Receivers of Julia. The vocabulary is that of scopes/read.py.

(field_expression value: (_) @receiver (identifier) @of .)
