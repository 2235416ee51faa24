"""Which earlier answers are still true? Compares what receipts were made from with what changed since."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.vocabulary import MAX_TEXT_BYTES
from gitindex.extract.policy import is_policy_file
from gitindex.git.command import GitFailed, check_result, read_blobs, try_git
from gitindex.query.names.project import MAIN, WrittenImports, words_of_file
from gitindex.view.footprint import ReadFootprint, text_hashes
from gitindex.view.tree import TreeView

STILL_TRUE, CHANGED, UNKNOWN = "still true", "changed", "unknown"
VERDICTS = (STILL_TRUE, CHANGED, UNKNOWN)
MAX_PATHS = 20
"""Changed paths that are listed for one answer."""
_SETTINGS = frozenset(
    "pyproject.toml setup.py setup.cfg package.json tsconfig.json jsconfig.json go.mod go.work"  # noqa: SIM905
    " Cargo.toml pom.xml build.gradle build.gradle.kts composer.json CMakeLists.txt".split()
)
"""Files that say how imports are resolved."""
MAX_RECEIPTS = 20_000
"""Receipts of one question: those of a long day of an agent."""
_FIELDS = ("treeId", "overlayDigest", "generation", "fingerprint")
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LABELS = ("claim", "name", "root", "query", "path")


class EarlierReceipt(NamedTuple):
    """One receipt; `label` says what the answer was about, where that is known."""

    tree: str
    digest: str | None
    fingerprint: str
    label: str
    named: bool  # the answer is about a named tree: it never changes
    footprint: ReadFootprint | None  # None: the answer may depend on the whole tree


class Change(NamedTuple):
    """A path that differs: all words of both versions, and those of the lines that differ."""

    words: frozenset[int]
    lines: frozenset[int]
    importers: Mapping[
        str, frozenset[int] | None
    ]  # that may mean a new path, or say words and meant one
    resolves: bool  # it says how imports are resolved, or what is indexed
    unread: bool  # a version of it cannot be read


class TreeDifference(NamedTuple):
    """A path then and now: ids of blobs, empty where there is none."""

    then: str
    now: str


class Judged(NamedTuple):
    """The verdict on one answer, and the paths that it is about."""

    verdict: str
    why: str
    paths: Sequence[str] = ()


class Rechecker:
    """What changed between the trees of receipts and the files as they are now."""

    def __init__(self, view: TreeView) -> None:
        self._view = view
        receipt = view.envelope()["receipt"]
        self._fingerprint, self._digest = receipt["fingerprint"], receipt["overlayDigest"]
        self._trees: dict[str, dict[str, TreeDifference]] = {}
        self._changes: dict[tuple[str, TreeDifference], Change] = {}

    def row(self, number: int, receipt: EarlierReceipt) -> dict[str, Any]:
        """Return the verdict on one answer; refuses a receipt of another repository or version."""
        if receipt.fingerprint != self._fingerprint:
            hint = "ask again: another version of gitindex answered then"
            raise GitIndexError(f"receipt {number} is of another version", hint, Exit.USAGE)
        verdict, why, paths = self._judge(number, receipt)
        row: dict[str, Any] = {"number": number, "verdict": verdict, "why": why}
        row |= {"about": safe_text(receipt.label)} if receipt.label else {}
        return row | {"paths": [safe_text(path) for path in paths[:MAX_PATHS]], "total": len(paths)}

    def _judge(self, number: int, receipt: EarlierReceipt) -> Judged:
        tree = self._tree(number, receipt.tree)
        if receipt.named:
            return Judged(STILL_TRUE, "it is about a commit")
        if receipt.tree == self._view.overlay.tree and receipt.digest == self._digest:
            return Judged(STILL_TRUE, "nothing changed")
        footprint = receipt.footprint
        if receipt.digest and not (footprint and footprint.edits):
            return Judged(UNKNOWN, "its edits are not known")
        if footprint is None:
            paths = sorted(self._differences(tree, {}))
            return Judged(CHANGED, "", paths) if paths else Judged(STILL_TRUE, "nothing changed")
        return self._compare(tree, footprint)

    def _compare(self, tree: dict[str, TreeDifference], footprint: ReadFootprint) -> Judged:
        """Return the verdict on an answer whose footprint is known."""
        found = self._differences(tree, {p: oid for p, (oid, _) in footprint.edits.items()})
        relevant = [path for path, what in found.items() if self._matters(path, what, footprint)]
        if relevant:
            return Judged(CHANGED, "", sorted(relevant))
        unread = [path for path, what in found.items() if self._change(path, what).unread]
        if unread:
            return Judged(UNKNOWN, "a changed file cannot be read", sorted(unread))
        return Judged(STILL_TRUE, "nothing that it depends on changed")

    def _matters(self, path: str, what: TreeDifference, footprint: ReadFootprint) -> bool:
        """Return whether a change may change an answer."""
        change = self._change(path, what)
        if change.resolves or footprint.has(path):
            return True
        if path in footprint.edits and footprint.edits[path][1]:
            return True
        words = change.words if footprint.exact else change.lines
        return footprint.says(words) or any(
            footprint.has(other) and (said is None or footprint.says(said))
            for other, said in change.importers.items()
        )

    def _change(self, path: str, what: TreeDifference) -> Change:
        key = (path, what)
        if key not in self._changes:
            self._changes[key] = self._read_change(path, what)
        return self._changes[key]

    def _read_change(self, path: str, what: TreeDifference) -> Change:
        texts = [self._text(path, oid) for oid in what]
        lines = [set(text.splitlines()) if text else set[bytes]() for text in texts]
        differing = b"\n".join(lines[0] ^ lines[1])
        words = frozenset[int]().union(*(text_hashes(text) for text in texts if text))
        importers = {} if all(what) else self._importers(path, bool(what.then))
        name = path.rpartition("/")[2]
        resolves = name in _SETTINGS or is_policy_file(os.fsencode(path))
        return Change(words, text_hashes(differing), importers, resolves, None in texts)

    def _importers(self, path: str, gone: bool) -> dict[str, frozenset[int] | None]:
        """Return the files whose imports may mean a new path; of a deleted one with all of their words.

        A deleted file through which a name was followed was read; else only who says the name lost it.
        """
        found = self._written.files_with(words_of_file(path))
        if not gone or os.path.basename(path).partition(".")[0] in MAIN:
            return dict.fromkeys(found)
        texts = self._view.read(map(os.fsencode, found))
        return {os.fsdecode(raw): text_hashes(data) for raw, data in texts.items()}

    def _text(self, path: str, oid: str) -> bytes | None:
        """Return the text of one version; None if it cannot be had."""
        if not oid:
            return b""
        edited = self._view.overlay.files.get(os.fsencode(path))
        if edited is not None and edited.oid == oid and edited.data is not None:
            return edited.data[:MAX_TEXT_BYTES]
        found = read_blobs(self._view.worktree.root, [oid]).get(oid)
        return None if found is None else found[:MAX_TEXT_BYTES]

    @cached_property
    def _written(self) -> WrittenImports:
        return WrittenImports(self._view)

    def _differences(
        self, tree: dict[str, TreeDifference], edits: dict[str, str]
    ) -> dict[str, TreeDifference]:
        """Return what differs between then (a tree with edits) and now (a tree with an overlay)."""
        found = dict(tree)
        edited = {os.fsdecode(p): f.oid if f else "" for p, f in self._view.overlay.files.items()}
        for path in edits.keys() | edited.keys():
            committed = tree.get(path) or TreeDifference(*[self._committed(path)] * 2)
            what = TreeDifference(edits.get(path, committed.then), edited.get(path, committed.now))
            found[path] = what
        return {path: what for path, what in found.items() if what.then != what.now}

    def _committed(self, path: str) -> str:
        """Return the id of a path that is the same in both trees."""
        return self._view.published_oid(os.fsencode(path))

    def _tree(self, number: int, tree: str) -> dict[str, TreeDifference]:
        """Return the paths that differ between a receipt's tree and the published one."""
        if tree not in self._trees:
            form = ("-r", "--raw", "-z", "--no-abbrev", "--no-renames", "--end-of-options")
            command = ("diff-tree", *form, tree, self._view.overlay.tree)
            try:
                output = check_result(command, try_git(self._view.worktree.root, *command))
            except GitFailed:
                hint = "its tree is not in this repository"
                raise GitIndexError(
                    f"receipt {number} is of another repository", hint, Exit.USAGE
                ) from None
            fields = output.split(b"\0")
            self._trees[tree] = {
                os.fsdecode(path): _difference(head)
                for head, path in zip(fields[::2], fields[1::2], strict=False)
            }
        return self._trees[tree]


