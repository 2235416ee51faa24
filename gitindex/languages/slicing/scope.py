"""Scopes: which variable a name refers to at one place of a unit."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import NamedTuple


class Variable(NamedTuple):
    """A variable, and whether it exists only inside a nested function."""

    variable: int
    hidden: bool


class BlockScope:
    """The names of one block. Names that no scope declares belong to the outermost one."""

    __slots__ = ("_counter", "function", "hidden", "names", "of_class", "parent")

    def __init__(
        self,
        parent: BlockScope | None = None,
        *,
        function: bool = False,
        hidden: bool = False,
        of_class: bool = False,
    ) -> None:
        self.parent = parent
        self.names: dict[str, int] = {}
        self.of_class = of_class
        self.hidden: bool = hidden or (parent is not None and parent.hidden)
        self.function: BlockScope = self if function or parent is None else parent.function
        self._counter: count[int] = count() if parent is None else parent._counter

    def declare(self, name: str) -> Variable:
        """Return this scope's own variable with this name; create it if it is new."""
        if name not in self.names:
            self.names[name] = next(self._counter)
        return Variable(self.names[name], self.hidden)

    def declare_all(self, names: Iterable[str]) -> None:
        """Declare names that are visible in the whole block."""
        for name in names:
            self.declare(name)

    def resolve(self, name: str) -> Variable:
        """Return the variable that a name refers to here."""
        scope = self
        while name not in scope.names:
            if scope.parent is None:
                return scope.declare(name)
            scope = scope.parent
        return Variable(scope.names[name], scope.hidden)

    def inner(self) -> BlockScope:
        """Return the scope of a block inside this one."""
        return BlockScope(self)

    def nested(self) -> BlockScope:
        """Return the scope of a nested function, which does not see names of enclosing classes."""
        outer = self
        while outer.of_class and outer.parent is not None:
            outer = outer.parent
        return BlockScope(outer, function=True, hidden=True)

    def class_body(self) -> BlockScope:
        """Return the scope of a class body inside this one."""
        return BlockScope(self, function=True, hidden=True, of_class=True)
