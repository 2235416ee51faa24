"""`gitindex web` as a program meets it: who is let in, and that its JSON is the command line's."""

from __future__ import annotations

import json
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from gitindex.base.extras import install_hint
from gitindex.web.pages import PAGES
from tests.browser import WebServer, serving
from tests.support import TIMEOUT, Repo, stop_runners, wait_for

UTIL = 'def helper():\n    """Return the answer."""\n    return 42\n'
APP = "from lib.util import helper\n\n\ndef main():\n    return helper()\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    top = tmp_path_factory.mktemp("web")
    repo = Repo(top / "repo")
    repo.init()
    repo.write("lib/__init__.py", "")
    repo.write("lib/util.py", UTIL)
    repo.write("app.py", APP)
    repo.write("README.md", "---\ntags: [guide]\n---\n# Title\n\nAsk the helper.\n")
    repo.commit("first")
    repo.index()
    yield repo
    stop_runners(top)


@pytest.fixture(scope="module")
def server(project: Repo) -> Iterator[WebServer]:
    with serving(project.path) as made:
        made.log_in()
        yield made


def envelope(server: WebServer, target: str) -> dict[str, Any]:
    status, headers, body = server.ask(target)
    assert (status, headers["content-type"]) == (200, "application/json"), body
    found = json.loads(body)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("target", "command"),
    [
        ("/search.json?q=helper&n=5", ("search", "helper", "-n", "5")),
        (
            "/search.json?q=helper&lang=python&in=code",
            ("search", "helper", "--lang", "python", "--in", "code", "-n", "20"),
        ),
        ("/search.json?tab=grep&q=def+%5Cw%2B", ("grep", "def \\w+", "-m", "100")),
        (
            "/search.json?tab=grep&q=HELPER&i=1&path=lib",
            ("grep", "-i", "HELPER", "lib", "-m", "100"),
        ),
        ("/search.json?tab=symbols&q=help", ("symbols", "help")),
        ("/search.json?tab=docs&q=helper", ("docs", "helper")),
        ("/search.json?tab=docs&tag=guide", ("docs", "--tag", "guide")),
        ("/search.json?q=helper&at=HEAD", ("search", "helper", "--at", "HEAD", "-n", "20")),
    ],
)
def test_json_is_the_command_lines(
    server: WebServer, project: Repo, target: str, command: tuple[str, ...]
) -> None:
    assert envelope(server, target) == project.answer(*command)


@pytest.mark.parametrize(
    ("target", "command", "added"),
    [
        ("/file.json/lib/util.py", ("read", "lib/util.py", "--outline"), {"file"}),
        ("/file.json/app.py?at=HEAD", ("read", "app.py", "--outline", "--at", "HEAD"), {"file"}),
        (
            "/symbol.json/lib/util.py%23helper",
            ("refs", "lib/util.py#helper", "-n", "300"),
            {"graph", "doc", "tests"},
        ),
    ],
)
def test_other_pages_add_to_the_command_lines_answer(
    server: WebServer, project: Repo, target: str, command: tuple[str, ...], added: set[str]
) -> None:
    found, told = envelope(server, target), project.answer(*command)
    assert found.keys() - told.keys() == added
    assert {name: found[name] for name in told} == told


def test_health_has_the_jobs_of_the_command_line(server: WebServer, project: Repo) -> None:
    found = envelope(server, "/health.json")
    assert found["jobs"] == project.answer("jobs", "--limit", "200")["jobs"]
    assert found["skipped"] == project.answer("status", "--skipped")["skipped"]
    assert found["timings"]["jobSeconds"]["count"] == 1
    assert sum(found["storeBytes"].values()) > 10_000


def test_the_map_and_the_past_are_envelopes(server: WebServer, project: Repo) -> None:
    found = envelope(server, "/map.json")
    assert {(e["from"], e["to"]) for e in found["edges"]} == {("app.py", "lib/util.py")}
    assert found["receipt"]["treeId"] == project.tree()
    around = envelope(server, "/map.json?focus=app.py")
    assert {n["id"] for n in around["nodes"]} == {"app.py", "lib", "lib/util.py"}
    past = envelope(server, "/time.json")
    assert [c["subject"] for c in past["commits"]] == ["first"]


