"""The input of detectors: everything that was read from one blob."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from gitindex.languages.facts import Import, Postings, Use, unpack_places
from gitindex.languages.syntax.outline import Outline

if TYPE_CHECKING:
    from tree_sitter import Node

    from gitindex.languages.syntax.parser import Captures


class Reading(NamedTuple):
    """One blob's text, captures and facts."""

    data: bytes
    language: str
    captures: Captures
    outline: Outline
    imports: tuple[Import, ...]
    postings: Postings

    def offsets(self, name: str, *uses: int) -> Iterator[int]:
        """Return the byte offsets of a name; only those with the given uses, if any are given."""
        if name not in self.postings.counts:
            return
        for place in unpack_places(name, self.postings[name]):
            if not uses or place.use in uses:
                yield self.outline.starts[place.line] + place.column

    def has(self, name: str, *uses: int) -> bool:
        """Does a name occur in one of these uses?"""
        if name not in self.postings.counts:
            return False  # the common case: a generator would be slower
        return next(self.offsets(name, *uses), None) is not None

    def calls_bare(self, name: str) -> bool:
        """Is a name called, other than as a member?"""
        return any(self.data[at - 1 : at] != b"." for at in self.offsets(name, Use.CALL))

    def imported(self) -> set[str]:
        """Return the local names that imports bind."""
        return {local for item in self.imports for _, local in item.names}

    def node_at(self, offset: int) -> Node | None:
        """Return the leaf of the tree at a place."""
        return self.captures["root"][0].descendant_for_byte_range(offset, offset + 1)

    def arguments(self, offset: int) -> list[Node]:
        """Return the arguments of the call whose function's last name is at a place."""
        node = self.node_at(offset)
        for _ in range(MAX_STEPS):
            node = node.parent if node is not None else None
            if node is None:
                break
            given = node.child_by_field_name("arguments")
            if given is not None:
                parts = given.named_children
                return [part for part in parts if part.type not in ("comment", "block")]
        return []

    def is_decided_at(self, offset: int) -> bool:
        """Does a condition depend on what stands at a place?"""
        node = self.node_at(offset)
        while node is not None and node.parent is not None:
            outer = node.parent
            kind = outer.type
            if kind in CHOICES or outer.child_by_field_name("condition") == node:
                return True
            operator = (
                outer.child_by_field_name("operator") if kind == "binary_expression" else None
            )
            if operator is not None and operator.type in ("&&", "||"):
                return True
            if kind in ("block", "statement_block", "module", "program"):
                return False
            node = outer
        return False


MAX_STEPS = 4
"""From a function's last name to its call: a member access, a type argument, brackets."""
CHOICES = ("conditional_expression", "ternary_expression")


def is_literal(node: Node | None) -> bool:
    """Is it a string, or a symbol, without computed parts?"""
    if node is not None and node.type in ("argument", "value_argument") and node.named_children:
        node = node.named_children[-1]
    if node is None or node.type not in _LITERALS:
        return False
    return not any(part.type in _COMPUTED for part in node.named_children)


_LITERALS = frozenset(
    {
        "string",
        "template_string",
        "string_literal",
        "interpreted_string_literal",
        "raw_string_literal",
        "line_string_literal",
        "encapsed_string",
        "simple_symbol",
    }
)
_COMPUTED = ("interpolation", "template_substitution", "variable_name", "binary_expression")


Detector = Callable[[Reading], bool]
