"""Names that a Python function binds itself: assignments, loops, `with`, `except`. Read from its text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitindex.query.names.chains import balanced
from gitindex.query.names.signatures import EACH, NAMES, NOWHERE, Bound, read_parameters

MAX_TEXT = 1 << 18
MAX_STATEMENT = 2_000
"""Longer statements are data: nothing is read from them."""

# Every repetition that is not anchored has a bound: a file may be made to be slow.
_QUIET = re.compile(
    r"\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|#[^\n]*",
    re.DOTALL,
)
_ANNOTATED = re.compile(r"^(\w+)\s*:\s*(?!=)(.{1,300}?)(?:(?<![=!<>])=(?!=)\s*(.*))?$", re.DOTALL)
_FOR = re.compile(r"\bfor\s{1,20}([\w\s,()*.]{1,120}?)\s{1,20}in\s{1,20}([^\n:]{0,300})")
_WITH = re.compile(r"([^\s,(][^,]{0,200}?)\s{1,20}as\s{1,20}(\w{1,100})")
_AFTER = re.compile(r"\s(?:if|for|else)\s")
_WALRUS = re.compile(r"\b(\w{1,100})\s{0,20}:=\s{0,20}([^\n)]{0,300})")
_LAMBDA = re.compile(r"\blambda\s{1,20}([^:]{0,300}):")
_CAUGHT = re.compile(r"^except\*?\s*(.{0,300}?)\s+as\s+(\w+)", re.DOTALL)
_RELEASED = re.compile(r"^(?:global|nonlocal)\s+(.*)")
_WORDS = (
    "else try finally lambda if elif while return for with case match class def except async yield"
    " raise assert del import from pass"
)
_KEYWORDS = frozenset(_WORDS.split())

Locals = dict[str, Bound]


def bound_names(text: str) -> Locals:
    """Names bound in the body of a function, the first binding of each that says something."""
    names: Locals = {}
    released: set[str] = set()
    for name, bound in _bindings(text[:MAX_TEXT]):
        if bound.value == "global":
            released.add(name)
        elif name not in names or names[name] == NOWHERE:
            names[name] = bound
    return {name: bound for name, bound in names.items() if name not in released}


def _bindings(text: str) -> Iterator[tuple[str, Bound]]:
    plain = _QUIET.sub(_blanked, text)
    for start, end in _statements(plain):
        if end - start > MAX_STATEMENT:
            continue
        statement = plain[start:end].strip()
        if match := _RELEASED.match(statement):
            for name in NAMES.findall(match.group(1)):
                yield name, Bound(value="global")
            continue
        yield from _inner(statement)
        head = statement.split(None, 1)[0].rstrip(":") if statement else ""
        if head in ("with", "async") and " as " in statement:
            for value, name in _WITH.findall(
                statement.removeprefix("async ").removeprefix("with ")
            ):
                yield name, Bound(value=value)
        elif head == "except" and (caught := _CAUGHT.match(statement)):
            yield caught.group(2), Bound(annotation=caught.group(1).strip("() ").split(",")[0])
        elif head not in _KEYWORDS:
            raw = text[start:end].strip()
            yield from _assigned(statement, raw)


def _inner(statement: str) -> Iterator[tuple[str, Bound]]:
    """Loops, comprehensions, walrus and lambda."""
    if "for " in statement:
        for targets, value in _FOR.findall(statement):
            names = NAMES.findall(targets)
            for name in names:
                each = Bound(value=_AFTER.split(balanced(value))[0], pick=EACH)
                yield name, each if len(names) == 1 else NOWHERE
    if ":=" in statement:
        for name, value in _WALRUS.findall(statement):
            yield name, Bound(value=balanced(value))
    if "lambda" in statement:
        for inner in _LAMBDA.findall(statement):
            for name, _ in read_parameters(inner):
                yield name, NOWHERE


def _assigned(statement: str, raw: str) -> Iterator[tuple[str, Bound]]:
    if (match := _ANNOTATED.match(statement)) and match.group(1) not in _KEYWORDS:
        start, end = match.span(2)
        yield (
            match.group(1),
            Bound(raw[start:end].strip(), raw[match.start(3) :] if match.group(3) else ""),
        )
        return
    cut = _equals(statement)
    if cut is None:
        return
    targets = [statement[:cut].rstrip("+-*/%&|^@<>")]
    value = raw[cut + 1 :]
    while (cut := _equals(value)) is not None and _is_target(value[:cut]):
        targets.append(value[:cut])
        value = value[cut + 1 :]
    for target in targets:
        if target.strip().isidentifier():
            yield target.strip(), Bound(value=value.strip())
            continue
        parts = [] if ":" in target else target.split(",")
        for item, part in enumerate(parts):
            name = part.strip(" \t\n()[]")
            if name.lstrip("*").isidentifier() and "[" not in part.strip(" ["):
                yield name.lstrip("*"), Bound(value=value.strip(), pick=item)


def _is_target(text: str) -> bool:
    return re.fullmatch(r"[\w\s.,()*]+", text) is not None


def _equals(text: str) -> int | None:
    """The first `=` of an assignment, in no brackets."""
    depth = 0
    for match in re.finditer(r"[(\[{]|[)\]}]|(?<![=!<>:])=(?!=)", text):
        char = match.group()
        if char == "=":
            if depth == 0:
                return match.start()
        else:
            depth += 1 if char in "([{" else -1
    return None


def _statements(plain: str) -> Iterator[tuple[int, int]]:
    """Logical lines: those inside brackets belong together."""
    start = at = depth = 0
    for line in plain.splitlines(keepends=True):
        at += len(line)
        depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        if depth <= 0 and not line.rstrip().endswith("\\"):
            yield start, at
            start, depth = at, 0
    yield start, at


def _blanked(match: re.Match[str]) -> str:
    text = match.group()
    if text[0] == "#":
        return _spaces(text)
    edge = 3 if text[:3] in ('"""', "'''") else 1
    return text[:edge] + _spaces(text[edge:-edge]) + text[len(text) - edge :]


def _spaces(text: str) -> str:
    return "".join("\n" if char == "\n" else " " for char in text)
