"""Decisions: a right proof is accepted once, and holds exactly as long as its files are the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.filestate import FileStateService
from gitindex.filestate.decisions import check, commit, parse_proof
from gitindex.store import decisions as table
from gitindex.store.connection import open_reader, open_writer
from gitindex.view.tree import open_tree
from tests.states import TWICE, A, Cli, one, publish, write
from tests.support import Repo


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capsys)


@pytest.fixture
def twice(repo: Repo) -> Repo:
    """t.py defines f twice, and nothing else is open about it."""
    publish(write(repo, {"t.py": TWICE, "a.py": A}))
    return repo


def offered(repo: Repo, **changes: Any) -> dict[str, Any]:
    """The proof that the gate offers, completed."""
    proof: dict[str, Any] = dict(one(repo, "t.py", "f")["witness"]["proof"])
    proof["selected"] = ["t.py#f~2"]
    proof["anchors"] = [{"path": "t.py", "line": 9, "text": "def f(x, y):"}]
    return proof | changes


def decide(repo: Repo, proof: dict[str, Any]) -> int:
    parsed = parse_proof(json.dumps(proof))
    with open_tree(repo.worktree, ".") as view:
        hashes = check(FileStateService(view), parsed)
    database = open_writer(repo.worktree.database)
    try:
        return commit(database, parsed, hashes, "HEAD")
    finally:
        database.close()


def test_d1_accepted_once(twice: Repo) -> None:
    proof = offered(twice)
    made = decide(twice, proof)
    found = one(twice, "t.py", "f")
    assert (found["status"], found["certainty"]) == ("ok", "ambiguous")
    assert found["decision"]["id"] == made
    assert found["decision"]["selected"] == ["t.py#f~2"]
    with pytest.raises(GitIndexError, match="decided already"):
        decide(twice, proof)


def test_d1_of_many_at_once_one_is_accepted(twice: Repo) -> None:
    proof = json.dumps(offered(twice)).encode()
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "gitindex", "decide", "commit", "-"],
            cwd=twice.path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    for process in running:
        process.communicate(proof, timeout=300)
    assert sorted(process.returncode for process in running) == [0, 1, 1]


def test_d1_a_new_ambiguity_opens_the_question_again(twice: Repo) -> None:
    decide(twice, offered(twice))
    publish(write(twice, {"t.py": TWICE + "\n\ndef f():\n    return 4\n"}))
    found = one(twice, "t.py", "f")
    assert found["status"] == "needs_decision"
    assert len(found["witness"]["candidates"]) == 3
    publish(write(twice, {"t.py": TWICE}))
    assert one(twice, "t.py", "f")["status"] == "ok", (
        "the old question about the old bytes is answered"
    )


def test_d1_it_discharges_exactly_its_question(twice: Repo) -> None:
    decide(twice, offered(twice))
    publish(write(twice, {"t.py": "from os import *\n" + TWICE}))
    found = one(twice, "t.py", "f")
    assert found["status"] == "needs_decision"
    assert found["witness"]["choices"] == ["t.py#f", "t.py#f~2", "flag:star_import"]


def test_d3_replayed_whatever_head_is(twice: Repo) -> None:
    made = decide(twice, offered(twice))
    publish(write(twice, {"a.py": A + "\n\nx = 1\n"}))
    assert one(twice, "t.py", "f")["decision"]["id"] == made
    twice.git("checkout", "-q", "-b", "other")
    twice.git("commit", "-q", "--amend", "-m", "other")
    publish(twice)
    assert one(twice, "t.py", "f")["decision"]["id"] == made
    linked = Repo(twice.path.with_name("linked"))
    twice.git("worktree", "add", "-q", "--detach", str(linked.path))
    publish(linked)
    assert one(linked, "t.py", "f")["decision"]["id"] == made


def test_d4_not_replayed_when_its_file_is_deleted(twice: Repo) -> None:
    decide(twice, offered(twice))
    (twice.path / "t.py").unlink()
    assert one(twice, "t.py", "f")["status"] == "blocked"
    publish(twice)
    assert one(twice, "t.py", "f")["status"] == "blocked"
    publish(write(twice, {"t.py": TWICE.replace("return 1", "return 9")}))
    assert one(twice, "t.py", "f")["status"] == "needs_decision", "same question, other bytes"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"signature": "0" * 32}, "another one"),
        ({"selected": []}, "does not answer"),
        ({"selected": ["t.py#f", "t.py#f"]}, "does not answer"),
        ({"selected": ["t.py#g"]}, "does not answer"),
        ({"fileHashes": {"t.py": "0" * 40}}, "file hashes"),
        ({"fileHashes": {}}, "file hashes"),
        ({"anchors": []}, "no anchor"),
        ({"anchors": [{"path": "t.py", "line": 9, "text": "def f():"}]}, "not as quoted"),
        ({"anchors": [{"path": "t.py", "line": 999, "text": "x"}]}, "not as quoted"),
        ({"anchors": [{"path": "t.py", "line": 3, "text": ""}]}, "not as quoted"),
        ({"anchors": [{"path": "t.py", "line": 1, "text": "def f(x):"}]}, "no anchor quotes"),
        ({"anchors": [{"path": "a.py", "line": 1, "text": "def helper(x):"}]}, "no anchor quotes"),
        ({"anchors": [{"path": "../t.py", "line": 1, "text": "x"}]}, "leaves the repository"),
        ({"anchors": 7}, "not a proof"),
        ({"path": ["t.py"]}, "not a proof"),
        ({"path": "a.py"}, "no `f` in a.py"),
        ({"path": "none.py"}, "unindexed"),
    ],
)
def test_a_wrong_proof_is_refused(twice_once: Repo, change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(GitIndexError, match=complaint):
        decide(twice_once, offered(twice_once, **change))
    assert one(twice_once, "t.py", "f")["status"] == "needs_decision"


@pytest.fixture(scope="module")
def twice_once(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    repo = Repo(tmp_path_factory.mktemp("twice") / "repo")
    repo.init()
    publish(write(repo, {"t.py": TWICE, "a.py": A}))
    return repo


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", "{" * 5000, '"\ud800"', "x" * (1 << 19)])
def test_what_is_no_proof(text: str) -> None:
    with pytest.raises(GitIndexError):
        parse_proof(text)


def test_a_line_of_another_file_cannot_be_probed(twice_once: Repo) -> None:
    """A proof must not tell whether a line of a secret is as guessed."""
    twice_once.write(".env", "TOKEN=1\n")
    here = {"path": "t.py", "line": 9, "text": "def f(x, y):"}
    there = {"path": ".env", "line": 1, "text": "TOKEN=1"}
    with pytest.raises(GitIndexError, match="not as quoted"):
        decide(twice_once, offered(twice_once, anchors=[here, there]))
    os.unlink(twice_once.path / ".env")


def test_readers_write_nothing(twice_once: Repo, cli: Cli) -> None:
    store = twice_once.path / ".git/gitindex/facts.db"
    before = store.read_bytes()
    one(twice_once, "t.py", "f")
    cli(twice_once, "state", ".")
    cli(twice_once, "decide", "list")
    assert store.read_bytes() == before


def test_the_command(twice: Repo, cli: Cli) -> None:
    file = str(twice.path / "proof.json")
    assert cli(twice, "decide", "list")[0] == 1
    (twice.path / "proof.json").write_text(json.dumps(offered(twice)))
    assert cli(twice, "decide", "commit", file) == (0, "decision 1 accepted\n")
    listed = json.loads(cli(twice, "decide", "list", "--json")[1])
    assert listed["decisions"][0]["selected"] == ["t.py#f~2"]
    shown = json.loads(cli(twice, "decide", "show", "1", "--json")[1])
    assert shown["decision"]["fileHashes"] == {"t.py": twice.git("hash-object", "t.py").strip()}
    code, text = cli(twice, "state", "--gate", "t.py#f")
    assert (code, text.splitlines()[1]) == (0, "  decided: 1")
    assert cli(twice, "decide", "forget", "1")[0] == 0
    assert cli(twice, "decide", "forget", "1") == (1, "no decision 1")
    assert cli(twice, "decide", "show", "1") == (1, "no decision 1")
    assert cli(twice, "state", "--gate", "t.py#f")[0] == 1
    assert cli(twice, "decide", "commit", f"{file}.none")[0] == 2
    (twice.path / "proof.json").write_text(json.dumps(offered(twice, selected=[])))
    code, text = cli(twice, "decide", "commit", file)
    assert (code, text[:16]) == (2, "decision refused")


def test_the_gate_shows_the_proof_that_it_speaks_of(twice: Repo, cli: Cli) -> None:
    _, text = cli(twice, "state", "--gate", "t.py#f")
    [shown] = [line for line in text.splitlines() if line.startswith("  proof: ")]
    assert (
        json.loads(shown.removeprefix("  proof: ")) == one(twice, "t.py", "f")["witness"]["proof"]
    )
    assert "  choices: t.py#f, t.py#f~2" in text
    made = decide(twice, offered(twice))
    _, text = cli(twice, "decide", "show", str(made))
    assert 'selected: ["t.py#f~2"]' in text


def test_numbers_are_not_used_twice(twice: Repo) -> None:
    database = open_writer(twice.worktree.database)
    first = table.add(database, "s", "h", {"a": "1"}, ["x"], {})
    assert first is not None
    assert table.add(database, "s", "h2", {"a": "1"}, ["y"], {}) is None
    table.forget(database, first)
    assert table.add(database, "s", "h", {"a": "1"}, ["x"], {}) == first + 1
    database.close()
    reader = open_reader(twice.worktree.database)
    assert reader is not None
    assert [d.id for d in table.newest(reader, 10)] == [first + 1]
    reader.close()
