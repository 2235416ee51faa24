"""Ambiguity flags of the contract: why the facts of a blob are not certain."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Import, Postings, Use, unpack_places
from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES
from gitindex.languages.syntax.outline import Outline
from gitindex.languages.syntax.source import is_generated

if TYPE_CHECKING:
    from tree_sitter import Node

    from gitindex.languages.syntax.parser import Captures

_ECMA = ("javascript", "typescript", "tsx")
_JVM = (
    "getMethod getDeclaredMethod getField getDeclaredField forName findVirtual findStatic loadClass"
)
_MACROS = frozenset({"c", "cpp", "rust", "elixir", "julia"})
_WHOLESALE = frozenset({"csharp", "swift"})
"""Languages in which every import binds all names, so a star has no special meaning."""


def _table(**names: str) -> dict[str, tuple[str, ...]]:
    """Return words by language; those of `ecma` are of three."""
    words = {language: tuple(text.split()) for language, text in names.items()}
    ecma = words.pop("ecma", None)
    return words if ecma is None else words | dict.fromkeys(_ECMA, ecma)


_EVALUATES = _table(
    python="eval exec",
    ecma="eval Function",
    ruby="eval instance_eval class_eval module_eval",
    php="eval create_function",
    lua="load loadstring",
    bash="eval",
    elixir="eval_string eval_quoted eval_file",
    julia="eval include_string",
    java="eval",
    kotlin="eval",
    csharp="EvaluateAsync CompileAssemblyFromSource",
)
"""Functions that run text as code; in Python and JavaScript, methods of these names do not."""
_IMPORTS = _table(python="__import__ import_module", ecma="require")
"""Functions that import a module by its name."""
_LOADS = _table(python="exec_module spec_from_file_location")
"""Functions that import a module which has no name."""
_REACHES = _table(
    python="getattr setattr delattr",
    ruby="send public_send __send__ const_get const_set instance_variable_get instance_variable_set "
    "method define_method respond_to? constantize instance_method",
    php="call_user_func call_user_func_array method_exists property_exists is_callable function_exists",
    java=_JVM,
    kotlin=_JVM,
    scala=_JVM,
    csharp="GetMethod GetProperty GetField InvokeMember CreateInstance GetMember",
    go="MethodByName FieldByName",
    swift="NSSelectorFromString NSClassFromString",
    elixir="apply to_existing_atom to_atom",
    julia="getfield setfield! getproperty setproperty!",
    lua="rawget rawset",
    c="dlsym GetProcAddress",
    cpp="dlsym GetProcAddress invokeMethod",
)
"""Functions that take the name of a member; a literal one is a string that answers list anyway."""
_REFLECTS = _table(ecma="Proxy defineGetter __defineGetter__")
"""Functions after which any member may exist."""
_HOOKS = _table(
    python="__getattr__ __getattribute__ __setattr__",
    ruby="method_missing const_missing respond_to_missing?",
    php="__call __callStatic __get __set",
    dart="noSuchMethod",
)
"""Methods that the language calls for members that do not exist."""
_REBINDS = _table(
    ruby="refine remove_method undef_method remove_const alias_method_chain class_eval module_eval",
    swift="method_exchangeImplementations class_replaceMethod",
    php="runkit_method_redefine class_alias",
    lua="setfenv",
)
"""Functions that replace members of others."""
_MAKERS = _table(
    python="namedtuple make_dataclass new_class create_model",
    ecma="defineProperty defineProperties setPrototypeOf __decorate",
)
"""Functions that give a class or an object members."""
_DECORATORS = _table(
    python="dataclass attrs define frozen mutable total_ordering",
    java="Data Builder Getter Setter Value AllArgsConstructor RequiredArgsConstructor",
)
"""Decorators and annotations (of Lombok) that do."""
_CONTEXT = _table(
    python="platform version_info TYPE_CHECKING PY2 PY3 implementation",
    ecma="window document process global globalThis Deno Bun",
)
"""What tells where a file runs."""
_PROCESS = (b"env", b"platform", b"browser", b"version")
_NAMESPACES = (b"globals", b"modules", b"__dict__", b"vars")

_NO_NAME = compile_later(rb"[^\w$]")
_DEFINED = FUNCTIONS | TYPES
_OWN = frozenset({"self", "cls", "this", "super", "mcs", "mcls"})
_CHOICES = ("conditional_expression", "ternary_expression")
_BLOCKS = ("block", "statement_block", "module", "program")
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
MAX_STEPS = 4
"""From a function's last name to its call: a member access, a type argument, brackets."""


