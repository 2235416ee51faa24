"""What a path of a tree becomes: one rule, whoever asks."""

from __future__ import annotations

import pytest

from gitindex.base.errors import ObjectMissing
from gitindex.base.vocabulary import MAX_TEXT_BYTES, SkipReason
from gitindex.extract import policy
from gitindex.extract.policy import classify, classify_file, needs_content
from gitindex.git.interface import GITLINK, LINK, Entry

FILE = 0o100644
RULES = policy.of_tree(
    [Entry(b".gitindexignore", FILE, "rules")], lambda _: {"rules": b"old/\n*.log\n"}
)


@pytest.mark.parametrize(
    ("path", "mode", "data", "skip", "language"),
    [
        ("a.py", FILE, b"x = 1\n", None, "python"),
        ("tool", FILE, b"#!/usr/bin/env python3\n", None, "python"),
        ("tool", FILE, b"words\n", None, "text"),
        ("huge", FILE, None, None, "text"),
        ("a.unknown", FILE, b"#!/bin/sh\n", None, "text"),
        ("old/tool", FILE, b"#!/bin/sh\n", SkipReason.IGNORED, ""),
        (".env", FILE, b"KEY=1\n", SkipReason.SECRET, ""),
        ("link", LINK, b"a.py", SkipReason.SYMLINK, ""),
        ("module", GITLINK, b"", SkipReason.SUBMODULE, ""),
    ],
)
def test_path_becomes(
    path: str, mode: int, data: bytes | None, skip: SkipReason | None, language: str
) -> None:
    asked: list[str] = []

    def read(oid: str) -> bytes | None:
        asked.append(oid)
        return data

    entry = Entry(path.encode(), mode, "1" * 40)
    planned = classify(entry, RULES, read)
    assert (planned.entry, planned.skip, planned.language) == (entry, skip, language)
    assert bool(asked) is needs_content(entry, RULES), "a batch read prepares what is read"
    if skip is None:
        assert planned.key.oid == entry.oid
        assert f":{language}" in planned.key.extractor


def test_blob_that_git_does_not_have_has_no_language() -> None:
    def missing(oid: str) -> bytes:
        raise ObjectMissing(oid)

    assert classify(Entry(b"tool", FILE, "1"), RULES, missing).skip is SkipReason.MISSING_BLOB
    assert classify(Entry(b"a.py", FILE, "1"), RULES, missing).language == "python"


@pytest.mark.parametrize(
    ("path", "data", "skip"),
    [
        ("a.py", b"x = 1\n", None),
        ("a.py", b"\0", SkipReason.BINARY),
        ("a.log", b"\0", SkipReason.IGNORED),
        ("a.py", b"x" * (MAX_TEXT_BYTES + 1), SkipReason.OVERSIZE),
    ],
)
def test_file_on_disk_is_judged_by_path_then_content(
    path: str, data: bytes, skip: SkipReason | None
) -> None:
    assert classify_file(Entry(path.encode(), FILE, "1"), RULES, data).skip is skip
