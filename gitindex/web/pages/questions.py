"""The four kinds of search: which question of the table each asks, and its command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gitindex.questions.docs import QUESTION as DOCS
from gitindex.questions.grep import QUESTION as GREP
from gitindex.questions.search import QUESTION as SEARCH
from gitindex.questions.symbols import QUESTION as SYMBOLS
from gitindex.questions.table import Question
from gitindex.web.session import Answer, WebQuestion, WebSession

MAX_LIMIT = 200


class SearchTab(NamedTuple):
    """One kind of search: its question, the parameters of its URL, and its filters."""

    label: str
    question: Question
    text: str  # the parameter that the search box gives
    limit: int
    params: Mapping[str, str]  # of the URL, and the question's names for them
    facets: tuple[str, ...]
    flags: tuple[tuple[str, str], ...] = ()  # parameter and label of its switches

    def values(self, asked: WebQuestion) -> dict[str, Any]:
        """Return the question's parameters that a URL gives."""
        query = asked.text("q")
        values: dict[str, Any] = {self.text: [query] if self.text == "patterns" else query}
        values["limit"] = asked.number("n", self.limit, 10 * MAX_LIMIT)
        kinds = {param.name: param.kind for param in self.question.params}
        for name, own in self.params.items():
            given = asked.many(name)
            if given:
                many, flag = kinds[own] == "texts", kinds[own] == "flag"
                values[own] = given if many else bool(given) if flag else given[-1]
        return values


TABS = {
    "search": SearchTab(
        "Search",
        SEARCH,
        "query",
        20,
        {"lang": "lang", "path": "below", "kind": "kind", "in": "place"},
        ("in", "lang", "path", "kind"),
    ),
    "grep": SearchTab(
        "Grep",
        GREP,
        "patterns",
        100,
        {"i": "ignore_case", "F": "fixed", "word": "word", "lang": "types", "path": "words"},
        ("lang", "path"),
        (("i", "ignore case"), ("F", "literal"), ("word", "whole words")),
    ),
    "symbols": SearchTab(
        "Symbols", SYMBOLS, "name", 50, {"kind": "kind", "path": "below"}, ("kind", "path")
    ),
    "docs": SearchTab(
        "Docs",
        DOCS,
        "query",
        20,
        {"tag": "tags", "from": "date_from", "to": "date_to", "regex": "regex"},
        ("tag",),
        (("regex", "regular expression"),),
    ),
}


def answer_of(session: WebSession, asked: WebQuestion, tab: SearchTab) -> Answer:
    """Ask the question of a tab."""
    return session.ask(tab.question, asked.choice, **tab.values(asked))


def command_line(asked: WebQuestion) -> str:
    """Return the command that gives the same answer."""
    tab = TABS[asked.one_of("tab", tuple(TABS))]
    values = tab.values(asked) | ({"at": asked.text("at")} if asked.text("at") else {})
    return shlex.join(["gitindex", tab.question.name, *_words(tab.question, values)])


def _words(question: Question, values: dict[str, Any]) -> Iterator[str]:
    """Yield the arguments, then options; options first where an argument looks like one."""
    words: list[str] = []
    options: list[str] = []
    for param in question.params:
        value = values.get(param.name)
        many = value if isinstance(value, list) else [value] if value else []
        if param.kind == "flag":
            options += [min(param.flags, key=len)] if value else []
        elif param.flags:
            options += [word for one in many for word in (param.flags[0], str(one))]
        else:
            words += many
    dashed = any(word.startswith("-") for word in words)
    yield from (*options, "--", *words) if dashed else (*words, *options)
