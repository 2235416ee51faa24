"""The four kinds of search: each calls the use case of its command and accepts its options."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from typing import NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.languages.table import BY_NAME
from gitindex.query.documents import DocumentQuery, find_documents
from gitindex.query.grep.grep import GrepQuery, grep, scan
from gitindex.query.grep.pattern import GrepPattern
from gitindex.query.search.live import search_live
from gitindex.query.search.query_text import KINDS, read_filters
from gitindex.query.search.search import search
from gitindex.query.symbols import SymbolQuery, list_symbols
from gitindex.store.entities import Filter
from gitindex.view.fallback import served_or_scanned
from gitindex.web.session import Answer, WebQuestion, WebSession

LIMIT = 20
LINES = 100
SYMBOLS = 50
MAX_LIMIT = 200


class SearchTab(NamedTuple):
    """One kind of search: its answer, its command line and its filters."""

    label: str
    answer: Callable[[WebSession, WebQuestion], Answer]
    command: Callable[[WebQuestion], list[str]]
    facets: tuple[str, ...]
    flags: tuple[tuple[str, str], ...] = ()  # parameter and label of its switches


def _search(session: WebSession, asked: WebQuestion) -> Answer:
    named = {"lang": "lang", "path": "path", "kind": "kind", "in": "in"}
    filters = read_filters({flag: asked.many(name) for name, flag in named.items()})
    text, limit = asked.text("q"), asked.number("n", LIMIT, MAX_LIMIT)

    def serve() -> Answer:
        with session.open(asked.choice) as view:
            return dict(search(view, text, limit, filters, memory=session.lexical))

    def scan_disk(why: str) -> Answer:
        return dict(search_live(session.worktree, text, limit, why, filters))

    return served_or_scanned(asked.choice, serve, scan_disk)


def _search_command(asked: WebQuestion) -> list[str]:
    flags = [
        word
        for name, flag in (
            ("lang", "--lang"),
            ("path", "--path"),
            ("kind", "--kind"),
            ("in", "--in"),
        )
        for value in asked.many(name)
        for word in (flag, value)
    ]
    return ["search", asked.text("q"), *flags, "-n", str(asked.number("n", LIMIT, MAX_LIMIT))]


def _grep(session: WebSession, asked: WebQuestion) -> Answer:
    pattern = GrepPattern(
        asked.text("q"), bool(asked.text("i")), bool(asked.text("F")), bool(asked.text("word"))
    )
    languages = frozenset(asked.many("lang"))
    if languages - BY_NAME.keys():
        raise GitIndexError("no such language", "see docs/languages.md", Exit.USAGE)
    below = tuple(os.fsencode(path.rstrip("/")) for path in asked.many("path"))
    limit = asked.number("n", LINES, 10 * MAX_LIMIT)
    question = GrepQuery(pattern, below, limit=limit, languages=languages)

    def serve() -> Answer:
        with session.open(asked.choice) as view:
            return dict(grep(view, question))

    return served_or_scanned(
        asked.choice, serve, lambda why: dict(scan(session.worktree, question, why))
    )


def _grep_command(asked: WebQuestion) -> list[str]:
    switches = [
        flag for name, flag in (("i", "-i"), ("F", "-F"), ("word", "-w")) if asked.text(name)
    ]
    types = [word for value in asked.many("lang") for word in ("-t", value)]
    limit = str(asked.number("n", LINES, 10 * MAX_LIMIT))
    return ["grep", *switches, *types, "-n", limit, "-e", asked.text("q"), *asked.many("path")]


def _symbols(session: WebSession, asked: WebQuestion) -> Answer:
    kind = asked.text("kind")
    if kind and kind not in KINDS:
        raise GitIndexError("no such kind", f"one of {', '.join(sorted(KINDS))}", Exit.USAGE)
    limit = asked.number("n", SYMBOLS, 5 * MAX_LIMIT)
    below = asked.text("path").rstrip("/")
    wanted = SymbolQuery(asked.text("q").strip(), below, kind, limit, exact=False)
    with session.open(asked.choice) as view:
        return dict(list_symbols(view, wanted))


def _symbols_command(asked: WebQuestion) -> list[str]:
    flags = [w for n in ("path", "kind") if asked.text(n) for w in (f"--{n}", asked.text(n))]
    return ["symbols", asked.text("q"), *flags, "-n", str(asked.number("n", SYMBOLS, 1_000))]


def _docs(session: WebSession, asked: WebQuestion) -> Answer:
    filters = Filter(tuple(asked.many("tag")), asked.text("from"), asked.text("to"))
    limit = asked.number("n", LIMIT, MAX_LIMIT)
    wanted = DocumentQuery(asked.text("q"), filters, limit, regex=bool(asked.text("regex")))
    return dict(find_documents(session.worktree, session.worktree.root, wanted, asked.choice))


def _docs_command(asked: WebQuestion) -> list[str]:
    flags = [word for tag in asked.many("tag") for word in ("--tag", tag)]
    flags += [w for n in ("from", "to") if asked.text(n) for w in (f"--{n}", asked.text(n))]
    flags += ["--regex"] if asked.text("regex") else []
    return ["docs", asked.text("q"), *flags, "-n", str(asked.number("n", LIMIT, MAX_LIMIT))]


TABS = {
    "search": SearchTab("Search", _search, _search_command, ("in", "lang", "path", "kind")),
    "grep": SearchTab(
        "Grep",
        _grep,
        _grep_command,
        ("lang", "path"),
        (("i", "ignore case"), ("F", "literal"), ("word", "whole words")),
    ),
    "symbols": SearchTab("Symbols", _symbols, _symbols_command, ("kind", "path")),
    "docs": SearchTab("Docs", _docs, _docs_command, ("tag",), (("regex", "regular expression"),)),
}


def command_line(asked: WebQuestion) -> str:
    """Return the command that gives the same answer."""
    words = TABS[asked.one_of("tab", tuple(TABS))].command(asked)
    at = ["--at", asked.text("at")] if asked.text("at") else []
    return shlex.join(["gitindex", *words, *at])
