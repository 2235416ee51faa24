"""What runs a definition without its name: a call through a base or interface, a decorator, a test runner."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from gitindex.base.path_kind import is_test
from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Use
from gitindex.languages.implicit_calls import called_without_name
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.names.binder import Binder
from gitindex.query.names.model import ECMA, Definition, FileNames, is_type
from gitindex.query.names.names import METHODS
from gitindex.query.names.project import Project
from gitindex.query.names.types import Classes

MAX_CANDIDATES = 400
"""Members with one name whose classes are compared."""

_STRUCTURAL = frozenset({"go", "typescript", "tsx", "rust"})
"""Languages where a type implements an interface by its members; Rust facts omit which trait."""
_HIDING = frozenset({"java", "csharp", "c", "cpp"})
"""Languages where a field of a subclass is another one: the declared type decides."""
_CONTRACTS = frozenset({"interface", "trait", "protocol", "type"})
_DATA = frozenset({"json", "yaml", "toml", "hcl", "css", "html", "sql", "markdown"})
"""Languages whose keys any other language may name."""
_LINKED = FUNCTIONS | {"prototype", "variable"}
_REDEFINING = ECMA | {"python", "ruby", "php"}
"""Languages where functions of one name in one scope are one symbol."""
_Key = tuple[str, int]  # path and ordinal of a definition


class Kin(NamedTuple):
    """Members that the same call may reach as a target."""

    members: dict[_Key, Definition]
    known: bool  # every class involved is known up to its last base
    outside: bool = False  # a target may override a member of a class outside the tree


class Dispatch:
    """The relations between members with the same name in one tree."""

    def __init__(self, binder: Binder) -> None:
        self._binder = binder
        self._project: Project = binder.project
        self._classes: Classes = binder.types.classes

    @cached_property
    def _above(self) -> dict[_Key, tuple[set[_Key], bool]]:
        return self._project.tree.table("above")

    @cached_property
    def _shared(self) -> dict[_Key, tuple[set[_Key], bool]]:
        return self._project.tree.table("shared")

    @cached_property
    def _below(self) -> dict[_Key, list[Definition]]:
        return self._project.tree.table("below")

    def kin(self, target: Definition, proven: bool = True) -> Kin:
        """Return members that override a target, are overridden by it, or share a class with it.

        Unless it must be `proven`, nobody asks whether all classes are known: those below every class
        that has such a member would be read.
        """
        home = self._classes.class_of(target)
        if home is None:
            return Kin({}, True, target.kind == "method")  # a class without a name
        if self._is_hiding(target):
            return Kin({}, True)
        others = [d for d in self._project.definitions(target.name) if self._may_relate(target, d)]
        if len(others) > MAX_CANDIDATES:
            return Kin({}, False, True)
        self._project.load(d.path for d in others)
        owners = self._owners(others, home)
        known = proven and all(map(self._is_known, (home, *owners.values())))
        runs = target.kind in FUNCTIONS  # a field of another type with the same members is another
        members = {_key(d): d for d, owner in owners.items() if self._related(home, owner, runs)}
        return Kin(members, known, self._has_outer_base(target, home, members))

    def _has_outer_base(
        self, target: Definition, home: Definition, members: Collection[_Key]
    ) -> bool:
        """Return whether a class has a base outside the tree: it is named, or has what is overridden."""
        above = self._classes.ancestors(home)[0]
        overrides = _OVERRIDE.search(target.signature) is not None
        return any(self._classes.bases(one)[1] for one in above) or (overrides and not members)

    def implementations(self, target: Definition) -> list[Definition]:
        """Return members that override or implement a target; of a type, the types below it."""
        if is_type(target):
            return [*self.descendants(target), *self._implementers(target)]
        home = self._classes.class_of(target)
        members = self.kin(target, proven=False).members.values() if home else ()
        return [member for member in members if home and self._implements(member, home)]

    def _implementers(self, contract: Definition) -> Iterator[Definition]:
        """Yield the types that implement an interface by its members."""
        source = self._project.source(contract.path)
        if source is None or source.language not in _STRUCTURAL or contract.kind not in _CONTRACTS:
            return
        members = [s for s in source.symbols if s.parent == contract.ordinal]
        if source.language != "rust":
            del members[1:]  # who implements one has all
        for member in members:
            yield from filter(None, map(self._classes.class_of, self.implementations(member)))

    def _implements(self, member: Definition, home: Definition) -> bool:
        """Return whether a member overrides or implements the one of its name in a class."""
        owner, source = self._classes.class_of(member), self._project.source(member.path)
        if owner is None or source is None:
            return False
        if _key(home) in self._ancestors(owner)[0]:
            return True
        if source.language != "rust":
            return self._satisfies(owner, home)
        return self._implements_trait(source, member, home)

    def _implements_trait(self, source: FileNames, member: Definition, trait: Definition) -> bool:
        """Return whether a member of Rust is in an implementation of a trait: the last named before it."""
        if not member.exported or member.signature.startswith("pub"):
            return False  # not in an implementation of a trait: those are exported without a word
        at = (member.line, member.column)
        places = self._project.places_in(member.path)
        heads = [p for p in places if p.use == Use.INHERIT and (p.line, p.column) < at]
        if not heads:
            return False
        meant = self._binder.meaning(source, heads[-1]).definitions
        return trait in meant if meant else heads[-1].name == trait.name

    def _is_hiding(self, target: Definition) -> bool:
        source = self._project.source(target.path) if target.kind == "field" else None
        return source is not None and source.language in _HIDING

    def _owners(self, members: list[Definition], home: Definition) -> dict[Definition, Definition]:
        """Return the classes of some members, but for one."""
        owned = ((member, self._classes.class_of(member)) for member in members)
        return {member: owner for member, owner in owned if owner and _key(owner) != _key(home)}

    def _is_known(self, owner: Definition) -> bool:
        """Return whether a class and those below it are known up to their last bases."""
        return self._beside(owner)[1]

    def _beside(self, owner: Definition) -> tuple[set[_Key], bool]:
        """Return the classes that share a subclass with one, and whether all bases are known."""
        key = _key(owner)
        if key not in self._shared:
            sharing: set[_Key] = set()
            known = not self._ancestors(owner)[1]
            for below in self.descendants(owner):
                if below.kind == "type":
                    continue  # an alias for one of two types: no value is of both
                above, unknown = self._ancestors(below)
                known = known and not unknown
                sharing |= above if key in above else set()
            self._shared[key] = sharing, known
        return self._shared[key]

    def _may_relate(self, target: Definition, other: Definition) -> bool:
        if _key(other) == _key(target) or other.kind not in FUNCTIONS | {"field", "property"}:
            return False
        return self._project.family(target) == self._project.family(other) != ""

    def _related(self, one: Definition, two: Definition, structural: bool) -> bool:
        first, second = _key(one), _key(two)
        if second in self._ancestors(one)[0] or first in self._ancestors(two)[0]:
            return True
        if structural and (self._satisfies(one, two) or self._satisfies(two, one)):
            return True
        if second in self._beside(one)[0]:
            return True
        # who shares a subclass with another is shared with by it, unless not all subclasses were read
        return len(self.descendants(one)) > MAX_CANDIDATES and first in self._beside(two)[0]

    def _satisfies(self, one: Definition, contract: Definition) -> bool:
        """Return whether a type has all members of an interface."""
        source = self._project.source(contract.path)
        if source is None or source.language not in _STRUCTURAL:
            return False
        if contract.kind not in _CONTRACTS or one.kind == contract.kind == "trait":
            return False
        names = [s.name for s in source.symbols if s.parent == contract.ordinal]
        if source.language == "rust":
            return True
        return all(self._classes.members(one, name, False)[0] for name in names)

    def _ancestors(self, definition: Definition) -> tuple[set[_Key], bool]:
        key = _key(definition)
        if key not in self._above:
            classes, unknown = self._classes.ancestors(definition)
            self._above[key] = {_key(d) for d in classes}, unknown
        return self._above[key]

    def descendants(self, definition: Definition) -> list[Definition]:
        """Return all subclasses of a class, direct and indirect."""
        key = _key(definition)
        if key not in self._below:
            classes = [definition]
            for one in classes:  # grows during the loop
                classes += [child for child in self._children(one) if child not in classes]
                if len(classes) > MAX_CANDIDATES:
                    break
            self._below[key] = classes[1:]
        return self._below[key]

    def is_collected(self, definition: Definition) -> bool:
        """Return whether a class may be found through its bases, by a framework or a list of them."""
        if not (is_type(definition) and definition.exported):
            return False
        above = self._classes.ancestors(definition)[0]
        asked = len(above) > 1 and any(map(self._project.plain_places, _COLLECTED))
        hooks = ("__init_subclass__", "inherited")
        noticed = (self._classes.members(definition, hook, True)[0] for hook in hooks)
        return asked or any(noticed) or any(map(self._classes.has_outer_base, above))

    def _children(self, definition: Definition) -> list[Definition]:
        children = []
        for name in self.called(definition):
            by_path = self._project.places(name)
            inherits = {p: [o for o in by_path[p] if o.use == Use.INHERIT] for p in by_path}
            paths = [path for path, places in inherits.items() if places]
            self._project.load(paths)
            self._project.load_scopes(paths)
            for source in filter(None, map(self._project.source, paths)):
                near = (source.symbol(place.enclosing) for place in inherits[source.path])
                children += [d for d in near if d and definition in self._classes.bases(d)[0]]
        return children

    def called(self, definition: Definition) -> list[str]:
        """Return the name of a class and its import aliases."""
        name = definition.name
        names = [name]
        for source in self._importing(definition):
            for item in source.imports:
                names += [local for there, local in item.names if there == name and local != "*"]
        return list(dict.fromkeys(names))

    def _importing(self, definition: Definition) -> list[FileNames]:
        """Return files whose imports list a class: Python's by its name, others by all imports."""
        name, source = definition.name, self._project.source(definition.path)
        if source is None or source.language != "python":
            return self._project.importing_name(name)
        by_path = self._project.places(name)
        paths = [path for path in by_path if any(p.use == Use.IMPORT for p in by_path[path])]
        self._project.load(paths)
        return [one for one in map(self._project.source, paths) if one is not None]


