"""Small things of every day: pipes that close, colours as git has them, what happens next."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support import TIMEOUT, Repo
from tests.terminal import on_a_terminal


@pytest.mark.parametrize("args", [["search", "word"], ["grep", "word"], ["symbols", "word"]])
def test_u13_a_closed_pipe_does_not_change_the_exit_code(repo: Repo, args: list[str]) -> None:
    text = "".join(f"def word_{n}():\n    return 'word' * {n}\n\n\n" for n in range(400))
    for n in range(12):
        repo.write(f"part{n}.py", text.replace("word_", f"word_{n}_"))
    repo.commit()
    repo.index()
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-m", "gitindex", *args, "--limit", "200"],
            cwd=repo.path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"rror" not in process.stderr.read()
        process.stderr.close()
        assert process.wait(TIMEOUT) == 0


def test_colour_follows_git(quiet: Repo) -> None:
    assert "\x1b[" in on_a_terminal(quiet, "symbols", "helper", PAGER="cat")
    quiet.git("config", "color.ui", "false")
    assert "\x1b[" not in on_a_terminal(quiet, "symbols", "helper", PAGER="cat")
    assert "\x1b[" in on_a_terminal(quiet, "symbols", "helper", PAGER="cat", CLICOLOR_FORCE="1")


def test_install_says_what_happens_next(repo: Repo) -> None:
    repo.write("a.py", "def one():\n    pass\n")
    repo.commit()
    shown = on_a_terminal(repo, "install", PAGER="cat")
    assert "`gitindex wait`" in shown
    assert "`gitindex search WORDS`" in shown
    repo.wait_fresh()


def test_outline_is_a_tree(repo: Repo) -> None:
    repo.write("a.py", "class Box:\n    def open(self):\n        pass\n\n\ndef one():\n    pass\n")
    repo.commit()
    repo.index()
    assert repo.gitindex("outline", "a.py").stdout.splitlines() == [
        "a.py",
        "  1  class Box",
        "  2    def open(self)",
        "  6  def one()",
    ]


def test_refs_show_the_code_and_what_is_near(repo: Repo) -> None:
    repo.write("util.py", "def helper():\n    return 1\n")
    repo.write("app.py", "from util import helper\n\n\ndef main():\n    return helper()\n")
    repo.commit()
    repo.index()
    shown = repo.gitindex("refs", "helper").stdout
    assert "app.py:5:12  return helper()  [import call in main]" in shown
    assert "-- 2 references; all 3 occurrences accounted for" in shown
    cut = repo.gitindex("refs", "helper", "--limit", "1").stdout
    assert "-- 1 of 2 references shown" in cut
    missing = repo.gitindex("refs", "helpr")
    assert (missing.returncode, missing.stderr) == (1, "gitindex: no symbol helpr; near: helper\n")
    assert "near: helper" in repo.gitindex("callers", "helpr").stderr


def test_clear_removes_the_index_and_nothing_else(quiet: Repo) -> None:
    done = quiet.gitindex("clear")
    assert (done.returncode, done.stdout) == (0, "The index was removed.\n")
    assert quiet.gitindex("status").returncode == 3
    assert not (quiet.path / ".llmc").exists()
    assert quiet.git("status", "--porcelain", "--ignored") == ""
    quiet.index()
    assert quiet.state() == "fresh"


def test_impact_shows_code_first_and_groups_by_file(repo: Repo) -> None:
    repo.write("ci.yml", "on: push\njobs: {}\n")
    repo.write("util.py", "def helper():\n    return 1\n")
    repo.write("app.py", "from util import helper\n\n\ndef main():\n    return helper()\n")
    repo.write("tests/test_app.py", "from app import main\n\n\ndef test_main():\n    main()\n")
    repo.commit()
    repo.index()
    repo.write("ci.yml", "on: pull_request\njobs: {}\n")
    repo.write("util.py", "def helper(x=1):\n    return x\n")
    shown = repo.gitindex("impact").stdout.splitlines()
    assert shown[:2] == ["util.py", "      1  interface helper"]
    assert "  app.py" in shown
    assert "  tests/test_app.py" in shown
    assert shown[-1].startswith("-- 2 files changed, 1 symbol, ")
    assert shown[-1].endswith("not shown (--all)")
    assert "ci.yml" in repo.gitindex("impact", "--all").stdout


def test_search_shows_numbered_lines_and_an_empty_line_between_results(indexed: Repo) -> None:
    indexed.write("other.py", "def helper_of_tests():\n    return helper()\n")
    indexed.git("add", "-A")
    indexed.git("commit", "-qm", "A giraffe")
    indexed.wait_fresh()
    first, *rest = indexed.gitindex("search", "helper").stdout.split("\n\n")
    assert first.splitlines()[1].split()[0].isdigit()
    assert rest
    for block in (first, *rest):
        place, line, *_ = block.splitlines()
        assert line.split()[0] == place.split()[0].rsplit(":", 1)[1]
    by_past = indexed.gitindex("search", "giraffe").stdout
    assert by_past.startswith("other.py:1")
    assert "its history)" in by_past.splitlines()[0]


def test_refs_calls_an_import_one_once(indexed: Repo) -> None:
    indexed.write("other.py", "from lib.util import helper\n\nprint(helper())\n")
    indexed.git("add", "-A")
    said = indexed.gitindex("refs", "helper").stdout
    assert "import import" not in said
    assert "[import]" in next(line for line in said.splitlines() if "other.py:1:" in line)
    assert "[import call]" in next(line for line in said.splitlines() if "other.py:3:" in line)


def test_explore_shows_code_uses_and_tests(quiet: Repo) -> None:
    quiet.write(
        "tests/test_util.py", "from lib.util import helper\n\n\ndef test():\n    helper()\n"
    )
    quiet.commit("tests")
    quiet.index()
    told = quiet.gitindex("explore", "which", "helper", "returns", "42", "--repo", "lib")
    assert told.returncode == 0, told.stderr
    assert "  <- app.py:5 in main" in quiet.gitindex("explore", "helper").stdout
    lines = quiet.gitindex("-C", "lib", "explore", "helper").stdout.splitlines()
    assert lines[0] == "util.py:1-2  function helper"
    assert lines[1:3] == ["   1  def helper():", "   2      return 42"]
    assert any(line.startswith("  <- ../app.py:5 in main") for line in lines)
    assert "  tests: ../tests/test_util.py" in lines
    answer = json.loads(quiet.gitindex("explore", "helper", "--json").stdout)
    assert answer["places"][0]["path"] == "lib/util.py"
    missing = quiet.gitindex("explore", "zzzqqq")
    assert missing.returncode == 1
    assert "nothing" in missing.stdout + missing.stderr


def test_a_repository_without_an_index_is_told_so_and_what_to_do(repo: Repo) -> None:
    """Not `stale: not indexed`: nothing is stale that never was."""
    repo.write("a.py", "a = 1\n")
    repo.commit()
    done = repo.gitindex("status")
    assert (done.returncode, done.stdout) == (3, "not indexed\n  hint: run `gitindex index`\n")
    for command in (("status", "--short"), ("check",)):
        assert repo.gitindex(*command).stdout == "not indexed\n"
    for question in (("refs", "a"), ("symbols", "a"), ("read", "a.py")):
        assert repo.gitindex(*question).stderr.endswith("  hint: run `gitindex index`\n")
    assert repo.gitindex("index").returncode == 0, "the remedy works"


def test_a_search_that_finds_nothing_says_so_on_a_terminal(quiet: Repo) -> None:
    assert "gitindex: nothing found" in on_a_terminal(quiet, "search", "zzzqqq", PAGER="cat")
    done = quiet.gitindex("search", "zzzqqq")
    assert (done.returncode, done.stderr) == (1, "")


def test_a_signature_of_several_lines_is_shown_as_one_line_is_written(repo: Repo) -> None:
    repo.write("a.py", "def area(\n    a: int,\n    b: list[\n        int\n    ],\n) -> int: ...\n")
    repo.commit()
    repo.index()
    assert "def area(a: int, b: list[int]) -> int" in repo.gitindex("symbols", "area").stdout
    assert "def area(a: int, b: list[int]) -> int" in repo.gitindex("outline", "a.py").stdout
    assert "def area(a: int, b: list[int]) -> int" in repo.gitindex("refs", "area").stdout


def test_symbols_lists_code_before_keys_of_data(repo: Repo) -> None:
    repo.write(".github/workflows/ci.yml", "name: ci\non: push\n")
    repo.write("src/a.py", "def name(): ...\n")
    repo.commit()
    repo.index()
    listed = repo.gitindex("symbols").stdout.splitlines()
    assert listed[0].startswith("src/a.py:1")
    assert [row["path"] for row in repo.answer("symbols", "name")["symbols"]] == [
        "src/a.py",
        ".github/workflows/ci.yml",
    ]
    assert "name: ci" in repo.gitindex("outline", ".github/workflows/ci.yml").stdout
