"""Earlier answers, checked by their receipts: a change that matters is never missed."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from gitindex.coordinator import IndexCoordinator
from gitindex.view.footprint import BLOOM_BITS, Footprint, ReadFootprint, text_hashes
from tests.support import Repo

FILES = {
    "lib/util.py": "def helper(path):\n    return path\n\n\ndef lonely():\n    return 1\n",
    "lib/main.py": "from lib.util import helper\n\n\ndef main():\n    return helper('a')\n",
    "lib/other.py": "VALUE = 1\n",
    "notes.md": "# Notes\n",
}


@pytest.fixture
def code(repo: Repo) -> Repo:
    return repo.index_files(FILES)


def verdicts(repo: Repo, *answers: Any) -> list[str]:
    done = repo.piped("\n".join(map(json.dumps, answers)), "recheck", "-", "--json")
    answer = json.loads(done.stdout)
    assert answer["status"] == "ok", done
    return [row["verdict"] for row in answer["answers"]]


def test_only_what_matters_changes_an_answer(code: Repo) -> None:
    refs, absent = code.answer("refs", "helper"), code.answer("refs", "lonely")
    lines = code.answer("read", "lib/other.py")
    claims = code.answer("claim", "unused(lonely)", "no_callers(helper)")
    answers = (refs, absent, lines, claims)
    assert verdicts(code, *answers) == ["still true"] * 5
    code.write("notes.md", "# Other notes\n")
    assert verdicts(code, *answers) == ["still true"] * 5
    code.write("lib/other.py", "VALUE = 2\n")
    assert verdicts(code, *answers) == [
        "still true",
        "still true",
        "changed",
        "still true",
        "still true",
    ]
    code.write("new.py", "import lib.util\n\nlib.util.lonely()\n")
    assert verdicts(code, *answers)[1:] == ["changed", "changed", "changed", "still true"]
    code.git("checkout", "-q", ".")
    (code.path / "new.py").unlink()
    assert verdicts(code, *answers) == ["still true"] * 5


def test_another_name_in_other_case_does_not_matter(code: Repo) -> None:
    refs = code.answer("refs", "helper")
    code.write("lib/other.py", "class Helper:\n    VALUE = 1\n")
    assert verdicts(code, refs) == ["still true"]
    code.write("lib/other.ts", "l\\u006fnely(); h\\u{65}lper()\n")
    assert verdicts(code, refs) == ["changed"], "as compilers read it"


def test_a_deleted_file_matters_to_those_who_say_the_name(repo: Repo) -> None:
    repo.index_files(
        {
            "lib/a.py": "def fast():\n    return 1\n",
            "lib/b.py": "def slow():\n    return 2\n",
            "use.py": "from lib import a, b\n\n\ndef use():\n    return a.fast()\n",
            "more.py": "from lib import b\n\n\ndef more():\n    return b.slow()\n",
        }
    )
    fast, slow = repo.answer("refs", "fast"), repo.answer("refs", "slow")
    (repo.path / "lib/b.py").unlink()
    assert verdicts(repo, fast, slow) == ["changed", "changed"]
    repo.git("checkout", "-q", ".")
    repo.write("use.py", "from lib import a\n\n\ndef use():\n    return a.fast()\n")
    repo.commit()
    repo.index()
    fast = repo.answer("refs", "fast")
    (repo.path / "lib/b.py").unlink()
    assert verdicts(repo, fast, slow) == ["still true", "changed"]


def test_an_answer_stays_true_over_commits_and_edits_that_are_committed(code: Repo) -> None:
    code.write("lib/other.py", "VALUE = 3\n")
    refs = code.answer("refs", "helper")
    assert verdicts(code, refs) == ["still true"]
    code.commit("the edit")
    assert verdicts(code, refs) == ["still true"]
    code.index()
    assert verdicts(code, refs) == ["still true"]
    code.write("lib/main.py", FILES["lib/main.py"] + "\n\nhelper('b')\n")
    code.commit("a call")
    code.index()
    assert verdicts(code, refs) == ["changed"]
    past = code.answer("refs", "helper", "--at", "HEAD~1")
    assert verdicts(code, past) == ["still true"]


def test_exit_codes_and_paths(code: Repo) -> None:
    refs = json.dumps(code.answer("refs", "helper"))
    (code.path / ".git" / "r.json").write_text(refs)
    assert code.gitindex("recheck", ".git/r.json").returncode == 0
    code.write("lib/main.py", FILES["lib/main.py"] + "helper(2)\n")
    done = code.gitindex("recheck", ".git/r.json")
    assert done.returncode == 1
    assert done.stdout == "1 helper  changed  lib/main.py\n-- 1 changed\n"


def test_an_answer_with_ranking_depends_on_the_whole_tree(code: Repo) -> None:
    found = code.answer("search", "helper")
    assert "footprint" not in found["receipt"]
    assert verdicts(code, found) == ["still true"]
    code.write("notes.md", "# Other notes\n")
    assert verdicts(code, found) == ["changed"]


BAD = {
    "": "no receipt given",
    "nothing": "line 1 is not JSON",
    "[]\nnothing": "line 2 is not JSON",
    "[1]": "not a receipt",
    "{}": "not a receipt",
    "[" * 100_000: "not JSON",
    json.dumps({"treeId": "x", "overlayDigest": None, "generation": 1, "fingerprint": ""}): (
        "not a receipt: its tree is no id"
    ),
}


@pytest.mark.parametrize("text", BAD, ids=[text[:12] for text in BAD])
def test_bad_input(code: Repo, text: str) -> None:
    done = code.piped(text, "recheck", "-")
    assert done.returncode == 2, done
    assert done.stderr.splitlines()[0] == f"gitindex: {BAD[text]}"
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("treeId", "1" * 40, "receipt 1 is of another repository"),
        ("fingerprint", "0" * 16, "receipt 1 is of another version"),
        ("footprint", {"words": "!"}, "not a receipt: its footprint is malformed"),
        ("footprint", {"words": "", "paths": [1]}, "not a receipt: its footprint is malformed"),
        ("footprint", 7, "not a receipt: its footprint is malformed"),
        (
            "footprint",
            {"words": "", "paths": [], "edits": {"a": 1}},
            "not a receipt: its footprint",
        ),
    ],
)
def test_a_receipt_of_another_repository_or_version(
    code: Repo, field: str, value: object, message: str
) -> None:
    receipt = {**code.answer("refs", "helper")["receipt"], field: value}
    done = code.piped(json.dumps(receipt), "recheck", "-")
    assert done.returncode == 2
    assert done.stderr.startswith(f"gitindex: {message}")


def test_receipts_stay_small() -> None:
    footprint = Footprint()
    footprint.words.update(f"word_{n}" for n in range(1_000))
    footprint.paths.update(f"some/long/folder/of/a/project/file_{n}.py" for n in range(1_000))
    fields = footprint.fields({})
    assert fields is not None
    assert len(json.dumps(fields)) <= 1_100
    read = ReadFootprint(fields)
    assert all(read.has(path) for path in footprint.paths)
    assert all(read.says(text_hashes(word.encode())) for word in footprint.words)
    assert BLOOM_BITS % 8 == 0


def test_no_change_is_missed_in_random_edits(repo: Repo) -> None:
    """Every answer after every edit: what is said to be still true is the same when asked again."""
    rng = random.Random(7)
    names = [f"fn_{n}" for n in range(8)]
    for n, name in enumerate(names):
        other = names[(n + 3) % len(names)]
        repo.write(
            f"m{n}.py", f"from m{(n + 3) % 8} import {other}\n\n\ndef {name}():\n    {other}()\n"
        )
    repo.commit("base")
    repo.index()
    before = {name: repo.answer("refs", name) for name in names}
    for _ in range(10):
        file, name = f"m{rng.randrange(8)}.py", rng.choice(names)
        text = (repo.path / file).read_text()
        kind = rng.randrange(3)
        if kind == 0:
            repo.write(file, text + f"\n\nprint({name!r})\n{name}()\n")
        elif kind == 1:
            repo.write(file, text.replace("()\n", "(1)\n", 1))
        else:
            repo.write(f"x{rng.randrange(9)}.py", f"import m1\nm1.{name}()\n")
        said = verdicts(repo, *before.values())
        now = {name: repo.answer("refs", name) for name in names}
        for name, verdict in zip(names, said, strict=True):
            if verdict == "still true":
                assert facts(now[name]) == facts(before[name])


def facts(answer: dict[str, Any]) -> dict[str, Any]:
    kept = ("definitions", "references", "possible", "accounted", "complete", "absent")
    rows = json.loads(json.dumps({name: answer[name] for name in kept}))
    for row in (*rows["definitions"], *rows["references"]):
        row.pop("source", None)
    return dict(rows)


def test_a_question_asked_again_has_the_same_receipt(code: Repo) -> None:
    """Other questions in between do not widen it, and it still tells what matters."""
    here = IndexCoordinator(str(code.path))
    first = here.get_references("lonely")
    here.get_references("helper")
    assert here.get_references("lonely")["receipt"] == first["receipt"]
    assert "footprint" in first["receipt"]
    code.write("apart.py", "print(1)\n")  # of no file that imports its module
    assert verdicts(code, first) == ["still true"]
    code.write("new.py", "import lib.util\n\nlib.util.lonely()\n")
    assert verdicts(code, first) == ["changed"]
