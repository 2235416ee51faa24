"""Every door is made from the table: a file in questions/ is a question everywhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import gitindex.questions
from gitindex.cli import complete
from gitindex.cli.commands import all_commands, commands
from gitindex.cli.door import run_cli
from gitindex.cli.help import manual_page
from gitindex.mcp.question_tools import make_tools
from gitindex.questions.table import all_questions, find_question, shell_params, summary_of
from tests.mcp_docs import parameter_table
from tests.support import Repo

NEW = '''
"""`gitindex lines`: how many lines a file of the tree has."""

from gitindex.questions.table import question


def ask(here, asked):
    """Count."""
    path = here.inside(asked["file"]).encode()
    with here.tree() as view:
        return view.envelope(lines=view.read([path])[path].count(b"\\n") * asked["times"])


def text(answer, ink):
    """Yield the number."""
    yield ink.paint("line", str(answer["lines"]))


TABLE = """
Explore: lines | tool=count_lines
  How many lines a file has.
  > Lines of a file, counted.
    * | file path @paths | The file. | same
    --times -x | times integer =1 1..9 | So often. | same
"""
QUESTION = question(TABLE, ask, text, example={"file": "a.py"})
'''


@pytest.fixture
def newcomer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "lines.py").write_text(NEW)
    monkeypatch.setattr(
        gitindex.questions, "__path__", [*gitindex.questions.__path__, str(tmp_path / "more")]
    )
    monkeypatch.delitem(sys.modules, "gitindex.questions.lines", raising=False)


def test_one_new_file_is_a_question_at_every_door(
    newcomer: None, repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.index_files({"a.py": "a = 1\nb = 2\n"})
    monkeypatch.chdir(repo.path)
    assert run_cli(["lines", "a.py", "-x2"]) == 0
    assert capsys.readouterr().out == "4\n"
    assert run_cli(["help", "--all"]) == run_cli(["lines", "--help"]) == 0
    said = capsys.readouterr().out
    assert "  lines    How many lines a file has." in said
    assert "-x, --times N" in said
    assert complete.offers([], "line") == ["lines"]
    assert complete.offers(["lines"], "--t") == ["--times", "--team"][:1]
    assert complete.offers(["lines"], "a") == ["a.py"]
    assert complete.offers(["-C", "..", "lines"], "--ti") == ["--times"]
    assert complete.offers([], "--v") == ["--version"]
    assert ".SS gitindex lines [OPTIONS] {FILE}" in manual_page()
    tools = {tool.name: tool for tool in make_tools()}
    assert "| `times` | integer 1–9 | 1 | So often. |" in parameter_table(tools["count_lines"])
    from gitindex.mcp.dispatch import call, content_of
    from tests.mcp_client import Inside

    inside = Inside(str(repo.path.resolve()), repo.path.parent)
    answer = call(inside.server, tools["count_lines"], {"file": "a.py", "times": 3})
    assert (answer["status"], answer["lines"]) == ("ok", 6)
    assert content_of(tools["count_lines"], answer) == "6"


def test_every_command_of_the_contract_is_there() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs/contract.md").read_text()
    promised = page.partition("Commands: `gitindex` + `")[2].partition("`")[0].split()
    assert len(promised) > 40
    there = {one.name.split()[0] for one in [*all_commands(), *commands().values()]}
    assert [name for name in promised if name not in there] == []


def test_a_flag_means_one_thing_in_a_command_and_one_everywhere() -> None:
    meanings: dict[str, set[str]] = {}
    for one in all_commands():
        flags = [flag for param in shell_params(one) for flag in param.flags]
        assert len(flags) == len(set(flags)), one.name
        for param in shell_params(one):
            for flag in param.flags:
                meanings.setdefault(flag, set()).add(param.name)
    assert meanings.pop("-C") == {"path", "context"}  # as in git, and in grep as in ripgrep
    assert meanings.pop("-n") == {"limit", "numbers"}  # line numbers in grep, as in ripgrep
    several = {
        flag: names - {"rev", "seconds"}  # `--at` of packs; `--timeout`
        for flag, names in meanings.items()
        if len(names - {"rev", "seconds"}) > 1
    }
    assert several == {
        "--from": {"date_from", "dest"},  # a day, or where a pack comes from
        "--to": {"date_to", "dest"},
    }


def test_every_question_is_found_by_the_file_of_its_first_word() -> None:
    for question in all_questions():
        assert find_question(question.name.split()) is question


def test_a_summary_is_the_first_sentence() -> None:
    assert summary_of("Is it? Exit 1 if not.") == "Is it?"
    assert summary_of("Do it. More.") == "Do it."
    assert summary_of("All of it\n\nA paragraph.") == "All of it"


@pytest.mark.parametrize("asked", ["--help", "help --all", "help grep", "jobs --help"])
def test_u12_help_imports_no_verb(asked: str) -> None:
    code = (
        "import sys\nfrom gitindex.cli.door import run_cli\n"
        f"assert run_cli({asked.split()!r}) == 0\n"
        "print([m for m in sys.modules if m.startswith(('gitindex.cli.verbs.', 'gitindex.query.',"
        " 'sqlite3', 'tantivy'))])"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
