"""An edit is in the next answer of every kind, after every way an edit can come about; and so is its end."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.cli.door import run_cli
from tests.support import Repo

UTIL = "def zebra(stripes):\n    return stripes\n"
APP = "from lib.util import zebra\n\n\ndef main():\n    found = zebra(42)\n    return found\n"
NOTE = "---\ntags: [zebra]\ncreated: 2026-01-02\n---\n# About\n\nThe zebra has stripes.\n"
UNSEEN = {"GITINDEX": "0"}

Answer = dict[str, Any]


def _paths(items: list[Answer]) -> set[str]:
    return {item["path"] for item in items}


KINDS: dict[str, tuple[list[str], Callable[[Answer], bool]]] = {
    "search": (["search", "zebra"], lambda a: "lib/util.py" in _paths(a["results"])),
    "grep": (
        ["grep", "zebr[a]"],
        lambda a: _paths(a["results"]) == {"lib/util.py", "app.py", "note.md"},
    ),
    "symbols": (["symbols", "zebra"], lambda a: _paths(a["symbols"]) == {"lib/util.py"}),
    "outline": (
        ["outline", "lib/util.py"],
        lambda a: [s["name"] for s in a["symbols"]] == ["zebra"],
    ),
    "read": (["read", "lib/util.py"], lambda a: "zebra" in a["content"]),
    "slice": (["slice", "app.py:6"], lambda a: "zebra" in json.dumps(a["lines"])),
    "refs": (["refs", "zebra"], lambda a: "app.py" in _paths(a["references"])),
    "callers": (["callers", "zebra"], lambda a: any(n["name"] == "main" for n in a["nodes"])),
    "callees": (["callees", "app.py:4"], lambda a: any(n["name"] == "zebra" for n in a["nodes"])),
    "graph": (["graph", "zebra"], lambda a: any(n["name"] == "main" for n in a["nodes"])),
    "map": (["map", "--tokens", "2000"], lambda a: "zebra" in json.dumps(a)),
    "docs": (["docs", "--tag", "zebra"], lambda a: _paths(a["results"]) == {"note.md"}),
    "export": (["export", "--format", "json"], lambda a: "zebra" in a["text"]),
}


def _write(repo: Repo) -> None:
    for name, text in {"lib/util.py": UTIL, "app.py": APP, "note.md": NOTE}.items():
        repo.write(name, text)


def _edit(repo: Repo) -> None:
    _write(repo)


def _staged(repo: Repo) -> None:
    _write(repo)
    repo.git("add", "-A")


def _stash_and_pop(repo: Repo) -> None:
    _staged(repo)
    repo.git("stash", "-q")
    assert not _sees(repo, "search")
    repo.git("stash", "pop", "-q")


def _commit_nobody_saw(repo: Repo) -> None:
    _staged(repo)
    repo.git("commit", "-qm", "more animals", env=UNSEEN)


def _amend_nobody_saw(repo: Repo) -> None:
    _staged(repo)
    repo.git("commit", "-q", "--amend", "-m", "more animals", env=UNSEEN)


def _reset_to_it(repo: Repo) -> None:
    """The zebra is in an older commit, and the index is of a newer one without it."""
    _commit_nobody_saw(repo)
    repo.git("revert", "--no-edit", "HEAD", env=UNSEEN)
    assert repo.gitindex("run").returncode == 0
    assert not _sees(repo, "search")
    repo.git("reset", "-q", "--hard", "HEAD~1")


APPEAR = (_edit, _staged, _stash_and_pop, _commit_nobody_saw, _amend_nobody_saw, _reset_to_it)


def _deleted(repo: Repo) -> None:
    for name in ("lib/util.py", "app.py", "note.md"):
        (repo.path / name).unlink()


def _edited_away(repo: Repo) -> None:
    repo.write("lib/util.py", "def horse():\n    pass\n")
    repo.write("app.py", "def main():\n    return 1\n")
    repo.write("note.md", "---\ntags: [horse]\n---\n")


def _reset_away(repo: Repo) -> None:
    repo.git("reset", "-q", "--hard", "HEAD~1")


def _moved_ref(repo: Repo) -> None:
    repo.git("update-ref", "HEAD", "HEAD~1")
    repo.git("read-tree", "-u", "--reset", "HEAD")


VANISH = (_deleted, _edited_away, _reset_away, _moved_ref)


@pytest.fixture
def animals(quiet: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.chdir(quiet.path)
    return quiet


@pytest.mark.parametrize("appear", APPEAR, ids=lambda f: f.__name__.strip("_"))
def test_what_appears_is_in_the_next_answer(animals: Repo, appear: Callable[[Repo], None]) -> None:
    appear(animals)
    assert [kind for kind in KINDS if not _sees(animals, kind)] == []


def test_no_answer_sees_what_never_was(animals: Repo) -> None:
    assert [kind for kind in KINDS if _sees(animals, kind)] == []


@pytest.mark.parametrize("vanish", VANISH, ids=lambda f: f.__name__.strip("_"))
def test_what_is_gone_is_in_no_answer(animals: Repo, vanish: Callable[[Repo], None]) -> None:
    _commit_nobody_saw(animals)
    assert animals.gitindex("run").returncode == 0
    assert all(_sees(animals, kind) for kind in ("search", "grep", "refs", "docs"))
    vanish(animals)
    assert [kind for kind in KINDS if _sees(animals, kind)] == []


def test_what_is_gone_is_still_in_the_commit_that_has_it(animals: Repo) -> None:
    _commit_nobody_saw(animals)
    old = animals.git("rev-parse", "HEAD").strip()
    _reset_away(animals)
    assert [kind for kind in KINDS if _sees(animals, kind)] == []
    timeless = [kind for kind in KINDS if kind != "slice"]  # a slice is of the file on disk
    assert [kind for kind in timeless if not _sees(animals, kind, "--at", old)] == []


def _sees(repo: Repo, kind: str, *options: str) -> bool:
    argv, sees = KINDS[kind]
    form = [] if kind == "export" else ["--json"]
    out = io.TextIOWrapper(io.BytesIO(), write_through=True)
    with contextlib.redirect_stdout(out):
        try:
            code = run_cli([*argv, *options, *form])
        except GitIndexError as error:
            code = int(error.code)
    assert isinstance(out.buffer, io.BytesIO)
    text = out.buffer.getvalue().decode()
    assert code in (0, 1, 2), (kind, text)
    if kind == "export":
        return sees({"text": text})
    return bool(text) and (answer := json.loads(text))["status"] == "ok" and sees(answer)
