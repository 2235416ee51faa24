"""Runs a program and captures its output. By posix_spawn: subprocess costs 20 ms to import."""

from __future__ import annotations

import os
import select
import time

from gitindex.base.errors import GitIndexError
from gitindex.base.light_types import TYPE_CHECKING, NamedTuple
from gitindex.base.system import SIGKILL, spawn

if TYPE_CHECKING:
    from collections.abc import Sequence

TIMEOUT_S = 60.0


class TooMuchOutput(GitIndexError):
    """A program printed more than the caller accepts."""


class Result(NamedTuple):
    """The output and exit code of a program."""

    returncode: int
    output: bytes
    errors: bytes


class Running:
    """A running program. `result` waits for it."""

    def __init__(
        self, argv: Sequence[str | bytes], env: dict[str, str], stdin: bytes = b""
    ) -> None:
        """`stdin` must fit into a pipe's buffer."""
        self._name = os.fsdecode(argv[0])
        in_read = _filled_pipe(stdin)
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        try:
            self._pid = spawn(argv, env, in_read, out_write, err_write)
        except OSError as error:
            os.close(out_read)
            os.close(err_read)
            raise GitIndexError(f"cannot run {self._name}: {error.strerror}") from error
        finally:
            for fd in (in_read, out_write, err_write):
                os.close(fd)
        self._outputs = out_read, err_read

    def result(self, timeout: float = TIMEOUT_S, most: int = 0) -> Result:
        """Wait for the end. TooMuchOutput if it prints more than `most` bytes, if that is given."""
        try:
            output, errors = _drain(self._outputs, time.monotonic() + timeout, most)
        except BaseException as error:
            self._end()
            if isinstance(error, TimeoutError):
                raise GitIndexError(f"no answer in time from {self._name}", "try again") from error
            raise
        _, status = os.waitpid(self._pid, 0)
        return Result(os.waitstatus_to_exitcode(status), output, errors)

    def abandon(self) -> None:
        """Kill it: its answer is no longer needed."""
        for fd in self._outputs:
            os.close(fd)
        self._end()

    def _end(self) -> None:
        os.kill(self._pid, SIGKILL)
        os.waitpid(self._pid, 0)


def run_program(
    argv: Sequence[str | bytes],
    env: dict[str, str],
    stdin: bytes = b"",
    timeout: float = TIMEOUT_S,
    most: int = 0,
) -> Result:
    """Run a program to its end."""
    return Running(argv, env, stdin).result(timeout, most)


def _filled_pipe(data: bytes) -> int:
    read_end, write_end = os.pipe()
    try:
        os.set_blocking(write_end, False)
        if data and os.write(write_end, data) != len(data):
            raise ValueError("more than a pipe holds")
    finally:
        os.close(write_end)
    return read_end


def _drain(fds: tuple[int, int], deadline: float, most: int = 0) -> tuple[bytes, bytes]:
    chunks: dict[int, list[bytes]] = {fd: [] for fd in fds}
    poller = select.poll()
    for fd in fds:
        poller.register(fd, select.POLLIN | select.POLLHUP)
    left = set(fds)
    size = 0
    try:
        while left:
            ready = poller.poll(max(0.0, deadline - time.monotonic()) * 1000)
            if not ready:
                raise TimeoutError
            for fd, _ in ready:
                chunk = os.read(fd, 1 << 20)
                chunks[fd].append(chunk)
                size += len(chunk)
                if most and size > most:
                    raise TooMuchOutput("git has too much to say")
                if not chunk:
                    poller.unregister(fd)
                    left.discard(fd)
    finally:
        for fd in fds:
            os.close(fd)
    return b"".join(chunks[fds[0]]), b"".join(chunks[fds[1]])