@pytest.mark.parametrize("target", ["/file/app.py", "/symbol/helper", "/map", "/time", "/health"])
def test_every_page_is_there(server: WebServer, target: str) -> None:
    status, told, body = server.ask(target)
    assert status == 200
    assert told["content-type"] == "text/html; charset=utf-8"
    assert b'<div id="bar"' in body or b'id="bar"' in body
    assert b"copy receipt" in body


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/file/none.py", 404),
        ("/file/../../etc/passwd", 404),
        ("/file.json/..%2f..%2fetc/passwd", 404),
        ("/file.json//etc/passwd", 404),
        ("/symbol.json/nothing_of_that_name", 404),
        ("/map.json?focus=none.py", 400),
        ("/time.json?base=HEAD&at=HEAD", 400),
        ("/time.json?base=none&at=HEAD", 400),
        ("/hover.json/app.py?line=0&col=1", 400),
        ("/file.json/app.py?from=999", 400),
    ],
)
def test_what_is_not_there_is_one_clear_answer(server: WebServer, target: str, status: int) -> None:
    found, _, body = server.ask(target)
    assert found == status, body
    assert b"root:" not in body


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {"host": "evil.example"}, 421),
        ("GET", {"cookie": "none=1"}, 401),
        ("GET", {"origin": "http://evil.example"}, 403),
        ("GET", {"sec_fetch_site": "cross-site"}, 403),
        ("POST", {}, 405),
        ("PUT", {}, 405),
        ("TRACE", {}, 405),
    ],
)
@pytest.mark.parametrize("target", ["/", "/search.json?q=helper", "/static/app.js", "/live"])
def test_attacks_are_refused_at_every_address(
    server: WebServer, target: str, method: str, headers: dict[str, str], status: int
) -> None:
    found, told, body = server.ask(target, method, **headers)
    assert found == status
    assert b"helper" not in body
    assert told["content-security-policy"].startswith("default-src 'none'")
    assert "server" not in told


def test_the_link_works_once(server: WebServer) -> None:
    target = server.link.removeprefix(server.base)
    assert server.ask(target, cookie="none=1")[0] == 401


def test_only_loopback_listens(server: WebServer) -> None:
    mine = f":{server.port:04X}"
    hosts = set()
    for name in ("tcp", "tcp6"):
        for row in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            fields = row.split()
            if fields[1].endswith(mine) and fields[3] == "0A":
                hosts.add(fields[1].partition(":")[0])
    assert "0100007F" in hosts
    assert hosts <= {"0100007F", "00000000000000000000000001000000"}


def test_unknown_addresses_and_traversal_find_nothing(server: WebServer) -> None:
    for target in ("/nothing", "/static/../app.py", "/static/%2e%2e/app.py", "/static/lock.json"):
        status, told, _ = server.ask(target)
        assert status == 404, target
        assert told["x-content-type-options"] == "nosniff"


def test_bad_parameters_are_one_clear_answer(server: WebServer) -> None:
    for target in (
        "/search.json?tab=nothing",
        "/search.json?q=x&n=0",
        "/search.json?q=x&n=99999",
        "/search.json?q=x&lang=klingon",
        "/search.json?tab=grep&q=(",
        "/search.json?q=" + "x" * 5000,
        "/search.json?q=x&at=--output=/tmp/x",
        "/search.json?q=a%00b",
    ):
        status, _, body = server.ask(target)
        assert status == 400, (target, body)
        assert json.loads(body)["status"] == "invalid_request", target


def test_readers_write_nothing(server: WebServer, project: Repo) -> None:
    def state() -> dict[str, int]:
        tops = (project.worktree.store, project.worktree.llmc)
        found = (os.path.join(t, n) for top in tops for t, _, names in os.walk(top) for n in names)
        return {name: os.stat(name).st_mtime_ns for name in found}

    before = state()
    for target in ("/", "/?q=helper", "/?q=helper&tab=grep", "/search.json?tab=symbols&q=main"):
        assert server.ask(target)[0] == 200
    assert state() == before


def test_oversized_requests_end(server: WebServer) -> None:
    """A head without end is refused; a body is never waited for."""
    with socket.create_connection(("127.0.0.1", server.port)) as raw:
        raw.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n")
        with suppress(OSError):  # it is closed before all was sent
            for _ in range(64):
                raw.sendall(b"x-long: " + b"y" * 65_536 + b"\r\n")
        with suppress(ConnectionResetError):
            assert raw.recv(12) in (b"HTTP/1.1 400", b"")
    with socket.create_connection(("127.0.0.1", server.port)) as raw:
        head = f"GET /static/app.js HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\ncookie: {server.cookie}"
        raw.sendall(f"{head}\r\ncontent-length: 99999999999\r\n\r\n".encode())
        assert raw.recv(15) == b"HTTP/1.1 200 OK"
    assert server.ask("/")[0] == 200


