; Receivers of Elixir. The vocabulary is that of scopes/read.py.

(dot left: (_) @receiver right: (identifier) @of)
