"""Parse dotted chains in source text: the receiver of a name, and the parts of an expression."""

from __future__ import annotations

from collections.abc import Iterator

from gitindex.base.pattern import compile_later
from gitindex.languages.scopes.bound import Part

MAX_LOOK = 4_000
"""Bytes to search for a matching bracket, or for anything else."""
MAX_PARTS = 12

LITERAL = '"'
"""The name of a part that is a literal."""

_BLANK = b" \t\r\n\\"
_OPENERS = {b")": b"(", b"]": b"[", b"}": b"{", b">": b"<"}
_WORD = compile_later(r"[^\W\d][\w$]*|\$[\w$]*")
_PREFIX = compile_later(r"^(?:await|new|yield|return|typeof|cast)\s+")
_STEP = compile_later(r"\s*(?:\?\.|!\.|->|::|\.)\s*(?=[\w$#])")
_COMMENT = compile_later(rb"(?:^|\s)(?://|#(?![\w]*[(:]))")
_LOADS = ("require", "import")
_LITERAL = compile_later(r"""\(\s*(["'`])([^"'`$]+)\1\s*\)""")
_BRACKETS = str.maketrans("([{<", ")]}>")


UNREADABLE = Part("", False)


def receiver(data: bytes, at: int, arrows: bool = False) -> list[Part] | None:
    """Return the chain before the name at `at`, outermost first; None for a bare name.

    `arrows`: the language accesses members by `->`, which elsewhere precedes a result type.
    """
    end = _before_separator(data, at, arrows)
    if end is None:
        return None
    parts: list[Part] = []
    while end is not None and len(parts) < MAX_PARTS:
        part, start = _primary(data, end)
        parts.append(part)
        if not part.name or part.name == LITERAL:
            break
        end = _before_separator(data, start, arrows)
    if len(parts) == MAX_PARTS:
        parts.append(UNREADABLE)
    return parts[::-1]


def read_chain(text: str) -> list[Part] | None:
    """Parse an expression that is one chain; None for any other."""
    text = text.strip().rstrip(";").strip()
    while match := _PREFIX.match(text):
        text = text[match.end() :]
    if text[:1] == "(" and closing(text, 0) == len(text) - 1:
        return read_chain(text[1:-1])
    if text[:1] in ('"', "'", "`", "[", "{") or text[:1].isdigit():
        return [Part(LITERAL, False)]
    parts: list[Part] = []
    at = 0
    while match := _WORD.match(text, at):
        end = match.end()
        at, called = _after_calls(text, end)
        parts.append(Part(match.group(), called, load=_load(match.group(), text[end:at])))
        step = _STEP.match(text, at)
        if not step:
            return parts if not text[at:].strip(" !") else None
        at = step.end()
    return None


def _load(name: str, arguments: str) -> str:
    """Return the module that a call names, as `require('./x')` does; empty for any other call."""
    match = _LITERAL.fullmatch(arguments) if name in _LOADS else None
    return match.group(2) if match else ""


def cast_type(text: str, language: str) -> str:
    """Return the type of TypeScript's `x as T`; empty without one."""
    _, cast, told = text.rpartition(" as ")
    return told.rstrip("; )") if cast and language in ("javascript", "typescript", "tsx") else ""


def closing(text: str, at: int) -> int:
    """Return the index of the bracket that closes the one at `at`, or the text's length."""
    opener = text[at]
    closer = opener.translate(_BRACKETS)
    depth = 0
    for here in range(at, min(len(text), at + MAX_LOOK)):
        char = text[here]
        depth += (char == opener) - (char == closer)
        if depth == 0:
            return here
    return len(text)


def split_top(text: str, separator: str) -> Iterator[str]:
    """Yield the parts between separators that are outside brackets and quotes."""
    depth = start = 0
    quote = ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'`":
            quote = char
        elif char in "([{<":
            depth += 1
        elif char in ")]}" or (char == ">" and text[at - 1 : at] not in ("=", "-")):
            depth -= 1
        elif char == separator and depth <= 0:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _after_calls(text: str, at: int) -> tuple[int, bool]:
    """Return the end of the arguments and type arguments after a name, and whether it is called."""
    called = False
    while at < len(text):
        if text[at] == "(":
            at, called = closing(text, at) + 1, True
        elif (
            text[at] == "<"
            and (end := closing(text, at)) < len(text)
            and text[end + 1 :][:1] == "("
        ):
            at = end + 1
        else:
            break
    return at, called


def _before_separator(data: bytes, at: int, arrows: bool) -> int | None:
    """Return the end of the expression that `.`, `->` or `::` joins to the name at `at`."""
    start, at = at, _skip_back(data, at)
    if b"\n" in data[at:start] and _in_comment(data, at):
        return None
    two = data[max(0, at - 2) : at]
    if two == b"..":
        return None  # a spread or a range
    if two in (b"?.", b"!.", b"::", b"&.") or (arrows and two == b"->"):
        return _skip_back(data, at - 2)
    return _skip_back(data, at - 1) if two[-1:] == b"." else None


def _in_comment(data: bytes, at: int) -> bool:
    """Return whether the line that ends at `at` ends in a comment."""
    near = max(0, at - MAX_LOOK)
    line = data[max(near, data.rfind(b"\n", near, at) + 1) : at].strip()
    return (
        line.startswith((b"*", b"/*")) or line.endswith(b"*/") or _COMMENT.search(line) is not None
    )


def _primary(data: bytes, end: int) -> tuple[Part, int]:
    last = data[end - 1 : end]
    if last in (b'"', b"'", b"`"):
        return Part(LITERAL, False), end
    if last == b")":
        opened = _opening(data, end)
        if opened is not None and data[opened - 1 : opened] == b">":
            opened = _opening(data, opened)
        if opened is None:
            return UNREADABLE, end
        name, start = _word_before(data, opened)
        if not name:
            inner = data[opened + 1 : end - 1].decode("utf-8", "replace")
            return Part("", False, inner=inner), start
        argument = data[opened:end].decode("utf-8", "replace") if name in _LOADS else ""
        return Part(name, True, load=_load(name, argument)), start
    name, start = _word_before(data, end)
    if name[:1].isdigit():
        return Part(LITERAL, False), start
    return (Part(name, False) if name else UNREADABLE), start


def _opening(data: bytes, end: int) -> int | None:
    """Return where the bracket that closes just before `end` opens."""
    closer = data[end - 1 : end]
    opener = _OPENERS[closer]
    depth = 0
    for here in range(end - 1, max(-1, end - MAX_LOOK), -1):
        char = data[here : here + 1]
        depth += (char == closer) - (char == opener)
        if depth == 0:
            return here
    return None


def _word_before(data: bytes, end: int) -> tuple[str, int]:
    start = end
    least = max(0, end - MAX_LOOK)
    while start > least and _is_word(data[start - 1]):
        start -= 1
    return data[start:end].decode("utf-8", "replace"), start


def _is_word(byte: int) -> bool:
    return byte >= 0x80 or byte in b"_$#" or chr(byte).isalnum()


def _skip_back(data: bytes, at: int) -> int:
    least = max(0, at - MAX_LOOK)
    while at > least and data[at - 1] in _BLANK:
        at -= 1
    return at
