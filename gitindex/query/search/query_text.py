"""Parse the text of a query into filters, phrases, words and terms; split long texts. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import counted
from gitindex.base.light_types import NamedTuple
from gitindex.base.pattern import compile_later
from gitindex.base.vocabulary import PathKind
from gitindex.extract.terms import terms_of, words_of
from gitindex.languages.table import BY_NAME, TEXT

MAX_QUERY = 8_000
"""Maximum characters of a query; issue texts and tracebacks are queries too."""
MAX_WORDS = 32
"""Maximum words of a query; stop words do not count."""
MAX_BESIDE = 2
"""Maximum words beside a phrase for which every result must contain the phrase."""
MAX_PHRASES = 8
MAX_FILTERS = 16
MAX_PATH = 512
"""Characters, from the end of a path, that a pattern is compared with."""
LONG = 300
"""A query is long if it has more characters than this, or several lines."""
MAX_TITLE = 200
_FRAME = compile_later(
    r'File "[^"\n]*?([^"/\n]+/)?([^"/\n]+)", line \d+, in (\w+)'
    r"|^\s*at ([\w.$<>]+) ?\(([^():\s]+)[:)]",
    re.MULTILINE,
)
_SUFFIXES = "py|js|ts|tsx|go|rs|rb|java|kt|cs|php|c|h|cpp|scala|ex|hs|lua|sh|swift"
_PATH = compile_later(rf"(?<![\w/.])(?:[\w.-]+/)+[\w-]+\.\w{{1,5}}\b|\b[\w-]+\.(?:{_SUFFIXES})\b")
_CODE = compile_later(r"`([^`\n]{2,80})`")
_NAME = compile_later(
    r"\b(?:\w+(?:\.|::|->|#))+\w+|\b[a-z]+(?:_[a-z0-9]+)+\b|\b[A-Za-z]+[a-z][A-Z]\w*\b"
)
_BLOB = compile_later(r"https?://\S+|\b[0-9a-f]{12,}\b|\b0x[0-9a-fA-F]+\b")

_KINDS = (
    "accessor anchor block class constant constructor enum enumerator field function heading index"
    " interface key keyframes macro method module namespace object package property protocol prototype"
    " section selector sequence struct table trait trigger type union variable view"
)
KINDS = frozenset(_KINDS.split())
"""Values that `kind:` accepts; anything else is text."""

_SMALL = (
    "a an and are as at be been by can could did do does for from had has have how i if in into is it"
    " its me my of on or our should so such than that the their them then there these they this to"
    " was we were what when where which who why will with would you your"
)
_STOP = frozenset(_SMALL.split())
_VAGUE_WORDS = (
    "add added adding adds allow allowed allows avoid avoids change changed changes correct correctly"
    " ensure ensures fix fixed fixes fixing handle handled handles handling implement implementation"
    " implemented implements improve improved improves incorrect incorrectly introduce issue issues"
    " make makes making prevent prevents properly remove removed removes removing replace replaced"
    " simplify support supported supports update updated updates use used uses using work working"
    " works wrong"
    " after all also any before between but don doesn during each instead more new non not only other"
    " same some via while without"
)
_VAGUE = frozenset(_VAGUE_WORDS.split())
"""Words about a change or about the asking: they tell little about the file."""
_FILTER = compile_later(r'(?<!\S)(-?path|lang|kind|must|exclude|in):(?:"([^"]+)"|(\S+))(?!\S)')
_PHRASE = compile_later(r'(?<!\S)"([^"]*)"(?!\S)')
_VALUE = compile_later(r"""(?<!\w)(['"`])[^'"`\n]*\1(?!\w)|\(?#?\b\d+\b|:\s|\.\s""")
"""What stands between the fixed parts of a message: values, and the place it came from."""
FIXED = 3
"""Words of such a part."""
_SEPARATOR = compile_later(r"::|->|[.#\\]")
"""Separators of qualified names, in any language."""
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
"""Endings of English words and their replacements; the first that fits is used."""


class Filters(NamedTuple):
    """Conditions on results. Values of one field are alternatives; all of `must` are required."""

    languages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    not_paths: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    below: tuple[str, ...] = ()  # folders or files of the tree, by their full path

    def merged(self, other: Filters) -> Filters:
        """Return both sets of filters combined."""
        pairs = zip(self, other, strict=True)
        return Filters._make(tuple(dict.fromkeys((*a, *b)))[:MAX_FILTERS] for a, b in pairs)


class Word(NamedTuple):
    """One word of the query: as written, its terms, and other forms of it."""

    text: str
    terms: tuple[str, ...]  # the whole first, then its parts
    forms: tuple[str, ...]  # `closed` → `close`: also found, with a lower weight


class Query(NamedTuple):
    """A query. Any text is a valid one."""

    text: str
    words: tuple[Word, ...]
    phrases: tuple[str, ...]  # lower case, single spaces
    filters: Filters
    plain: str  # the text without filters and quotes, in lower case: possibly a path
    dotted: str = ""  # the same as a qualified name, if it is one: `Foo::bar` → `foo.bar`
    must_hold: bool = False  # every result must contain the phrases
    unused: int = 0  # words over the limit, which are not searched
    runs: tuple[str, ...] = ()  # parts that a message may have word for word, in lower case

    @property
    def terms(self) -> list[str]:
        """Return the terms of all words, without duplicates."""
        return list(dict.fromkeys(term for word in self.words for term in word.terms))

    @property
    def is_empty(self) -> bool:
        return not self.words and self.filters == Filters()


def parse_query(text: str, flags: Filters = Filters()) -> Query:  # noqa: B008 - a constant
    """Parse a query that may contain `lang:go`, `-path:vendor`, `"a phrase"`, or be pasted code."""
    query = text[:MAX_QUERY].encode("utf-8", "replace").decode()  # an argument may be any bytes
    fields: dict[str, list[str]] = {}
    rest = _FILTER.sub(lambda match: _take_filter(match, fields), query)
    phrases = [" ".join(p.lower().split()) for p in _PHRASE.findall(rest) if words_of(p)]
    beside = _telling(tuple(dict.fromkeys(words_of(_PHRASE.sub(" ", rest)))))
    text_only = _PHRASE.sub(r" \1 ", rest)
    words = _telling(tuple(dict.fromkeys(words_of(text_only))))
    filters = Filters(**{name: tuple(values) for name, values in fields.items()})
    plain = " ".join(text_only.lower().split())
    return Query(
        query.strip(),
        tuple(map(_word, words[:MAX_WORDS])),
        tuple(dict.fromkeys(phrases))[:MAX_PHRASES],
        flags.merged(filters),
        plain,
        _dotted(plain),
        bool(phrases) and len(beside) <= MAX_BESIDE,
        max(0, len(words) - MAX_WORDS),
        _runs(rest),
    )


def _runs(text: str) -> tuple[str, ...]:
    """Return the parts of a text between values that are long enough to be a message's own words."""
    parts = _VALUE.sub("\n", text).lower().split("\n")
    stripped = (" ".join(part.split()).strip(".,;()[]- ") for part in parts)
    return tuple(dict.fromkeys(p for p in stripped if len(words_of(p)) >= FIXED))[:MAX_PHRASES]


def read_filters(flags: Mapping[str, Iterable[str]]) -> Filters:
    """Parse filters given as flags. Unlike in a query, an invalid value is an error."""
    fields: dict[str, list[str]] = {}
    for name, values in flags.items():
        for value in values:
            field, kept = _read_filter(name, value)
            if not kept:
                raise GitIndexError(
                    f"{name}: no such value: {value}", _HINTS.get(name, ""), Exit.USAGE
                )
            fields.setdefault(field, []).append(kept)
    return Filters(**{name: tuple(values) for name, values in fields.items()})


def known_language(name: str) -> str | None:
    """Return the language for a name or an extension."""
    lowered = name.lower().lstrip(".")
    return lowered if lowered in BY_NAME else _ALIASES.get(lowered)


def is_below(folders: Iterable[str], path: str) -> bool:
    """Return whether a path is one of the folders, or below one."""
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def path_matches(patterns: Iterable[str], path: str) -> bool:
    """Return whether a pattern is part of the path; with `*` or `?`, whether it matches the end."""
    lowered = path.lower()
    return any(_pattern_found(pattern.lower(), lowered) for pattern in patterns)


def whole_terms(texts: Iterable[str]) -> list[str]:
    """Return the words of some texts as the lexical index stores them."""
    return list(dict.fromkeys(terms_of(word)[0] for text in texts for word in words_of(text)))


def _pattern_found(pattern: str, path: str) -> bool:
    if "*" not in pattern and "?" not in pattern:
        return pattern in path
    return _pattern(pattern).search(path[-MAX_PATH:]) is not None


@lru_cache(maxsize=256)
def _pattern(text: str) -> re.Pattern[str]:
    """Return a regular expression for a shell pattern at the end of a path.

    Inside a folder the first match after a star is the best one, so stars are atomic and no pattern
    is slow. Only the first `**` may backtrack.
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


def _take_filter(match: re.Match[str], fields: dict[str, list[str]]) -> str:
    """Record a filter and replace it by a blank; an invalid filter stays text."""
    name, value = match[1], match[2] or match[3]
    field, kept = _read_filter(name, value)
    if not kept:
        return match[0]
    fields.setdefault(field, []).append(kept)
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


def is_vague(word: str) -> bool:
    """Return whether a word tells little about a file: that something is fixed, used or handled."""
    return word.lower() in _VAGUE


def is_small(word: str) -> bool:
    """Return whether a word is a stop word."""
    return word.lower() in _STOP


def _telling(words: tuple[str, ...]) -> tuple[str, ...]:
    """Drop stop words, unless there are no other words."""
    kept = tuple(word for word in words if word.lower() not in _STOP)
    return kept or words


def _dotted(plain: str) -> str:
    """Return a query that is one qualified name with dots between its parts, else ''."""
    parts = _SEPARATOR.split(plain.removesuffix("()"))
    named = len(parts) > 1 and all(words_of(part) == [part] for part in parts)
    return ".".join(parts) if named else ""


def _word(text: str) -> Word:
    terms = terms_of(text)
    forms = [form for term in terms[:1] for form in _other_forms(term) if form not in terms]
    return Word(text, terms, tuple(forms))


def _other_forms(term: str) -> list[str]:
    """Return English forms with endings removed or added. Wrong guesses match nothing."""
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


class SplitQuery(NamedTuple):
    """The queries made from one text, and warnings about it."""

    queries: list[Query]
    warnings: list[str]


def split_query(text: str, filters: Filters = Filters()) -> SplitQuery:  # noqa: B008 - a constant
    """Return one query for a short text; for a long one, queries for its title and its body."""
    whole = text.strip()
    warnings = []
    if len(whole) > MAX_QUERY:
        warnings.append(f"only the first {MAX_QUERY} characters of the query were used")
        whole = whole[:MAX_QUERY]
    title, _, body = whole.partition("\n")
    if len(whole) <= LONG and not body.strip():
        query = parse_query(whole, filters)
        if query.unused:
            warnings.append(f"not used: {counted(query.unused, 'words')} of the query")
        return SplitQuery([query], warnings)
    if not body.strip() or len(title) > MAX_TITLE:
        title, body = whole[:MAX_TITLE], whole
    first = parse_query(title, filters)._replace(must_hold=False)
    chosen, unused = _body_words(body)
    if unused:
        warnings.append(f"not used: {counted(unused, 'words')} of the query")
    queries = [first._replace(phrases=())]
    if chosen:
        queries.append(parse_query(" ".join(chosen), filters)._replace(must_hold=False))
    return SplitQuery([query for query in queries if query.words] or [first], warnings)


def _body_words(body: str) -> tuple[list[str], int]:
    """Return the words of a body to search, code-like ones first, and how many are left over."""
    text = _BLOB.sub(" ", body)
    frames = [part for match in _FRAME.findall(text) for part in match[::-1] if part]
    coded = [
        *frames,
        *_PATH.findall(text),
        *(name for code in _CODE.findall(text) for name in [code]),
        *_NAME.findall(text),
    ]
    listed = [word for part in coded for word in words_of(part)] + words_of(text)
    words = [w for w in dict.fromkeys(listed) if not is_small(w) and len(w) > 1 and not w.isdigit()]
    return words[:MAX_WORDS], max(0, len(words) - MAX_WORDS)