def test_event_streams_are_counted_and_hold_up_nobody(server: WebServer) -> None:
    from gitindex.web.live import MAX_STREAMS

    ask = f"GET /live HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\ncookie: {server.cookie}\r\n\r\n"
    streams = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(MAX_STREAMS)]
    try:
        for stream in streams:
            stream.sendall(ask.encode())
            assert stream.recv(15) == b"HTTP/1.1 200 OK"
        assert server.ask("/live")[0] == 503
        assert server.ask("/?q=helper")[0] == 200
    finally:
        for stream in streams:
            stream.close()
    while server.ask("/live", "HEAD")[0] == 503:
        pass  # until the server has seen that they are closed


def test_a_taken_port_is_one_line(project: Repo) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        done = project.gitindex("web", "--no-open", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 2
    assert done.stderr.startswith("gitindex: cannot listen on 127.0.0.1:")
    assert done.stderr.count("\n") <= 2


def test_without_the_extra_it_says_what_to_install(project: Repo, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u\n"
        "real = u.find_spec\n"
        "u.find_spec = lambda name, package=None: None if name == 'starlette' else real(name, package)\n"
    )
    done = project.gitindex("web", "--no-open", env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 2
    assert done.stderr == (
        f"gitindex: the page needs the extra `web`\n  hint: {install_hint('web')}\n"
    )


def test_outside_of_a_repository_it_is_one_line(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    done = repo.gitindex("web", "--no-open")
    assert done.returncode != 0
    assert done.stderr.startswith("gitindex: ")


def test_an_idle_server_ends() -> None:
    from gitindex.web.server import IDLE_SECONDS, IdleWatch

    assert IDLE_SECONDS == 3600
    watch = IdleWatch(seconds=1e9)
    assert not watch.is_over()
    ended = IdleWatch(seconds=-1.0)
    assert ended.is_over()


PARAMETERS = ("q", "at", "tab", "path", "lang", "in", "n", "focus", "from", "to", "w", "tag", "x")
BAD = {"long": "a" * 5_000, "nul": "%00", "many": "&{0}=".join(["a"] * 40)}


@pytest.mark.parametrize("bad", BAD)
def test_no_parameter_is_an_internal_error(server: WebServer, bad: str) -> None:
    """Pages and their data: refused, or not read; every parameter, known or not."""
    tails = {name: "/a" if page.tail else "" for name, page in PAGES.items()}
    targets = [f"/{name}{tail}" for name, tail in tails.items()]
    targets += [f"/{name or 'search'}.json{tail}" for name, tail in tails.items()]
    for target in targets:
        for name in PARAMETERS:
            status, _, body = server.ask(f"{target}?{name}={BAD[bad].format(name)}")
            assert status in (400, 404), (target, name, status, body[:200])
    assert server.ask(f"/file/{'%00' if bad == 'nul' else 'a' * 5_000}")[0] == 400
    assert server.ask("/?" + "&".join(f"a{n}=1" for n in range(100)))[0] == 400


def test_the_link_is_on_no_command_line(project: Repo, tmp_path: Path) -> None:
    """Other users read command lines; the file that is named there is the user's own."""
    program, seen = tmp_path / "browser", tmp_path / "seen"
    program.write_text(f'#!/bin/sh\necho "$@" > {seen}.part\nmv {seen}.part {seen}\n')
    program.chmod(0o755)
    server = WebServer(project.path, program)
    try:
        wait_for(seen.exists, TIMEOUT)
        told = seen.read_text().strip()
        token = server.link.partition("token=")[2]
        assert token
        assert token not in told
        file = Path(urlsplit(told).path)
        assert [stat.S_IMODE(p.stat().st_mode) for p in (file, file.parent)] == [0o600, 0o700]
        assert token in file.read_text()
        server.log_in()
        wait_for(lambda: not file.parent.exists(), TIMEOUT)
    finally:
        server.stop()


def test_a_link_that_nobody_used_goes_with_the_server(project: Repo, tmp_path: Path) -> None:
    program, seen = tmp_path / "browser", tmp_path / "seen"
    program.write_text(f'#!/bin/sh\necho "$@" > {seen}.part\nmv {seen}.part {seen}\nsleep 60\n')
    program.chmod(0o755)
    server = WebServer(project.path, program)
    try:
        wait_for(seen.exists, TIMEOUT)
        assert server.ask("/")[0] == 401  # it answers although the browser has not ended
    finally:
        server.stop()
    assert not Path(urlsplit(seen.read_text().strip()).path).exists()
