"""The page in Chromium: from a key to the painted result, the first paint, 300 nodes, the server's memory.

Times are wall clock as a person feels them, so they grow with whatever else the machine does; the CPU
time of the server and of the browser's processes is printed beside them, and means something on a busy
machine too.
"""

from __future__ import annotations

import mimetypes
import os
import subprocess
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import gitindex.web
from bench.harness import BARE_PYTHON, Row, percentile, run, table
from bench.scratch import Bench
from tests.browser import WebServer

WORDS = (
    "request handler",
    "queryset filter",
    "class Model",
    "migration",
    "template loader",
    "cache timeout",
    "json encoder",
    "def save",
)
LOADS = 7
INTERPRETER_MS = 11.5
"""The start of Python on the machine that the goals are about."""
PAGES = 500
_WATCH = """
window.keys = [];
document.addEventListener("input", (e) => { window.began = e.timeStamp; }, true);
document.addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
  const began = window.began;
  requestAnimationFrame(() => setTimeout(() => window.keys.push(performance.now() - began)));
}).observe(document.getElementById("main"), { childList: true }));
"""


def measure(bench: Bench) -> list[Row]:
    repo = bench.indexed()
    return measure_page(repo.path)


def measure_page(path: Path) -> list[Row]:
    """All rows for one indexed repository."""
    from playwright.sync_api import sync_playwright

    from tests.browser import launch, serving

    with serving(path) as server, sync_playwright() as driver:
        browser = launch(driver)
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.add_init_script(_WATCH)
        page = context.new_page()
        page.set_default_timeout(300_000)
        page.goto(server.link)
        spent = _Spent(server.process.pid)
        keys = _type(page)
        by_key = spent.since(len(keys))
        still = _still_copy(page, server.base)
        fixed = _Still(*still)
        paints, plain = [], []
        for _ in range(LOADS):  # in turn: both meet the same machine
            plain.append(_first_paint(page, fixed.base))
            spent.since(1)
            paints.append(_first_paint(page, server.base))
        by_load = spent.since(1)
        page.goto(f"{fixed.base}/?q=")
        plain_keys = _type(page)
        fixed.close()
        nodes, drawn = _map(page, server.base)
        by_map = spent.since(3)
        cookies = context.cookies()
        server.cookie = "; ".join(f"{one['name']}={one['value']}" for one in cookies)
        browser.close()
        few = _rss(server.process.pid)
        _visit(server, path)
        memory = _rss(server.process.pid)
    starts = sorted(run(BARE_PYTHON, path).cpu * 1000 for _ in range(9))
    slower = starts[4] / INTERPRETER_MS
    return [
        Row("page: key → paint, p50", percentile(keys, 0.5), "ms"),
        Row(
            "page: key → paint, p95",
            percentile(keys, 0.95),
            "ms",
            percentile(plain_keys, 0.95),
            "the same bytes, not asked for",
            most=round(60 * slower),
        ),
        Row("page: server CPU per key", by_key[0], "ms"),
        Row("page: browser CPU per key", by_key[1], "ms"),
        Row(
            "page: first paint, p50",
            percentile(paints, 0.5),
            "ms",
            percentile(plain, 0.5),
            "the same bytes, not asked for",
            most=round(150 * slower),
        ),
        Row("page: server CPU per load", by_load[0], "ms"),
        Row("page: browser CPU per load", by_load[1], "ms"),
        Row(f"page: {nodes} nodes drawn", drawn, "ms", most=500),
        Row("page: server CPU per map", by_map[0], "ms"),
        Row("page: browser CPU per map", by_map[1], "ms"),
        Row("page: server memory, typing and map", few, "MB"),
        Row(f"page: server memory, {PAGES} mixed pages", memory, "MB", most=150),
    ]


def _still_copy(page: Any, base: str) -> tuple[bytes, bytes]:
    """Return a page and the part that a key replaces, as the server gave them."""
    get = "([u, h]) => fetch(u, {headers: h}).then((r) => r.text())"
    whole = page.evaluate(get, [f"{base}/?q=request", {}])
    part = page.evaluate(get, [f"{base}/?q=request", {"x-part": "1"}])
    return whole.encode(), part.encode()


