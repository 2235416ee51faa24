"""Run Python's `re` in its own process, to kill a pattern that does not end."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator

from gitindex.base.errors import GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.system import forbid_core_dumps, limit_cpu
from gitindex.extract.frames import pack, unpack
from gitindex.git.command import clean_env
from gitindex.query.grep.pattern import (
    FileHits,
    GrepPattern,
    LineLimits,
    LineMatch,
    search_text,
)

SECONDS_PER_FILE = 5
SECONDS_IN_ALL = 60
"""A pattern that backtracks exponentially never ends; any other takes far less than a second for a file."""


def search_slowly(
    texts: Iterable[tuple[bytes, bytes]], needle: GrepPattern, want: LineLimits
) -> Iterator[FileHits]:
    """Yield hits in contents, in their order. A file that takes too long raises an error."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=clean_env(),
        cwd="/",
    )
    assert process.stdin is not None
    assert process.stdout is not None
    question = json.dumps([*needle, *want[:2], SECONDS_PER_FILE]).encode()
    try:
        for path, data in texts:
            try:
                process.stdin.write(pack(question, data))
                process.stdin.flush()
                frame = unpack(process.stdout.read)
            except (OSError, ValueError):
                frame = None
            if frame is None:
                raise _too_slow(path)
            hits = [LineMatch(n, column, _encode(text)) for n, column, text in json.loads(frame[0])]
            if hits:
                yield FileHits(path, len(hits), hits)
    finally:
        process.kill()
        process.communicate()


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def _too_slow(path: bytes) -> GitIndexError:
    return GitIndexError(
        f"the pattern takes too long: {safe_text(path)}",
        "repeat less inside of repeats, or install ripgrep",
    )


def serve() -> int:
    """Serve requests until end of input. Kernel limits end a search that takes too long."""
    limit_cpu(SECONDS_IN_ALL)
    forbid_core_dumps()
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    regexes: dict[GrepPattern, re.Pattern[str]] = {}
    while (frame := unpack(source.read)) is not None:
        *fields, per_file, lines, seconds = json.loads(frame[0])
        needle = GrepPattern(*fields)
        regex = regexes.setdefault(needle, needle.compiled())
        signal.setitimer(signal.ITIMER_REAL, seconds)
        hits = search_text(regex, frame[1], LineLimits(per_file, lines), False, needle.invert)
        signal.setitimer(signal.ITIMER_REAL, 0)
        rows = [(h.line, h.column, _decode(h.text) if lines else "") for h in hits]
        sink.write(pack(json.dumps(rows).encode()))
        sink.flush()
    return 0


if __name__ == "__main__":
    sys.exit(serve())
