; Qualified names of Haskell. The vocabulary is that of scopes/read.py.

(qualified module: (_) @receiver id: (_) @of)
