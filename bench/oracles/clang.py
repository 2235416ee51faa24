"""libclang as a judge of C; it comes from PyPI as `libclang` and is imported when asked for."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.oracles.marks import Mark

_WORD = re.compile(rb"\w*")
DETAILED = 1
"""Record macros: definitions and uses."""


def clang(sources: str, includes: tuple[str, ...]) -> Callable[[Path, Path], list[Mark]]:
    """A judge of the `.c` files of one folder."""

    def judge(root: Path, _cache: Path) -> list[Mark]:
        cindex = importlib.import_module("clang.cindex")
        index = cindex.Index.create()
        flags = [f"-I{root / folder}" for folder in includes]
        flags += ["-D_GNU_SOURCE", "-w", *_system()]
        found: set[Mark] = set()
        for source in sorted((root / sources).glob("*.c")):
            unit = index.parse(os.fspath(source), args=flags, options=DETAILED)
            found.update(_marks(unit, f"{root}/"))
        return sorted(found)

    return judge


def _system() -> list[str]:
    """The headers of a compiler: the wheel of libclang has none."""
    found = sorted(Path("/usr/lib/gcc").glob("*/*/include"))
    return [f"-isystem{folder}" for folder in found]


def _marks(unit: Any, root: str) -> Iterator[Mark]:
    texts: dict[str, list[bytes]] = {}
    for cursor in unit.cursor.walk_preorder():
        name, place = cursor.spelling, cursor.location
        if place.file is None or not place.file.name.startswith(root):
            continue
        kind = cursor.kind.name
        if kind == "MACRO_DEFINITION" or kind.endswith("_DECL"):
            target, defines = cursor, True
        elif kind in (
            "DECL_REF_EXPR",
            "MEMBER_REF_EXPR",
            "TYPE_REF",
            "MACRO_INSTANTIATION",
            "MEMBER_REF",
        ):
            target, defines = cursor.referenced, False
        else:
            continue
        if target is None or not name:
            continue
        name = target.spelling
        path = place.file.name
        if path not in texts:
            texts[path] = Path(path).read_bytes().split(b"\n")
        line, column = place.line - 1, place.column - 1
        word = _WORD.match(texts[path][line], column)
        if word is None or word[0] != name.encode():
            continue  # inside of a macro, whose name may begin with this one
        symbol = _symbol(target)
        if symbol:
            yield Mark(path.removeprefix(root), line, column, symbol, defines)


def _symbol(target: Any) -> str:
    usr = target.get_usr()
    if usr and target.kind.name != "MACRO_DEFINITION":
        return str(usr)
    at = target.location
    return f"{at.file.name}:{at.line}:{at.column}" if at.file else ""
