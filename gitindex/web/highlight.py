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
_CLASS = re.compile(r"[a-z]?")
_NAME = re.compile(r"[\w.+\-]+")


class Highlighter:
    """One child process, for one file at a time."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._child: subprocess.Popen[bytes] | None = None

    def lines(self, name: str, content: str) -> list[Html]:
        """Return the lines of a text, each as HTML without its line end."""
        plain = content.split("\n")
        if len(content) > MAX_CHARS or max(map(len, plain), default=0) > MAX_LINE:
            return [_cut(line) for line in plain]
        with self._lock:
            found = self._ask(name, content)
        if found is None or len(found) < len(plain):
            return [_cut(line) for line in plain]
        return [_line(tokens) for tokens in found[: len(plain)]]

    def close(self) -> None:
        """End the child."""
        with self._lock:
            child, self._child = self._child, None
            if child is not None:
                child.kill()
                child.communicate()

    def _ask(self, name: str, content: str) -> list[list[list[str]]] | None:
        child = self._child or self._start()
        assert child.stdin is not None
        assert child.stdout is not None
        told = "".join(_NAME.findall(name.rpartition("/")[2]))[-200:] or "text"
        try:
            child.stdin.write(pack(told.encode(), content.encode("utf-8", "surrogatepass")))
            child.stdin.flush()
            frame = unpack(child.stdout.read)
        except (OSError, ValueError):
            frame = None
        if frame is None:
            self.close()
            return None
        found: list[list[list[str]]] = json.loads(frame[0])
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


def _cut(line: str) -> Html:
    if len(line) <= MAX_LINE:
        return text(line)
    return Html(f"{text(line[:MAX_LINE])}<span class='cut'> … {len(line)} characters</span>")


def _line(tokens: list[list[str]]) -> Html:
    parts = []
    for kind, value in tokens:
        shown = text(value)
        sure = _CLASS.fullmatch(kind) is not None
        parts.append(f'<span class="{kind}">{shown}</span>' if kind and sure else shown)
    return Html("".join(parts))
