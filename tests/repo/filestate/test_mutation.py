"""The mutation gate: fifteen pairs, and a packet that says what does not hold."""

from __future__ import annotations

import itertools
import json
import shlex
from pathlib import Path

import pytest

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.vocabulary import Certainty, Freshness, Mutation
from gitindex.filestate import FileState
from gitindex.filestate.ambiguity import EditTarget, parse_target
from gitindex.filestate.service import behaviour
from tests.mcp_client import Inside
from tests.states import NO_FACTS, TWICE, A, B, Cli, gate, one, publish, refresh, write
from tests.support import Repo


@pytest.mark.parametrize(("freshness", "certainty"), list(itertools.product(Freshness, Certainty)))
def test_all_fifteen_pairs(freshness: Freshness, certainty: Certainty) -> None:
    expected = {
        (Freshness.CLEAN, Certainty.CERTAIN): Mutation.OK,
        (Freshness.CLEAN, Certainty.AMBIGUOUS): Mutation.NEEDS_DECISION,
    }.get((freshness, certainty), Mutation.BLOCKED)
    assert behaviour(FileState(freshness, certainty)) is expected


@pytest.fixture
def pair(repo: Repo) -> Repo:
    publish(
        write(repo, {"a.py": A, "b.py": B, "c.py": "import b\n", "t.py": TWICE, "n.txt": "words\n"})
    )
    return repo


def test_clean_and_certain(pair: Repo) -> None:
    found = one(pair, "a.py")
    assert (found["status"], found["freshness"], found["certainty"]) == ("ok", "clean", "certain")
    assert "witness" not in found
    whole = gate(pair, EditTarget("a.py"))
    assert whole["receipt"]["treeId"] == pair.tree()
    assert whole["freshness"]["state"] == "fresh"


def test_f10_only_an_edit_without_facts_blocks(pair: Repo) -> None:
    indexed = pair.git("rev-parse", "HEAD:a.py").strip()
    pair.write("a.py", A + "# more\n")
    found = one(pair, "a.py", "helper")
    assert (found["status"], found["freshness"], found["basis"]) == ("ok", "clean", "worktree")
    pair.write("a.py", A + NO_FACTS)
    found = one(pair, "a.py", "helper")
    assert (found["status"], found["freshness"], found["basis"]) == ("blocked", "dirty", "index")
    packet = found["witness"]
    [failed] = packet["failedInvariants"]
    assert failed["invariant"] == "bytes_are_indexed"
    on_disk = pair.git("hash-object", "a.py").strip()
    assert (failed["expected"], failed["found"]) == (indexed, on_disk)
    assert packet["facts"][0]["onDisk"] == on_disk
    assert packet["suggestedRefresh"]["scope"] == {"files": ["a.py"]}
    assert packet["bounds"] == {"path": "a.py", "startLine": None, "endLine": None}


def test_a_pending_file_names_the_dirty_one(pair: Repo) -> None:
    pair.write("a.py", A + NO_FACTS)
    found = one(pair, "c.py")
    assert (found["status"], found["freshness"]) == ("blocked", "pending_check")
    packet = found["witness"]
    [failed] = packet["failedInvariants"]
    assert failed["invariant"] == "dependencies_known"
    assert (failed["dependency"], failed["via"]) == ("a.py", ["c.py", "b.py"])
    assert packet["suggestedRefresh"]["scope"] == {"files": ["a.py"]}
    assert [fact["path"] for fact in packet["facts"]] == ["c.py", "b.py", "a.py"]


def test_a_stale_file_names_what_changed_and_its_refresh_opens_the_gate(pair: Repo) -> None:
    publish(write(pair, {"a.py": A.replace("(x)", "(x, y)")}))
    packet = one(pair, "c.py")["witness"]
    [failed] = packet["failedInvariants"]
    assert failed["invariant"] == "dependencies_as_seen"
    assert (failed["path"], failed["dependency"]) == ("b.py", "a.py")
    assert failed["expected"] != failed["found"]
    assert packet["suggestedRefresh"]["scope"] == {"files": ["b.py"]}
    refresh(pair, *packet["suggestedRefresh"]["scope"]["files"])
    assert one(pair, "c.py")["status"] == "ok"