class Reading(NamedTuple):
    """One blob's text, captures and facts: the input of detectors."""

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

    def has_any(self, table: dict[str, tuple[str, ...]], use: int) -> bool:
        """Does one of the words of its language occur in this use?"""
        return any(self.has(name, use) for name in table.get(self.language, ()))

    def calls(self, table: dict[str, tuple[str, ...]]) -> Iterator[int]:
        """Return where the words of its language are called."""
        for name in table.get(self.language, ()):
            yield from self.offsets(name, Use.CALL)

    def is_bare(self, offset: int) -> bool:
        """Is the name at a place no member of something?"""
        return self.data[offset - 1 : offset] != b"."

    def imported(self) -> set[str]:
        """Return the local names that imports bind."""
        return {local for item in self.imports for _, local in item.names}

    def texts(self, capture: str) -> list[bytes]:
        """Return the texts of captured nodes."""
        return [node.text or b"" for node in self.captures.get(capture, ())]

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
            if kind in _CHOICES or outer.child_by_field_name("condition") == node:
                return True
            if kind == "binary_expression" and _is_short_circuit(outer):
                return True
            if kind in _BLOCKS:
                return False
            node = outer
        return False


Detector = Callable[[Reading], bool]


def _is_short_circuit(node: Node) -> bool:
    operator = node.child_by_field_name("operator")
    return operator is not None and operator.type in ("&&", "||")


def _is_literal(node: Node | None) -> bool:
    """Is it a string, or a symbol, without computed parts?"""
    if node is not None and node.type in ("argument", "value_argument") and node.named_children:
        node = node.named_children[-1]
    if node is None or node.type not in _LITERALS:
        return False
    return not any(part.type in _COMPUTED for part in node.named_children)


def star_import(reading: Reading) -> bool:
    """Does an import bind names that it does not list?"""
    if reading.language in _WHOLESALE:
        return False
    return any(pair == ("*", "*") for item in reading.imports for pair in item.names)


def macro_or_generated(reading: Reading) -> bool:
    """Is the file generated, or does it define macros?"""
    if reading.language in _MACROS and any(s.kind == "macro" for s in reading.outline.definitions):
        return True
    return is_generated(reading.data)


def eval_exec(reading: Reading) -> bool:
    """Is text run as code?"""
    if reading.language == "python" or reading.language in _ECMA:
        return any(map(reading.is_bare, reading.calls(_EVALUATES)))
    return reading.has_any(_EVALUATES, Use.CALL)


def dynamic_import(reading: Reading) -> bool:
    """Is a module imported by a name computed at run time?"""
    if "flag.dynamic_import" in reading.captures or reading.has_any(_LOADS, Use.CALL):
        return True
    return any(
        not _is_literal(next(iter(reading.arguments(at)), None))
        for at in reading.calls(_IMPORTS)
        if reading.language == "python" or reading.is_bare(at)
    )


