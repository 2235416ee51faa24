"""MCP over HTTP: the SDK's own client, two at once, and who is turned away."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from tests.mcp_client import READERS, HttpAgent, make_quiet
from tests.support import TIMEOUT, Repo

CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


class Served(NamedTuple):
    """A running server."""

    url: str
    token: str
    repo: Repo
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        found = urlsplit(self.url).port
        assert found
        return found


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("http")
    repo = make_quiet(Repo(folder / "repo"))
    with subprocess.Popen(
        [sys.executable, "-m", "gitindex", "mcp", "--http", "--tools", "all"],
        cwd=repo.path,
        env={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        token = process.stdout.readline().strip().removeprefix("Authorization: Bearer ")
        yield Served(url, token, repo, process)
        process.send_signal(signal.SIGTERM)
        process.wait(TIMEOUT)


def test_every_reading_tool_answers_two_clients_over_one_server(served: Served) -> None:
    with HttpAgent(served.url, served.token) as one, HttpAgent(served.url, served.token) as two:
        assert {tool.name for tool in one.tools()} >= READERS.keys()
        for name, arguments in READERS.items():
            assert one.ask(name, **arguments)["status"] == "ok", name
        first = one.ask("search_codebase", query="helper")
        second = two.ask("search_codebase", query="helper")
        assert first["results"] == second["results"]
        served.repo.write("lib/more.py", "def brand_new_name():\n    return 1\n")
        served.repo.git("add", "-A")
        assert two.ask("find_symbols", name="brand_new_name")["symbols"]


def test_every_managing_tool_answers_too(served: Served) -> None:
    """With the readers, and those that have tests of their own, these are all tools of the list."""
    root = os.path.realpath(served.repo.path)
    with HttpAgent(served.url, served.token) as one:
        assert {tool.name for tool in one.tools()} == {
            *READERS,
            *("radar", "recheck", "verify_claims", "find_dead_code"),
            "list_codebases",
            "manage_index",
        }
        assert [row["root"] for row in one.ask("list_codebases")["codebases"]] == [root]
        for action in ("status", "create", "sync"):
            told = one.ask("manage_index", action=action, path=root)
            assert told["status"] == "ok", told


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "{right}", "Host": "evil.example"}, 421),
        ({"Authorization": "{right}", "Origin": "http://evil.example"}, 403),
        ({"Authorization": "{right}", "Sec-Fetch-Site": "cross-site"}, 403),
    ],
    ids=["no-token", "wrong-token", "host", "origin", "cross-site"],
)
def test_who_is_turned_away(served: Served, headers: dict[str, str], status: int) -> None:
    sent = {k: v.replace("{right}", f"Bearer {served.token}") for k, v in headers.items()}
    assert _post(served, "/mcp", JSON | sent) == status


def test_nothing_is_served_elsewhere(served: Served) -> None:
    assert _post(served, "/", JSON | {"Authorization": f"Bearer {served.token}"}) == 404


def test_it_listens_on_loopback_only(served: Served) -> None:
    listening = {
        line.split()[1].rsplit(":", 1)[0]
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
        if line.split()[1].endswith(f":{served.port:04X}") and line.split()[3] == "0A"
    }
    assert listening <= {"0100007F", "00000000000000000000000001000000"}
    assert "0100007F" in listening


def _post(served: Served, path: str, headers: dict[str, str]) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=TIMEOUT)
    try:
        connection.request("POST", path, CALL, headers)
        return connection.getresponse().status
    finally:
        connection.close()
