; Receivers and bases of Ruby. The vocabulary is that of scopes/read.py.

(call receiver: (_) @receiver method: (_) @of)
(scope_resolution scope: (_) @receiver name: (constant) @of)
(class name: (constant) @head superclass: (superclass (_) @base))