EDITED = A.replace("(x)", "(x, y)")


def test_the_remedy_ends_what_an_uncommitted_edit_began(
    pair: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    cli = Cli(capsys)
    write(pair, {"a.py": EDITED, "e.py": "from a import helper\n"})
    write(pair, {"d.py": "import b\nimport e\n"})
    publish(pair)
    refresh(pair, "b.py")
    pair.write("a.py", A.replace("(x)", "(x, y, z)"))
    code, told = cli(pair, "state", "--gate", "d.py", "--json")
    [target] = json.loads(told)["targets"]
    command = target["witness"]["suggestedRefresh"]["command"]
    assert (code, command) == (3, "gitindex state --refresh b.py e.py")
    assert cli(pair, *shlex.split(command)[1:])[0] == 0
    assert cli(pair, "state", "--gate", "d.py")[0] == 0
    pair.write("a.py", "# a comment\n" + A.replace("(x)", "(x, y, z)"))
    assert cli(pair, "state", "b.py")[0] == 0, "what it offers is what was seen"
    publish(pair)
    assert cli(pair, "state", "b.py")[0] == 0, "committed, it is the same"
    pair.write("a.py", A.replace("(x)", "(w)"))
    assert cli(pair, "state", "b.py")[0] == 1, "this edit nobody has seen"


def test_a_dependency_that_comes_or_goes_uncommitted_can_be_reviewed(
    pair: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    cli = Cli(capsys)
    (pair.path / "a.py").unlink()
    assert cli(pair, "state", "b.py")[0] == 1
    assert cli(pair, "state", "--refresh", "b.py")[0] == 0
    pair.write("a.py", EDITED)
    assert cli(pair, "state", "b.py")[0] == 1
    pair.write("a.py", A)
    assert cli(pair, "state", "b.py")[0] == 0, "as published, which it has seen, too"
    publish(write(pair, {"b.py": B + "# edited\n"}))
    (pair.path / "a.py").unlink()
    assert cli(pair, "state", "b.py")[0] == 1, "other bytes were reviewed"


def test_the_remedy_over_mcp_is_a_call(pair: Repo, tmp_path: Path) -> None:
    pair.write("a.py", EDITED)
    agent = Inside(str(pair.path), tmp_path / "state")
    [target] = agent.ask("check_mutation_gate", file="c.py")["targets"]
    remedy = target["witness"]["suggestedRefresh"]["call"]
    assert agent.ask(remedy["tool"], **remedy["args"])["status"] == "ok"
    assert agent.ask("check_mutation_gate", file="c.py")["status"] == "ok"


def test_unindexed_and_unknown_are_blocked(pair: Repo) -> None:
    found = one(pair, "none.py")
    assert (found["status"], found["freshness"]) == ("blocked", "unindexed")
    assert found["witness"]["failedInvariants"][0]["invariant"] == "facts_exist"
    found = one(pair, "n.txt")
    assert (found["status"], found["freshness"], found["certainty"]) == (
        "blocked",
        "clean",
        "unknown",
    )
    assert found["witness"]["failedInvariants"][0]["invariant"] == "facts_are_sure"


def test_ambiguous_needs_a_decision(pair: Repo) -> None:
    found = one(pair, "t.py", "f")
    assert (found["status"], found["certainty"]) == ("needs_decision", "ambiguous")
    packet = found["witness"]
    assert [c["line"] for c in packet["candidates"]] == [1, 9]
    assert packet["choices"] == ["t.py#f", "t.py#f~2"]
    assert packet["failedInvariants"][0]["found"] == ["multiple_definitions"]
    assert packet["checklist"]
    assert packet["suggestedRefresh"] is None
    assert packet["bounds"] == {"path": "t.py", "startLine": 1, "endLine": 10}


def test_a_whole_file_is_editable_with_notes_unless_something_is_stale(pair: Repo) -> None:
    found = one(pair, "t.py")
    assert (found["status"], found["certainty"]) == ("ok", "ambiguous")
    assert found["notes"] == ["multiple_definitions", "several definitions of f"]
    assert "witness" not in found
    assert "notes" not in one(pair, "a.py")
    done = pair.gitindex("state", "--gate", "t.py")
    assert (done.returncode, done.stdout.splitlines()[1:]) == (
        0,
        [
            "  note: multiple_definitions; ask about a symbol there",
            "  note: several definitions of f; ask about a symbol there",
        ],
    )
    pair.write("a.py", A.replace("(x)", "(x, y)"))
    publish(pair)
    assert one(pair, "b.py")["status"] == "blocked"


def test_only_the_name_that_is_meant_counts(pair: Repo) -> None:
    assert one(pair, "t.py", "g")["status"] == "ok"
    assert one(pair, "t.py", line=6)["status"] == "ok"
    assert one(pair, "t.py", line=10)["status"] == "ok", "a line means one of the two"
    assert one(pair, "t.py", "f")["status"] == "needs_decision"


def test_a_name_with_several_owners_is_ambiguous_even_without_flags(repo: Repo) -> None:
    text = "class A:\n    def run(self):\n        pass\n\n\nclass B:\n    def run(self):\n        pass\n"
    publish(write(repo, {"m.py": text}))
    assert one(repo, "m.py")["status"] == "ok"
    found = one(repo, "m.py", "run")
    assert found["status"] == "needs_decision"
    assert [c["qualifiedName"] for c in found["witness"]["candidates"]] == ["A.run", "B.run"]
    assert one(repo, "m.py", "B.run")["status"] == "ok"


def test_the_worst_target_decides(pair: Repo) -> None:
    ok, ask, no = EditTarget("a.py"), EditTarget("t.py", "f"), EditTarget("none.py")
    assert gate(pair, ok, ok)["status"] == "ok"
    assert gate(pair, ok, ask)["status"] == "needs_decision"
    assert gate(pair, ask, no, ok)["status"] == "blocked"
    assert gate(pair)["status"] == "blocked", "nothing is no permission"


def test_a_name_that_is_not_there(pair: Repo) -> None:
    with pytest.raises(GitIndexError) as raised:
        one(pair, "a.py", "nobody")
    assert raised.value.code is Exit.NO


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("a.py", EditTarget("a.py")),
        ("a.py:12", EditTarget("a.py", line=12)),
        ("a.py:Class.f", EditTarget("a.py", "Class.f")),
        ("odd:name", EditTarget("odd:name")),
        ("odd:name:7", EditTarget("odd:name", line=7)),
        ("c:/x.py", EditTarget("c:/x.py")),
        (":x", EditTarget(":x")),
        ("a.py:", EditTarget("a.py:")),
        ("a.py:٣", EditTarget("a.py", "٣")),
    ],
)
def test_targets_as_people_write_them(text: str, target: EditTarget) -> None:
    assert parse_target(text, lambda name: name == "odd:name") == target


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capsys)


