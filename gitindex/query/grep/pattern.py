"""A pattern that means the same to ripgrep and to Python's `re`, and the lines that match it. Pure."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.pattern import compile_later
from gitindex.extract.fragments import Clause, SubPattern, fold, op, parse, plain_bytes, required

MAX_PATTERN = 4_096
"""Characters of a pattern: parsing and compiling it happens in this process, without a time limit."""
_OWN_FLAGS = re.VERBOSE | re.DOTALL | re.ASCII
_OWN_PARTS = (op.POSSESSIVE_REPEAT, op.ATOMIC_GROUP)
_OWN_PLACES = (op.AT_BEGINNING_STRING, op.AT_END_STRING)
_FLAGS = compile_later(r"\(\?([aimsux]+)\)")
_POSIX_CLASS = compile_later(r"\[:\^?[a-z]+:\]")
_SET_OPERATIONS = ("[", "&&", "--", "~~")


class GrepPattern(NamedTuple):
    """A pattern as requested."""

    text: str
    ignore_case: bool = False
    fixed: bool = False  # a literal, not a regular expression
    word: bool = False  # only whole words
    invert: bool = False  # the lines that do not match

    @property
    def flags(self) -> re.RegexFlag:
        return re.IGNORECASE if self.ignore_case else re.NOFLAG

    @property
    def expression(self) -> str:
        """The regular expression of the text."""
        return re.escape(self.text) if self.fixed else self.text

    def compiled(self) -> re.Pattern[str]:
        """Compile the pattern for one line, or for a whole text if `is_plain`."""
        around = self.expression
        if self.word:
            flags, rest = _split_flags(around)
            around = rf"(?<!\w)(?{flags}:{rest})(?!\w)"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            return re.compile(around, self.flags | re.MULTILINE)


class ParsedPattern(NamedTuple):
    """An accepted pattern and its properties."""

    pattern: GrepPattern
    clauses: tuple[Clause, ...]  # the fragments a text needs to match
    is_plain: bool  # a literal, possibly with boundaries: never slow, never spans lines
    literal: bytes  # of a plain pattern; folded if case is ignored
    any_case: bool
    for_ripgrep: bool  # ripgrep can run it: same meaning as in Python, or it refuses

    def may_be_in(self, data: bytes) -> bool:
        """Return whether a plain pattern may be in a file: a fast check."""
        text = plain_bytes(data)
        if not self.any_case:
            return self.literal in text
        return not text.isascii() or self.literal in text.lower()


def understand(pattern: GrepPattern) -> ParsedPattern:
    """Parse a pattern, or raise an error that explains why it is refused."""
    _check_text(pattern)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            tree = parse(pattern.expression, pattern.flags)
        pattern.compiled()
        return _parsed(pattern, tree)
    except (re.error, OverflowError, RecursionError, UnicodeEncodeError) as error:
        hint = "-F looks for the text as it is"
        raise _refused(f"not a regular expression: {error}", hint) from error


def _parsed(pattern: GrepPattern, tree: SubPattern) -> ParsedPattern:
    flags = tree.state.flags
    any_case = bool(flags & re.IGNORECASE)
    if pattern.invert:  # any file may have such a line; Python searches them
        return ParsedPattern(pattern, (), False, b"", any_case, False)
    plain = all(_is_plain(*part) for part in tree) and op.LITERAL in dict(tree)
    literal = "".join(chr(value) for kind, value in tree if kind is op.LITERAL) if plain else ""
    spelled = literal.encode("utf-8", "surrogateescape")
    needle = fold(spelled) if any_case else spelled
    # For a word that may be empty, ripgrep does not always report the column.
    blank = pattern.word and tree.getwidth()[0] == 0
    own = blank or flags & _OWN_FLAGS or any(_is_own(*kind) for kind in _kinds(tree))
    return ParsedPattern(pattern, required(tree), plain, needle, any_case, not own)


def _split_flags(expression: str) -> tuple[str, str]:
    """Split off the global flags, which are only allowed at the start of a pattern."""
    flags = _FLAGS.match(expression)
    return (flags[1], expression[flags.end() :]) if flags else ("", expression)


def _check_text(pattern: GrepPattern) -> None:
    text = pattern.text
    if len(text) > MAX_PATTERN:
        raise _refused(f"the pattern is longer than {MAX_PATTERN} characters")
    if "\n" in text or "\0" in text:
        raise _refused("a line has no line break and no NUL in it", "look for one line at a time")
    if not pattern.fixed and (posix := _POSIX_CLASS.search(text)):
        raise _refused(
            f"`{posix[0]}` is a class of POSIX, which is not understood",
            "write [A-Za-z], [0-9], \\w or \\s",
        )
    ambiguous = None if pattern.fixed else _two_meanings(text)
    if ambiguous:
        raise _refused(f"`{safe_text(ambiguous)}` has more than one meaning here", "escape it")


def _two_meanings(text: str) -> str | None:
    """Return the part of a pattern that ripgrep and Python interpret differently."""
    in_set = False
    at = 0
    while at < len(text):
        char, two = text[at], text[at : at + 2]
        if char == "\\":
            if two in ("\\<", "\\>") or text[at : at + 3] in ("\\b{", "\\B{"):
                return two
            at += 1
        elif in_set:
            if (operation := next(filter(text[at:].startswith, _SET_OPERATIONS), None)) is not None:
                return operation
            in_set = char != "]"
        elif char == "[":
            in_set = True
            at += 1 if two == "[^" else 0
            at += 1 if text[at + 1 : at + 2] == "]" else 0
        at += 1
    return None


def _kinds(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every part of a pattern, at any depth."""
    for kind, value in tree:
        yield kind, value
        inner = value if isinstance(value, (tuple, list)) else (value,)
        for part in inner:
            if isinstance(part, SubPattern):
                yield from _kinds(part)
            elif kind is op.BRANCH and isinstance(part, list):
                for branch in part:
                    yield from _kinds(branch)


