"""Imports of languages in which the statement's text is enough: one small reader each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gitindex.base.pattern import compile_later

Names = tuple[tuple[str, str], ...]
Pair = tuple[str, Names]  # module, names that it binds

_SPACES = compile_later(r"\s+")
_QUOTED = compile_later(r"""["'`]([^"'`]*)["'`]""")
_SOURCED = compile_later(r"^(?:source|\.)\s+(\S+)")
_GO = compile_later(r"(?:([\w.]+)\s+)?[\"`]([^\"`]*)[\"`]")


def go(text: str) -> Iterator[Pair]:
    """`str "strings"` binds `str`; a dot import binds everything, a blank one nothing."""
    match = _GO.search(text)
    if match is None:
        return
    alias, module = match.groups()
    base = module.rsplit("/", 1)[-1]
    if alias == ".":
        yield module, (("*", "*"),)
    else:
        yield module, () if alias == "_" else ((base, alias or base),)


def rust(text: str) -> Iterator[Pair]:
    """Return one import per leaf of a use tree; `extern crate` and `mod` name one module."""
    words = _SPACES.sub(" ", text).strip(" ;")
    _, use, tree = words.partition("use ")
    if use:
        yield from _use_tree("", tree)
    else:
        name, _, alias = words.partition("crate ")[2].partition(" as ")
        yield name, ((name, alias or name),)


def _use_tree(prefix: str, tree: str) -> Iterator[Pair]:
    tree = tree.strip()
    path, brace, rest = tree.partition("{")
    if brace:
        for part in _split(rest.rpartition("}")[0]):
            yield from _use_tree(prefix + path.strip(), part)
        return
    name, _, alias = tree.partition(" as ")
    module, _, last = (prefix + name.strip()).rpartition("::")
    if last == "self":
        module, _, last = module.rpartition("::")
    if last:
        yield module, ((last, alias.strip() or last),)


def _split(text: str) -> Iterator[str]:
    """Split at commas that are not inside braces."""
    depth = start = 0
    for at, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    if text[start:].strip():
        yield text[start:]


def rust_module(text: str) -> Iterator[Pair]:
    """`mod name;` declares a module in another file."""
    name = text.strip(" ;").rpartition(" ")[2]
    yield f"self::{name}", ((name, name),)


def java(text: str) -> Iterator[Pair]:
    """`import a.B` names a type; a static import names a member of one."""
    words = text.strip(" ;").split()
    path = "".join(word for word in words[1:] if word != "static")
    module, _, last = path.rpartition(".")
    if last == "*":
        yield module, (("*", "*"),)
    else:
        yield (module if "static" in words[:2] else path), ((last, last),)


def kotlin(text: str) -> Iterator[Pair]:
    """Like Java's, with `as`."""
    path, _, alias = _SPACES.sub(" ", text).strip(" ;").removeprefix("import ").partition(" as ")
    module, _, last = path.rpartition(".")
    if last == "*":
        yield module, (("*", "*"),)
    else:
        yield path, ((last, alias or last),)


def scala(text: str) -> Iterator[Pair]:
    """`import a.b.{C, D => E}`, `import a._`, and several of them separated by commas."""
    for part in _split(text.strip().removeprefix("import ")):
        path, brace, rest = part.strip().partition("{")
        if not brace:
            module, _, last = part.strip().rpartition(".")
            yield module, (("*", "*") if last in ("_", "*") else (last, last),)
            continue
        pairs = [re.split(r"\s*=>\s*|\s+as\s+", name) for name in rest.rstrip("} ").split(",")]
        names = [("*", "*") if p[0].strip() in ("_", "*") else (p[0], p[-1]) for p in pairs]
        yield path.rstrip("."), tuple((a.strip(), b.strip()) for a, b in names)


def csharp(text: str) -> Iterator[Pair]:
    """A namespace binds all its names; an alias binds one."""
    path = re.sub(r"^(global\s+)?using\s+(static\s+)?", "", text).strip(" ;")
    alias, equals, target = path.partition("=")
    if equals:
        yield target.strip(), ((target.strip(), alias.strip()),)
    else:
        yield path, (("*", "*"),)


def swift(text: str) -> Iterator[Pair]:
    """A module, or one declaration of it."""
    words = text.split()
    path = words[-1]
    module, _, last = path.rpartition(".")
    single = module and len(words) > words.index("import") + 2
    yield (module, ((last, last),)) if single else (path, (("*", "*"),))


def php(text: str) -> Iterator[Pair]:
    """`use` of namespaces, and files in `require` and `include` if a literal names them."""
    text = _SPACES.sub(" ", text).strip(" ;")
    if not text.startswith("use "):
        yield "".join(_QUOTED.findall(text)).lstrip("/"), ()
        return
    body = re.sub(r"^use (function |const )?", "", text)
    for part in _split(body):
        prefix, brace, rest = part.partition("{")
        for item in rest.rstrip("} ").split(",") if brace else [part]:
            path, _, alias = item.strip().partition(" as ")
            full = prefix.strip() + path if brace else path
            last = full.rpartition("\\")[2]
            yield full.lstrip("\\"), ((last, alias or last),)


def include(text: str) -> Iterator[Pair]:
    """C's include, and C++'s `using`, which names something declared by an include."""
    path = text.strip().removeprefix("#").strip()
    if path.startswith("include"):
        yield path.removeprefix("include").split("//")[0].strip(' "<>'), ()
    elif path.startswith("using namespace"):
        yield path.removeprefix("using namespace").strip(" ;"), (("*", "*"),)
    elif path.startswith("using"):
        module, _, last = path.removeprefix("using").strip(" ;").rpartition("::")
        yield module, ((last, last),)


def shell(text: str) -> Iterator[Pair]:
    """`source file`."""
    match = _SOURCED.match(text)
    if match:
        yield match.group(1).strip("\"'"), ()


def quoted(text: str) -> Iterator[Pair]:
    """The first string literal: `require "x"`, `@import "x"`."""
    match = _QUOTED.search(text)
    if match:
        yield match.group(1), ()


STATEMENTS: dict[str, Callable[[str], Iterator[Pair]]] = {
    "go": go,
    "rust": rust,
    "java": java,
    "kotlin": kotlin,
    "scala": scala,
    "csharp": csharp,
    "swift": swift,
    "php": php,
    "c": include,
    "cpp": include,
    "bash": shell,
    "ruby": quoted,
    "lua": quoted,
    "dart": quoted,
    "css": quoted,
    "zig": quoted,
}
