"""Who may talk to a loopback server: every header is judged before anything of ours runs."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from gitindex.base.loopback_guard import HEADERS, LoopbackGuard, LoopbackRules

PORT = 4321
Headers = dict[str, str]
GOOD: Headers = {"host": f"127.0.0.1:{PORT}"}


class Behind:
    """The application behind the guard: notes what reaches it."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.seen.append(scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"secret"})


def ask(
    guard: LoopbackGuard, headers: Headers, method: str = "GET", query: str = "", path: str = "/"
) -> tuple[int, dict[str, str], bytes]:
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": raw,
    }
    asyncio.run(guard(scope, receive, send))
    given = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], given, sent[1]["body"]


@pytest.fixture
def behind() -> Behind:
    return Behind()


@pytest.fixture
def guard(behind: Behind) -> LoopbackGuard:
    return LoopbackGuard(behind, LoopbackRules(PORT))


def cookie_of(guard: LoopbackGuard) -> Headers:
    status, headers, _ = ask(guard, GOOD, query=f"token={guard.token}")
    assert status == 303
    return {"cookie": headers["set-cookie"].partition(";")[0]}


def test_a_token_becomes_a_cookie_once(guard: LoopbackGuard, behind: Behind) -> None:
    status, headers, body = ask(guard, GOOD, query=f"token={guard.token}&q=a+b", path="/map")
    assert (status, headers["location"], body) == (303, "/map?q=a+b", b"")
    told = headers["set-cookie"]
    assert told.startswith(f"gitindex-{PORT}=")
    assert "HttpOnly" in told
    assert "SameSite=Strict" in told
    assert guard.token not in told
    assert ask(guard, GOOD, query=f"token={guard.token}")[0] == 401
    assert behind.seen == []
    given = {"cookie": told.partition(";")[0]}
    assert ask(guard, GOOD | given)[0] == 200
    assert ask(guard, GOOD | {"cookie": f"a=b; {given['cookie']}; c"})[0] == 200
    assert behind.seen == ["/", "/"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_names_of_this_machine_are_served(guard: LoopbackGuard, host: str) -> None:
    assert ask(guard, {"host": f"{host}:{PORT}"} | cookie_of(guard))[0] == 200


@pytest.mark.parametrize(
    ("headers", "method", "status"),
    [
        ({}, "GET", 421),
        ({"host": "evil.example"}, "GET", 421),
        ({"host": f"evil.example:{PORT}"}, "GET", 421),
        ({"host": "127.0.0.1"}, "GET", 421),
        ({"host": f"127.0.0.1:{PORT + 1}"}, "GET", 421),
        ({"host": f"127.0.0.1.evil.example:{PORT}"}, "GET", 421),
        (GOOD | {"origin": "http://evil.example"}, "GET", 403),
        (GOOD | {"origin": "null"}, "GET", 403),
        (GOOD | {"origin": f"https://127.0.0.1:{PORT}"}, "GET", 403),
        (GOOD | {"origin": f"http://127.0.0.1:{PORT + 1}"}, "GET", 403),
        (GOOD | {"sec-fetch-site": "cross-site"}, "GET", 403),
        (GOOD | {"sec-fetch-site": "same-site"}, "GET", 403),
        (GOOD, "POST", 405),
        (GOOD, "PUT", 405),
        (GOOD, "DELETE", 405),
        (GOOD, "OPTIONS", 405),
        (GOOD, "CONNECT", 405),
    ],
)
def test_strangers_are_refused_even_with_the_cookie(
    guard: LoopbackGuard, behind: Behind, headers: Headers, method: str, status: int
) -> None:
    found, told, body = ask(guard, headers | cookie_of(guard), method)
    assert found == status
    assert body.startswith(b"gitindex: ")
    assert {name.decode() for name, _ in HEADERS} <= told.keys()
    assert behind.seen == []


@pytest.mark.parametrize("cookie", ["", f"gitindex-{PORT}=", f"gitindex-{PORT}=x", "gitindex-1=x"])
def test_without_the_cookie_nothing_is_answered(
    guard: LoopbackGuard, behind: Behind, cookie: str
) -> None:
    assert ask(guard, GOOD | {"cookie": cookie})[0] == 401
    assert ask(guard, GOOD | {"cookie": cookie}, query="token=guess")[0] == 401
    assert ask(guard, GOOD, "HEAD")[2] == b""
    assert behind.seen == []


def test_a_refused_request_does_not_spend_the_token(guard: LoopbackGuard) -> None:
    assert ask(guard, {"host": "evil.example"}, query=f"token={guard.token}")[0] == 421
    assert cookie_of(guard)


def test_a_second_host_header_is_no_host(guard: LoopbackGuard, behind: Behind) -> None:
    from gitindex.base.loopback_guard import read_facts

    twice = [(b"host", b"127.0.0.1:4321"), (b"Host", b"evil.example")]
    assert read_facts("GET", twice, b"").host == ""


def test_the_address_after_the_token_stays_here(guard: LoopbackGuard) -> None:
    asked = ask(guard, GOOD, query=f"token={guard.token}", path="//evil.example/x")
    assert asked[1]["location"] == "/evil.example/x"


def test_a_program_sends_its_token_every_time(behind: Behind) -> None:
    rules = LoopbackRules(PORT, frozenset({"GET", "POST", "DELETE"}), browser=False)
    guard = LoopbackGuard(behind, rules)
    bearer = {"authorization": f"Bearer {guard.token}"}
    assert ask(guard, GOOD | bearer, "POST")[0] == 200
    assert ask(guard, GOOD | bearer, "POST")[0] == 200
    assert ask(guard, GOOD | {"authorization": f"Basic {guard.token}"}, "POST")[0] == 401
    assert ask(guard, GOOD, "POST", query=f"token={guard.token}")[0] == 401
    assert ask(guard, bearer | {"host": "evil.example"}, "POST")[0] == 421


def test_every_response_has_the_headers(guard: LoopbackGuard) -> None:
    told = ask(guard, GOOD | cookie_of(guard))[1]
    policy = told["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert told["x-content-type-options"] == "nosniff"
    assert told["referrer-policy"] == "no-referrer"
    assert told["cross-origin-opener-policy"] == "same-origin"
    assert told["cross-origin-resource-policy"] == "same-origin"
