"""`gitindex history index`: walks the first-parent history and keeps the facts of all its blobs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple
from zlib import crc32

from gitindex.base.errors import GitIndexError, NotIndexed, ObjectMissing
from gitindex.base.runner_lock import RunnerLock
from gitindex.base.worktree import Worktree
from gitindex.extract import policy
from gitindex.extract.frames import WITHOUT_SCOPES
from gitindex.extract.policy import Policy, classify, read_present, reader_of
from gitindex.extract.pool import ExtractedBlob, Extractor, extract_blobs
from gitindex.git.command import run_git
from gitindex.git.interface import Entry, Repository
from gitindex.languages.facts import NO_SYMBOL, FactsKey, Use, unpack_places
from gitindex.store.history_database import BlobHistory, HistoryCommit, HistoryDatabase

BATCH_COMMITS = 400
"""Commits whose blobs are extracted and written together."""
_FORMAT = "--format=%H%x00%T%x00%ct%x00%s"
_TIMEOUT = 600.0  # a long history on a slow disk takes minutes

Report = Callable[[str, float | None], None]


class HistoryBusy(GitIndexError):
    """Another process indexes the history; what it has written so far can be read."""


class HistoryRun(NamedTuple):
    """What one run did."""

    commits: int  # added
    forgotten: int  # of a history that was rewritten
    blobs: int  # extracted


class _Step(NamedTuple):
    """One commit and what it changed: facts keys by path, None where nothing is kept."""

    commit: HistoryCommit
    changed: dict[bytes, FactsKey | None]
    languages: dict[FactsKey, str]


def index_history(worktree: Worktree, report: Report) -> HistoryRun:
    """Bring the layer up to HEAD. Facts of commits that are still there are kept."""
    if not os.path.isdir(worktree.store):
        raise NotIndexed
    lock = RunnerLock(os.path.join(worktree.store, "history.lock"))
    if not lock.acquire():
        raise HistoryBusy("another process indexes the history", "try again in a moment")
    extractor = Extractor()
    from gitindex.git.backend import open_repository  # lazily: pygit2 costs 100 ms

    repository = open_repository(worktree)
    history = HistoryDatabase.create(worktree)
    try:
        return _Walk(worktree, repository, history, extractor, report).run()
    finally:
        history.close()
        repository.close()
        extractor.close()
        lock.release()


class _Walk:
    def __init__(
        self,
        worktree: Worktree,
        repository: Repository,
        history: HistoryDatabase,
        extractor: Extractor,
        report: Report,
    ) -> None:
        self._worktree, self._repo, self._history = worktree, repository, history
        self._extractor, self._report = extractor, report
        self._stored = history.stored_blobs()
        self._extracted = 0

    def run(self) -> HistoryRun:
        commits = first_parents(self._worktree)
        stored = self._history.commits()
        same = _common(stored, commits)
        if same < len(stored):
            self._history.cut(same)
        rules = self._rules(commits[-1].tree) if commits else None
        for at in range(same, len(commits), BATCH_COMMITS):
            part = commits[at : at + BATCH_COMMITS]
            before = commits[at - 1].tree if at else None
            assert rules is not None
            self._add(part, before, rules)
            self._report("history", 100.0 * (at + len(part)) / len(commits))
        return HistoryRun(len(commits) - same, len(stored) - same, self._extracted)

    def _rules(self, tree: str) -> Policy:
        """HEAD's policy decides for the whole history: what is left out now is left out there."""
        return policy.of_tree(self._repo.entries(tree), partial(read_present, self._repo))

    def _add(self, part: list[HistoryCommit], before: str | None, rules: Policy) -> None:
        steps: list[_Step] = []
        for commit in part:
            steps.append(self._step(commit, before, rules))
            before = commit.tree
        languages = {key: language for step in steps for key, language in step.languages.items()}
        missing = {key: lang for key, lang in languages.items() if key not in self._stored}
        self._extract(missing)
        with self._history.transaction():
            for step in steps:
                changed = {
                    path: key and self._stored.get(key) for path, key in step.changed.items()
                }
                self._history.add_commit(step.commit, changed)

    def _step(self, commit: HistoryCommit, before: str | None, rules: Policy) -> _Step:
        step = _Step(commit, {}, {})
        for path, entry in self._changes(before, commit.tree):
            step.changed[path] = None
            if entry is not None:
                planned = classify(entry, rules, reader_of(self._repo))
                if planned.skip is None:
                    step.changed[path] = planned.key
                    step.languages[planned.key] = planned.language
        return step

    def _changes(self, before: str | None, tree: str) -> Iterable[tuple[bytes, Entry | None]]:
        if before is not None:
            return self._repo.changes(before, tree)
        return ((entry.path, entry) for entry in self._repo.entries(tree))

    def _extract(self, missing: dict[FactsKey, str]) -> None:
        histories: list[BlobHistory] = []
        read = reader_of(self._repo)
        ordered = sorted(missing.items(), key=lambda item: item[1])
        for blob in extract_blobs(ordered, read, self._extractor, question=WITHOUT_SCOPES):
            histories.append(blob_history(blob))
        self._stored |= self._history.add_blobs(histories)
        self._extracted += len(histories)


def blob_history(blob: ExtractedBlob) -> BlobHistory:
    """What the layer keeps of one blob."""
    facts = blob.facts
    lines = blob.data.split(b"\n")
    symbols = [
        (s.name, s.qualified, s.kind, crc32(b"\n".join(lines[s.start_line : s.end_line + 1])))
        for s in facts.symbols
    ]
    calls: set[tuple[str, str, str]] = set()
    for name, packed in facts.postings.items():
        for place in unpack_places(name, packed):
            if place.use == Use.CALL and place.enclosing != NO_SYMBOL:
                caller = facts.symbols[place.enclosing]
                calls.add((caller.name, caller.qualified, name))
    return BlobHistory(blob.key, symbols, calls)


def first_parents(worktree: Worktree) -> list[HistoryCommit]:
    """HEAD's first-parent history, the oldest commit first, numbered from 1."""
    try:
        output = run_git(
            worktree.root, "log", "--first-parent", "--reverse", _FORMAT, "HEAD", timeout=_TIMEOUT
        )
    except ObjectMissing as error:
        raise GitIndexError("the history is not complete", "run `git fetch --unshallow`") from error
    commits = []
    for number, line in enumerate(output.decode("utf-8", "replace").split("\n")[:-1], 1):
        oid, tree, at, subject = line.split("\0", 3)
        commits.append(HistoryCommit(number, oid, tree, int(at), subject))
    return commits


def _common(stored: list[HistoryCommit], commits: list[HistoryCommit]) -> int:
    """How many commits both have from the start."""
    pairs = enumerate(zip(stored, commits, strict=False))
    differs = (number for number, (a, b) in pairs if a.oid != b.oid)
    return next(differs, min(len(stored), len(commits)))
