"""One semantic job: check the files, run the indexer, check again, parse its output, store it.

If HEAD moves during the run, the output is discarded; files that were changed meanwhile are left
out. Nothing is written before all output is parsed, and then in one transaction.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from gitindex.base.confined_read import ConfinedRoot
from gitindex.base.escape import safe_text
from gitindex.base.vocabulary import MAX_TEXT_BYTES, FailureReason
from gitindex.base.worktree import Worktree
from gitindex.git.command import run_git
from gitindex.git.interface import GITLINK, LINK, Head, Repository, blob_id
from gitindex.refresh.queue import RefreshScope, resolve_scope
from gitindex.semantic.contexts.discovery import Context, discover, is_marker
from gitindex.semantic.contexts.router import ContextRouter
from gitindex.semantic.scip.facts import SyntacticOutline, Syntax
from gitindex.semantic.scip.importer import (
    MAX_OUTPUT,
    BadOutput,
    IndexerReport,
    Prepared,
    documents_by_path,
    externals,
    read_output,
    understand,
)
from gitindex.semantic.scip.tools import (
    Indexer,
    InstalledIndexer,
    ToolMissing,
    command,
    find_tool,
    last_words,
    run_tool,
    tool_env,
    tool_for,
)
from gitindex.store import history, mapping
from gitindex.store import semantic as store
from gitindex.store.connection import Database

Report = Callable[[str, float | None], None]


class Failed(Exception):
    """The job failed, with a reason of the contract's list."""

    def __init__(self, reason: FailureReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class HeadMoved(Exception):
    """HEAD's tree has changed since the run began: its output cannot be used."""


class SemanticJobResult(NamedTuple):
    """The counts that a finished job reports."""

    files: int  # all files of the context
    imported: int  # files with a document about exactly their bytes
    changed: int  # files with new facts
    left_out: int  # files that differed from git before, or changed meanwhile
    doubtful: int  # places that were dropped: another name stands there
    left_behind: tuple[str, ...]  # files that the tool left in the worktree


class ContextFiles(NamedTuple):
    """A context of HEAD's tree and the files it owns, with their blob ids."""

    context: Context
    files: dict[bytes, str]


def contexts_at(repository: Repository, tree: str) -> dict[str, ContextFiles]:
    """Return the contexts of a tree by name."""
    entries = [e for e in repository.entries(tree) if e.mode not in (LINK, GITLINK)]
    oids = {os.fsdecode(entry.path): entry.oid for entry in entries}

    def read(path: str) -> bytes | None:
        return repository.read(oids[path]) if path in oids and is_marker(path) else None

    members = ContextRouter(discover(oids, read)).members(oids)
    return {
        context.name: ContextFiles(context, {os.fsencode(path): oids[path] for path in paths})
        for context, paths in members.items()
    }


class SemanticJob:
    """Runs one context's indexer in one worktree."""

    def __init__(
        self, worktree: Worktree, database: Database, repository: Repository, report: Report
    ) -> None:
        self._worktree = worktree
        self._db = database
        self._repo = repository
        self._report = report
        self._inode = os.stat(worktree.database).st_ino

    def run(
        self,
        worktree_id: int,
        context_id: int,
        name: str,
        scope: RefreshScope,
        seconds: float | None,
    ) -> SemanticJobResult:
        """Do the work of one claimed job. Raises Failed or HeadMoved."""
        head = self._repo.head()
        members = contexts_at(self._repo, head.tree).get(name)
        tool = tool_for(members.context) if members else None
        if members is None or tool is None:
            raise Failed(FailureReason.INTERNAL_ERROR, f"{name} is no context for an indexer now")
        with _temporary(self._worktree) as temp:
            found = self._find(tool, temp)
            store.note_tool(self._db, context_id, found.version)
            origin = store.FactsOrigin(context_id, members.context.config_hash, found.version)
            seen = {s.path: s for s in look(self._worktree.root, members.files.items())}
            before = self._untracked()
            output = self._index(found, members.context, temp, seconds)
            left_behind = self._untracked() - before
            if self._repo.head().tree != head.tree:
                raise HeadMoved
            understood = self._understand(worktree_id, members, found, output, seen)
            self._refuse_partial(origin, understood, seen)
            chosen = _in_scope(scope, understood, self._worktree.root)
            changed, kept = self._keep(origin, head, understood, chosen, seen)
        return SemanticJobResult(
            len(members.files),
            kept,
            changed,
            len(members.files) - len(seen),
            sum(file.facts.doubtful for file in chosen),
            tuple(sorted(map(safe_text, left_behind))),
        )

    def _find(self, tool: Indexer, temp: str) -> InstalledIndexer:
        root = self._worktree.root
        try:
            return find_tool(tool, tool_env(root, temp), root, temp)
        except ToolMissing as error:
            raise Failed(FailureReason.MISSING_TOOL, f"{error.message}; {error.hint}") from error

    def _index(
        self, found: InstalledIndexer, context: Context, temp: str, seconds: float | None
    ) -> bytes:
        root, program = self._worktree.root, found.tool.program
        output, log = os.path.join(temp, "index.scip"), os.path.join(temp, "log")
        limit = seconds or found.tool.seconds
        ended = run_tool(
            command(found, context, root, temp, output),
            os.path.join(root, context.root),
            tool_env(root, temp),
            log,
            limit,
            lambda spent: self._report(f"{program} {context.name} {spent:.0f} s", None),
        )
        if ended.code is None:
            raise Failed(FailureReason.TOOL_TIMEOUT, f"{program} was stopped after {limit:g} s")
        if ended.code != 0:
            said = safe_text(last_words(log))
            raise Failed(FailureReason.TOOL_CRASHED, f"{program} ended with {ended.code}: {said}")
        try:
            if os.path.getsize(output) > MAX_OUTPUT:
                raise Failed(FailureReason.PARSE_ERROR, f"{program} wrote more than protobuf reads")
            with open(output, "rb") as file:
                return file.read()
        except FileNotFoundError:
            raise Failed(FailureReason.PARSE_ERROR, f"{program} wrote no output") from None

    def _understand(
        self,
        worktree_id: int,
        members: ContextFiles,
        found: InstalledIndexer,
        output: bytes,
        seen: dict[bytes, UnchangedFile],
    ) -> IndexerReport:
        self._report("import", None)
        published = store.published_files(self._db, worktree_id)
        blobs = {p: published[p].blob_id for p, o in members.files.items() if _is(published, p, o)}
        bound = {p: store.imported_names(self._db, b) for p, b in blobs.items() if b is not None}
        aliases = frozenset(pair for pairs in bound.values() for pair in pairs)

        def syntax(path: bytes) -> Syntax:
            here = frozenset(name for _, name in bound.get(path, ()))
            return read_syntax(self._db, blobs.get(path))._replace(bound=here, aliases=aliases)

        root = self._worktree.root
        try:
            documents = documents_by_path(read_output(output), root, members.context.root)
            return understand(
                documents,
                members.files,
                {path: sight.oid for path, sight in seen.items()},
                lambda path: look_again(root, seen[path]),
                syntax,
                found.tool.habits,
            )
        except BadOutput as error:
            said = f"{found.tool.program}: {error}"
            raise Failed(FailureReason.PARSE_ERROR, said) from error

    def _refuse_partial(
        self, origin: store.FactsOrigin, understood: IndexerReport, seen: dict[bytes, UnchangedFile]
    ) -> None:
        """Fail if the output lacks files that have facts: keeping the old facts is better."""
        if seen and not understood.files:
            raise Failed(FailureReason.PARSE_ERROR, "the output tells of no file of the context")
        indexed = {file.path for file in understood.files}
        untouched = {p for p, s in seen.items() if signature(self._worktree.root, p) == s.signature}
        missing = sorted((store.known_documents(self._db, origin) & untouched) - indexed)
        if missing:
            first = safe_text(missing[0])
            said = f"the output leaves out {len(missing)} files that it knew before: {first}"
            raise Failed(FailureReason.PARSE_ERROR, said)

    def _keep(
        self,
        origin: store.FactsOrigin,
        head: Head,
        understood: IndexerReport,
        chosen: list[Prepared],
        seen: dict[bytes, UnchangedFile],
    ) -> tuple[int, int]:
        """Store the facts in one transaction, after checking HEAD and the files again inside it."""
        root = self._worktree.root
        writer = store.SemanticWriter(self._db)
        with self._db.write():
            if os.stat(self._worktree.database).st_ino != self._inode:
                raise Failed(FailureReason.IO_ERROR, "the store was replaced in the meantime")
            if self._repo.head().tree != head.tree:
                raise HeadMoved
            kept = [f for f in chosen if signature(root, f.path) == seen[f.path].signature]
            changed = sum(
                writer.save(origin, file.path, file.oid, file.facts, file.edges) for file in kept
            )
            writer.add_externals(origin.context_id, externals(understood, kept))
            row = mapping.published(self._db, self._worktree.id)
            if row is not None and row.tree == head.tree:  # they have seen what is published now
                history.refresh(self._db, row.worktree_id, [f.path for f in kept], row.generation)
        return changed, len(kept)

    def _untracked(self) -> set[bytes]:
        """Return files that git neither tracks nor ignores."""
        listed = run_git(self._worktree.root, "ls-files", "-z", "--others", "--exclude-standard")
        return set(filter(None, listed.split(b"\0")))


def _is(published: dict[bytes, store.PublishedFile], path: bytes, oid: str) -> bool:
    return path in published and published[path].oid == oid


def read_syntax(database: Database, blob_id: int | None) -> Syntax:
    """Return the syntactic layer's facts about a blob."""
    if blob_id is None:
        return Syntax()
    symbols = {
        (line, column): SyntacticOutline(kind, start, end, bool(exported))
        for line, column, kind, start, end, exported in store.syntactic_symbols(database, blob_id)
    }
    return Syntax(store.syntactic_uses(database, blob_id), symbols)


def _in_scope(scope: RefreshScope, understood: IndexerReport, root: str) -> list[Prepared]:
    names = {os.fsdecode(file.path): file for file in understood.files}

    def changed_at(path: str) -> float | None:
        try:
            return os.lstat(os.path.join(root, path)).st_mtime
        except OSError:
            return None

    return [names[name] for name in sorted(resolve_scope(scope, names, changed_at))]


@contextmanager
def _temporary(worktree: Worktree) -> Iterator[str]:
    """Create a private folder outside the worktree; it is deleted with all its files at the end."""
    usual = os.path.realpath(tempfile.gettempdir())
    inside = usual == worktree.root or usual.startswith(worktree.root + os.sep)
    try:
        with tempfile.TemporaryDirectory(
            prefix="gitindex-semantic-",
            dir=worktree.store if inside else None,
            ignore_cleanup_errors=True,
        ) as folder:
            yield folder
    except OSError as error:
        raise Failed(FailureReason.IO_ERROR, str(error)) from error


Signature = tuple[int, int, int, int]


class UnchangedFile(NamedTuple):
    """One file that had git's bytes when it was checked."""

    path: bytes
    oid: str
    signature: Signature  # of the file on disk: any later write changes it


def signature(root: str, path: bytes) -> Signature | None:
    """Return a value that changes with every write to the file; None if there is no file."""
    try:
        found = os.lstat(os.path.join(os.fsencode(root), path))
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def look(root: str, files: Iterable[tuple[bytes, str]]) -> Iterator[UnchangedFile]:
    """Yield those of `files` whose bytes on disk are those of their blob."""
    with ConfinedRoot(root) as disk:
        for path, oid in files:
            before = signature(root, path)
            if before is not None and _content(disk, path, oid) is not None:
                yield UnchangedFile(path, oid, before)


def look_again(root: str, seen: UnchangedFile) -> bytes | None:
    """Return the bytes of a file that has not changed since it was checked, else None."""
    with ConfinedRoot(root) as disk:
        content = _content(disk, seen.path, seen.oid)
    return content if signature(root, seen.path) == seen.signature else None


def _content(disk: ConfinedRoot, path: bytes, oid: str) -> bytes | None:
    """Return the file's bytes if git would store them as this blob, with LF or CRLF line ends."""
    found = disk.read(path, MAX_TEXT_BYTES)
    if found is None or found.size > MAX_TEXT_BYTES:
        return None
    data = found.data
    if blob_id(data, len(oid)) == oid:
        return data
    unix = data.replace(b"\r\n", b"\n")
    return data if blob_id(unix, len(oid)) == oid else None
