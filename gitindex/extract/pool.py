"""Extracts blobs in killable children and quarantines those that kill them.

Never parses in process.
"""

from __future__ import annotations

import os
import queue
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, NamedTuple

from gitindex.base.errors import GitIndexError, ObjectMissing
from gitindex.base.system import cpu_of
from gitindex.base.vocabulary import BINARY_PROBE, FactsStatus, SkipReason
from gitindex.extract.frames import (
    CRASHED,
    SHORT,
    TIMED_OUT,
    Reply,
    WorkRequest,
    pack,
    plain_facts,
    quarantined,
    unpack,
)
from gitindex.extract.policy import Read, skip_content
from gitindex.git.command import clean_env
from gitindex.languages.facts import BlobFacts, FactsKey, decode_facts

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

SECONDS_PER_BLOB = 10.0
"""CPU time limit of the child per blob: unlike wall time, it does not depend on other load."""
IDLE_FACTOR = 6.0
"""A child that sleeps this many times longer than its CPU limit counts as hung."""
CHECK_SECONDS = 0.5  # between two checks of the CPU time of a silent child
START_SECONDS = 1.0
"""Extra time for the first blob of a child, to cover the child's start."""
EXIT_SECONDS = 5.0
"""How long a child whose output has ended may take to end: it only frees its memory."""
BATCH_BYTES = 1 << 19  # of the blobs in one message to a child
BATCH_BLOBS = 64  # the same bound where they are small
ALONE_BYTES = 3 << 19
"""Below this many bytes one child does all the work: starting another costs more than it saves."""
RECEIVE_BYTES = 1 << 17
"""Most bytes read from a child at once; a pipe holds half as many."""
_IDLE_BATCHES = 4  # that wait for a child while the caller writes: none of them idles
_SERVE = "from gitindex.extract.worker import main; main()"
"""What a child runs; `-m` would import 4 ms more."""


class Task(NamedTuple):
    """A blob to extract under its key."""

    key: FactsKey
    request: WorkRequest


Finished = tuple[Task, Reply]
_BY_MACHINE = (-signal.SIGKILL, -signal.SIGXCPU)
"""Exit codes of a child that the kernel ended for lack of memory or by an inherited CPU limit."""


class _WorkerDied(Exception):
    """The child crashed, hung, or sent an invalid reply: the message is the quarantine reason."""


class ParsersUnavailable(GitIndexError):
    """No child can parse here, not even an empty file: the machine's fault, not a blob's."""

    def __init__(self) -> None:
        super().__init__(
            "cannot start a parser process: too little memory, or too many processes or open files",
            "raise the limit (`ulimit -a` lists them) and run `gitindex index`",
        )