def _is_own(kind: Any, value: Any) -> bool:
    """Return whether a part exists only in Python, or means something different there."""
    if kind is op.SUBPATTERN:
        return bool(value[1] & _OWN_FLAGS)
    return kind in _OWN_PARTS or (kind is op.AT and value in _OWN_PLACES)


def _is_plain(kind: Any, value: Any) -> bool:
    return kind is op.LITERAL or (kind is op.AT and value not in _OWN_PLACES)


def _refused(message: str, hint: str = "") -> GitIndexError:
    return GitIndexError(message, hint, Exit.USAGE)


class LineLimits(NamedTuple):
    """How much to return of each file."""

    per_file: int = 0  # maximum lines; 0: all
    lines: bool = True  # False: only the number of lines
    enough: int = 0  # lines, or files, that the caller uses in total; 0: all


class LineMatch(NamedTuple):
    """A matching line; 1-based, with the column in UTF-8 bytes."""

    line: int
    column: int
    text: bytes


class FileHits(NamedTuple):
    """The matching lines of one file: their number, and the lines if requested."""

    path: bytes
    lines: int
    hits: list[LineMatch]


def search_text(
    regex: re.Pattern[str], data: bytes, want: LineLimits, whole: bool, invert: bool = False
) -> list[LineMatch]:
    """Return matching lines, or with `invert` all others. `whole`: matches never span lines."""
    text = plain_bytes(data).decode("utf-8", "surrogateescape")
    matches = _in_whole(regex, text) if whole else _in_lines(regex, text, invert)
    hits: list[LineMatch] = []
    for number, column, line in matches:
        before = line[:column].encode("utf-8", "surrogateescape")
        hits.append(LineMatch(number, len(before) + 1, line.encode("utf-8", "surrogateescape")))
        if len(hits) == want.per_file:
            break
    return hits


def _in_whole(regex: re.Pattern[str], text: str) -> Iterator[tuple[int, int, str]]:
    number, counted, at = 1, 0, 0
    while (match := regex.search(text, at)) is not None:
        number += text.count("\n", counted, match.start())
        counted = match.start()
        start = text.rfind("\n", 0, counted) + 1
        end = text.find("\n", counted)
        end = len(text) if end == -1 else end
        yield number, counted - start, text[start:end]
        at = end


def _in_lines(
    regex: re.Pattern[str], text: str, invert: bool = False
) -> Iterator[tuple[int, int, str]]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()  # no line follows the last line break
    for number, line in enumerate(lines, 1):
        match = regex.search(line)
        if (match is None) is invert:
            yield number, match.start() if match else 0, line