def test_the_command(pair: Repo, cli: Cli) -> None:
    done = pair.gitindex("state", "--gate", "a.py:helper")
    assert (done.returncode, done.stdout) == (
        0,
        "ok: a.py:helper (clean, certain; index, syntactic, local)\n",
    )
    code, text = cli(pair, "state", "--gate", "t.py#f", "a.py")
    assert code == 1
    assert "candidate t.py#f~2 at line 9" in text
    assert "choices: t.py#f, t.py#f~2" in text
    [proof] = [line for line in text.splitlines() if line.startswith("  proof: ")]
    assert json.loads(proof.removeprefix("  proof: "))["path"] == "t.py"
    pair.write("a.py", NO_FACTS)
    code, text = cli(pair, "state", "--gate", "a.py", "--json")
    assert (code, json.loads(text)["status"]) == (3, "blocked")
    assert cli(pair, "state", "--gate", "../x.py") == (2, "outside the repository: ../x.py")
    assert cli(pair, "state", "--gate")[0] == 2
    assert cli(pair, "state", "--gate", "--refresh", "a.py")[0] == 2


def test_states_by_the_command(pair: Repo, cli: Cli) -> None:
    pair.write("a.py", A.replace("(x)", "(x, y)"))
    publish(pair)
    code, text = cli(pair, "state")
    assert code == 1
    assert [line.split()[::2] for line in text.splitlines()] == [
        ["stale", "b.py", "a.py"],
        ["stale", "c.py", "b.py", "a.py"],
    ]
    answer = json.loads(cli(pair, "state", "b.py", "a.py", "--json")[1])
    assert [(f["path"], f["freshness"]) for f in answer["files"]] == [
        ("b.py", "stale"),
        ("a.py", "clean"),
    ]
    code, text = cli(pair, "state", "--refresh", ".")
    assert (code, len(text.splitlines())) == (0, 5)
    pair.write("b.py", NO_FACTS)
    assert cli(pair, "state", "--refresh", "b.py") == (2, "cannot be refreshed: b.py")


