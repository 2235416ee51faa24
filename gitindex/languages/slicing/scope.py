"""Scopes: which variable a name means at one place of a unit."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import NamedTuple


class Place(NamedTuple):
    """A variable, and whether it lives inside a nested function only."""

    variable: int
    hidden: bool


class Scope:
    """Names of one block. What no scope declares belongs to the outermost one."""

    __slots__ = ("_counter", "function", "hidden", "names", "of_class", "parent")

    def __init__(
        self,
        parent: Scope | None = None,
        *,
        function: bool = False,
        hidden: bool = False,
        of_class: bool = False,
    ) -> None:
        self.parent = parent
        self.names: dict[str, int] = {}
        self.of_class = of_class
        self.hidden: bool = hidden or (parent is not None and parent.hidden)
        self.function: Scope = self if function or parent is None else parent.function
        self._counter: count[int] = count() if parent is None else parent._counter

    def declare(self, name: str) -> Place:
        """The variable of this very scope with this name, made if it is new."""
        if name not in self.names:
            self.names[name] = next(self._counter)
        return Place(self.names[name], self.hidden)

    def declare_all(self, names: Iterable[str]) -> None:
        """Declare in advance what is visible in the whole block."""
        for name in names:
            self.declare(name)

    def resolve(self, name: str) -> Place:
        """The variable that a name means here."""
        scope = self
        while name not in scope.names:
            if scope.parent is None:
                return scope.declare(name)
            scope = scope.parent
        return Place(scope.names[name], scope.hidden)

    def inner(self) -> Scope:
        """A block inside this one."""
        return Scope(self)

    def nested(self) -> Scope:
        """A function inside this one; it does not see the names of a class body around it."""
        outer = self
        while outer.of_class and outer.parent is not None:
            outer = outer.parent
        return Scope(outer, function=True, hidden=True)

    def class_body(self) -> Scope:
        """The body of a class inside this one."""
        return Scope(self, function=True, hidden=True, of_class=True)