def dynamic_attribute(reading: Reading) -> bool:
    """Is a member reached by a computed name, or by a hook?"""
    if "flag.dynamic_attribute" in reading.captures or _pastes(reading):
        return True
    if reading.has_any(_HOOKS, Use.DEFINITION) or reading.has_any(_REFLECTS, Use.CALL):
        return True
    name = slice(None)
    if reading.language == "python":
        name = slice(1, 2)
        spaces = (at for word in ("globals", "vars") for at in reading.offsets(word, Use.CALL))
        if reading.has("__dict__", Use.ATTRIBUTE) or any(map(reading.is_bare, spaces)):
            return True
    return any(
        not any(map(_is_literal, reading.arguments(at)[name])) for at in reading.calls(_REACHES)
    )


def _pastes(reading: Reading) -> bool:
    """Does a macro of C make names of parts? Its body is one leaf of the tree."""
    return reading.language in ("c", "cpp") and any(
        b"##" in reading.data[scope.start : scope.end]
        for scope in reading.outline.definitions
        if scope.kind == "macro"
    )


def monkey_patch(reading: Reading) -> bool:
    """Is a member of something imported, of a class or of a foreign prototype replaced from outside?"""
    if reading.has_any(_REBINDS, Use.CALL):
        return True
    if any(text in _NAMESPACES for text in reading.texts("flag.stored")):
        return True  # a global of Python, by its name
    return _patches_target(reading) or _patches_prototype(reading)


def _patches_target(reading: Reading) -> bool:
    texts = (*reading.texts("flag.patched"), *reading.texts("flag.below"))
    heads = {text.partition(b".")[0] for text in texts} - {b"self", b"cls"}
    if not heads:
        return False
    targets = reading.imported()
    if reading.language == "python":
        targets |= {symbol.name for symbol in reading.outline.symbols if symbol.kind == "class"}
    return any(_decoded(head) in targets for head in heads)


def _patches_prototype(reading: Reading) -> bool:
    names = set(map(_decoded, reading.texts("flag.prototype")))
    return not names <= {symbol.name for symbol in reading.outline.symbols} if names else False


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def generated_member(reading: Reading) -> bool:
    """Does a class or an object get members that its own code does not define?"""
    if reading.has_any(_MAKERS, Use.CALL) or reading.has_any(_DECORATORS, Use.DECORATOR):
        return True
    if reading.language == "python":
        return reading.has("metaclass", Use.REFERENCE) or reading.has("NamedTuple", Use.INHERIT)
    return reading.language in _ECMA and any(
        _member_of(next(iter(reading.arguments(at)), None)) == b"prototype"
        for at in reading.offsets("assign", Use.CALL)
    )


def _member_of(node: Node | None) -> bytes:
    """Return the last name of a member access, or b""."""
    named = node.child_by_field_name("property") if node is not None else None
    return (named.text or b"") if named is not None else b""


def overload_set(reading: Reading) -> bool:
    """Does one name have several signatures?"""
    if reading.language == "python":
        names = ("overload", "singledispatch", "singledispatchmethod")
        return any(reading.has(name, Use.DECORATOR) for name in names)
    if reading.language == "javascript":
        return False
    names_of = _overloaded_names(reading)
    symbols = [s.qualified for s in reading.outline.symbols if s.qualified in names_of]
    return len(symbols) > len(set(symbols))


def reexport_chain(reading: Reading) -> bool:
    """Is a name of another module exported from here?"""
    if reading.language != "python":
        nodes = reading.captures.get("import", ())
        passes = any(node.type == "export_statement" for node in nodes)
    else:
        pairs = ((item.level, pair) for item in reading.imports for pair in item.names)
        passes = any(level and pair == ("*", "*") for level, pair in pairs)
    return passes or bool(set(reading.outline.exports) & reading.imported())


def context_divergence(reading: Reading) -> bool:
    """Does the file depend on the platform, the interpreter, the type checker, or where it runs?"""
    uses = (Use.ATTRIBUTE, Use.REFERENCE) if reading.language == "python" else ()
    return any(
        (reading.language == "python" or _is_host(reading, at)) and reading.is_decided_at(at)
        for name in _CONTEXT.get(reading.language, ())
        for at in reading.offsets(name, *uses)
    )


