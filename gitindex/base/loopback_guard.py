"""Who may talk to a loopback HTTP server: one guard for every door that speaks HTTP. Imports nothing of ours.

A token alone does not stop DNS rebinding, and a loopback address alone does not stop other users of
the machine or other pages of the same browser: Host, Origin, Sec-Fetch-Site, method and credential
are checked on every request, before any of our code runs. It is plain ASGI: no framework is needed.
"""

from __future__ import annotations

import hmac
import html
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

HOSTS = ("127.0.0.1", "localhost", "[::1]")
TOKEN_BYTES = 32  # 256 bits: nobody guesses one
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
"""Sent with every response, refusals included."""


class HttpRefusal(NamedTuple):
    """Why a request is not answered: an HTTP status and one line."""

    status: int
    message: str


class RequestFacts(NamedTuple):
    """The parts of a request that the guard judges; an absent header is None."""

    method: str
    host: str | None
    origin: str | None
    fetch_site: str | None
    cookies: dict[str, str]
    bearer: str | None
    query: str


class LoopbackRules(NamedTuple):
    """What one server allows. A browser gets a cookie for a one-time token; a program sends a bearer."""

    port: int
    methods: frozenset[str] = frozenset({"GET", "HEAD"})
    browser: bool = True

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(f"{host}:{self.port}" for host in HOSTS)

    @property
    def cookie(self) -> str:
        """Named after the port: cookies do not tell ports of one host apart."""
        return f"gitindex-{self.port}"

    def judge(self, request: RequestFacts) -> HttpRefusal | None:
        """Refuse what no page of ours and no client of the user would send."""
        if request.host is None or request.host.lower() not in self.hosts:
            return HttpRefusal(421, "this host name is not served here")
        if request.method not in self.methods:
            return HttpRefusal(405, "this method is not allowed")
        if request.origin is not None and request.origin.lower() not in {
            f"http://{host}" for host in self.hosts
        }:
            return HttpRefusal(403, "requests from other origins are not answered")
        if request.fetch_site not in (None, "same-origin", "none"):
            return HttpRefusal(403, "requests from other sites are not answered")
        return None


class LoopbackGuard:
    """ASGI middleware: judges every request, admits the holder of the token, adds the headers."""

    def __init__(self, app: AsgiApp, rules: LoopbackRules) -> None:
        self._app = app
        self._rules = rules
        self.token = secrets.token_urlsafe(TOKEN_BYTES)
        self._unused = rules.browser
        self._session = secrets.token_urlsafe(TOKEN_BYTES)
        self.redeemed: Callable[[], None] = lambda: None  # called when the token was used

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request, or pass it on."""
        if scope["type"] != "http":
            return  # no WebSocket is accepted
        request = read_facts(scope["method"], scope["headers"], scope["query_string"])
        # A file that leads here is another site to the browser. Its holder knows the token.
        if self._rules.judge(request._replace(fetch_site=None)) is None and self._redeems(request):
            await self._admit(scope["path"], request, send)
            self.redeemed()
            return
        refused = self._rules.judge(request)
        if refused is None and not self._knows(request):
            refused = HttpRefusal(401, self._remedy())
        if refused is not None:
            await _refuse(refused, request.method, send)
            return
        await self._app(scope, receive, _with_headers(send))

    def _knows(self, request: RequestFacts) -> bool:
        if self._rules.browser:
            return _same(request.cookies.get(self._rules.cookie), self._session)
        return _same(request.bearer, self.token)

    def _redeems(self, request: RequestFacts) -> bool:
        """Is this the first request with the token? It is spent by that."""
        given = dict(parse_qsl(request.query)).get("token")
        if not self._unused or not _same(given, self.token):
            return False
        self._unused = False
        return True

    async def _admit(self, path: str, request: RequestFacts, send: Send) -> None:
        """Give the browser its cookie, and the same address without the token.

        After a redirect of another site's request it would not send the cookie: a page of ours asks.
        """
        rest = urlencode([pair for pair in parse_qsl(request.query) if pair[0] != "token"])
        to = ("/" + path.lstrip("/")) + (f"?{rest}" if rest else "")
        cookie = f"{self._rules.cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"set-cookie", cookie.encode()), (b"cache-control", b"no-store")]
        if request.fetch_site == "cross-site":
            page = redirect_page(to).encode("ascii", "ignore")
            await _respond(200, page, [*headers, (b"content-type", b"text/html")], send)
            return
        to_header = (b"location", to.encode("ascii", "ignore"))
        await _respond(303, b"", [to_header, *headers], send)

    def _remedy(self) -> str:
        if self._rules.browser:
            return "this link was used or is not known: run `gitindex web` again"
        return "a bearer token is needed: `gitindex mcp --http` prints it"


def redirect_page(address: str) -> str:
    """Return a page that leads to an address at once."""
    to = html.escape(address)
    return f'<!doctype html><meta http-equiv="refresh" content="0;url={to}"><a href="{to}">gitindex</a>'


def read_facts(method: str, headers: Iterable[tuple[bytes, bytes]], query: bytes) -> RequestFacts:
    """The facts of a request in ASGI's form; the last of equal headers counts, a second Host none."""
    values: dict[str, str] = {}
    for name, value in headers:
        key = name.decode("latin-1").lower()
        values[key] = "" if key == "host" and key in values else value.decode("latin-1")
    scheme, _, bearer = values.get("authorization", "").partition(" ")
    return RequestFacts(
        method.upper(),
        values.get("host"),
        values.get("origin"),
        values.get("sec-fetch-site"),
        _cookies(values.get("cookie", "")),
        bearer if scheme.lower() == "bearer" else None,
        query.decode("latin-1"),
    )


def _cookies(text: str) -> dict[str, str]:
    pairs = (part.strip().partition("=") for part in text.split(";"))
    return {name: value for name, mark, value in pairs if mark}


def _same(given: str | None, known: str) -> bool:
    return given is not None and hmac.compare_digest(given.encode(), known.encode())


async def _refuse(refused: HttpRefusal, method: str, send: Send) -> None:
    body = f"gitindex: {refused.message}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    await _respond(refused.status, b"" if method == "HEAD" else body, headers, send)


async def _respond(
    status: int, body: bytes, headers: list[tuple[bytes, bytes]], send: Send
) -> None:
    every = [*HEADERS, *headers, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": every})
    await send({"type": "http.response.body", "body": body})


def _with_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return guarded
