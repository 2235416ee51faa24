"""Classes: their bases, their members, and the arguments they give for type parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from gitindex.languages.scopes.bound import Part
from gitindex.languages.scopes.model import (
    CLASS,
    SCOPED,
    FileScopes,
)
from gitindex.query.names.meanings import (
    STRICT,
    ExpressionPlace,
    Value,
    ValueKind,
    is_type,
)
from gitindex.query.names.names import Names
from gitindex.query.names.source import Definition, FileNames

_ROOTS = ("object", "Protocol", "Generic")
"""Base classes whose members are never looked up."""


class Classes:
    """The class hierarchy of one tree; `named_type` resolves the name of a type."""

    def __init__(
        self, names: Names, named_type: Callable[[Sequence[Part] | None, ExpressionPlace], Value]
    ) -> None:
        self._names = names
        self._project = names.project
        self._named_type = named_type

    @cached_property
    def _bases(self) -> dict[tuple[str, int], tuple[list[Definition], bool]]:
        """A cache of the bases of each class, valid for the tree."""
        return self._project.tree.table("bases")

    @cached_property
    def _guessed(self) -> set[tuple[str, int]]:
        """Classes with a base that could not be resolved."""
        found: set[tuple[str, int]] = self._project.tree.notes.setdefault("guessed", set())
        return found

    def owner(self, source: FileNames, scope: int) -> Definition | None:
        """Return the class whose code contains a place."""
        symbol = source.symbol(scope)
        while symbol is not None:
            if is_type(symbol):
                return symbol
            if symbol.parent < 0 and "." in symbol.qualified:
                return self._receiver_type(source, symbol)
            symbol = source.symbol(symbol.parent)
        return None

    def inherited_type(self, source: FileNames, name: str, scope: int) -> Definition | None:
        """Return the class that a class around a place inherits: it hides those of the package."""
        symbol = source.symbol(scope)
        while symbol is not None:
            found = self.members(symbol, name, True)[0] if is_type(symbol) else []
            if any(map(is_type, found)):
                return next(filter(is_type, found))
            symbol = source.symbol(symbol.parent)
        return None

    def bases(self, definition: Definition) -> tuple[list[Definition], bool]:
        """Return the bases of a class, and whether some are not in this tree."""
        key = (definition.path, definition.ordinal)
        if key not in self._bases:
            self._bases[key] = ([], True)  # set while they are being resolved, for cycles
            self._bases[key] = self._read_bases(definition)
        return self._bases[key]

    def ancestors(self, definition: Definition) -> tuple[list[Definition], bool]:
        """Return a class with all its ancestors, and whether some base could not be resolved."""
        found, unknown = [definition], False
        for one in found:  # grows during the loop
            found += [base for base in self.bases(one)[0] if base not in found]
            unknown = unknown or (one.path, one.ordinal) in self._guessed
        return found, unknown

    def class_of(self, member: Definition) -> Definition | None:
        """Return the class that a member belongs to; None if it is not a member."""
        source = self._project.source(member.path)
        if source is None:
            return None
        outer = source.symbol(member.parent)
        if outer is not None and is_type(outer):
            return outer
        if member.parent < 0 and "." in member.qualified:
            return self._receiver_type(source, member)
        return None

    def is_innermost(self, definition: Definition | None, at: int) -> bool:
        """Return whether no other class, also without a name, lies between a class and a place."""
        scopes = self._project.scopes(definition.path) if definition else None
        if definition is None or scopes is None or scopes.partial:
            return False
        here = scopes.scope_at(at)
        while here > 0 and scopes.ranges[here].kind != CLASS:
            here = scopes.ranges[here].outer
        name = self._project.offset(definition.path, definition.line, definition.column)
        inner, outer = scopes.ranges[here], scopes.ranges[max(scopes.ranges[here].around, 0)]
        if outer.kind == CLASS and outer.end == inner.end:  # a declaration and its body
            inner = outer
        return inner.kind == CLASS and inner.start <= name < inner.end

    def is_receiver(self, source: FileNames, function: Definition, name: str) -> bool:
        """Return whether a name is the first parameter of a Python method (`self`, `cls`)."""
        owner = source.symbol(function.parent)
        if source.language != "python" or owner is None or not is_type(owner):
            return False
        scopes = self._project.scopes(source.path)
        if scopes is None or "staticmethod" in self._decorators(scopes, function):
            return False
        return [found for found, _ in self.parameters(scopes, function)[:1]] == [name]

    def parameters(self, scopes: FileScopes, function: Definition) -> list[tuple[str, bool]]:
        """Return the parameters of a function; is one given by position only?"""
        return scopes.parameters(scopes.scope_at(self._at(function)))

    def _at(self, definition: Definition) -> int:
        return self._project.offset(definition.path, definition.line, definition.column)

    def _decorators(self, scopes: FileScopes, definition: Definition) -> list[str]:
        return scopes.decorators.get(self._at(definition), [])

    def members(
        self, definition: Definition, name: str, above: bool
    ) -> tuple[list[Definition], bool]:
        """Return the members of a class or its bases, and whether a base is outside the tree."""
        is_open = False
        todo = [] if above else [definition]
        if above:
            todo, is_open = self.bases(definition)
            todo = list(todo)
        seen = set()
        while todo:
            at = todo.pop(0)
            if (at.path, at.ordinal) in seen:
                continue
            seen.add((at.path, at.ordinal))
            found = self._own(at, name)
            if found:
                return found, is_open
            more, opened = self.bases(at)
            is_open = is_open or opened
            todo = [*more, *todo]
        return [], is_open

    def beside(
        self, source: FileNames, definition: Definition, scope: int, depth: int
    ) -> ExpressionPlace:
        """Return the place of a definition, for evaluating its text there."""
        at = -1
        if source.language == "python":
            at = self._project.offset(source.path, definition.line, 0)
        elif source.language in SCOPED:
            at = self._project.offset(source.path, definition.line, definition.column)
        return ExpressionPlace(source, scope, at, depth)

    def _own(self, definition: Definition, name: str) -> list[Definition]:
        source = self._project.source(definition.path)
        if source is None:
            return []
        found = source.children(definition.ordinal, name)
        if found or source.language in STRICT:
            return found
        qualified = f"{definition.qualified}.{name}"
        near = [d for d in self._project.definitions(name) if d.qualified == qualified]
        return [d for d in near if d.path.rpartition("/")[0] == source.path.rpartition("/")[0]]

    def _receiver_type(self, source: FileNames, method: Definition) -> Definition | None:
        """Return the type of a method that is defined outside of the type: Go, Rust, C++."""
        name = method.qualified.rpartition(".")[0].rpartition(".")[2]
        meaning = self._names.lookup(source, name, -1)
        return next((d for d in meaning.definitions if is_type(d)), None)

    def _read_bases(self, definition: Definition) -> tuple[list[Definition], bool]:
        source = self._project.source(definition.path)
        if source is None:
            return [], True
        place = self.beside(source, definition, definition.parent, 1)
        found, is_open = [], False
        for chain in self._written_bases(source, definition):
            value = self._named_type(chain, place)
            if value.definition is not None and value.definition != definition:
                found.append(value.definition)
            elif not chain or chain[-1].name not in _ROOTS:
                is_open = True
                if value.kind is not ValueKind.OUTSIDE:
                    self._guessed.add((definition.path, definition.ordinal))
        return found, is_open

    def _written_bases(
        self, source: FileNames, definition: Definition
    ) -> Iterable[Sequence[Part] | None]:
        """Return the bases of a class as chains; None where they cannot be read."""
        if source.language not in SCOPED:
            return ()
        scopes = self._project.scopes(source.path)
        return scopes.bases.get(self._at(definition), ()) if scopes is not None else [None]
