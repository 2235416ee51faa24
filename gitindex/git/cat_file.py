"""A long-lived `git cat-file`: takes names, returns objects. Killable, with a deadline."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Sequence
from typing import NamedTuple

from gitindex.base.errors import GitIndexError, ObjectMissing
from gitindex.base.system import spawn

READ_BYTES = 1 << 18


class ObjectInfo(NamedTuple):
    """What git reports about one object."""

    oid: str
    kind: str
    size: int
    data: bytes


class Batch:
    """Queries one child process, started on first use and restarted once if it died.

    `sized`: answers have `<id> <kind> <size>`, else just `<id>`; `contents`: the bytes follow.
    """

    def __init__(
        self,
        argv: list[str],
        env: dict[str, str],
        timeout: float,
        *,
        sized: bool = True,
        contents: bool = False,
    ) -> None:
        self._argv, self._env, self._timeout = argv, env, timeout
        self._sized, self._contents = sized, contents
        self._child: _BatchProcess | None = None

    def ask(self, names: Sequence[str], limit: int | None = None) -> list[ObjectInfo | None]:
        """Return one answer per name, None if missing; refuses objects beyond `limit` bytes.

        The names must fit into a pipe.
        """
        with contextlib.suppress(_Ended):
            return self._ask(names, limit)
        try:
            return self._ask(names, limit)
        except _Ended as ended:
            raise ended.explain(names) from None

    def close(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def _ask(self, names: Sequence[str], limit: int | None) -> list[ObjectInfo | None]:
        if self._child is None:
            self._child = _BatchProcess(self._argv, self._env)
        child = self._child
        try:
            child.deadline = time.monotonic() + self._timeout
            child.send("".join(f"{name}\n" for name in names).encode())
            return [self._answer(child, limit) for _ in names]
        except BaseException:
            self.close()  # the rest of an answer may be in the pipe: never read it as the next one
            raise

    def _answer(self, child: _BatchProcess, limit: int | None) -> ObjectInfo | None:
        words = child.line().decode("ascii", "replace").split(" ")
        if not self._sized:
            return ObjectInfo(words[0], "", 0, b"") if len(words) == 1 else None
        if len(words) != 3:
            return None
        size = int(words[2])
        if limit is not None and size > limit:
            raise GitIndexError(f"object {words[0]} is too big: {size} bytes")
        data = child.take(size + 1)[:size] if self._contents else b""
        return ObjectInfo(words[0], words[1], size, data)


class _Ended(Exception):
    """The child is gone."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code

    def explain(self, names: Sequence[str]) -> GitIndexError:
        """Return the error: an exit code means an unreadable object, a signal does not."""
        what = f"object {names[0]}" if len(names) == 1 else "an object"
        if self.code > 0:
            return ObjectMissing(f"{what} cannot be read", "run `git fsck`")
        return GitIndexError(f"git cat-file was ended ({self.code})", "try again")


class _BatchProcess:
    """One process and its pipes. It exits when we do, because its stdin closes."""

    def __init__(self, argv: list[str], env: dict[str, str]) -> None:
        self.deadline = 0.0
        self._buffer = bytearray()
        child_in, self._in = os.pipe()
        self._out, child_out = os.pipe()
        try:
            self._pid = spawn(argv, env, child_in, child_out, None)
        except OSError as error:
            os.close(self._in)
            os.close(self._out)
            raise GitIndexError(f"cannot run git: {error.strerror}") from error
        finally:
            os.close(child_in)
            os.close(child_out)
        self._poller = select.poll()
        self._poller.register(self._out, select.POLLIN)

    def send(self, data: bytes) -> None:
        try:
            os.write(self._in, data)
        except BrokenPipeError:
            raise _Ended(self._reap()) from None

    def line(self) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            self._more()
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._more()
        data = bytes(memoryview(self._buffer)[:size])
        del self._buffer[:size]
        return data

    def end(self) -> None:
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            self._reap()
        os.close(self._in)
        os.close(self._out)

    def _more(self) -> None:
        left = self.deadline - time.monotonic()
        if left <= 0 or not self._poller.poll(left * 1000):
            raise GitIndexError("git did not answer in time", "try again, or run `git fsck`")
        chunk = os.read(self._out, READ_BYTES)
        if not chunk:
            raise _Ended(self._reap())
        self._buffer += chunk

    def _reap(self) -> int:
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        return os.waitstatus_to_exitcode(status)