def _is_host(reading: Reading, at: int) -> bool:
    """Is it `process.env…`, or `typeof window`?"""
    node = reading.node_at(at)
    outer = node.parent if node is not None else None
    if outer is None or node is None:
        return False
    if outer.type == "unary_expression":
        return outer.children[0].type == "typeof"
    return node.text == b"process" and _member_of(outer) in _PROCESS


def multiple_definitions(reading: Reading) -> bool:
    """Is a qualified name defined more than once, other than by overloads or accessors?"""
    repeated = _repeated(reading)
    if not repeated:
        return False
    overloaded = _overloaded_names(reading)
    return any(name not in overloaded and not _is_accessor(reading, name) for name in repeated)


def _overloaded_names(reading: Reading) -> set[str]:
    """Return names with signatures that have no body, or that are marked as overloads."""
    bodiless = reading.language in ("typescript", "tsx")
    return {
        scope.qualified
        for scope in reading.outline.definitions
        if scope.kind in FUNCTIONS
        and (
            (scope.body < 0 and bodiless) or b"overload" in reading.data[scope.anchor : scope.start]
        )
    }


def _repeated(reading: Reading) -> set[str]:
    seen: set[str] = set()
    repeated = set()
    for scope in reading.outline.definitions:
        if scope.kind in _DEFINED:
            if scope.qualified in seen:
                repeated.add(scope.qualified)
            seen.add(scope.qualified)
    return repeated


def _is_accessor(reading: Reading, name: str) -> bool:
    """Are all definitions of a name but one its getters, setters or deleters?"""
    plain = 0
    for scope in reading.outline.definitions:
        if scope.qualified == name:
            head = reading.data[scope.anchor : scope.name_start]
            marked = re.search(rb"\.(setter|getter|deleter)\b|\b(get|set|static)\s", head)
            plain += marked is None
    return plain <= 1


def conditional_definition(reading: Reading) -> bool:
    """Does a visible definition exist only under a condition?"""
    return any(scope.guarded and not scope.local for scope in reading.outline.definitions)


def unresolved_receiver(reading: Reading) -> bool:
    """Is a method called on something that is neither imported nor defined here?"""
    # Attributes that `__init__` sets are known by name only, not by type.
    own = {s.name for s in reading.outline.symbols if not s.signature.startswith("self.")}
    known = reading.imported() | _OWN | own
    for node in reading.captures.get("use.call", ()):
        at = node.start_byte
        if reading.data[at - 1 : at] in (b".", b"#") and not _is_known(reading, at, known):
            return True
    return False


def _is_known(reading: Reading, at: int, known: set[str]) -> bool:
    """Is the word before the dot one of `known`? False after a bracket."""
    before = reading.data[max(0, at - 80) : at].rstrip(b"#. \t\r\n?")
    return _decoded(_NO_NAME.split(before)[-1]) in known


_ALL: tuple[Detector, ...] = (
    star_import,
    macro_or_generated,
    eval_exec,
    dynamic_attribute,
    monkey_patch,
    generated_member,
)
"""Detectors for every language; each is named like its flag."""
_DYNAMIC: tuple[Detector, ...] = (
    *_ALL,
    dynamic_import,
    overload_set,
    reexport_chain,
    context_divergence,
    multiple_definitions,
    conditional_definition,
    unresolved_receiver,
)
"""Detectors for Python, JavaScript and TypeScript."""


def read_flags(reading: Reading, *, broken: bool, lossy: bool) -> tuple[str, ...]:
    """Return the flags of a blob, sorted."""
    dynamic = reading.language == "python" or reading.language in _ECMA
    flags = {detects.__name__ for detects in (_DYNAMIC if dynamic else _ALL) if detects(reading)}
    if broken:
        flags.add("parse_error")
    if lossy:
        flags.add("encoding_lossy")
    return tuple(sorted(flags))