def _difference(head: bytes) -> TreeDifference:
    _, _, old, new, *_ = head.decode("ascii").split(" ")
    return TreeDifference(*(oid if oid.strip("0") else "" for oid in (old, new)))


def recheck(view: TreeView, receipts: list[EarlierReceipt]) -> dict[str, Any]:
    """Return for each receipt whether its answer is still true."""
    checker = Rechecker(view)
    rows = [checker.row(number, receipt) for number, receipt in enumerate(receipts, 1)]
    counts = {name: sum(row["verdict"] == name for row in rows) for name in VERDICTS}
    return view.envelope(answers=rows, counts=counts)


def parse_receipts(text: str) -> list[EarlierReceipt]:
    """Return the receipts of a text; refuses one that is malformed."""
    found = [receipt for value in _values(text) for receipt in _receipts(value, "", False)]
    if not found:
        raise _malformed("no receipt given")
    if len(found) > MAX_RECEIPTS:
        raise _malformed(f"{len(found)} receipts are too many: at most {MAX_RECEIPTS}")
    return found


def _values(text: str) -> Iterator[Any]:
    """Yield the JSON values of a text: one, or one per line."""
    try:
        yield json.loads(text)
        return
    except RecursionError:
        raise _malformed("not JSON") from None
    except ValueError:
        pass
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                raise _malformed(f"line {number} is not JSON") from None