def linked(project: Project, targets: Iterable[Definition]) -> Iterator[Definition]:
    """Yield what has the same name and is used by it: the constructors of a class, other declarations of
    one function (overload signatures, a setter, a stub), and what the linker joins with a name of C."""
    targets = list(targets)
    project.load(d.path for d in targets)
    joined: dict[str, dict[_Symbol, list[Definition]]] = {}
    for target in targets:
        source = project.source(target.path)
        if source is not None and is_type(target):
            below = source.children(target.ordinal, target.name)
            yield from (d for d in below if d.kind == "constructor")
        symbol = _symbol_of(project, target)
        if symbol is not None:
            if target.name not in joined:
                joined[target.name] = _by_symbol(project, target.name)
            yield from joined[target.name].pop(symbol, ())


def naming_families(project: Project, targets: Iterable[Definition]) -> set[str]:
    """Return the languages that can name the targets; empty if any language can."""
    sources = [project.source(target.path) for target in targets]
    families = {source.origin.family for source in sources if source is not None}
    c = {"c"} if any(s and any(i.module == "C" for i in s.imports) for s in sources) else set()
    return families | c if families.isdisjoint(_DATA) else set()


_Symbol = tuple[str, str]
"""What definitions of one symbol share: the qualified name, and the file or that the linker joins them."""


