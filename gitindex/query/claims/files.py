"""The verdict on claims about the text of a file: a line, a definition, a signature, an import."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from gitindex.base.escape import safe_text
from gitindex.base.pattern import compile_later
from gitindex.base.vocabulary import Direction
from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES
from gitindex.query.callgraph.answer import GraphQuery, call_graph
from gitindex.query.claims.evidence import (
    CONFIRMED,
    REFUTED,
    UNVERIFIABLE,
    ClaimTree,
    ClaimVerdict,
    definition_row,
    rows_of,
)
from gitindex.query.names.model import Definition
from gitindex.query.references import MAX_LIMIT, ReferenceQuery, find_references
from gitindex.query.symbols import SymbolQuery, list_symbols

_MAKES_NAMES = frozenset(
    [
        "eval_exec",
        "generated_member",
        "macro_or_generated",
        "encoding_lossy",
        "parse_error",
        "star_import",
    ]
)
"""Flags of a file that may define more than its text spells."""
_BLANKS = compile_later(r"\s+")
_AROUND = compile_later(r"\s*([(),:=\[\]{}<>|*&;-])\s*")
_RECEIVER = compile_later(r"^\((?:self|cls|&self|&mut self)(?:,|(?=\)))")
_SEGMENTS = compile_later(r"[/:\\.]+")
_SUFFIX = compile_later(r"\.(?:h|hh|hpp|js|cjs|mjs|jsx|ts|tsx|json|css|py|go|rs|java)$")
_SPELLS_IMPORTS = frozenset({"python", "go", "java", "rust", "javascript", "typescript", "tsx"})
_IMPORTS = (
    "SELECT i.module, i.names, i.level, i.line FROM {imports} i"
    " JOIN {live} l ON l.blob_id=i.blob_id WHERE l.path=?"
)
_LANGUAGE = (
    "SELECT b.language, b.status FROM {live} l JOIN {blobs} b ON b.id=l.blob_id WHERE l.path=?"
)


class _Import(NamedTuple):
    """An import as written; the line counts from 1."""

    module: str
    names: tuple[str, ...]
    level: int
    line: int


def judge_line(tree: ClaimTree, path: str, number: str, text: str) -> ClaimVerdict:
    """Confirmed where the line contains the text, blanks apart; refuted where it does not."""
    if gone := tree.missing(path):
        return gone
    lines = [_squeezed(line) for line in tree.lines(path) or []]
    at = int(number) - 1
    wanted = [_squeezed(line) for line in text.splitlines()] or [""]
    shown = {"path": safe_text(path), "line": at + 1}
    if not 0 <= at < len(lines):
        why = f"{safe_text(path)} has {len(lines)} lines"
        return ClaimVerdict(REFUTED, why, ({**shown, "line": max(1, len(lines)), "text": ""},))
    found = {**shown, "text": safe_text(lines[at][:200])}
    here = [n + 1 for n in range(len(lines)) if _stands_at(lines, wanted, n)]
    if at + 1 in here:
        why = "the line is as quoted" if text else "there is such a line"
        return ClaimVerdict(CONFIRMED, why, (found,))
    elsewhere = f"; the text is in line {', '.join(map(str, here[:3]))}" if here else ""
    return ClaimVerdict(REFUTED, f"the line is another{elsewhere}", (found,))


def judge_defines(tree: ClaimTree, path: str, name: str) -> ClaimVerdict:
    """Confirmed by a definition; refuted where no occurrence in the file can be one."""
    if gone := tree.missing(path):
        return gone
    for short in _shorter(path, name):
        found = list_symbols(tree.view, SymbolQuery(short, path, limit=5))["symbols"]
        if found:
            rows = [{**row, "text": row["signature"], "use": "definition"} for row in found]
            return ClaimVerdict(CONFIRMED, f"a {found[0]['kind']}", rows_of(rows))
    status, flags = tree.flags(path)
    verdict, why = _not_defined(tree, path, name, status)
    return ClaimVerdict(verdict, why, (), _assumed(flags & _MAKES_NAMES, path))


def _not_defined(tree: ClaimTree, path: str, name: str, status: str) -> tuple[str, str]:
    """Return the verdict on a name that no definition of the file has, and why."""
    if status != "parsed":
        return UNVERIFIABLE, "the file is not parsed, or only in part"
    *_, last = _shorter(path, name)
    parts = [part for part in _SEGMENTS.split(last) if part]
    unspelled = [part for part in parts if not _count(tree, path, part)]
    if unspelled:
        return REFUTED, f"{safe_text(unspelled[0])} is not in its text"
    if parts and _is_only_used(tree, path, parts[-1]):
        return REFUTED, f"it only uses {safe_text(parts[-1])}, which is defined elsewhere"
    return UNVERIFIABLE, f"{safe_text(name)} occurs, but is no known definition"


def judge_signature(tree: ClaimTree, name: str, text: str) -> ClaimVerdict:
    """Confirmed where the text is the signature, or its part from the name or the bracket on."""
    found = [d for d in tree.symbols(name) if d.kind in FUNCTIONS | TYPES]
    if not found or not text.strip():
        return ClaimVerdict(UNVERIFIABLE, f"{safe_text(name)} has no signature")
    wanted = _bare(text)
    fits = [d for d in found if wanted in _forms(d.signature, d.name)]
    rows = tuple(map(definition_row, (fits or found)[:3]))
    if _is_split(fits, found):
        why = f"{safe_text(name)} is {len(found)} symbols, and {len(fits)} fit: name one"
        return ClaimVerdict(UNVERIFIABLE, why, rows)
    if fits:
        return ClaimVerdict(CONFIRMED, "as claimed", rows[:1])
    if "…" in "".join(d.signature for d in found):
        return ClaimVerdict(UNVERIFIABLE, "the index keeps only the start of the signature", rows)
    return ClaimVerdict(REFUTED, f"it is {safe_text(found[0].signature)}", rows)


def _is_split(fits: list[Definition], found: list[Definition]) -> bool:
    """Return whether only some of the symbols fit, and they are not overloads of one name."""
    return 0 < len(fits) < len(found) and len({(d.path, d.qualified) for d in found}) > 1


def judge_imports(tree: ClaimTree, path: str, module: str) -> ClaimVerdict:
    """Confirmed by an import of the module or of something in it; refuted where none can be."""
    if gone := tree.missing(path):
        return gone
    tree.view.ensure_facts(paths=[os.fsencode(path)])
    items = [
        _Import(item, tuple(name for name, _ in json.loads(names)), level, line + 1)
        for item, names, level, line in tree.view.rows(_IMPORTS, os.fsencode(path))
    ]
    if line := _imported_at(tree, path, items, module):
        return ClaimVerdict(CONFIRMED, "imported", (_line_row(tree, path, line),))
    language, status = (tree.view.rows(_LANGUAGE, os.fsencode(path)) or [("", "")])[0]
    assumes = _assumed(tree.flags(path)[1] & {"dynamic_import", "eval_exec"}, path)
    if status != "parsed" or language not in _SPELLS_IMPORTS:
        return ClaimVerdict(UNVERIFIABLE, "its imports are not all known", (), assumes)
    last = _last(module)
    if not last or any(last in _parts_of(item) for item in items):
        return ClaimVerdict(UNVERIFIABLE, f"an import names {safe_text(last)}", (), assumes)
    return ClaimVerdict(REFUTED, f"no import names {safe_text(last)}", (), assumes)


def _imported_at(tree: ClaimTree, path: str, items: list[_Import], module: str) -> int:
    """Return the line of the import of a module, given by its name or as a file; 0: none is known."""
    named = [item.line for item in items if _is_import(path, item, module)]
    if named or not tree.has(module):
        return named[0] if named else 0
    graph = call_graph(tree.view, GraphQuery(path, Direction.CALLEES, 1, 1_000), tree.memory)
    edges = [edge for edge in graph["edges"] if edge["kind"] == "import"]
    lines = [edge["site"]["line"] for edge in edges if edge["to"] == safe_text(module)]
    return lines[0] if lines else 0


def _is_import(path: str, item: _Import, module: str) -> bool:
    """Return whether an import statement imports the module, or something below it."""
    if item.level or item.module.startswith("."):
        return item.module == module or _is_relative(path, item, module)
    parts = _SEGMENTS.split(module)
    stated = [item.module, *(f"{item.module}.{name}" for name in item.names if name != "*")]
    return item.module == module or any(_SEGMENTS.split(s)[: len(parts)] == parts for s in stated)


def _is_relative(path: str, item: _Import, module: str) -> bool:
    """Return whether a relative import of Python names the module, whose full name may be longer."""
    folder = path.split("/")[:-1]
    if not path.endswith((".py", ".pyi")) or item.level > len(folder) + 1:
        return False
    base = folder[: len(folder) - item.level + 1]
    whole = ".".join([*base, *filter(None, [item.module])])
    stated = [whole, *(f"{whole}.{name}" for name in item.names)]
    return any(f".{one}".endswith(f".{module}") for one in stated)


def _parts_of(item: _Import) -> list[str]:
    return [*_SEGMENTS.split(_SUFFIX.sub("", item.module)), *item.names]


def _last(module: str) -> str:
    return next(filter(None, reversed(_SEGMENTS.split(_SUFFIX.sub("", module)))), "")


def _is_only_used(tree: ClaimTree, path: str, name: str) -> bool:
    """Return whether every occurrence of a name in a file is a use of a definition in another one."""
    query = ReferenceQuery(name, "", path, MAX_LIMIT, True, True)
    answer = find_references(tree.view, query, tree.memory)
    if not answer["accountedFor"] or answer["possible"] or answer.get("unlikely"):
        return False
    used = [row for row in answer["references"] if not row.get("via")]
    return len(used) + len(answer["mentioned"]) == _count(tree, path, name)


def _count(tree: ClaimTree, path: str, word: str) -> int:
    raw = re.escape(word.encode("utf-8", "surrogateescape"))
    return len(
        re.findall(rb"(?<![\w$\x80-\xff])" + raw + rb"(?![\w$\x80-\xff])", tree.text(path) or b"")
    )


def _shorter(path: str, name: str) -> Iterator[str]:
    """Yield a name, then without the leading parts that only name the file's own module."""
    parts = [part for part in re.split(r"::|[.#]", name) if part]
    folders = path.rpartition(".")[0].split("/")
    yield ".".join(parts)
    while len(parts) > 1 and parts[0] in folders:
        parts = parts[1:]
        yield ".".join(parts)


