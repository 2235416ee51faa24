"""Which variable of a unit a name refers to, by the scopes of its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitindex.languages.scopes.model import CLASS, FUNCTION, FileScopes

if TYPE_CHECKING:
    from tree_sitter import Node


class UnitVariables:
    """The variables of one unit."""

    def __init__(self, scopes: FileScopes | None, unit: Node, body: Node | None) -> None:
        self._scopes = scopes  # None: too deeply nested; then a name is one variable everywhere
        self._inside = (unit.start_byte, unit.end_byte)
        own = (unit, body) if body is not None else (unit,)
        self._own = {(node.start_byte, node.end_byte) for node in own}
        self._undeclared: dict[str, int] = {}

    def at(self, name: str, offset: int) -> int | None:
        """Return the variable used at an offset; None if it is one of a nested function or class.

        It is the offset of its first declaration; negative if the file does not declare it.
        """
        found = self._scopes and self._scopes.resolve(name, offset)
        if not found:
            return self._undeclared.setdefault(name, -1 - len(self._undeclared))
        return None if self._is_nested(found.scope) else found.declarations[0].offset

    def _is_nested(self, scope: int) -> bool:
        assert self._scopes is not None
        here = self._scopes.ranges[scope]
        while scope > 0 and self._inside[0] <= here.start and here.end <= self._inside[1]:
            if here.kind in (FUNCTION, CLASS) and (here.start, here.end) not in self._own:
                return True
            scope = here.around
            here = self._scopes.ranges[scope]
        return False
