"""Scopes: which variable a name means at one place of a unit."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import NamedTuple


class Variable(NamedTuple):
    """A variable, and whether it lives inside a nested function only."""

    variable: int
    hidden: bool


class BlockScope:
    """Names of one block. What no scope declares belongs to the outermost one."""

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
        """The variable of this very scope with this name, made if it is new."""
        if name not in self.names:
            self.names[name] = next(self._counter)
        return Variable(self.names[name], self.hidden)

    def declare_all(self, names: Iterable[str]) -> None:
        """Declare in advance what is visible in the whole block."""
        for name in names:
            self.declare(name)

    def resolve(self, name: str) -> Variable:
        """The variable that a name means here."""
        scope = self
        while name not in scope.names:
            if scope.parent is None:
                return scope.declare(name)
            scope = scope.parent
        return Variable(scope.names[name], scope.hidden)

    def inner(self) -> BlockScope:
        """A block inside this one."""
        return BlockScope(self)

    def nested(self) -> BlockScope:
        """A function inside this one; it does not see the names of a class body around it."""
        outer = self
        while outer.of_class and outer.parent is not None:
            outer = outer.parent
        return BlockScope(outer, function=True, hidden=True)

    def class_body(self) -> BlockScope:
        """The body of a class inside this one."""
        return BlockScope(self, function=True, hidden=True, of_class=True)
