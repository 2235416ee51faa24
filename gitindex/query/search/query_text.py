"""The text of a query → filters, phrases, words and their terms. Pure; any text is a query."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.vocabulary import PathKind
from gitindex.extract.terms import terms_of, words_of
from gitindex.languages.table import BY_NAME, TEXT

MAX_QUERY = 8_000
"""Characters of a query: an issue text or a traceback is one."""
MAX_WORDS = 32
"""Words that one query asks for; small words of a sentence do not count."""
MAX_BESIDE = 2
"""With no more words beside it, a phrase is what the query is about: every result must hold it."""
MAX_PHRASES = 8
MAX_FILTERS = 16
MAX_PATH = 512
"""So much of a path, from its end, a pattern is compared with."""

_KINDS = (
    "accessor anchor block class constant constructor enum enumerator field function heading index"
    " interface key keyframes macro method module namespace object package property protocol prototype"
    " section selector sequence struct table trait trigger type union variable view"
)
KINDS = frozenset(_KINDS.split())
"""What `kind:` understands; anything else is text."""

_SMALL = (
    "a an and are as at be been by can could did do does for from had has have how i if in into is it"
    " its me my of on or our should so such than that the their them then there these they this to"
    " was we were what when where which who why will with would you your"
)
_STOP = frozenset(_SMALL.split())
_FILTER = re.compile(r'(?<!\S)(-?path|lang|kind|must|exclude|in):(?:"([^"]+)"|(\S+))(?!\S)')
_PHRASE = re.compile(r'(?<!\S)"([^"]*)"(?!\S)')
_SEPARATOR = re.compile(r"::|->|[.#\\]")
"""What stands between the parts of a qualified name, in any language."""
_ALIASES = {ext: row.name for row in BY_NAME.values() for ext in row.extensions.split()} | {
    "c#": "csharp",
    "shell": "bash",
    "golang": "go",
    "text": TEXT,
}


_HINTS = {
    "kind": f"one of {', '.join(sorted(KINDS))}",
    "lang": "see docs/languages.md",
    "in": f"one of {', '.join(PathKind)}",
}


_ENDINGS = (
    ("ies", ("y",)),
    ("ly", ("", "le")),
    ("ing", ("", "e")),
    ("ed", ("", "e")),
    ("es", ("", "e")),
    ("s", ("",)),
)
"""Endings of English words, and what may take their place; the first that fits."""


class Filters(NamedTuple):
    """What a result must be. Values of one kind are alternatives, except `must`: all of them."""

    languages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    not_paths: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    below: tuple[str, ...] = ()  # folders or files of the tree, by their whole path

    def merged(self, other: Filters) -> Filters:
        """Both sets of filters."""
        pairs = zip(self, other, strict=True)
        return Filters._make(tuple(dict.fromkeys((*a, *b)))[:MAX_FILTERS] for a, b in pairs)


class Word(NamedTuple):
    """One word that was asked for: as written, its terms, and other forms of it."""

    text: str
    terms: tuple[str, ...]  # the whole first, then its parts
    forms: tuple[str, ...]  # `closed` → `close`: found too, and worth less


class Query(NamedTuple):
    """A query. Any text is a valid one."""

    text: str
    words: tuple[Word, ...]
    phrases: tuple[str, ...]  # lower case, single blanks
    filters: Filters
    plain: str  # the text without filters and quotes, in lower case: perhaps a path
    dotted: str = ""  # the same as a qualified name, where it is one: `Foo::bar` → `foo.bar`
    must_hold: bool = False  # every result holds the phrases: there is little else in the query
    unused: int = 0  # words that were not asked for: over the limit

    @property
    def terms(self) -> list[str]:
        """The terms of all words, each once."""
        return list(dict.fromkeys(term for word in self.words for term in word.terms))

    @property
    def is_empty(self) -> bool:
        return not self.words and self.filters == Filters()


def parse_query(text: str, flags: Filters = Filters()) -> Query:  # noqa: B008 - a constant
    """A query from text that may hold `lang:go`, `-path:vendor`, `"a phrase"`, or be pasted code."""
    asked = text[:MAX_QUERY].encode("utf-8", "replace").decode()  # an argument may be any bytes
    found: dict[str, list[str]] = {}
    rest = _FILTER.sub(lambda match: _take_filter(match, found), asked)
    phrases = [" ".join(p.lower().split()) for p in _PHRASE.findall(rest) if words_of(p)]
    beside = _telling(tuple(dict.fromkeys(words_of(_PHRASE.sub(" ", rest)))))
    text_only = _PHRASE.sub(r" \1 ", rest)
    words = _telling(tuple(dict.fromkeys(words_of(text_only))))
    filters = Filters(**{name: tuple(values) for name, values in found.items()})
    plain = " ".join(text_only.lower().split())
    return Query(
        asked.strip(),
        tuple(map(_word, words[:MAX_WORDS])),
        tuple(dict.fromkeys(phrases))[:MAX_PHRASES],
        flags.merged(filters),
        plain,
        _dotted(plain),
        bool(phrases) and len(beside) <= MAX_BESIDE,
        max(0, len(words) - MAX_WORDS),
    )


def read_filters(flags: Mapping[str, Iterable[str]]) -> Filters:
    """Filters given as flags. Here a value that means nothing is an error: nobody pasted it."""
    found: dict[str, list[str]] = {}
    for name, values in flags.items():
        for value in values:
            field, kept = _read_filter(name, value)
            if not kept:
                raise GitIndexError(
                    f"{name}: no such value: {value}", _HINTS.get(name, ""), Exit.USAGE
                )
            found.setdefault(field, []).append(kept)
    return Filters(**{name: tuple(values) for name, values in found.items()})


def known_language(name: str) -> str | None:
    """The language a user means: by its name, or by an extension."""
    lowered = name.lower().lstrip(".")
    return lowered if lowered in BY_NAME else _ALIASES.get(lowered)


def is_below(folders: Iterable[str], path: str) -> bool:
    """Is a path one of the folders, or in one?"""
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def path_matches(patterns: Iterable[str], path: str) -> bool:
    """Is one of the patterns part of the path? `*` and `?` stand for what they do in a shell."""
    lowered = path.lower()
    return any(_pattern_found(pattern.lower(), lowered) for pattern in patterns)


def _pattern_found(pattern: str, path: str) -> bool:
    if "*" not in pattern and "?" not in pattern:
        return pattern in path
    return _pattern(pattern).search(path[-MAX_PATH:]) is not None


@lru_cache(maxsize=256)
def _pattern(text: str) -> re.Pattern[str]:
    """A shell pattern for the end of a path.

    The first place where the text after a star is found is the best one inside a folder, so stars
    give nothing back and no pattern is slow. Only the first that crosses folders may.
    """
    first, *rest = re.split(r"(\*+)", text)
    spelled, crossed = _literal(first), False
    for number in range(0, len(rest), 2):
        crosses = len(rest[number]) > 1
        part = (".*?" if crosses else "[^/]*?") + _literal(rest[number + 1])
        last = number + 2 == len(rest)
        spelled += part if last or (crosses and not crossed) else f"(?>{part})"
        crossed |= crosses
    return re.compile(f"(?:^|/){spelled}$", re.DOTALL)


def _literal(text: str) -> str:
    return re.escape(text).replace(r"\?", "[^/]")


def _take_filter(match: re.Match[str], found: dict[str, list[str]]) -> str:
    """Note a filter and leave a blank in its place; what is none stays text."""
    name, value = match[1], match[2] or match[3]
    field, kept = _read_filter(name, value)
    if not kept:
        return match[0]
    found.setdefault(field, []).append(kept)
    return " "


def _read_filter(name: str, value: str) -> tuple[str, str | None]:
    if name == "lang":
        return "languages", known_language(value)
    if name == "kind":
        return "kinds", value.lower() if value.lower() in KINDS else None
    if name == "in":
        return "places", value.lower() if value.lower() in [*PathKind] else None
    if name in ("must", "exclude"):
        return name, value if words_of(value) else None
    return ("paths" if name == "path" else "not_paths"), value


def is_small(word: str) -> bool:
    """Is it one of the small words of a sentence, which say nothing about code?"""
    return word.lower() in _STOP


def _telling(words: tuple[str, ...]) -> tuple[str, ...]:
    """Without the small words of a sentence, unless nothing else is left."""
    kept = tuple(word for word in words if word.lower() not in _STOP)
    return kept or words


def _dotted(plain: str) -> str:
    """A query that is one qualified name, with dots between its parts; '' for any other."""
    parts = _SEPARATOR.split(plain.removesuffix("()"))
    named = len(parts) > 1 and all(words_of(part) == [part] for part in parts)
    return ".".join(parts) if named else ""


def _word(text: str) -> Word:
    terms = terms_of(text)
    forms = [form for term in terms[:1] for form in _other_forms(term) if form not in terms]
    return Word(text, terms, tuple(forms))


def _other_forms(term: str) -> list[str]:
    """English endings taken off or put on. Wrong guesses are words that are nowhere."""
    if not (term.isalpha() and term.isascii()) or len(term) < 4:
        return []
    for ending, roots in _ENDINGS:
        stem = term.removesuffix(ending)
        if stem != term and len(stem) >= 3 and not term.endswith("ss"):
            doubled = [stem[:-1]] if stem[-1] == stem[-2] and ending in ("ing", "ed") else []
            return [stem + root for root in roots] + doubled
    return [
        f"{term}s",
        f"{term}ed" if not term.endswith("e") else f"{term}d",
        f"{term.removesuffix('e')}ing",
    ]