def _receipts(value: Any, label: str, named: bool) -> Iterator[EarlierReceipt]:
    if isinstance(value, list):
        for one in value:
            yield from _receipts(one, label, named)
    elif not isinstance(value, dict):
        raise _malformed("not a receipt")
    elif isinstance(value.get("verdicts"), list):
        yield from _receipts(value["verdicts"], label, named)
    elif isinstance(value.get("receipt"), dict):
        freshness = value.get("freshness")
        at = isinstance(freshness, dict) and freshness.get("mode") == "at"
        yield from _receipts(value["receipt"], label or _label(value), at)
    else:
        yield _receipt(value, label, named)


def _label(answer: dict[str, Any]) -> str:
    return next(
        (str(answer[name])[:200] for name in _LABELS if isinstance(answer.get(name), str)), ""
    )


def _receipt(fields: dict[str, Any], label: str, named: bool) -> EarlierReceipt:
    if not all(name in fields for name in _FIELDS):
        raise _malformed("not a receipt")
    tree, digest, fingerprint = fields["treeId"], fields["overlayDigest"], fields["fingerprint"]
    texts = [value for value in (tree, digest, fingerprint) if value is not None]
    if not all(isinstance(one, str) for one in texts) or not _ID.fullmatch(str(tree)):
        raise _malformed("not a receipt: its tree is no id")
    footprint = fields.get("footprint")
    if footprint is None:
        return EarlierReceipt(tree, digest, fingerprint, label, named, None)
    try:
        if footprint.get("named"):
            return EarlierReceipt(tree, digest, fingerprint, label, True, None)
        return EarlierReceipt(tree, digest, fingerprint, label, named, ReadFootprint(footprint))
    except (ValueError, TypeError, AttributeError, KeyError):
        raise _malformed("not a receipt: its footprint is malformed") from None


def _malformed(message: str) -> GitIndexError:
    hint = "give the JSON of answers, or of their receipts, one per line or as a list"
    return GitIndexError(message, hint, Exit.USAGE)