def test_not_indexed(repo: Repo, cli: Cli) -> None:
    repo.write("a.py", A)
    repo.commit()
    for args in (["state", "a.py"], ["state", "--gate", "a.py"], ["state", "--refresh", "a.py"]):
        assert cli(repo, *args)[0] == 3
    code, text = cli(repo, "state", "--gate", "a.py", "--json")
    assert (code, json.loads(text)["status"]) == (3, "not_indexed")
    assert cli(repo, "decide", "list") == (3, "not indexed")


OPEN_ELSEWHERE = """from os.path import *
import app


def sure(x: int) -> int:
    return x + 1


def open_one(x):
    return getattr(x, "a" + "b")


def calls(x):
    return x.anything()


class C:
    def method(self):
        return self.other()

    def dynamic(self, name):
        return getattr(self, name)
"""


def test_flags_belong_to_places(repo: Repo) -> None:
    text = OPEN_ELSEWHERE.replace("from os.path import *\n", "")
    publish(write(repo, {"m.py": text, "star.py": OPEN_ELSEWHERE}))
    assert "dynamic_attribute" in one(repo, "m.py")["notes"]
    for symbol in ("sure", "calls", "C.method"):
        found = one(repo, "m.py", symbol)
        assert (found["status"], found["layer"], found["scope"]) == ("ok", "syntactic", "local")
    for symbol in ("open_one", "C.dynamic"):
        found = one(repo, "m.py", symbol)
        assert found["status"] == "needs_decision"
        assert found["witness"]["failedInvariants"][0]["found"] == ["dynamic_attribute"]


def test_a_hook_of_the_module_concerns_a_definition_only_if_it_computes_names(repo: Repo) -> None:
    top = "def sure(a):\n    return a\n\n\ndef __getattr__(name):\n"
    old = top + "    if name == 'old':\n        return sure\n    raise AttributeError(name)\n"
    publish(write(repo, {"m.py": old, "computed.py": f"{top}    return globals()['su' + name]\n"}))
    assert one(repo, "m.py", "sure")["status"] == "ok"
    for path, symbol in (("m.py", "__getattr__"), ("computed.py", "sure")):
        found = one(repo, path, symbol)
        assert found["status"] == "needs_decision"
        assert "dynamic_attribute" in found["witness"]["failedInvariants"][0]["found"]
    repo.write("m.py", f"{old}\n\ndef added():\n    return 1\n")
    done = repo.gitindex("rename", "m.py#added", "renamed", "--apply")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "def renamed():" in (repo.path / "m.py").read_text()


def test_an_agent_is_never_blocked_by_its_own_edits(pair: Repo) -> None:
    for number in range(10):
        pair.write("a.py", A.replace("return x", f"return x + {number}"))
        assert one(pair, "a.py", "helper")["status"] == "ok"
        assert one(pair, "b.py", "work")["status"] == "ok", "its interface is the same"
    pair.write("a.py", A.replace("(x)", "(x, y)"))
    assert one(pair, "a.py", "helper")["status"] == "ok"
    assert one(pair, "b.py", "work")["freshness"] == "stale"
    pair.write("b.py", B.replace("(1)", "(1, 2)"))
    assert one(pair, "b.py", "work")["status"] == "ok"
