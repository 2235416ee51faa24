"""How the kinds of definitions nest. Plain words, which the queries use too."""

FUNCTIONS = frozenset({"function", "method", "constructor", "macro", "accessor"})
"""Definitions inside these are local."""

TYPES = frozenset(
    {"class", "struct", "interface", "trait", "enum", "union", "object", "protocol", "type"}
)
"""A function inside these is a method, a variable a field."""

SPACES = frozenset({"module", "namespace", "package", "section", "table", "block", "key"})
"""These only group definitions."""

DATA_KINDS = frozenset({"key", "heading", "section", "anchor", "table", "selector"})
"""Definitions of data and documents: lists show them after code."""

SCOPES = FUNCTIONS | TYPES | SPACES
"""Kinds that can be the parent of a symbol and the enclosing symbol of an occurrence."""

VALUES = frozenset({"variable", "constant"})
"""Their value is not part of their interface."""

WEAK = {"variable": 1, "constant": 2, "field": 3, "property": 3, "type": 4, "class": 5}
"""General kinds, which yield to a more specific pattern on the same range."""

LOCALS = VALUES | {"field", "prototype", "object"}
"""Dropped inside a function."""
