"""Claims about the code: confirmed and refuted only with proof, everything else unverifiable."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support import Repo

FILES = {
    "lib/util.py": (
        "import os\n\n\ndef helper(path, *, deep=False):\n    return os.path.join(path, 'x')\n\n\n"
        "def lonely():\n    return 1\n\n\ndef passed():\n    return 2\n\n\n"
        "class Base:\n    def run(self):\n        return 0\n"
    ),
    "lib/main.py": (
        "from lib.util import Base, helper, passed\n\n\nclass Own(Base):\n    def run(self):\n"
        "        return helper('a')\n\n\ndef main(unknown):\n    table = [passed]\n"
        "    unknown.run()\n    return table, Own().run()\n"
    ),
    "tests/test_main.py": (
        "from lib.main import main\n\n\ndef test_main():\n    assert main(None)\n\n\n"
        "def test_nothing():\n    assert True\n"
    ),
    "README.md": "# Notes\n\nCall `helper` to be helped.\n",
}

VERDICTS = {
    "calls(Own.run, helper)": "confirmed",
    "calls(lib/main.py#main, helper)": "refuted",
    "calls(lib/main.py, helper)": "confirmed",
    "calls(main, passed)": "unverifiable",  # it is put into a list
    "calls(lonely, passed)": "unverifiable",  # and may be called from anywhere
    "calls(lonely, helper)": "refuted",
    "no_callers(lonely)": "confirmed",
    "no_callers(helper)": "refuted",
    "no_callers(passed)": "unverifiable",
    "no_callers(Base.run)": "unverifiable",  # `unknown.run()` may be it
    "unused(lonely)": "confirmed",
    "unused(passed)": "refuted",
    "defines(lib/util.py, helper)": "confirmed",
    "defines(lib/util.py, Base.run)": "confirmed",
    "defines(lib/util.py, lib.util.helper)": "confirmed",
    "defines(lib/main.py, helper)": "refuted",
    "defines(lib/main.py, table)": "unverifiable",  # a local variable is no definition of ours
    "defines(lib/gone.py, helper)": "refuted",
    'signature(helper, "(path, *, deep=False)")': "confirmed",
    'signature(helper, "def helper( path, *, deep = False ):")': "confirmed",
    'signature(helper, "(path)")': "refuted",
    'signature(lib/main.py#Own.run, "()")': "confirmed",
    'line(lib/util.py, 4, "def helper(path")': "confirmed",
    'line(lib/util.py, 5, "def helper(path")': "refuted",
    'line(lib/util.py, 900, "x")': "refuted",
    "imports(lib/main.py, lib.util)": "confirmed",
    "imports(lib/main.py, lib/util.py)": "confirmed",
    "imports(lib/main.py, lib.util.helper)": "confirmed",
    "imports(lib/main.py, json)": "refuted",
    "only_called_from(helper, lib)": "confirmed",
    "only_called_from(helper, tests)": "refuted",
    "only_called_from(lonely, lib)": "unverifiable",
    "tests(main, tests/test_main.py::test_main)": "confirmed",
    "tests(main, test_nothing)": "unverifiable",
    "tests(lonely, test_main)": "refuted",
    "unused(nothing_of_that_name)": "unverifiable",
}


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    repo = Repo(tmp_path_factory.mktemp("claims") / "repo")
    repo.init()
    return repo.index_files(FILES)


def rows(repo: Repo, *args: str) -> dict[str, dict[str, Any]]:
    answer = repo.answer("claim", *args)
    assert answer["status"] == "ok", answer
    return {row["claim"]: row for row in answer["verdicts"]}


def test_each_kind_in_one_call(code: Repo) -> None:
    found = rows(code, *VERDICTS)
    assert {claim: row["verdict"] for claim, row in found.items()} == VERDICTS
    assert all(row["why"] and row["receipt"]["treeId"] == code.tree() for row in found.values())
    [place] = found["calls(Own.run, helper)"]["evidence"]
    assert (place["path"], place["line"], place["tier"]) == ("lib/main.py", 6, "import")


@pytest.mark.parametrize("claim", [claim for claim in VERDICTS if "nothing_of" not in claim])
def test_exit_codes(code: Repo, claim: str) -> None:
    codes = {"confirmed": 0, "refuted": 1, "unverifiable": 3}
    done = code.gitindex("claim", claim)
    assert done.returncode == codes[VERDICTS[claim]], done
    assert done.stdout.startswith(VERDICTS[claim])


BAD = {
    "unused(nothing_of_that_name)": "no symbol nothing_of_that_name",
    "unused(helper)@no-such-branch": "no such revision: no-such-branch",
    "unused(helper)@--help": "no such revision: --help",
    "is_nice(helper)": "no kind of claim: is_nice",
    "calls(helper)": "not calls(A, B): calls(helper)",
    "calls(helper, ": "not a claim: calls(helper,",
    'line(lib/util.py, x, "y")': 'not line(FILE, N, "TEXT"): x is not a line number',
    "unused(helper) and more": "not a claim: unused(helper) and more",
    "helper is unused": "not a claim: helper is unused",
    "line(../../etc/passwd, 1, root)": "",
    "[": "not JSON",
    '[{"claim": "calls", "args": "ab"}]': "`args` of calls is not a list",
    "[[[1]]]": "not a claim: [[1]]",
    "\x1b[31munused(x)": "not a claim: \\x1b[31munused(x)",
    "unused(" + "(" * 3_000: "not a claim",
    "": "no claim given",
}


@pytest.mark.parametrize("claim", BAD)
def test_bad_input_is_one_line_and_exit_2(code: Repo, claim: str) -> None:
    done = code.gitindex("claim", claim)
    assert done.returncode == 2, done
    first, *hint = done.stderr.splitlines()
    assert first.startswith(f"gitindex: {BAD[claim]}")
    assert len(hint) <= 1
    assert all(line.startswith("  hint: ") for line in hint)
    assert not done.stdout


def test_json_in_and_out(code: Repo) -> None:
    given = json.dumps(
        [
            "unused(lonely)",
            {"claim": "calls", "args": ["Own.run", "helper"]},
            {"claim": "line", "args": ["lib/util.py", 4, "def helper"], "at": "HEAD"},
        ]
    )
    answer = json.loads(code.piped(given, "claim", "-", "--json").stdout)
    assert [row["verdict"] for row in answer["verdicts"]] == ["confirmed"] * 3
    assert answer["counts"] == {"confirmed": 3, "refuted": 0, "unverifiable": 0}


def test_a_claim_has_its_own_revision(repo: Repo) -> None:
    repo.index_files({"a.py": "def one():\n    return 1\n", "b.py": "import a\n"})
    repo.write("a.py", "def one():\n    return 1\n\n\none()\n")
    repo.commit("use it")
    repo.write("a.py", "def one():\n    return 1\n\n\nprint(one)\n")
    repo.index()
    found = rows(repo, "no_callers(one)@HEAD~1", "no_callers(one)@HEAD", "no_callers(one)")
    assert [row["verdict"] for row in found.values()] == ["confirmed", "refuted", "unverifiable"]
    trees = [row["receipt"]["treeId"] for row in found.values()]
    assert trees[0] != trees[1]
    assert rows(repo, "no_callers(one)", "--at", "HEAD")["no_callers(one)"]["verdict"] == "refuted"


def test_a_name_of_several_symbols_is_decided_where_they_agree(repo: Repo) -> None:
    repo.index_files(
        {
            "a.py": "def one():\n    pass\n",
            "b.py": "import a\n\n\ndef one():\n    pass\n\n\none()\n",
        }
    )
    assert rows(repo, "no_callers(one)")["no_callers(one)"]["verdict"] == "unverifiable"
    assert rows(repo, "no_callers(a.py#one)")["no_callers(a.py#one)"]["verdict"] == "confirmed"
    row = rows(repo, 'signature(one, "()")')['signature(one, "()")']
    assert row["verdict"] == "confirmed"


def test_calls_of_an_overload_are_not_told_from_those_of_another(repo: Repo) -> None:
    text = (
        "class A {\n  int f(int a) { return a; }\n  int f(String a) { return 1; }\n"
        "  int g() { return f(1); }\n  int lone(int a) { return 2; }\n"
        "  int lone(long a) { return 3; }\n}\n"
    )
    repo.index_files({"A.java": text})
    found = rows(repo, "no_callers(A.java:3)", "calls(A.g, A.java:3)", "no_callers(f)")
    assert {claim: row["verdict"] for claim, row in found.items()} == {
        "no_callers(A.java:3)": "unverifiable",
        "calls(A.g, A.java:3)": "unverifiable",
        "no_callers(f)": "refuted",
    }
    assert "not told from those of line 2" in found["no_callers(A.java:3)"]["why"]
    assert rows(repo, "no_callers(A.java:6)")["no_callers(A.java:6)"]["verdict"] == "confirmed"


def test_a_broken_assumption_is_said_and_decides_when_strict(repo: Repo) -> None:
    repo.index_files({"a.py": "def one():\n    pass\n\n\nexec(input())\n", "b.py": "import a\n"})
    [row] = rows(repo, "unused(one)").values()
    assert row["verdict"] == "confirmed"
    assert [one["assumption"] for one in row["assumes"]] == ["eval"]
    assert repo.gitindex("claim", "--assume-nothing", "unused(one)").returncode == 3


REPORT = """\
I checked the code. `helper` (lib/util.py:4) joins paths, and lib/main.py:6: `return helper('a')`
is its only call. See `util.py:900`. `lonely` is defined in `lib/util.py`; `Own` is defined in `lib/util.py`.
Also: unused(lonely).
"""


def test_a_report_is_checked_by_its_quotes(code: Repo) -> None:
    done = code.piped(REPORT, "claim", "--from-text", "-", "--json")
    answer = json.loads(done.stdout)
    found = {row["claim"]: row["verdict"] for row in answer["verdicts"]}
    assert found == {
        'line(lib/util.py, 4, "helper")': "confirmed",
        "line(lib/main.py, 6, \"return helper('a')\")": "confirmed",
        'line(lib/util.py, 900, "")': "refuted",
        "defines(lib/util.py, lonely)": "confirmed",
        "defines(lib/util.py, Own)": "refuted",
        "unused(lonely)": "confirmed",
    }
    assert done.returncode == 1
    (code.path / ".git" / "report.md").write_text(REPORT)
    assert code.gitindex("claim", "--from-text", ".git/report.md").returncode == 1
    gone = code.gitindex("claim", "--from-text", ".git/gone.md")
    assert (gone.returncode, gone.stderr) == (2, "gitindex: no such file: .git/gone.md\n")
    assert code.gitindex("claim", "--from-text", ".git").returncode == 2
    assert code.piped("nothing to see", "claim", "--from-text", "-").returncode == 0


LOOSE = """
- `Own.run` (lib/main.py:5-7) and `Own.run` at [main](lib/main.py#L6); lib/util.py:4 `def helper`
- `Own.run` is defined in lib/main.py:1, `helper` in lib/util.py, and `helper` (lib/util.py, line 4)
- https://host.example/blob/v1/lib/util.py#L900 and /home/me/repo/lib/util.py:2 and x.py:1, lib/util.py:3-99
"""


def test_quotes_of_a_report_as_people_write_them(code: Repo) -> None:
    """Ranges, links, verbs, absolute paths; addresses show other revisions, `X in FILE` says nothing."""
    code.write("a/x.py", "")
    code.write("b/x.py", "")
    code.commit()
    code.gitindex("wait")
    answer = json.loads(code.piped(LOOSE, "claim", "--from-text", "-", "--json").stdout)
    found = {row["claim"]: row["verdict"] for row in answer["verdicts"]}
    assert found == {
        'line(lib/main.py, 5-7, "run")': "confirmed",
        'line(lib/main.py, 6, "run")': "refuted",
        'line(lib/util.py, 4, "def helper")': "confirmed",
        'line(lib/main.py, 1, "run")': "refuted",
        'line(lib/util.py, 4, "helper")': "confirmed",
        'line(lib/util.py, 2, "")': "confirmed",
        'line(x.py, 1, "")': "unverifiable",
        'line(lib/util.py, 3-99, "")': "refuted",
    }
    whys = {row["claim"]: row["why"] for row in answer["verdicts"]}
    assert whys['line(x.py, 1, "")'] == "x.py is 2 files (such as a/x.py)"


def test_secrets_and_other_files_are_not_quoted(repo: Repo) -> None:
    repo.index_files({"a.py": "x = 1\n", ".env": "TOKEN=hunter2\n", ".gitignore": "out\n"})
    repo.write("out/y.py", "y = 1\n")
    done = repo.gitindex("claim", 'line(.env, 1, "TOKEN")', 'line(out/y.py, 1, "y")')
    assert done.returncode == 3
    assert "hunter2" not in done.stdout
    assert "on disk, but not part of the tree" in done.stdout