def _line_row(tree: ClaimTree, path: str, line: int) -> dict[str, object]:
    lines = tree.lines(path) or []
    text = lines[line - 1].strip()[:200] if line <= len(lines) else ""
    return {"path": safe_text(path), "line": line, "text": safe_text(text)}


def _assumed(flags: set[str], path: str) -> tuple[dict[str, object], ...]:
    shown = safe_text(path)
    named = sorted({"eval" if flag == "eval_exec" else "computed_names" for flag in flags})
    return tuple({"assumption": one, "places": 1, "first": shown} for one in named)


def _stands_at(lines: list[str], wanted: list[str], at: int) -> bool:
    here = lines[at : at + len(wanted)]
    return len(here) == len(wanted) and all(w in h for w, h in zip(wanted, here, strict=True))


def _squeezed(line: str) -> str:
    return _BLANKS.sub(" ", line.strip())


def _bare(signature: str) -> str:
    """Return a signature without what does not matter: blanks, a last comma, how the body begins."""
    text = _AROUND.sub(r"\1", _squeezed(signature)).rstrip(":{;").replace(",)", ")")
    return text.strip()


def _forms(signature: str, name: str) -> Iterator[str]:
    """Yield the forms in which a signature is quoted: whole, from its name on, only the brackets."""
    whole = _bare(signature)
    start = max(whole.find(f"{name}("), 0)
    bracket = whole.find("(", start)
    yield whole
    yield whole[start:]
    if bracket < 0:
        return
    params = whole[bracket : _closing(whole, bracket) + 1]
    rest = whole[bracket + len(params) :]
    for form in (params, _RECEIVER.sub("(", params)):
        yield from (form, form + rest, name + form, name + form + rest)
        yield whole[:bracket] + form


def _closing(text: str, opened: int) -> int:
    depth = 0
    for at in range(opened, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            return at
    return len(text) - 1