class _WorkerProcess:
    """One worker process, started at first use and restarted after it died."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._starts = True
        self._is_short = False  # a limit that we inherited is lower than ours
        self._process: subprocess.Popen[bytes] | None = None
        self._received = bytearray()  # of replies that were not asked for yet

    def ask(self, tasks: list[Task]) -> Iterator[Reply]:
        """Yield replies to `tasks` in order; raises _WorkerDied at the first missing one."""
        process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        blob = b"".join(_packed(task.request) for task in tasks)
        sender = threading.Thread(target=_send, args=(process.stdin, blob), daemon=True)
        sender.start()
        try:
            if self._starts:
                self._starts = False
                self._is_short = self._greeting(process) == SHORT.encode()
            for _ in tasks:
                limit = _Limit(process.pid, self._seconds)
                yield _receive(process.stdout.fileno(), self._received, limit)
            sender.join()
        except _WorkerDied as death:
            code = self.kill()
            sender.join()
            if str(death) != TIMED_OUT and (self._is_short or code in _BY_MACHINE):
                raise _WorkerDied(SHORT) from death
            raise
        except BaseException:
            self.kill()
            sender.join()
            raise

    def _greeting(self, process: subprocess.Popen[bytes]) -> bytes:
        """What a child says when it has imported its parsers. One that dies before that, or is not
        ready in the time of a blob, was given too little."""
        assert process.stdout is not None
        limit = _Limit(process.pid, self._seconds + START_SECONDS)
        try:
            return _receive(process.stdout.fileno(), self._received, limit).payload
        except _WorkerDied as death:
            raise ParsersUnavailable from death

    def can_parse(self, language: str) -> bool:
        """Does a new child survive an empty file of this language?"""
        self.kill()
        try:
            return bool(list(self.ask([Task(FactsKey("", ""), WorkRequest(language, b""))])))
        except _WorkerDied:
            return False

    def kill(self) -> int:
        """End the child at once; returns its exit code, 0 without one."""
        self._received.clear()
        code: int | None = None
        if self._process is not None:
            process, self._process = self._process, None
            # The end of its output can be seen before its exit code: give it the time to end itself.
            code = _exit_code(process)
            if code is None:
                process.send_signal(signal.SIGKILL)
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):  # a broken pipe to a dead child
                        stream.close()
            process.wait()
        return code or 0

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.kill()
            self._starts = True
            self._process = start_worker()
        return self._process


def start_worker() -> subprocess.Popen[bytes]:
    """Start a child that serves requests on its standard input until end of file."""
    return subprocess.Popen(
        [sys.executable, "-I", "-c", _SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=clean_env(),
        cwd="/",
        bufsize=0,
    )


def ask_once(request: WorkRequest, seconds: float = SECONDS_PER_BLOB) -> Reply:
    """Return the reply of a fresh child, without a retry."""
    child = _WorkerProcess(seconds)
    try:
        return next(child.ask([Task(FactsKey("", ""), request)]))
    except _WorkerDied as death:
        raise GitIndexError(f"cannot parse the file: {death}") from death
    finally:
        child.kill()


class Extractor:
    """A few children that run in parallel. Threads only wait: all parsing is in the children."""

    def __init__(self, workers: int | None = None, seconds: float = SECONDS_PER_BLOB) -> None:
        count = workers or min(4, os.cpu_count() or 1)
        self._children = [_WorkerProcess(seconds) for _ in range(count)]

    @contextmanager
    def stream(self) -> Iterator[TaskStream]:
        """Give a stream that takes tasks and returns replies; its threads end with the context."""
        stream = TaskStream(self._children)
        try:
            yield stream
        finally:
            stream.close()

    def extract(self, tasks: Iterable[Task]) -> Iterator[Finished]:
        """Yield each task with its reply, in any order; quarantine blobs that kill their worker."""
        with self.stream() as stream:
            for task in tasks:
                yield from stream.submit(task)
            yield from stream.finish()

    def close(self) -> None:
        """End all children."""
        for child in self._children:
            child.kill()


class TaskStream:
    """Collects tasks in batches. One child handles a small total, all children a larger one."""

    def __init__(self, children: list[_WorkerProcess]) -> None:
        self._children = children
        self._batch: list[Task] = []  # not handed over yet
        self._batch_bytes = 0
        self._full_batches: list[list[Task]] = []  # full batches, while one child may be enough
        self._full_bytes = 0
        self._pool: ThreadPoolExecutor | None = None
        self._idle: queue.SimpleQueue[_WorkerProcess] = queue.SimpleQueue()
        self._running: deque[Future[list[Finished]]] = deque()

    def submit(self, task: Task) -> list[Finished]:
        """Add one task; return earlier ones that are done, and block if too many are pending."""
        self._batch.append(task)
        self._batch_bytes += len(task.request.data)
        if self._batch_bytes < BATCH_BYTES and len(self._batch) < BATCH_BLOBS:
            return []
        return self._hand_over()

    def finish(self) -> Iterator[Finished]:
        """Yield the remaining replies."""
        if self._batch:
            yield from self._hand_over()
        for batch in self._full_batches:
            yield from _with_care(self._children[0], batch)
        while self._running:
            yield from self._running.popleft().result()

    def close(self) -> None:
        """End the threads, after the work in progress is done."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _hand_over(self) -> list[Finished]:
        self._full_batches.append(self._batch)
        self._full_bytes += self._batch_bytes
        self._batch, self._batch_bytes = [], 0
        if self._full_bytes < ALONE_BYTES:
            return []
        if self._pool is None:
            self._pool = self._start()
        self._running += [self._pool.submit(self._work, batch) for batch in self._full_batches]
        self._full_batches = []
        finished: list[Finished] = []
        while len(self._running) > _IDLE_BATCHES + len(self._children):
            finished += self._running.popleft().result()
        return finished

    def _start(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor  # lazily: small refreshes need none

        for child in self._children:
            self._idle.put(child)
        return ThreadPoolExecutor(len(self._children))

    def _work(self, batch: list[Task]) -> list[Finished]:
        child = self._idle.get()
        try:
            return list(_with_care(child, batch))
        finally:
            self._idle.put(child)


def _with_care(child: _WorkerProcess, batch: list[Task]) -> Iterator[Finished]:
    """Return replies to a batch; after a crash the rest runs one by one, each with one retry."""
    answered = 0
    try:
        for reply in child.ask(batch):
            yield batch[answered], reply
            answered += 1
        return
    except _WorkerDied as death:
        suspect, cause = batch[answered], str(death)
    yield suspect, _second_chance(child, suspect, cause)
    if answered + 1 < len(batch):
        yield from _with_care(child, batch[answered + 1 :])


def _second_chance(child: _WorkerProcess, task: Task, cause: str) -> Reply:
    """Quarantine a blob that kills a second child, if an empty file does not kill a third."""
    try:
        return next(iter(child.ask([task])))
    except _WorkerDied as death:
        if not child.can_parse(task.request.language):
            raise ParsersUnavailable from death
        return quarantined(task.request, SHORT if SHORT in (cause, str(death)) else cause)


class _Limit:
    """The limit of a child for one blob, measured in its CPU time and not in wall time.

    It begins with the first check of the child: nearly all blobs are done before one.
    """

    def __init__(self, pid: int, seconds: float) -> None:
        self._pid, self._seconds = pid, seconds
        self._start = self._seen = -1.0
        self._active = time.monotonic()

    def check(self) -> None:
        """Raise _WorkerDied if the blob used up its CPU time or the child has slept too long."""
        used, waits_for_cpu = _cpu_of(self._pid)
        now = time.monotonic()
        if self._start < 0:
            self._start = used
        if used != self._seen or waits_for_cpu:
            self._seen, self._active = used, now
        idle = now - self._active > self._seconds * IDLE_FACTOR
        if idle or used - self._start > self._seconds:
            raise _WorkerDied(TIMED_OUT)


def _cpu_of(pid: int) -> tuple[float, bool]:
    """Return a process's CPU seconds, and if it runs; wall time where the system does not tell."""
    return cpu_of(pid) or (time.monotonic(), True)


def _receive(fd: int, received: bytearray, limit: _Limit) -> Reply:
    def read(size: int) -> bytes:
        while len(received) < size:
            if not select.select([fd], [], [], CHECK_SECONDS)[0]:
                limit.check()
                continue
            chunk = os.read(fd, RECEIVE_BYTES)
            if not chunk:
                raise _WorkerDied(CRASHED)
            received.extend(chunk)
        piece = bytes(received[:size])
        del received[:size]
        return piece

    try:
        frame = unpack(read)
    except ValueError as error:
        raise _WorkerDied("broken reply") from error
    assert frame is not None
    return Reply(frame[0], frame[1].decode("utf-8", "replace"), frame[2].decode("utf-8", "replace"))


def _packed(request: WorkRequest) -> bytes:
    return pack(request.language.encode(), request.data, request.question)


def _send(stream: IO[bytes], data: bytes) -> None:
    try:
        view = memoryview(data)
        while view:
            view = view[stream.write(view) :]
    except (OSError, ValueError):
        return  # the child died: the reading side reports it


def _exit_code(process: subprocess.Popen[bytes]) -> int | None:
    """The exit code of a child whose output has ended; None if it still runs."""
    stdout = process.stdout
    if process.poll() is None and stdout is not None and select.select([stdout], [], [], 0)[0]:
        with suppress(subprocess.TimeoutExpired, ValueError, OSError):
            if not os.read(stdout.fileno(), RECEIVE_BYTES):
                process.wait(EXIT_SECONDS)
    return process.poll()


class ExtractedBlob(NamedTuple):
    """The facts and terms of one blob; without bytes and terms if its content is skipped."""

    key: FactsKey
    facts: BlobFacts
    data: bytes = b""
    body: str = ""
    names: str = ""

    @property
    def is_searched(self) -> bool:
        """Is the blob in the lexical index?"""
        return self.facts.status is not FactsStatus.SKIPPED


def extract_blobs(
    blobs: Iterable[tuple[FactsKey, str]],
    read: Read,
    extractor: Extractor,
    absent: Callable[[str], object] = lambda _: None,
    question: bytes = b"",
) -> Iterator[ExtractedBlob]:
    """Yield facts and terms of blobs, each parsed as its language, in the order the workers finish.

    The workers parse submitted blobs while the caller uses the results. `absent` is called with the
    ids that git does not have; `question` can be that for facts without scopes.
    """
    with extractor.stream() as workers:
        for key, language in blobs:
            try:
                data = read(key.oid)
            except ObjectMissing:
                absent(key.oid)
                continue
            reason = SkipReason.OVERSIZE if data is None else skip_content(data)
            request = WorkRequest(language, data or b"", question)
            if reason is not None:
                facts = plain_facts(request, FactsStatus.SKIPPED, reason)
                if reason is SkipReason.BINARY and b"\0" in request.data[:BINARY_PROBE]:
                    facts = facts._replace(lines=0)  # binary for git too: no answer reads it
                yield ExtractedBlob(key, facts)
                continue
            for task, reply in workers.submit(Task(key, request)):
                yield _extracted(task, reply)
        for task, reply in workers.finish():
            yield _extracted(task, reply)


def _extracted(task: Task, reply: Reply) -> ExtractedBlob:
    facts = decode_facts(reply.payload)
    if facts is None:
        facts = plain_facts(task.request, FactsStatus.QUARANTINED, "broken reply")
    return ExtractedBlob(task.key, facts, task.request.data, reply.body, reply.names)
