"""Code as HTML: a child process tokenizes, the text is escaped here; plain if the child fails."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading

from gitindex.extract.frames import pack, unpack
from gitindex.git.command import clean_env
from gitindex.web.html import Html, text

MAX_CHARS = 200_000
MAX_LINE = 2_000
"""Longer lines are cut, and a file that has one is not coloured."""
_CLASS = re.compile(r"[a-z]?|cut")
Tokens = list[list[str]]
"""One line: pairs of a class and a text."""
_NAME = re.compile(r"[\w.+\-]+")


class Highlighter:
    """One child process, for one file at a time."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._child: subprocess.Popen[bytes] | None = None

    def lines(self, name: str, content: str) -> list[Html]:
        """Return the lines of a text, each as HTML without its line end."""
        return [*map(token_html, self.many([(name, content)])[0])]

    def many(self, texts: list[tuple[str, str]]) -> list[list[Tokens]]:
        """Return the lines of several files or snippets as tokens, by one question to the child.

        What is too large, or what the child fails on, has one token for each line.
        """
        fit = [pair for pair in texts if _fits(pair[1])]
        with self._lock:
            found = self._ask(fit) if fit else []
        by_text = dict(zip(fit, found, strict=True)) if found and len(found) == len(fit) else {}
        return [_whole(by_text.get(pair), pair[1]) for pair in texts]

    def close(self) -> None:
        """End the child."""
        with self._lock:
            child, self._child = self._child, None
            if child is not None:
                child.kill()
                child.communicate()

    def _ask(self, texts: list[tuple[str, str]]) -> list[list[Tokens]] | None:
        child = self._child or self._start()
        assert child.stdin is not None
        assert child.stdout is not None
        request = [[_plain_name(name), content] for name, content in texts]
        try:
            child.stdin.write(pack(json.dumps(request).encode()))
            child.stdin.flush()
            frame = unpack(child.stdout.read)
        except (OSError, ValueError):
            frame = None
        if frame is None:
            self.close()
            return None
        found: list[list[Tokens]] = json.loads(frame[0])
        return found

    def _start(self) -> subprocess.Popen[bytes]:
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-m", "gitindex.web.highlight_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=clean_env(),
            cwd="/",
        )
        return self._child


def _plain_name(name: str) -> str:
    return "".join(_NAME.findall(name.rpartition("/")[2]))[-200:] or "text"


def _fits(content: str) -> bool:
    return len(content) <= MAX_CHARS and max(map(len, content.split("\n"))) <= MAX_LINE


def _whole(tokens: list[Tokens] | None, content: str) -> list[Tokens]:
    """Return a line of tokens for each line of the text; plain where the child's differ from it."""
    lines = content.split("\n")
    found = tokens[: len(lines)] if tokens else []
    same = ["".join(part for _, part in line) for line in found] == [
        one.rstrip("\r") for one in lines
    ]
    return found if same else [_plain(line) for line in lines]


def _plain(line: str) -> Tokens:
    cut = [["cut", f" … {len(line)} characters"]] if len(line) > MAX_LINE else []
    return [["", line[:MAX_LINE]], *cut]


def token_html(tokens: Tokens, find: re.Pattern[str] | None = None) -> Html:
    """Return a line as HTML; what the pattern finds in it is marked, across tokens too."""
    marks = [found.span() for found in find.finditer("".join(t for _, t in tokens))] if find else []
    parts, at = [], 0
    for kind, value in tokens:
        shown = _marked(value, at, marks) if marks else text(value)
        sure = kind and _CLASS.fullmatch(kind) is not None
        parts.append(f'<span class="{kind}">{shown}</span>' if sure else shown)
        at += len(value)
    return Html("".join(parts))


def _marked(value: str, at: int, marks: list[tuple[int, int]]) -> str:
    """Return a token that begins at a column, with the parts inside marks marked."""
    parts, done = [], 0
    for start, end in marks:
        first, last = max(start - at, done), min(end - at, len(value))
        if first < last:
            parts += [text(value[done:first]), f"<mark>{text(value[first:last])}</mark>"]
            done = last
    return "".join([*parts, text(value[done:])])