class _Still:
    """The same bytes for every question: what the browser, the network and the page's size cost."""

    def __init__(self, whole: bytes, part: bytes) -> None:
        static = Path(gitindex.web.__path__[0], "static")

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                name = self.path.removeprefix("/static/")
                file = static / name
                body = part if "x-part" in self.headers else whole
                kind = "text/html; charset=utf-8"
                if name != self.path and file.is_file():
                    body, kind = file.read_bytes(), mimetypes.guess_type(name)[0] or "text/plain"
                self.send_response(503 if self.path == "/live" else 200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                with suppress(BrokenPipeError):  # the browser has left already
                    self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.base = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()


def _visit(server: WebServer, path: Path) -> None:
    """Ask for many pages of all kinds, as people who browse do."""
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=path, capture_output=True, check=True)
    files = listed.stdout.decode().split()
    step = max(1, len(files) // PAGES)
    for number in range(PAGES):
        file, word = files[number * step % len(files)], WORDS[number % len(WORDS)].split()[0]
        targets = (
            f"/?q={word}+{number % 17}",
            f"/file/{file}",
            f"/?tab=grep&q={word}",
            f"/symbol/{word}",
            f"/?tab=symbols&q={word[:4]}",
            f"/map?focus={file}",
            f"/callers/{file}",
            f"/history/{file}",
            "/health",
            "/time",
        )
        server.ask(targets[number % len(targets)])


def _type(page: Any) -> list[float]:
    """Type words at a person's speed; the first is a warm-up."""
    for number, word in enumerate(WORDS):
        page.locator("#q").fill("")
        page.wait_for_timeout(300)
        if number <= 1:
            page.evaluate("window.keys.length = 0")
        page.locator("#q").press_sequentially(word, delay=120)
        page.wait_for_timeout(500)
    found: list[float] = page.evaluate("window.keys")
    return found


def _first_paint(page: Any, base: str) -> float:
    page.goto(f"{base}/?q=request", wait_until="load")
    for _ in range(600):
        found = page.evaluate(
            "performance.getEntriesByName('first-contentful-paint').map((e) => e.startTime)[0] || 0"
        )
        if found:
            return float(found)
        page.wait_for_timeout(50)
    raise AssertionError("nothing was painted")


def _map(page: Any, base: str) -> tuple[int, float]:
    """The map with as many folders open as are drawn, the second time: the tree is known by then."""
    page.goto(f"{base}/map", wait_until="load")
    page.wait_for_selector("#graph[data-drawn]")
    ids: list[str] = page.evaluate(
        "fetch('/map.json').then((r) => r.json())"
        ".then((a) => a.nodes.filter((n) => n.kind === 'folder').map((n) => n.id))"
    )
    opened = "&".join(f"open={name}" for name in ids[:30])
    for _ in range(2):
        page.goto(f"{base}/map?{opened}", wait_until="load")
        page.wait_for_selector("#graph[data-drawn]")
    shown = page.locator("#graph")
    return int(shown.get_attribute("data-nodes")), float(shown.get_attribute("data-drawn"))


class _Spent:
    """CPU of the server and of the browser between two looks."""

    def __init__(self, server: int) -> None:
        self._server = server
        self._last = self._look()

    def since(self, count: int) -> tuple[float, float]:
        """Milliseconds of each since the last look, for one of so many events."""
        now, before = self._look(), self._last
        self._last = now
        per = max(1, count)
        return 1000 * (now[0] - before[0]) / per, 1000 * (now[1] - before[1]) / per

    def _look(self) -> tuple[float, float]:
        browser = [pid for pid in _descendants(os.getpid()) if "chrom" in _name(pid)]
        return _cpu(self._server), sum(map(_cpu, browser))


def _cpu(pid: int) -> float:
    """CPU seconds of a process and of its ended children."""
    fields = _stat(pid)
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text()
    except OSError:
        return ""


def _descendants(top: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        fields = _stat(int(name))
        if fields:
            parents.setdefault(int(fields[1]), []).append(int(name))
    found = [top]
    for pid in found:  # grows while it is read
        found += parents.get(pid, [])
    return found


def _rss(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000
    raise AssertionError(f"no memory of {pid}")


if __name__ == "__main__":
    print(table(measure_page(Path(sys.argv[1]))))
