"""One place prints JSON, and one function decides how an answer is printed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import gitindex
from gitindex.base.errors import Exit
from gitindex.cli.printing import CommandReply, print_reply
from gitindex.sharing.server import Unavailable
from gitindex.view.snapshot import GateClosed

PACKAGE = Path(gitindex.__file__).parent
CLOSED = GateClosed(
    {"status": "not_indexed", "message": "nothing is indexed", "hints": {"create": "…"}}
)


def closed() -> CommandReply:
    raise CLOSED


def silent() -> Iterator[str]:
    return map(pytest.fail, ["the text is not asked for"])


def test_json_is_printed_whole_and_in_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    code = print_reply(lambda: CommandReply({"found": ["ü\u2028"]}, silent()), True)
    assert (code, capsys.readouterr().out) == (0, '{"found": ["\\u00fc\\u2028"]}\n')


def test_text_and_the_exit_code_of_an_empty_answer(capsys: pytest.CaptureFixture[str]) -> None:
    code = print_reply(lambda: CommandReply({"found": []}, ["none"], Exit.NO), False)
    assert (code, capsys.readouterr().out) == (1, "none\n")


@pytest.mark.parametrize("as_json", [True, False])
def test_closed_gate_is_an_answer(as_json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    assert print_reply(closed, as_json) == Exit.GATED
    out, err = capsys.readouterr()
    assert ("not_indexed" in out, "gitindex index" in err) == (as_json, not as_json)


@pytest.mark.parametrize("as_json", [True, False])
def test_an_absent_server_is_an_answer(as_json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    def away() -> CommandReply:
        raise Unavailable("no route")

    if not as_json:
        with pytest.raises(Unavailable):
            print_reply(away, as_json)
        return
    assert print_reply(away, as_json) == Exit.GATED
    assert '"status": "unavailable", "reason": "no route"' in capsys.readouterr().out


def test_no_command_writes_json_past_print_json() -> None:
    """`json.dumps` in a door makes text of a value inside a line, never an answer."""
    allowed: dict[str, int] = {}
    for file in [*(PACKAGE / "cli").rglob("*.py"), PACKAGE / "__main__.py"]:
        tree = ast.parse(file.read_text())
        calls = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == "dumps"]
        assert len(calls) <= allowed.get(file.name, 0), file
