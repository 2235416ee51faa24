"""Pygments in its own process: if a lexer does not end, only this process is killed."""

from __future__ import annotations

import json
import signal
import sys
from functools import lru_cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_for_filename
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

from gitindex.base.system import forbid_core_dumps, limit_memory
from gitindex.extract.frames import pack, unpack

SECONDS = 2.0
"""CPU time for one question; SIGPROF ends the process after it."""
MEMORY = 1 << 30
CLASSES: tuple[tuple[_TokenType, str], ...] = (
    (Keyword, "k"),
    (Operator.Word, "k"),
    (String, "s"),
    (Comment, "c"),
    (Number, "m"),
    (Name.Function, "f"),
    (Name.Class, "t"),
    (Name.Decorator, "d"),
    (Name.Tag, "k"),
    (Name, "n"),
)
"""Token types with their CSS class; the first match counts."""
Line = list[tuple[str, str]]


def highlight(name: str, text: str) -> list[Line]:
    """Return lines of (class, text); all in one class if no lexer knows the name."""
    lexer = _lexer(name)
    if lexer is None:
        return [[("", line)] for line in text.split("\n")]
    lines: list[Line] = [[]]
    known: dict[_TokenType, str] = {}
    for kind, value in lexer.get_tokens(text):
        if kind not in known:
            known[kind] = _class_of(kind)
        first, *rest = value.split("\n")
        lines[-1].append((known[kind], first))
        for part in rest:
            lines.append([(known[kind], part)])
    return [[pair for pair in line if pair[1]] for line in lines]


def _class_of(kind: _TokenType) -> str:
    for token, shown in CLASSES:
        if kind[: len(token)] == token:
            return shown
    return ""


def _lexer(name: str) -> Lexer | None:
    """Return the lexer of a file; those of one extension share it, for a look-up takes milliseconds."""
    extension = name.rpartition(".")[2] if "." in name else ""
    return _known_lexer(name if extension in ("", "txt") else f"x.{extension}")


@lru_cache(maxsize=256)
def _known_lexer(name: str) -> Lexer | None:
    try:
        found: Lexer = get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
    return found


def serve() -> int:
    """Answer until end of input. The kernel kills a lexer that does not end."""
    forbid_core_dumps()
    limit_memory(MEMORY)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while (frame := unpack(source.read)) is not None:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        found = [highlight(name, text) for name, text in json.loads(frame[0])]
        signal.setitimer(signal.ITIMER_PROF, 0)
        sink.write(pack(json.dumps(found).encode()))
        sink.flush()
    return 0


if __name__ == "__main__":
    sys.exit(serve())
