"""Flags as the trade writes them: combined, with or without a blank, `--` ends options, `-` reads."""

from __future__ import annotations

import io
import os

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.base.runner_lock import RunnerLock
from gitindex.cli.door import run_cli
from tests.support import Repo

SAME = (
    (["grep", "-m", "2", "value"], ["grep", "value", "--limit=2"]),
    (["grep", "value", "-m3", "-i"], ["grep", "-im3", "value"]),
    (["grep", "-n", "value"], ["grep", "--line-number", "value"]),
    (["grep", "-C1", "-m", "1", "value"], ["grep", "--context", "1", "-m1", "value"]),
    (["grep", "-lm1", "value", "--json"], ["grep", "-l", "--limit", "1", "value", "--json"]),
    (["search", "-n", "1", "value"], ["search", "value", "-m1"]),
    (["search", "-n1", "--", "value"], ["search", "--limit", "1", "value"]),
    (["search", "--lim", "1", "value"], ["search", "--limit", "1", "value"]),
    (["grep", "--line", "--context=1", "value"], ["grep", "--line-number", "-C1", "value"]),
    (["symbols", "value_0_1", "-n", "2"], ["symbols", "--limit=2", "--", "value_0_1"]),
)
WRONG = (
    ["grep", "-m", "value"],
    ["grep", "-m", "-1", "value"],
    ["search", "-n", "0", "value"],
    ["search", "-n", "201", "value"],
    ["search", "-n", "²", "value"],
    ["search", "value", "--limit"],
    ["symbols", "a", "b"],
    ["outline"],
    ["api", "--format", "xml"],
    ["grep", "-iq", "value"],
    ["grep", "--count=1", "value"],
    ["grep", "--li", "value"],
    ["symbols", "x", "--at", "HEAD", "--staged"],
)


@pytest.fixture
def many(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    for number in range(3):
        lines = "".join(f"value_{number}_{line} = {line}  # value\n" for line in range(4))
        repo.write(f"m{number}.py", lines)
    repo.commit()
    repo.index()
    monkeypatch.chdir(repo.path)
    return repo


def test_flags_are_read_as_everywhere(many: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    seen = set()
    for one, other in SAME:
        first = run_cli(one), capsys.readouterr().out
        assert first == (run_cli(other), capsys.readouterr().out), one
        assert first[0] == 0, one
        seen.add(len(first[1].splitlines()))
    assert len(seen) > 1, "a limit limits"
    for args in WRONG:
        with pytest.raises(GitIndexError) as told:
            run_cli(args)
        assert told.value.code == 2, args


def test_a_dash_reads_standard_input(
    many: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for verb in (["symbols"], ["grep", "-w"]):
        assert run_cli([*verb, "value_1_2"]) == 0
        said = capsys.readouterr().out
        monkeypatch.setattr("sys.stdin", io.StringIO("value_1_2\n"))
        assert run_cli([*verb, "-"]) == 0
        assert capsys.readouterr().out == said


def test_a_question_brings_the_history_up_to_head(
    many: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    many.write("m0.py", "def late(): pass\n")
    assert run_cli(["history", "late"]) == 1
    many.commit()
    assert run_cli(["history", "late"]) == 0
    said = capsys.readouterr().out
    assert "added    m0.py: late" in said
    assert "HEAD is elsewhere" not in said
    many.write("m0.py", "def later(): pass\n")
    many.commit()
    lock = RunnerLock(os.path.join(many.worktree.store, "history.lock"))
    assert lock.acquire()
    assert run_cli(["history", "late"]) == 0, "what is known, while another process indexes"
    assert "HEAD is elsewhere" in capsys.readouterr().out
    lock.release()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["symbols", "a.py#Own"], "a.py:1"),
        (["find", "a.py#go"], "a.py:2"),
        (["find", "a.py#Own.go"], "a.py:2"),
        (["read", "a.py#Own.go"], "     2      def go(self): pass\n"),
        (["refs", "a.py#Own.go"], "b.py:2"),
        (["callers", "a.py#Own.go"], "b.py"),
        (["history", "a.py#Own"], "a.py: Own"),
        (["history", "log", "a.py#Own"], "a.py: Own"),
        (["history", "when", "b.py#run", "a.py#go"], "b.py: run"),
        (["state", "--gate", "a.py#Own.go"], "ok: a.py:Own.go"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_symbol_is_named_by_its_file_everywhere(
    repo: Repo,
    words: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = "from a import Own\ndef run(): Own().go()\n"
    repo.index_files(
        {"a.py": "class Own:\n    def go(self): pass\n", "b.py": run, "c.py": "Own = 1\n"}
    )
    monkeypatch.chdir(repo.path)
    assert run_cli(words) == 0
    shown = capsys.readouterr().out
    assert said in shown
    assert "c.py" not in shown
