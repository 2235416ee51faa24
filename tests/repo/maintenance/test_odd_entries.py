"""A folder, a link or a pipe in the place of a file of the store, or a file in the place of a folder."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.torture import Clock
from tests.torture.remedies import NAMES, Subject, _repair, ask


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "inside").write_text("x")


def _link(path: Path) -> None:
    path.symlink_to(path.parent / "nothing")


KINDS: dict[str, Callable[[Path], None]] = {
    "folder": _folder,
    "link": _link,
    "pipe": os.mkfifo,
    "file": Path.touch,
}


@pytest.mark.timeout(600)
@pytest.mark.promise("I-41", cases=25)
@pytest.mark.parametrize("kind", KINDS)
def test_i41_an_entry_of_another_kind_is_no_answer_and_repaired(tmp_path: Path, kind: str) -> None:
    subject = Subject(tmp_path)
    rng = random.Random(kind)
    done = set[Path]()
    while left := sorted({*_entries(subject)} - done):
        path, was_folder = left[0], left[0].is_dir()
        done.add(path)
        if path.is_dir() is (kind == "folder") or (kind == "file" and not was_folder):
            continue  # it is of this kind
        shutil.rmtree(path) if was_folder else path.unlink()
        KINDS[kind](path)
        what = f"{kind} in place of {path.relative_to(subject.repo.path)}"
        ask(subject, Clock(), rng.choice(NAMES), what)
        _repair(subject, Clock(), what)
    subject.close()


INNER = (
    ".git/gitindex/published/main",
    ".git/gitindex/progress/main",
    ".git/gitindex/failure/main",
    ".git/gitindex/lexical/meta.json",
    ".git/gitindex/lexical/id",
    ".llmc/completion_marker.json",
    ".llmc/rag_index_status.json",
    ".llmc/stale_status.json",
    ".llmc/.gitignore",
)


@pytest.mark.timeout(600)
@pytest.mark.promise("I-41", cases=len(INNER))
def test_i41_a_folder_in_the_place_of_an_inner_file_is_repaired(tmp_path: Path) -> None:
    subject = Subject(tmp_path)
    for name in INNER:
        path = subject.repo.path / name
        path.unlink(missing_ok=True)
        _folder(path)
        _repair(subject, Clock(), f"folder in place of {name}")
    subject.close()


def _entries(subject: Subject) -> list[Path]:
    return list(subject.store.iterdir())