def _by_symbol(project: Project, name: str) -> dict[_Symbol, list[Definition]]:
    """Return the definitions of a name that are one symbol with others, by symbol."""
    by_symbol: dict[_Symbol, list[Definition]] = {}
    definitions = project.definitions(name)
    project.load(d.path for d in definitions)
    for definition in definitions:
        symbol = _symbol_of(project, definition)
        if symbol is not None:
            by_symbol.setdefault(symbol, []).append(definition)
    return by_symbol


def _symbol_of(project: Project, definition: Definition) -> _Symbol | None:
    """Return the symbol that a definition is one of several declarations of; None if it is alone."""
    source = project.source(definition.path) if definition.kind in _LINKED else None
    if source is None:
        return None
    if source.origin.family == "c":
        return None if _is_static(definition) else (definition.qualified, "")
    if source.language not in _REDEFINING or definition.kind == "variable":
        return None
    return definition.qualified, definition.path.removesuffix("i")  # a stub is beside its module


def _is_static(definition: Definition) -> bool:
    """Return whether a C function is visible in its own file only."""
    return definition.signature.startswith("static ") and "." not in definition.qualified


def _key(definition: Definition) -> _Key:
    return definition.path, definition.ordinal


_DATA_KINDS = frozenset({"key", "section"})
_PARTS = frozenset({"field", "property", "enumerator", "constant"})
_COLLECTED = ("__subclasses__", "subclasses", "descendants")
"""How programs ask for the classes below one."""
_DECORATOR = compile_later(r"^[ \t]*(?:@|#!?\[|\[)\s*([\w.:]+)", re.MULTILINE)
_PLAIN_NAMES = (
    "staticmethod classmethod property setter getter deleter abstractmethod cached_property cache"
    " lru_cache wraps override overload final contextmanager asynccontextmanager dataclass inline"
    " must_use allow deny expect warn derive cfg cfg_attr doc cold track_caller deprecated Deprecated"
    " Override SuppressWarnings Nullable NonNull NotNull FunctionalInterface SafeVarargs Obsolete"
)
_PLAIN = frozenset(_PLAIN_NAMES.split())
"""Decorators and attributes that hand a definition to nobody. Any other may register it."""
_SET_UP = ("setup", "setUp", "teardown", "tearDown", "load_tests")
_TEST_NAMES = {
    "go": ("Test", "Benchmark", "Example", "Fuzz", "Setup", "TearDown"),
    "python": ("test", "Test", "pytest_", *_SET_UP),
}
_OVERRIDE = compile_later(r"\boverride\b")
_MARKED = compile_later(r"\boperator\b|__attribute__")
_OF_OTHERS = frozenset({"write", "log", "debug", "info", "warn", "error", "handleEvent"})
_KNOWN_MEMBERS = _OF_OTHERS.union(*METHODS.values())
"""Members of a language's own types, of consoles and of listeners: any object may take their place."""
_ACCESSOR = compile_later(r"(?:get|set|is)[A-Z].*")


