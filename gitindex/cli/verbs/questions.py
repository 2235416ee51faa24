"""Verbs that query the index: plain functions that return an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from gitindex.base.atomic_file import write_atomic
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.output import print_json
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import (
    Asking,
    any_of,
    in_tree,
    print_answer,
    print_closed,
    print_missing,
    print_warnings,
    shown_signature,
)
from gitindex.cli.shown_path import named_path, shown_path
from gitindex.cli.terminal import paint, say
from gitindex.query.read import parse_span, read_lines
from gitindex.query.search.query_text import KINDS
from gitindex.query.symbols import SymbolQuery, file_symbols, list_symbols
from gitindex.query.symbols import outline as file_outline
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import NOW, TreeChoice, open_tree

if TYPE_CHECKING:
    from gitindex.base.answers import ReadAnswer, SliceAnswer, SymbolsAnswer

A = TypeVar("A", bound=Mapping[str, Any])


def symbols(
    wanted: SymbolQuery,
    path: str = ".",
    ask: TreeChoice = NOW,
    as_json: bool = False,
    team: bool = False,
) -> int:
    """List definitions by name, path and kind."""
    if wanted.kind and wanted.kind not in KINDS:
        raise GitIndexError(
            f"no such kind: {wanted.kind}", f"one of {', '.join(sorted(KINDS))}", Exit.USAGE
        )

    def text(answer: SymbolsAnswer) -> None:
        _say_symbols(answer)
        if not answer["symbols"] and wanted.name:
            print_missing(wanted.name, answer.get("near", []))
        print_warnings(answer)

    def scan(why: str) -> SymbolsAnswer:
        from gitindex.query.live_files import scan_symbols

        return scan_symbols(find_worktree(path), wanted, why)

    serve = in_tree(path, ask, lambda view: list_symbols(view, wanted))
    question = partial(_unless_outdated, ask, serve, scan)
    told: Asking = (question, text, any_of("symbols"))
    if team:
        from gitindex.cli.verbs.team import asking_team

        worktree = find_worktree(path)
        told = asking_team(worktree, "definitions", lambda _: [wanted.name], wanted.limit, told)
    return print_answer(told[0], as_json, told[1], told[2])


def outline(file: str, path: str = ".", ask: TreeChoice = NOW, as_json: bool = False) -> int:
    """List all definitions of one file."""
    inside = named_path(find_worktree(path).root, path, file)
    question = in_tree(path, ask, lambda view: file_outline(view, inside))
    text = partial(_say_outline, inside)
    return print_answer(question, as_json, text, any_of("symbols"))


def symbols_of_file(file: str, as_json: bool = False) -> int:
    """List definitions of any file, inside a repository or not."""
    return print_answer(partial(file_symbols, file), as_json, _say_symbols, any_of("symbols"))


def read(
    place: str,
    path: str = ".",
    ask: TreeChoice = NOW,
    outlined: bool = False,
    as_json: bool = False,
) -> int:
    """Print lines of one file of the tree."""
    worktree = find_worktree(path)
    span = parse_span(place)
    inside = span._replace(file=named_path(worktree.root, path, span.file))

    def scan(why: str) -> ReadAnswer:
        from gitindex.query.live_files import scan_lines

        return scan_lines(worktree, inside, why)

    serve = in_tree(path, ask, lambda view: read_lines(view, inside, outlined))
    return print_answer(partial(_unless_outdated, ask, serve, scan), as_json, _say_lines)


def _unless_outdated(ask: TreeChoice, serve: Callable[[], A], scan: Callable[[str], A]) -> A:
    """Answer from the index; after an upgrade, until it is rebuilt, from the files on disk."""
    try:
        return serve()
    except GateClosed as closed:
        if ask != NOW or not closed.outdated:
            raise
        return cast("A", {**scan(closed.envelope["message"]), "gate": closed.envelope})


def _say_lines(answer: ReadAnswer) -> None:
    starts = {symbol["line"]: symbol for symbol in answer.get("symbols", ())}
    for number, line in enumerate(answer["content"].split("\n"), answer["startLine"]):
        if number in starts:
            told = safe_text(f"{starts[number]['kind']} {starts[number]['qualifiedName']}")
            say(paint("dim", f"        ── {told}"))
        say(f"{paint('line', f'{number:>6}')}  " + safe_text(line.replace("\t", "    ")))
    print_warnings(answer)


def slice_lines(place: str, path: str = ".", forward: bool = False, as_json: bool = False) -> int:
    """Print the lines that a line or a variable depends on, or that depend on it."""
    from gitindex.query.slice import EXITS, parse_place, slice_file

    question = partial(slice_file, parse_place(place), path, forward)
    return print_answer(question, as_json, _say_slice, lambda found: EXITS[found["status"]])


def _say_slice(answer: SliceAnswer) -> None:
    from gitindex.query.slice import EXITS

    if answer["status"] != "ok":
        raise GitIndexError(answer["message"], code=EXITS[answer["status"]])
    function = answer["function"]
    say(f"{shown_path(answer['path'])}: " + safe_text(f"{function['name']} ({answer['source']})"))
    for line in answer["lines"]:
        mark = ">" if line["line"] == answer["line"] else " "
        say(f"{mark}{line['line']:>6}  " + safe_text(line["text"].replace("\t", "    ")))


def write_export(
    form: str, path: str = ".", ask: TreeChoice = NOW, output: str = "-", as_json: bool = False
) -> int:
    """Export the index in another tool's format; `as_json` reports what a file received."""
    from gitindex.query.export import export

    if as_json and output == "-":
        raise GitIndexError("--json tells what was written: give a file with -o", code=Exit.USAGE)
    try:
        with open_tree(find_worktree(path), path, ask) as view:
            if output == "-":
                seen = sys.stdout.isatty()  # programs get the raw bytes, a terminal does not
                for piece in export(view, form):
                    shown = safe_text(piece, keep="\n\t").encode() if seen else piece
                    sys.stdout.buffer.write(shown)
            else:
                folder = os.path.dirname(os.path.abspath(output))
                data = b"".join(export(view, form, folder))
                _write(output, data)
                _say_written(form, output, len(data), as_json)
    except GateClosed as closed:
        if as_json:
            print_json(closed.envelope)
            return int(Exit.GATED)
        return print_closed(closed)
    return int(Exit.OK)


