"""Routes: pages, the same as JSON, static files and events. The only importer of starlette."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar
from urllib.parse import parse_qs, unquote_to_bytes

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from gitindex.base.errors import GitIndexError
from gitindex.web.frame import fragment, page_frame, refusal_block
from gitindex.web.html import Html, address
from gitindex.web.live import LiveFeed
from gitindex.web.pages import PAGES
from gitindex.web.pages.file import raw_answer
from gitindex.web.session import Answer, WebPage, WebQuestion, WebSession, ask
from gitindex.web.static_files import static_file

T = TypeVar("T")
MAX_FIELDS = 64
THREADS = 3
"""Answers at a time; a page asks for one after the other."""
_CODES = {"not_found": 404, "invalid_request": 400, "error": 500}
RAW = WebPage("raw", "Raw", raw_answer, lambda _request, _answer: "", tail=True)
_NO_STORE = {"cache-control": "no-store"}


def make_app(session: WebSession, note: Callable[[], None] = lambda: None) -> Starlette:
    """Return the application without its guard. `note` is called for every question."""
    door = WebDoor(session, note)
    routes = [Route("/static/{name:path}", door.static), Route("/live", door.live)]
    routes.append(Route("/raw/{path:path}", door.raw))
    for page in PAGES.values():
        name = page.name or "search"
        tail = "/{path:path}" if page.tail else ""
        routes.append(Route(f"/{page.name}{tail}", partial(door.page, page)))
        routes.append(Route(f"/{name}.json{tail}", partial(door.data, page)))
    return Starlette(routes=routes)


class WebDoor:
    """Turns requests into questions, and answers into responses."""

    def __init__(self, session: WebSession, note: Callable[[], None]) -> None:
        self._session = session
        self._note = note
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="gitindex-web")
        self._feed = LiveFeed(session)

    async def page(self, page: WebPage, request: Request) -> Response:
        """Return a page, or the fragment that a keystroke replaces."""
        self._note()
        part = "x-part" in request.headers
        question = read_question(request, page)
        status, body = await self._in_thread(self._render, page, question, part)
        headers = _NO_STORE | {"vary": "X-Part"}
        if part and page.name == "":
            headers["x-address"] = canonical(question)
        return Response(body, status, headers, "text/html; charset=utf-8")

    async def data(self, page: WebPage, request: Request) -> Response:
        """Return the envelope of the same answer, as `--json` prints it."""
        answer = await self._answer(page, request)
        fields = {name: value for name, value in answer.items() if name not in page.only_shown}
        return _as(json.dumps(fields, ensure_ascii=True), answer, "application/json")

    async def raw(self, request: Request) -> Response:
        """Return a file's text, as text whatever it holds: the guard forbids guessing its type."""
        answer = await self._answer(RAW, request)
        body = answer.get("content") if answer.get("status") == "ok" else None
        text = f"gitindex: {answer.get('message')}\n" if body is None else body
        return _as(text, answer, "text/plain; charset=utf-8")

    async def _answer(self, page: WebPage, request: Request) -> Answer:
        self._note()
        return await self._in_thread(ask, page, self._session, read_question(request, page))

    async def _in_thread(self, work: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)

    async def live(self, request: Request) -> Response:
        """Stream events while the page is open. A stream does not keep the server up."""
        if self._feed.is_full():
            return Response("gitindex: too many pages are open\n", 503, _NO_STORE, "text/plain")
        if request.method == "HEAD":
            return Response(media_type="text/event-stream", headers=_NO_STORE)
        events = self._feed.events()
        return StreamingResponse(events, 200, _NO_STORE, "text/event-stream")

    async def static(self, request: Request) -> Response:
        """Serve a static file."""
        found = static_file(request.path_params["name"])
        if found is None:
            return Response("gitindex: no such file\n", 404, media_type="text/plain")
        if request.headers.get("if-none-match") == found.tag:
            return Response(status_code=304, headers={"etag": found.tag})
        headers = {"etag": found.tag, "cache-control": "no-cache"}
        return Response(found.data, 200, headers, found.media_type)

    def _render(self, page: WebPage, question: WebQuestion, part: bool) -> tuple[int, str]:
        answer = ask(page, self._session, question)
        main = _main(page, question, answer)
        if part:
            return 200, fragment(question, main, answer)
        body = page_frame(page, question, self._session.worktree.root, main, answer)
        return _CODES.get(answer["status"], 200), body


def _as(body: str, answer: Answer, media_type: str) -> Response:
    code = _CODES.get(answer.get("status", ""), 200)
    return Response(body.encode("utf-8", "replace"), code, _NO_STORE, media_type)


def read_question(request: Request, page: WebPage) -> WebQuestion:
    """Parse the question in a request. Paths may hold any bytes, so they are decoded here."""
    raw = request.scope.get("raw_path", b"").partition(b"?")[0]
    path = os.fsdecode(unquote_to_bytes(raw)).lstrip("/")
    tail = path.partition("/")[2] if page.tail else ""
    query = request.scope["query_string"].decode("latin-1")
    try:
        values = parse_qs(query, max_num_fields=MAX_FIELDS, errors="surrogateescape")
    except ValueError:
        return WebQuestion(problem="too many parameters")
    return WebQuestion.read(tail, values)


def canonical(question: WebQuestion) -> str:
    """Return the URL of a search without what it says anyway."""
    plain = ("tab", ["search"])
    return address("", "", dict(pair for pair in question.values.items() if pair != plain))


def _main(page: WebPage, question: WebQuestion, answer: Answer) -> Html:
    if answer["status"] != "ok" and not page.refuses:
        return refusal_block(answer)
    try:
        return Html(page.render(question, answer))
    except GitIndexError as error:  # a parameter that only the page reads
        return refusal_block({"status": error.status, "message": error.message})