def reason_used_unnamed(project: Project, definition: Definition) -> str:
    """Return why a definition may be in use though nothing names it; empty if nothing says so."""
    source = project.source(definition.path)
    language = source.language if source is not None else ""
    if called_without_name(language, definition.name) or is_fixture(project, definition):
        return "syntax or a framework calls it without its name"
    for reason, holds in _REASONS.items():  # the cheap ones first: others read the file
        if holds(project, source, definition):
            return reason
    return ""


def _is_run_as_test(_project: Project, source: FileNames | None, definition: Definition) -> bool:
    names = _TEST_NAMES.get(source.language if source is not None else "", ("\0",))
    return definition.name.startswith(names) and is_test(definition.path)


def _is_handed_over(project: Project, source: FileNames | None, definition: Definition) -> bool:
    ecma = source is not None and source.language in ECMA
    return ecma and definition.kind in FUNCTIONS and _is_value(project, definition)


def _is_part(_project: Project, source: FileNames | None, definition: Definition) -> bool:
    """Return whether a definition is data of a whole: by position, by layout, counted, or in JSON."""
    owner = source.symbol(definition.parent) if source is not None else None
    counted = source is not None and source.language == "go" and definition.kind == "constant"
    field = owner is not None and is_type(owner) and definition.kind in _PARTS
    return field or (counted and "=" not in definition.signature)


def _is_open(project: Project, source: FileNames | None, definition: Definition) -> bool:
    """Return whether code outside may call a definition that it was handed, or that it links with."""
    if source is None:
        return False
    if _MARKED.search(definition.signature):
        return True
    if definition.kind not in FUNCTIONS:
        return False
    if source.origin.family == "c":
        return definition.kind == "function" and _is_linked(project, definition)
    is_open = _OPEN.get(source.language)
    return is_open is not None and is_open(definition, source.symbol(definition.parent))


