"""What the kinds of definitions mean to nesting. Words only; the queries use the same ones."""

FUNCTIONS = frozenset({"function", "method", "constructor", "macro", "accessor"})
"""What they contain is local."""

TYPES = frozenset(
    {"class", "struct", "interface", "trait", "enum", "union", "object", "protocol", "type"}
)
"""A function in them is a method, a variable a field."""

SPACES = frozenset({"module", "namespace", "package", "section", "table", "block", "key"})
"""They only group."""

SCOPES = FUNCTIONS | TYPES | SPACES
"""What can be the parent of a symbol and the enclosing symbol of an occurrence."""

VALUES = frozenset({"variable", "constant"})
"""Their value is no part of their interface."""

WEAK = {"variable": 1, "constant": 2, "field": 3, "property": 3, "type": 4, "class": 5}
"""General kinds, which give way when a more telling pattern names the same range."""

LOCALS = VALUES | {"field", "prototype", "object"}
"""Dropped inside a function."""
