"""The state that a server keeps between calls: codebases, facts in memory, running operations."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from gitindex.base.atomic_file import read_small, write_atomic
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.runner_lock import is_held
from gitindex.base.system import lock
from gitindex.base.vocabulary import GateStatus, ManageOutcome, ProofOutcome, ProofReason
from gitindex.base.worktree import Worktree, canonical_root, find_worktree, worktree_at
from gitindex.freshness.marker import CompletionProof
from gitindex.freshness.observation import has_pending, prove, read_failure, read_progress
from gitindex.freshness.verdict import GateInput, gating_envelope, indexing_fields
from gitindex.query.names.memory import Memory
from gitindex.query.search.memory import SearchMemory
from gitindex.refresh.lifecycle import ManageResult, Process, new_operation, was_asked_for
from gitindex.store.lexical import return_memory
from gitindex.view.overlay import FactsMemory
from gitindex.view.snapshot import GateClosed

VERSION = 1
MAX_ROOTS = 1_000


class Registry:
    """Canonical roots, sorted. Reading creates nothing; an unreadable file is never replaced."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._path = os.path.join(folder, "codebases.json")

    def exists(self) -> bool:
        """Does the file exist? A missing file is not an empty list: clearing writes one."""
        return os.path.lexists(self._path)

    def roots(self) -> list[str]:
        """Return every registered root, sorted."""
        try:
            data = read_small(self._path)
        except OSError as error:
            raise GitIndexError(
                f"cannot read {safe_text(self._path)}: {error.strerror}", "check its permissions"
            ) from error
        return [] if data is None else _parse(self._path, data)

    def add(self, root: str) -> bool:
        """Register a root. False if it was registered already."""
        with self._locked():
            known = self.roots()
            if root in known:
                return False
            if len(known) >= MAX_ROOTS:
                raise GitIndexError(
                    f"{MAX_ROOTS} codebases are registered", "clear those that are gone"
                )
            self._save([*known, root])
            return True

    def discard(self, root: str) -> bool:
        """Remove a root. False if it was not registered."""
        if root not in self.roots():
            return False
        with self._locked():
            known = self.roots()
            self._save([name for name in known if name != root])
            return root in known

    def _save(self, roots: list[str]) -> None:
        fields = {"version": VERSION, "roots": sorted(roots)}
        write_atomic(self._path, json.dumps(fields, indent=1).encode() + b"\n")

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock: with one writer at a time no registration is lost."""
        os.makedirs(self._folder, 0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        fd = os.open(os.path.join(self._folder, "lock"), flags, 0o600)
        try:
            lock(fd)
            yield
        finally:
            os.close(fd)


def _parse(path: str, data: bytes) -> list[str]:
    try:
        fields = json.loads(data)
        version, roots = fields["version"], fields["roots"]
    except (ValueError, KeyError, TypeError, RecursionError):
        version, roots = None, None
    if version != VERSION and isinstance(version, int):
        raise GitIndexError(f"{safe_text(path)} is of a newer gitindex", "upgrade gitindex")
    if not isinstance(roots, list) or not all(isinstance(root, str) for root in roots):
        raise GitIndexError(f"{safe_text(path)} is damaged", "move it away and register again")
    return sorted(set(roots))


KEPT_OPERATIONS = 100
_FINISHED = {
    "create": ManageOutcome.CREATED,
    "reindex": ManageOutcome.REINDEXED,
    "sync": ManageOutcome.SYNCED,
}


class Operation(NamedTuple):
    """An operation that this server started, or that was already running."""

    id: str
    action: str
    worktree: Worktree
    process: Process | None


class ServerState:
    """The server's memory. It never decides the state of a codebase."""

    def __init__(self, home: str, registry: Registry) -> None:
        return_memory()
        self.home = home
        self.registry = registry
        self.memory = FactsMemory()
        self.lexical = SearchMemory()
        self.binding = Memory()
        self.kept: dict[str, Any] = {}  # by questions, for their next time
        self._known: list[str] = []
        self._operations: dict[str, Operation] = {}

    def roots(self) -> list[str]:
        """Return the codebases this server may read: the registered ones, and the one it started
        in.

        If the registry cannot be read or its file is gone, the last known list stays.
        """
        try:
            if self.registry.exists() or not self._known:
                self._known = self.registry.roots()
        except GitIndexError:
            if not (self._known or self.home):
                raise
        return sorted({*self._known, self.home} - {""})

    def locate(self, path: str) -> Worktree:
        """Return the codebase that contains `path`. Raises GateClosed if it is not registered."""
        here = self.absolute(path)
        inside = [root for root in self.roots() if here == root or here.startswith(root + "/")]
        if not inside:
            raise _unregistered(here, path)
        root = max(inside, key=len)
        if canonical_root(root) != root:
            raise _gone(root)
        try:
            return worktree_at(root)
        except GitIndexError as error:
            raise _gone(root) from error

    def absolute(self, path: str) -> str:
        """Return a path made absolute and canonical; relative ones start at the server's folder."""
        if not os.path.isabs(path) and not self.home:
            raise GitIndexError(
                "say which codebase: the server was not started in one",
                "give `path` as an absolute path; see list_codebases",
                Exit.USAGE,
            )
        return canonical_root(os.path.join(self.home, path))

    def note(self, action: str, worktree: Worktree, done: ManageResult) -> Operation:
        """Remember an operation, to report its outcome later."""
        name = done.operation or new_operation(action)
        made = Operation(name, action, worktree, done.process)
        self._operations[made.id] = made
        for old in list(self._operations)[:-KEPT_OPERATIONS]:
            process = self._operations.pop(old).process
            if process is not None:
                process.poll()  # it is no longer a child that nobody waits for
        return made

    def operation(self, name: str, worktree: Worktree | None = None) -> Operation | None:
        """Return an operation of this server, or of another one by the codebase's queue."""
        known = self._operations.get(name)
        if known is not None or worktree is None:
            return known
        action = name.partition("-")[0]
        is_known = action in _FINISHED and was_asked_for(worktree, name)
        return Operation(name, action, worktree, None) if is_known else None

    def whatever_runs(self, path: str) -> Operation | None:
        """Return the running job of a codebase, from any process; None if there is no codebase."""
        try:
            return Operation("", "status", self.locate(path), None)
        except (GateClosed, GitIndexError):
            return None

    def is_running(self, operation: Operation) -> bool:
        """Is the operation still running?"""
        if operation.process is not None:
            return operation.process.poll() is None
        worktree = operation.worktree
        return is_held(worktree.lock) and (
            has_pending(worktree) or read_progress(worktree) is not None
        )

    def tell(self, operation: Operation) -> dict[str, Any]:
        """Return the fields that describe an operation's outcome."""
        running = self.is_running(operation)
        failure = None if running else read_failure(operation.worktree)
        proven = prove(operation.worktree).outcome is ProofOutcome.VALID
        outcome = ManageOutcome.STARTED
        if not running:
            done = proven and failure is None  # a failed refresh leaves the old proof in place
            outcome = _FINISHED[operation.action] if done else ManageOutcome.FAILED
        fields: dict[str, Any] = {
            "id": operation.id,
            "action": operation.action,
            "state": "running" if running else "ended",
            "outcome": str(outcome),
        }
        if failure is not None:
            fields["error"] = safe_text(failure.message)
        return fields | {"indexing": indexing_fields(read_progress(operation.worktree))}


def home_of(folder: str) -> str:
    """Return the root of the repository that contains a folder, or an empty string."""
    try:
        return find_worktree(folder).root
    except (GitIndexError, OSError):
        return ""


def _unregistered(here: str, path: str) -> GateClosed:
    """Return the refusal for an unregistered path; it names the root that `create` would take."""
    try:
        root = find_worktree(here).root
    except GitIndexError as error:
        raise GitIndexError(
            "not a registered codebase, nor inside a git repository",
            "see list_codebases",
            Exit.USAGE,
        ) from error
    proof = CompletionProof(ProofOutcome.STALE_LOCAL, ProofReason.MISSING_MARKER_DOC)
    envelope = gating_envelope(
        GateStatus.NOT_INDEXED, GateInput(False, proof, None), safe_text(path), safe_text(root)
    )
    envelope["message"] = "This codebase is not registered; action create registers it."
    return GateClosed(envelope)


def _gone(root: str) -> GitIndexError:
    return GitIndexError(
        "the registered codebase is not there any more",
        f"moved or deleted? action clear forgets {safe_text(root)}",
        Exit.NO,
    )