_REASONS: dict[str, Callable[[Project, FileNames | None, Definition], bool]] = {
    "programs may read it without being in the tree": lambda *of: of[2].kind in _DATA_KINDS,
    "a test runner calls it": _is_run_as_test,
    "a decorator or attribute may hand it to a framework": lambda *of: is_registered(of[0], of[2]),
    "it is a value where it is defined": _is_handed_over,
    "its object may be made, read or written as a whole": _is_part,
    "code outside of the tree may call it": _is_open,
}
"""Why a definition may be in use without its name; the first that holds is said."""


def _is_linked(project: Project, definition: Definition) -> bool:
    """Return whether a function of C is seen by the linker, and no header of the tree declares it."""
    seen = definition.exported and not definition.path.endswith((".h", ".hpp"))
    return seen and all(d.kind != "prototype" for d in project.definitions(definition.name))


def _is_accessor(definition: Definition, owner: Definition | None) -> bool:
    return owner is not None and _ACCESSOR.fullmatch(definition.name) is not None


def _is_handed(definition: Definition, owner: Definition | None) -> bool:
    """Return whether others may know a member of an object that they are handed."""
    return owner is not None and (owner.kind == "object" or definition.name in _KNOWN_MEMBERS)


_OPEN: dict[str, Callable[[Definition, Definition | None], bool]] = {
    **dict.fromkeys(("java", "kotlin", "scala"), _is_accessor),
    **dict.fromkeys((*ECMA, "python", "ruby"), _is_handed),
    "go": lambda definition, _: "." in definition.qualified and definition.name[:1].isupper(),
    # of a trait: its members are public without a word
    "rust": lambda definition, _: definition.exported and definition.signature[:3] != "pub",
}
"""Who may call a definition from outside: where a type fits any interface, and of properties."""


def is_entry(project: Project, path: str, seen: frozenset[str] = frozenset()) -> bool:
    """Return whether no file imports a module, or only as a part of such a one: others load it."""
    users = project.importing(path)
    project.load(users)
    names = [
        (user, item)
        for user in filter(None, map(project.source, users))
        for item in user.imports
        if path in project.resolve(user, item)
    ]
    stars = {user.path for user, item in names if item in user.stars} - seen - {path}
    return not names or any(is_entry(project, star, seen | {path}) for star in stars)


def decorators(project: Project, definition: Definition) -> list[str]:
    """Return the last names of the decorators or attributes on the lines above a definition."""
    if definition.start_line == definition.line:
        return []
    lines = project.span(definition.path, definition.start_line, definition.line - 1)
    return [re.split(r"[.:]+", match[1])[-1] for match in _DECORATOR.finditer(lines)]


def is_registered(project: Project, definition: Definition) -> bool:
    """Return whether a decorator or attribute may hand a definition to code that calls it."""
    return not _PLAIN.issuperset(decorators(project, definition))


def _is_value(project: Project, definition: Definition) -> bool:
    """Return whether `function name` is an expression, as in `use(function name () {})`."""
    scopes = project.scopes(definition.path)
    at = project.offset(definition.path, definition.line, definition.column)
    named = scopes.declared(definition.name) if scopes is not None else ()
    return any(d.offset == at and d.kind == "own" for d in named)


_FIXTURE = compile_later(r"@[\w.]*\bfixture\b(\(.*?\))?", re.DOTALL)


def fixture_decorator(project: Project, definition: Definition) -> str:
    """Return the decorator that makes a function a fixture; empty if there is none."""
    source = project.source(definition.path)
    if definition.kind not in FUNCTIONS or source is None or source.language != "python":
        return ""
    match = _FIXTURE.search(project.span(definition.path, definition.start_line, definition.line))
    return match.group() if match else ""


def is_fixture(project: Project, definition: Definition) -> bool:
    """Return whether a function is decorated as a fixture."""
    return bool(fixture_decorator(project, definition))
