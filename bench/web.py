"""The page in Chromium: from a key to the painted result, the first paint, 300 nodes, the server's memory.

Times are wall clock as a person feels them, so they grow with whatever else the machine does; the
server's own CPU time per key is printed beside them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from bench.harness import Row, percentile, table
from bench.scratch import Bench

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
_WATCH = """
window.keys = [];
document.addEventListener("input", (e) => { window.began = e.timeStamp; }, true);
document.addEventListener("htmx:afterSwap", (e) => {
  if (e.detail.target.id !== "main") return;
  const began = window.began;
  requestAnimationFrame(() => setTimeout(() => window.keys.push(performance.now() - began)));
});
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
        before = _cpu(server.process.pid)
        keys = _type(page)
        spent = 1000 * (_cpu(server.process.pid) - before) / max(1, len(keys))
        paints = [_first_paint(page, server.base) for _ in range(LOADS)]
        nodes, drawn = _map(page, server.base)
        memory = _rss(server.process.pid)
        browser.close()
    return [
        Row("page: key → paint, p50", percentile(keys, 0.5), "ms"),
        Row("page: key → paint, p95", percentile(keys, 0.95), "ms", most=60),
        Row("page: server CPU per key", spent, "ms"),
        Row("page: first paint, p50", percentile(paints, 0.5), "ms", most=300),
        Row(f"page: {nodes} nodes drawn", drawn, "ms", most=500),
        Row("page: server memory", memory, "MB", most=150),
    ]


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


def _cpu(pid: int) -> float:
    """CPU seconds of a process and of its ended children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _rss(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000
    raise AssertionError(f"no memory of {pid}")


if __name__ == "__main__":
    print(table(measure_page(Path(sys.argv[1]))))