def _say_written(form: str, output: str, size: int, as_json: bool) -> None:
    if as_json:
        print_json({"status": "ok", "format": form, "file": safe_text(output), "bytes": size})
    elif sys.stdout.isatty():
        say(f"wrote {safe_text(output)}: {form}, {size:,} bytes")


def _write(output: str, data: bytes) -> None:
    try:
        write_atomic(os.path.abspath(output), data)
    except OSError as error:
        raise GitIndexError(f"cannot write {output}: {error.strerror}") from error


def _say_outline(path: str, answer: SymbolsAnswer) -> None:
    """Print the file name once, then its definitions as a tree."""
    say(paint("path", shown_path(path)))
    depths = {"": 0}
    width = len(str(max((symbol["line"] for symbol in answer["symbols"]), default=1)))
    for symbol in answer["symbols"]:
        depth = depths.get(symbol.get("parent", ""), 0)
        depths[symbol["qualifiedName"]] = depth + 1
        shown = shown_signature(symbol["signature"] or f"{symbol['kind']} {symbol['name']}")
        line = paint("line", f"{symbol['line']:>{width + 2}}")
        say(f"{line}  {'  ' * depth}{shown}")
    if not answer["symbols"]:
        say("  no definitions")


def _say_symbols(answer: SymbolsAnswer) -> None:
    places = [f"{shown_path(s['path'])}:{s['line']}" for s in answer["symbols"]]
    width = min(60, max(map(len, places), default=0))
    for place, symbol in zip(places, answer["symbols"], strict=True):
        shown = shown_signature(symbol["signature"] or symbol["qualifiedName"], symbol["kind"])
        kind = paint("kind", f"{symbol['kind']:<10}")
        say(f"{paint('path', f'{place:<{width}}')}  {kind} {shown}")
