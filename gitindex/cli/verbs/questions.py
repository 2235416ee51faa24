"""Verbs that ask the index: plain functions that return an exit code."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from gitindex.base.atomic_file import write_atomic
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import print_answer, say_gated
from gitindex.cli.shown_path import named_path, shown_path
from gitindex.cli.terminal import paint, say
from gitindex.query.export import export
from gitindex.query.read import parse_span, read_lines
from gitindex.query.search.query_text import KINDS
from gitindex.query.slice import EXITS as SLICE_EXITS
from gitindex.query.slice import parse_place, slice_file
from gitindex.query.symbols import SymbolQuery, file_symbols, list_symbols
from gitindex.query.symbols import outline as file_outline
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import NOW, TreeChoice, open_tree


def symbols(
    wanted: SymbolQuery, path: str = ".", ask: TreeChoice = NOW, as_json: bool = False
) -> int:
    """Definitions by name, path and kind."""
    if wanted.kind and wanted.kind not in KINDS:
        raise GitIndexError(
            f"no such kind: {wanted.kind}", f"one of {', '.join(sorted(KINDS))}", Exit.USAGE
        )

    def served() -> dict[str, Any]:
        with open_tree(find_worktree(path), path, ask) as view:
            return list_symbols(view, wanted)

    answer = print_answer(served, as_json, _say_symbols)
    if answer is None:
        return int(Exit.GATED)
    if not answer["symbols"] and wanted.name and not as_json:
        say_missing(wanted.name, answer.get("near", []))
    return int(Exit.OK if answer["symbols"] else Exit.NO)


def outline(file: str, path: str = ".", ask: TreeChoice = NOW, as_json: bool = False) -> int:
    """All definitions of one file."""
    inside = named_path(find_worktree(path).root, path, file)

    def served() -> dict[str, Any]:
        with open_tree(find_worktree(path), path, ask) as view:
            return file_outline(view, inside)

    answer = print_answer(served, as_json, lambda found: _say_outline(inside, found))
    if answer is None:
        return int(Exit.GATED)
    return int(Exit.OK if answer["symbols"] else Exit.NO)


def symbols_of_file(file: str, as_json: bool = False) -> int:
    """Definitions of any file, in a repository or not."""
    return _tell_symbols(lambda: file_symbols(file), as_json)


def read(
    place: str,
    path: str = ".",
    ask: TreeChoice = NOW,
    outlined: bool = False,
    as_json: bool = False,
) -> int:
    """Lines of one file of the tree."""
    worktree = find_worktree(path)
    span = parse_span(place)
    inside = span._replace(file=named_path(worktree.root, path, span.file))
    try:
        with open_tree(worktree, path, ask) as view:
            answer = read_lines(view, inside, outlined)
    except GateClosed as closed:
        return say_gated(closed, as_json)
    if as_json:
        say(json.dumps(answer, ensure_ascii=True))
        return int(Exit.OK)
    starts = {symbol["line"]: symbol for symbol in answer.get("symbols", ())}
    for number, line in enumerate(answer["content"].split("\n"), answer["startLine"]):
        if number in starts:
            told = safe_text(f"{starts[number]['kind']} {starts[number]['qualifiedName']}")
            say(paint("dim", f"        ── {told}"))
        say(f"{paint('line', f'{number:>6}')}  " + safe_text(line.replace("\t", "    ")))
    return int(Exit.OK)


def slice_lines(place: str, path: str = ".", forward: bool = False, as_json: bool = False) -> int:
    """The lines that a line or a variable depends on, or that depend on it."""
    answer = slice_file(parse_place(place), path, forward)
    if as_json:
        say(json.dumps(answer, ensure_ascii=True))
    elif answer["status"] != "ok":
        raise GitIndexError(answer["message"], code=SLICE_EXITS[answer["status"]])
    else:
        function = answer["function"]
        say(f"{shown_path(answer['path'])}: {safe_text(function['name'])} ({answer['source']})")
        for line in answer["lines"]:
            mark = ">" if line["line"] == answer["line"] else " "
            say(f"{mark}{line['line']:>6}  " + safe_text(line["text"].replace("\t", "    ")))
    return int(SLICE_EXITS[answer["status"]])


def write_export(form: str, path: str = ".", ask: TreeChoice = NOW, output: str = "-") -> int:
    """The whole index in another tool's format."""
    try:
        with open_tree(find_worktree(path), path, ask) as view:
            if output == "-":
                seen = sys.stdout.isatty()  # programs get the very bytes, a terminal does not
                for piece in export(view, form):
                    shown = safe_text(piece, keep="\n\t").encode() if seen else piece
                    sys.stdout.buffer.write(shown)
            else:
                folder = os.path.dirname(os.path.abspath(output))
                _write(output, b"".join(export(view, form, folder)))
    except GateClosed as closed:
        return say_gated(closed, as_json=False)
    return int(Exit.OK)


def _write(output: str, data: bytes) -> None:
    try:
        write_atomic(os.path.abspath(output), data)
    except OSError as error:
        raise GitIndexError(f"cannot write {output}: {error.strerror}") from error


def _tell_symbols(question: Callable[[], dict[str, Any]], as_json: bool) -> int:
    answer = print_answer(question, as_json, _say_symbols)
    if answer is None:
        return int(Exit.GATED)
    return int(Exit.OK if answer["symbols"] else Exit.NO)


def say_missing(what: str, near: list[str]) -> None:
    """Say on stderr that there is no such symbol, and what may have been meant."""
    hint = f"; near: {', '.join(map(safe_text, near))}" if near else ""
    sys.stderr.write(f"gitindex: no symbol {safe_text(what)}{hint}\n")


def _say_outline(path: str, answer: dict[str, Any]) -> None:
    """The file once, then its definitions as a tree."""
    say(paint("path", shown_path(path)))
    depths = {"": 0}
    width = len(str(max((symbol["line"] for symbol in answer["symbols"]), default=1)))
    for symbol in answer["symbols"]:
        depth = depths.get(symbol.get("parent", ""), 0)
        depths[symbol["qualifiedName"]] = depth + 1
        shown = safe_text(symbol["signature"] or f"{symbol['kind']} {symbol['name']}")
        line = paint("line", f"{symbol['line']:>{width + 2}}")
        say(f"{line}  {'  ' * depth}{shown}")
    if not answer["symbols"]:
        say("  no definitions")


def _say_symbols(answer: dict[str, Any]) -> None:
    places = [f"{shown_path(s['path'])}:{s['line']}" for s in answer["symbols"]]
    width = min(60, max(map(len, places), default=0))
    for place, symbol in zip(places, answer["symbols"], strict=True):
        shown = safe_text(symbol["signature"] or symbol["qualifiedName"])
        kind = paint("kind", f"{symbol['kind']:<10}")
        say(f"{paint('path', f'{place:<{width}}')}  {kind} {shown}")
