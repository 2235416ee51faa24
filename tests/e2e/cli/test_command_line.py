"""The table of the command line, row by row: on a real terminal, and in a pipe."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import Repo, stop_runners
from tests.terminal import on_a_terminal

ROOT = Path(__file__).resolve().parents[3]
FILES = {
    "src/pkg/util.py": 'def parse_header(line):\n    """Split a header line."""\n    return line\n',
    "src/pkg/app.py": "from pkg.util import parse_header\n\n\nclass Server:\n"
    "    def serve(self, line):\n        return parse_header(line)\n",
    "src/pkg/conf.py": "# @generated\nsetting = 'parse_header'\n",
    "docs/guide.md": "# Guide\n\nparse_header is explained here, and parse_header again.\n",
    "ci.yml": "on: push\n",
}
STYLE = re.compile(r"[^\n]*\r\x1b\[K|\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|\r")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    """One indexed repository that no test changes."""
    made = Repo(tmp_path_factory.mktemp("table") / "repo")
    made.init()
    made.index_files(FILES)
    yield made
    stop_runners(made.path.parent)


def both(repo: Repo, *args: str) -> tuple[str, str]:
    """What is left on a terminal, without its styles, and what is printed into a pipe."""
    shown = on_a_terminal(repo, *args, codes=(0, 1, 2, 3), PAGER="cat", GIT_PAGER="cat")
    done = repo.gitindex(*args)
    assert "\x1b" not in done.stdout + done.stderr
    assert "Traceback" not in shown + done.stderr
    return STYLE.sub("", shown), done.stdout + done.stderr


def test_u1_help_is_in_groups_and_inner_commands_are_hidden(project: Repo) -> None:
    for said in both(project, "--help"):
        assert len(re.findall(r"(?m)^  [a-z-]+ +[A-Z]", said.partition("Commands:")[2])) == 14
    for said in both(project, "help", "--all"):
        for group in ("Everyday", "Explore", "Prove", "Hooks", "Agents"):
            assert re.search(rf"(?m)^{group}\b.*:$", said), group
        assert not re.search(r"(?m)^ +(hook|run) ", said)
    for said in both(project, "help", "refs"):
        assert said.startswith("Usage: gitindex refs")
    for said in both(project, "help", "nosuch"):
        assert "gitindex: no such command: nosuch" in said
        assert "`gitindex --help`" in said


def test_u2_install_says_what_happens_next_on_a_terminal_only(repo: Repo) -> None:
    repo.write("a.py", "def one():\n    pass\n")
    repo.commit()
    shown = on_a_terminal(repo, "install")
    assert "`gitindex wait`" in shown
    repo.wait_fresh()
    assert "gitindex wait" not in repo.gitindex("install").stdout


@pytest.mark.parametrize("args", [["search", "header"], ["symbols", "Server"], ["grep", "class"]])
def test_u3_paths_are_relative_and_accepted_both_ways(project: Repo, args: list[str]) -> None:
    shown, piped = both(project, "-C", "src/pkg", *args)
    for said in (shown, piped):
        assert re.search(r"(?m)^(app|util)\.py:\d", said)
        assert "src/pkg/" not in said
    for place in ("app.py#Server", "src/pkg/app.py#Server"):
        for said in both(project, "-C", "src/pkg", "refs", place):
            assert said.startswith("app.py:4")
    assert project.answer("-C", "src/pkg", "symbols", "Server")["symbols"][0]["path"] == (
        "src/pkg/app.py"
    )


def test_u4_names_are_found_by_parts_and_a_miss_names_what_is_near(project: Repo) -> None:
    for said in both(project, "symbols", "header"):
        assert "parse_header" in said
    for verb in ("symbols", "refs", "callers", "callees"):
        for said in both(project, verb, "parse_haeder"):
            assert "gitindex: no symbol parse_haeder; near: parse_header" in said


def test_u5_refs_show_the_line_and_prose_last(project: Repo) -> None:
    shown = on_a_terminal(project, "refs", "parse_header", PAGER="cat")
    assert re.search(r"return \x1b\[[0-9;]+mparse_header\x1b\[m?", shown)  # highlighted
    for said in both(project, "refs", "parse_header"):
        assert "src/pkg/app.py:6:16  return parse_header(line)" in said
        assert "function def parse_header(line)" in said
        assert "import import" not in said
    for said in both(project, "refs", "Server"):
        assert "class Server" in said
        assert "class class" not in said
    for said in both(project, "refs", "parse_header", "--limit", "1"):
        assert "-- 1 of 2 references shown" in said


def test_u6_search_shows_the_symbol_with_numbered_lines(project: Repo) -> None:
    for said in both(project, "search", "split", "header", "line"):
        first, *others = said.split("\n\n")
        place, *lines = first.splitlines()
        assert place.endswith("  function parse_header")
        start = int(place.split()[0].removeprefix("src/pkg/util.py:"))
        assert [int(line.split()[0]) for line in lines] == [*range(start, start + len(lines))]
        assert others
    assert "\x1b[" in on_a_terminal(project, "search", "header", PAGER="cat").split("\n")[1]


def test_u7_an_outline_is_a_tree_with_its_path_once(project: Repo) -> None:
    for said in both(project, "outline", "src/pkg/app.py"):
        lines = said.splitlines()
        assert lines[0] == "src/pkg/app.py"
        assert lines[-2:] == ["  4  class Server", "  5    def serve(self, line)"]
        assert said.count("app.py") == 1


def test_u8_impact_is_code_first_with_a_summary(repo: Repo) -> None:
    repo.index_files(FILES)
    repo.write("ci.yml", "on: pull_request\n")
    repo.write("src/pkg/util.py", "def parse_header(line, more=1):\n    return line\n")
    for said in both(repo, "impact"):
        assert said.splitlines()[0] == "src/pkg/util.py"
        assert "on: " not in said
        last = said.strip().splitlines()[-1]
        assert last.startswith("-- 2 files changed, 1 symbol, ")
        assert last.endswith("1 change of keys and headings not shown (--all)")
    for said in both(repo, "impact", "--all"):
        assert "ci.yml" in said


def test_u9_the_map_is_a_picture_with_edges_and_labels(project: Repo) -> None:
    shown, piped = both(project, "map", "--svg")
    for said in (shown, piped):
        assert "<svg" in said
        assert "app.py" in said
        assert re.search(r"<(line|path|polyline) ", said)


def test_u10_a_folder_comes_before_the_verb_and_flags_mean_what_rg_means(project: Repo) -> None:
    for said in both(project, "-C", "nosuchdir", "search", "header"):
        assert "gitindex: cannot change to 'nosuchdir'" in said
    for said in both(project, "grep", "-C", "1", "class Server"):
        assert [line.split(":")[0].split("-")[0] for line in said.splitlines()[:3]] == [
            "src/pkg/app.py"
        ] * 3
    for said in both(project, "grep", "-c", "parse_header", "-g", "*.md"):
        assert said.splitlines() == ["docs/guide.md:1"]


def test_u11_generated_files_are_found_and_ranked_down(project: Repo) -> None:
    for said in both(project, "grep", "setting"):
        assert "src/pkg/conf.py:2:" in said
    for said in both(project, "search", "parse_header"):
        places = re.findall(r"(?m)^(\S+):\d+", said)
        assert places.index("src/pkg/util.py") < places.index("src/pkg/conf.py")


def test_u13_a_closed_pipe_is_quiet(project: Repo) -> None:
    shown, piped = both(project, "search", "header")
    assert shown
    assert piped
    said = on_a_terminal(project, "outline", "src/pkg/app.py", GIT_PAGER="head -1")
    assert "rror" not in said


def test_u14_colours_follow_git_and_one_is_not_a_plural(repo: Repo) -> None:
    repo.index_files({"a.py": "def one():\n    pass\n"})
    assert "\x1b[" in on_a_terminal(repo, "symbols", "one", PAGER="cat")
    repo.git("config", "color.ui", "false")
    assert not re.search(r"\x1b\[[0-9;]*m", on_a_terminal(repo, "symbols", "one", PAGER="cat"))
    for said in both(repo, "status"):
        assert said.startswith("fresh: 1 file,")


def test_u15_clear_removes_the_index(repo: Repo) -> None:
    repo.index_files({"a.py": "a = 1\n"})
    assert "The index was removed." in on_a_terminal(repo, "clear")
    for said in both(repo, "status"):
        assert said.startswith("not indexed\n")
    repo.index()
    assert repo.gitindex("clear").stdout == "The index was removed.\n"


def test_u16_nothing_is_said_to_be_nothing_and_a_path_narrows_all(project: Repo) -> None:
    for args, told in (
        (["search", "zzzqqq"], "nothing found"),
        (["docs", "zzzqqq"], "no document matches"),
        (["impact", "HEAD..HEAD"], "0 files changed"),
        (["merge-check", "HEAD"], "nothing breaks in this merge"),
    ):
        assert told in both(project, *args)[0]
    for said in both(project, "refs", "parse_header", "--path", "docs"):
        assert "src/pkg/app.py:" not in said.partition("\n")[2]


def test_u17_messages_name_what_happened_and_the_fix(project: Repo) -> None:
    for said in both(project, "grep", "[[:alpha:]]+"):
        assert "`[:alpha:]` is a class of POSIX" in said
    for said in both(project, "outline", "src"):
        assert "src is a folder" in said
        assert "hint: give a file of it" in said
    for said in both(project, "outline", "nosuch.py"):
        assert "not in the tree: nosuch.py" in said


def test_u18_versions_and_platforms_are_named() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    for minor in (11, 12, 13):
        assert f"Programming Language :: Python :: 3.{minor}" in told
    readme = (ROOT / "README.md").read_text()
    platforms = next(line for line in readme.splitlines() if "Platforms" in line)
    for name in ("Windows", "macOS", "WSL", "jj"):
        assert name in platforms + readme.partition(platforms)[2][:600]
