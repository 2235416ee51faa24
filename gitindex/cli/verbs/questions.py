"""Verbs that ask the index: plain functions that return an exit code."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from gitindex.base.atomic_file import write_atomic
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import any_of, in_tree, print_answer, print_closed, print_missing
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

if TYPE_CHECKING:
    from gitindex.base.answers import ReadAnswer, SymbolsAnswer


def symbols(
    wanted: SymbolQuery, path: str = ".", ask: TreeChoice = NOW, as_json: bool = False
) -> int:
    """Definitions by name, path and kind."""
    if wanted.kind and wanted.kind not in KINDS:
        raise GitIndexError(
            f"no such kind: {wanted.kind}", f"one of {', '.join(sorted(KINDS))}", Exit.USAGE
        )

    def text(answer: SymbolsAnswer) -> None:
        _say_symbols(answer)
        if not answer["symbols"] and wanted.name:
            print_missing(wanted.name, answer.get("near", []))

    question = in_tree(path, ask, lambda view: list_symbols(view, wanted))
    return print_answer(question, as_json, text, any_of("symbols"))


def outline(file: str, path: str = ".", ask: TreeChoice = NOW, as_json: bool = False) -> int:
    """All definitions of one file."""
    inside = named_path(find_worktree(path).root, path, file)
    question = in_tree(path, ask, lambda view: file_outline(view, inside))
    text = partial(_say_outline, inside)
    return print_answer(question, as_json, text, any_of("symbols"))


def symbols_of_file(file: str, as_json: bool = False) -> int:
    """Definitions of any file, in a repository or not."""
    return print_answer(partial(file_symbols, file), as_json, _say_symbols, any_of("symbols"))


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
    question = in_tree(path, ask, lambda view: read_lines(view, inside, outlined))
    return print_answer(question, as_json, _say_lines)


def _say_lines(answer: ReadAnswer) -> None:
    starts = {symbol["line"]: symbol for symbol in answer.get("symbols", ())}
    for number, line in enumerate(answer["content"].split("\n"), answer["startLine"]):
        if number in starts:
            told = safe_text(f"{starts[number]['kind']} {starts[number]['qualifiedName']}")
            say(paint("dim", f"        ── {told}"))
        say(f"{paint('line', f'{number:>6}')}  " + safe_text(line.replace("\t", "    ")))


def slice_lines(place: str, path: str = ".", forward: bool = False, as_json: bool = False) -> int:
    """The lines that a line or a variable depends on, or that depend on it."""
    question = partial(slice_file, parse_place(place), path, forward)
    return print_answer(question, as_json, _say_slice, lambda found: SLICE_EXITS[found["status"]])


def _say_slice(answer: dict[str, Any]) -> None:
    if answer["status"] != "ok":
        raise GitIndexError(answer["message"], code=SLICE_EXITS[answer["status"]])
    function = answer["function"]
    say(f"{shown_path(answer['path'])}: " + safe_text(f"{function['name']} ({answer['source']})"))
    for line in answer["lines"]:
        mark = ">" if line["line"] == answer["line"] else " "
        say(f"{mark}{line['line']:>6}  " + safe_text(line["text"].replace("\t", "    ")))


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
        return print_closed(closed)
    return int(Exit.OK)


def _write(output: str, data: bytes) -> None:
    try:
        write_atomic(os.path.abspath(output), data)
    except OSError as error:
        raise GitIndexError(f"cannot write {output}: {error.strerror}") from error


def _say_outline(path: str, answer: SymbolsAnswer) -> None:
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


def _say_symbols(answer: SymbolsAnswer) -> None:
    places = [f"{shown_path(s['path'])}:{s['line']}" for s in answer["symbols"]]
    width = min(60, max(map(len, places), default=0))
    for place, symbol in zip(places, answer["symbols"], strict=True):
        shown = safe_text(symbol["signature"] or symbol["qualifiedName"])
        kind = paint("kind", f"{symbol['kind']:<10}")
        say(f"{paint('path', f'{place:<{width}}')}  {kind} {shown}")
