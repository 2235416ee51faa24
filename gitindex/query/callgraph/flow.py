"""Resolve the functions a call runs through variables, parameters, results and elements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitindex.languages.facts import Occurrence, Use
from gitindex.languages.scopes.model import MODULE, WHOLE, Declaration, FileFlow, Span
from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES
from gitindex.query.names.expressions import Expression, closing, read_expression, split_top
from gitindex.query.names.finder import Finder
from gitindex.query.names.model import (
    ECMA,
    Definition,
    ExpressionPlace,
    FileNames,
    Meaning,
    State,
    Value,
    ValueKind,
)

MAX_STEPS = 10
"""Maximum steps from one expression to the next."""
MAX_SITES = 60
"""Calls of one function whose arguments are read."""
_CONSTRUCTORS = ("__init__", "__new__", "constructor")
_WRAPPERS = frozenset({"partial", "functools.partial", "staticmethod", "classmethod"})
"""Calls whose value runs their first argument."""
_CALLBACKS = {"map": 0, "filter": 0, "reduce": 0} | dict.fromkeys(
    ("sorted", "min", "max", "sort"), -1
)
"""Built-in functions of Python that call an argument: its position, or -1 for `key=`."""
_VIEWS = frozenset(
    {"values", "items", "copy", "list", "tuple", "set", "reversed", "sorted", "iter"}
)
"""Calls that give the elements of their container again."""


class ValueFlow:
    """Follows functions and classes through the values of one tree. Does not guess."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder
        self._project = finder.project
        self._names = finder.binder.names
        self._types = finder.binder.types
        self._busy: set[tuple[str, int, str]] = set()

    def called(self, source: FileNames, place: Occurrence, meaning: Meaning) -> list[Definition]:
        """Return the functions and classes that the call at a place runs."""
        at = self._project.offset(source.path, place.line, place.column)
        here = ExpressionPlace(source, place.enclosing, at)
        chain = self._finder.binder.receiver(source, at)
        if meaning.definitions:
            found = self._all_runs(meaning, here)
        elif chain is None:
            found = self._named(place.name, here)
        else:
            found = self._attribute(self._types.chain(chain, here), place.name, here)
        if not found and chain is None and meaning.state is not State.OUTSIDE:
            found = self._of_instance(place.name, here)
        if not found and source.language == "python" and place.name in _CALLBACKS:
            end = place.column + len(place.name.encode())
            index = _CALLBACKS[place.name]
            given = self._argument(source.path, place.line, end, index, "key" if index < 0 else "")
            found = self.values(given, here)
        return self._complete(found, here)

    def others(
        self, source: FileNames, definition: Definition | None
    ) -> Iterator[tuple[int, Definition]]:
        """Yield calls inside a definition that are not made by a name: line and callee."""
        flow = self._project.flow(source.path)
        if flow is None:
            return
        calls = [(span, self._inside(source, definition, span)) for span in flow.calls]
        for span, place in calls:
            for found in (
                self._complete(self.values(flow.text(span), place), place) if place else ()
            ):
                yield self._line(source, span[0]), found
        for span, place in self._decorations(source, flow, definition):
            for found in self.values(flow.text(span), place):
                yield self._line(source, span[0]), found
        for methods, span in flow.implicit:
            place = self._inside(source, definition, span)
            for found in self._implicit(methods, flow.text(span), place) if place else ():
                yield self._line(source, span[0]), found

    def _decorations(
        self, source: FileNames, flow: FileFlow, definition: Definition | None
    ) -> Iterator[tuple[Span, ExpressionPlace]]:
        """Yield the decorators with arguments in a definition's own code: their result is called."""
        for at, spans in flow.decorators.items():
            decorated = next((s for s in source.symbols if self._offset(s) == at), None)
            if decorated is not None and source.symbol(decorated.parent) == definition:
                place = ExpressionPlace(source, decorated.parent, at)
                yield from ((span, place) for span in spans if flow.text(span)[-1:] == ")")

    def _implicit(
        self, methods: Iterable[str], text: str, place: ExpressionPlace
    ) -> Iterator[Definition]:
        """Yield the methods that syntax calls on the value of an expression."""
        value = self._types.expression(text, place)
        if value.kind is ValueKind.OBJECT and value.definition:
            for method in methods:
                yield from self._types.member(value, method).definitions

    def values(self, text: str, place: ExpressionPlace) -> list[Definition]:
        """Return the functions and classes that an expression may evaluate to."""
        if place.depth > MAX_STEPS:
            return []
        found: list[Definition] = []
        for one in read_expression(text):
            found += self._value(one, place.deeper())
        return list(dict.fromkeys(found))

    def _value(self, one: Expression, place: ExpressionPlace) -> list[Definition]:
        match one.kind:
            case "name":
                return self._named(one.name, place)
            case "member":
                value = self._types.expression(one.base, place)
                found = self._attribute(value, one.name, place)
                return found or self._elements(one.base, repr(one.name), place)
            case "call":
                return self._of_call(one, place)
            case "item" if one.base == "globals()":
                return self._named(one.inner.strip("\"'"), place)
            case "item":
                return self._elements(one.base, one.inner, place)
        return []

    def _of_call(self, one: Expression, place: ExpressionPlace) -> list[Definition]:
        """Return the functions and classes that the result of a call may be."""
        given = [part.strip() for part in split_top(one.inner, ",")]
        if one.base in _WRAPPERS:
            return self.values(given[0], place)
        if one.base == "getattr" and len(given) > 1 and given[1][:1] in "\"'":
            owner = self._types.expression(given[0], place)
            return self._attribute(owner, given[1].strip("\"'"), place)
        found = [r for f in self.values(one.base, place) for r in self.results(f, place)]
        if not found and one.base.endswith(".get"):
            return self._elements(one.base.removesuffix(".get"), given[0], place)
        return found

    def results(self, function: Definition, place: ExpressionPlace) -> list[Definition]:
        """Return the functions and classes that a function may return."""
        returned = self._returned(function, place)
        found = [f for text, inner in returned for f in self.values(text, inner)]
        return list(dict.fromkeys(found))

    def _returned(
        self, function: Definition, place: ExpressionPlace
    ) -> Iterator[tuple[str, ExpressionPlace]]:
        """Yield the expressions that a function returns."""
        source = self._project.source(function.path)
        flow = self._project.flow(function.path)
        if function.kind not in FUNCTIONS or source is None or flow is None:
            return
        for span in flow.returns:
            around = self._names.function_at(source, span[0])
            if around is not None and around.ordinal == function.ordinal:
                inner = ExpressionPlace(source, function.ordinal, span[0], place.depth + 1)
                yield flow.text(span), inner

    def _named(self, name: str, place: ExpressionPlace) -> list[Definition]:
        """Return what a bare name may be: every value that its scope gives it."""
        source = place.source
        scopes = self._project.scopes(source.path)
        resolved = scopes.resolve(name, place.at) if scopes is not None else None
        if scopes is None or resolved is None or resolved.kind == MODULE:
            meaning = self._names.lookup(source, name, place.scope, place.at)
            if meaning.definitions or scopes is None or resolved is None:
                return self._all_runs(meaning, place)
        return self._declared(source, name, resolved.declarations, place)

    def _declared(
        self,
        source: FileNames,
        name: str,
        declarations: Iterable[Declaration],
        place: ExpressionPlace,
    ) -> list[Definition]:
        found: list[Definition] = []
        for one in declarations:
            key = (source.path, one.offset, name)
            if key in self._busy:
                continue
            self._busy.add(key)
            try:
                found += self._of_declaration(source, name, one, place)
            finally:
                self._busy.discard(key)
        return list(dict.fromkeys(found))

    def _of_declaration(
        self,
        source: FileNames,
        name: str,
        one: Declaration,
        place: ExpressionPlace,
    ) -> list[Definition]:
        same = (s for s in source.named(name) if s.kind in FUNCTIONS | TYPES)
        if strong := [s for s in same if self._offset(s) == one.offset]:
            return strong
        if one.kind == "import":
            return self._all_runs(self._names.imported_at(source, name, one.offset), place)
        found = self._decorated_by(source, name, one) if one.kind == "param" else []
        for text, pick, inner in self._bindings(source, name, one, place):
            if pick == WHOLE:
                found += self.values(text, inner)
            else:
                found += self._elements(text, str(pick) if pick >= 0 else "", inner)
        return found

    def _bindings(
        self,
        source: FileNames,
        name: str,
        one: Declaration,
        place: ExpressionPlace,
    ) -> Iterator[tuple[str, int, ExpressionPlace]]:
        """Yield the expressions that give a declaration its value, and what of each it takes."""
        if one.kind == "param":
            for text, where in self._arguments(source, name, one, place):
                yield text, WHOLE, where
        bound = one.bound
        if bound.value:
            around = self._names.function_at(source, one.offset)
            scope = around.ordinal if around else -1
            yield (
                bound.value,
                bound.pick,
                ExpressionPlace(source, scope, one.value[0], place.depth + 1),
            )

    def _all_runs(self, meaning: Meaning, place: ExpressionPlace) -> list[Definition]:
        return [f for d in meaning.definitions for f in self._runs(d, place)]

    def _runs(self, definition: Definition, place: ExpressionPlace) -> list[Definition]:
        """Return a function or class itself, or the values of a variable or field."""
        if definition.kind in FUNCTIONS | TYPES:
            return [definition]
        source = self._project.source(definition.path)
        scopes = self._project.scopes(definition.path)
        if source is None or scopes is None or place.depth > MAX_STEPS:
            return []
        owner = source.symbol(definition.parent)
        if owner is not None and owner.kind in TYPES:
            value = Value(ValueKind.OBJECT, owner)
            return self._attribute(value, definition.name, place)
        here = self._offset(definition)
        same = [d for d in scopes.declared(definition.name) if d.offset == here]
        same += [d for d in scopes.declared(definition.name) if d.scope == 0 and d not in same]
        return self._declared(source, definition.name, same, place.deeper())

    def _attribute(self, value: Value, name: str, place: ExpressionPlace) -> list[Definition]:
        """Return the functions and classes that an attribute of a value may be."""
        meaning = self._types.member(value, name)
        found = [d for d in meaning.definitions if d.kind in FUNCTIONS | TYPES]
        if found or place.depth > MAX_STEPS:
            return found
        if value.module is not None:
            return self._all_runs(meaning, place.deeper())
        owners = [value.definition] if value.definition else []
        for owner in owners:  # grows during the loop
            for bound, where in self._types.assignments(owner, name):
                if bound.value:
                    found += self._assigned(bound.value, where, (owner.path, where.at, name), place)
            owners += [b for b in self._types.classes.bases(owner)[0] if b not in owners]
        return list(dict.fromkeys(found))

    def _assigned(
        self, text: str, where: ExpressionPlace, key: tuple[str, int, str], place: ExpressionPlace
    ) -> list[Definition]:
        """Return what an attribute is given; nothing where that is being followed already."""
        if key in self._busy:
            return []
        self._busy.add(key)
        scope = self._names.function_at(where.source, where.at)
        inner = where._replace(scope=scope.ordinal if scope else -1, depth=place.depth + 1)
        found = self.values(text, inner)
        self._busy.discard(key)
        return found

    def _elements(self, base: str, key: str, place: ExpressionPlace) -> list[Definition]:
        """Return the functions and classes in a literal list or dict, under a key if given."""
        found: list[Definition] = []
        for text, where in self._containers(base, place.deeper()):
            items = _under(text, key, place.source.language)
            found += [f for item in items for f in self.values(item, where.deeper())]
        flow = self._project.flow(place.source.path)
        for item in flow.items if flow and base.isidentifier() else ():
            if item.container == base and _same_key(item.key, key):
                scope = self._names.function_at(place.source, item.at)
                inner = place._replace(scope=scope.ordinal if scope else -1, at=item.value[0])
                found += self.values(flow.text(item.value), inner.deeper()) if flow else []
        return list(dict.fromkeys(found))

    def _containers(self, text: str, place: ExpressionPlace) -> list[tuple[str, ExpressionPlace]]:
        """Return the literal lists, tuples and dicts that an expression may evaluate to."""
        text = text.strip()
        if not text or place.depth > MAX_STEPS:
            return []
        several = len(list(split_top(text, ","))) > 1
        if several or (text[0] in "[{(" and closing(text, 0) == len(text) - 1):
            return [(f"({text})" if several else text, place)]
        return [
            c for one in read_expression(text) for c in self._containers_of(one, place.deeper())
        ]

    def _containers_of(
        self, one: Expression, place: ExpressionPlace
    ) -> Iterable[tuple[str, ExpressionPlace]]:
        match one.kind:
            case "name":
                return self._named_containers(one.name, place)
            case "call":
                return self._containers_of_call(one, place)
            case "item" if ":" in one.inner:
                return self._containers(one.base, place)
            case "item":
                return [
                    found
                    for literal, where in self._containers(one.base, place)
                    for item in _under(literal, one.inner, place.source.language)
                    for found in self._containers(item, where.deeper())
                ]
        return ()

    def _containers_of_call(
        self, one: Expression, place: ExpressionPlace
    ) -> list[tuple[str, ExpressionPlace]]:
        base, _, method = one.base.rpartition(".")
        if method in _VIEWS:
            return self._containers(base or next(split_top(one.inner, ",")), place)
        found = []
        for function in self.values(one.base, place):
            for text, where in self._returned(function, place):
                found += self._containers(text, where)
        return found

    def _named_containers(
        self, name: str, place: ExpressionPlace
    ) -> list[tuple[str, ExpressionPlace]]:
        source, found = place.source, list[tuple[str, ExpressionPlace]]()
        scopes = self._project.scopes(source.path)
        resolved = scopes.resolve(name, place.at) if scopes else None
        for one in resolved.declarations if resolved else ():
            for home, known, at in self._homes(source, name, one):
                inside = self._project.scopes(home.path)
                key = (home.path, at.offset, f"{known}[]")
                if inside is None or key in self._busy:
                    continue
                self._busy.add(key)
                for text, pick, where in self._bindings(home, known, at, place):
                    found += self._containers(text, where) if pick == WHOLE else []
                self._busy.discard(key)
        return found

    def _homes(
        self, source: FileNames, name: str, one: Declaration
    ) -> Iterator[tuple[FileNames, str, Declaration]]:
        """Yield where a name gets its value: here, or in the modules that it is imported from."""
        if one.kind != "import":
            yield source, name, one
            return
        for definition in self._names.imported_at(source, name, one.offset).definitions:
            home = self._project.source(definition.path)
            scopes = self._project.scopes(definition.path)
            for declared in scopes.declared(definition.name) if scopes else ():
                if declared.scope == 0 and home is not None:
                    yield home, definition.name, declared

    def _arguments(
        self, source: FileNames, name: str, one: Declaration, place: ExpressionPlace
    ) -> Iterator[tuple[str, ExpressionPlace]]:
        """Yield the expressions that a parameter receives at calls in the tree."""
        target, index = self._parameter(source, name, one)
        for site in self._finder.uses([target])[:MAX_SITES] if target else ():
            text = self._argument(site.path, site.line, site.end_column, index, name)
            caller = self._project.source(site.path)
            if site.use == Use.CALL and text and caller is not None:
                scope = site.enclosing.ordinal if site.enclosing else -1
                at = self._project.offset(site.path, site.line, site.column)
                yield text, ExpressionPlace(caller, scope, at, place.depth + 1)

    def _parameter(
        self, source: FileNames, name: str, one: Declaration
    ) -> tuple[Definition | None, int]:
        """Return what is called to give a parameter its value, and the parameter's position."""
        function = self._names.function_at(source, one.offset)
        scopes = self._project.scopes(source.path)
        names = [n for n, _ in scopes.parameters(one.scope)] if scopes else []
        if function is None or name not in names:
            return None, -1
        owner = source.symbol(function.parent)
        bound = owner is not None and owner.kind in TYPES and source.language == "python"
        target = owner if owner is not None and function.name in _CONSTRUCTORS else function
        return target, names.index(name) - bound

    def _decorated_by(self, source: FileNames, name: str, one: Declaration) -> list[Definition]:
        """Return the functions that a decorator receives in its first parameter."""
        target, index = self._parameter(source, name, one)
        found: list[Definition] = []
        if target is not None and index == 0:
            for site in self._finder.uses([target])[:MAX_SITES]:
                caller = self._project.source(site.path)
                if site.use == Use.DECORATOR and caller is not None:
                    found += self._decorated_at(caller, site.line, site.column)
        return found

    def _decorated_at(self, source: FileNames, line: int, column: int) -> list[Definition]:
        """Return the function that the decorator at a place is applied to."""
        at = self._project.offset(source.path, line, column)
        flow = self._project.flow(source.path)
        offsets = {
            offset
            for offset, spans in (flow.decorators if flow else {}).items()
            if any(start <= at < end for start, end in spans)
        }
        return [s for s in source.symbols if s.kind in FUNCTIONS and self._offset(s) in offsets]

    def _argument(self, path: str, line: int, column: int, index: int, name: str) -> str:
        start = self._project.offset(path, line, column)
        text = self._project.text(path)[start : start + 2_000].decode("utf-8", "replace")
        if text[:1] != "(":
            return ""
        plain: list[str] = []
        for given in split_top(text[1 : closing(text, 0)], ","):
            key, equals, value = given.strip().partition("=")
            named = equals and "(" not in key and not value.startswith("=")
            if named and key.strip() == name:
                return value
            if given.strip() and not named and not given.strip().startswith("*"):
                plain.append(given.strip())
        return plain[index] if 0 <= index < len(plain) else ""

    def _of_instance(self, name: str, place: ExpressionPlace) -> list[Definition]:
        """Return the `__call__` of `x` for `x()` if `x` is an instance."""
        if place.source.language != "python":
            return []
        value = self._types.expression(name, place)
        if value.kind is not ValueKind.OBJECT or value.definition is None:
            return []
        return list(self._types.member(value, "__call__").definitions)

    def _complete(self, found: Iterable[Definition], place: ExpressionPlace) -> list[Definition]:
        """Add the constructors of classes, and the functions that decorators return."""
        more: dict[Definition, None] = {}
        for one in found:
            more[one] = None
            if one.kind in TYPES:
                for name in _CONSTRUCTORS:
                    made = self._types.classes.members(one, name, False)[0]
                    more.update(dict.fromkeys(made))
            else:
                more.update(dict.fromkeys(self._decorated(one, place)))
        return list(more)

    def _decorated(self, function: Definition, place: ExpressionPlace) -> Iterator[Definition]:
        source = self._project.source(function.path)
        flow = self._project.flow(function.path) if source else None
        if source is None or flow is None or place.depth > MAX_STEPS:
            return
        for span in flow.decorators.get(self._offset(function), ()):
            here = ExpressionPlace(source, function.parent, span[0], place.depth + 1)
            for decorator in self.values(flow.text(span), here):
                for found in self.results(decorator, here):
                    own = found.path == place.source.path and found.ordinal == place.scope
                    if found != function and not own:  # in its own code it is the function itself
                        yield found

    def _inside(
        self, source: FileNames, definition: Definition | None, span: Span
    ) -> ExpressionPlace | None:
        """Return the place of an expression if it is in the definition's own code, else None."""
        line = self._line(source, span[0])
        around = self._names.function_at(source, span[0])
        if definition is None:
            inside = around is None
        else:
            inside = definition.start_line <= line <= definition.end_line
        scope = around.ordinal if around else -1
        return ExpressionPlace(source, scope, span[0]) if inside else None

    def _line(self, source: FileNames, offset: int) -> int:
        return self._project.line(source.path, offset)

    def _offset(self, definition: Definition) -> int:
        return self._project.offset(definition.path, definition.line, definition.column)


def _under(literal: str, key: str, language: str) -> list[str]:
    """Return the elements of a literal: those under a known key, else all."""
    items = list(_items(literal))
    if literal[:1] == "{" and language in ECMA:  # `{ name }` is `{ name: name }`
        items += [(repr(value), value) for _, value in items if value.isidentifier()]
    if key and (key[0] in "\"'`" or key.isdigit()):
        items = [item for item in items if _same_key(item[0], key)]
    return [value for _, value in items]


def _items(literal: str) -> Iterator[tuple[str, str]]:
    """Yield the keys and values of a literal; of a list the numbers and the elements."""
    for number, part in enumerate(split_top(literal.strip()[1:-1], ",")):
        *keys, value = (p.strip() for p in split_top(part, ":"))
        yield (keys[0] if literal[:1] == "{" and len(keys) == 1 else str(number)), value


def _same_key(one: str, other: str) -> bool:
    return one.strip("\"'`") == other.strip("\"'`")
