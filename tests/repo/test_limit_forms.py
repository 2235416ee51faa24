"""`-n` of `grep` and `search`: the short way through the command line says what the whole parser says."""

from __future__ import annotations

import pytest

from gitindex.cli.args import run_cli
from gitindex.cli.fast_path import run_everyday
from tests.support import Repo

SHORT = (
    ["grep", "-n", "2", "value"],
    ["grep", "value", "-n", "3", "-i"],
    ["grep", "-n", "0", "value"],
    ["grep", "-n", "1", "-l", "value", "--json"],
    ["search", "-n", "1", "value"],
    ["search", "value", "-n", "2", "--json"],
)
LONG = (
    ["grep", "-n", "value"],
    ["grep", "-n", "-1", "value"],
    ["grep", "-n5", "value"],
    ["grep", "-n", "1", "-n", "2", "value"],
    ["search", "-n", "0", "value"],
    ["search", "-n", "201", "value"],
    ["search", "-n", "²", "value"],
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


def test_both_ways_answer_alike_and_the_short_one_leaves_it_the_rest(
    many: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = set()
    for args in SHORT:
        short = run_everyday(args), capsys.readouterr().out
        whole = run_cli(args), capsys.readouterr().out
        assert short == whole, args
        assert short[0] == 0, args
        seen.add(len(short[1].splitlines()))
    assert len(seen) > 1, "a limit limits"
    for args in LONG:
        assert run_everyday(args) is None, args
