"""The page in a real browser: the server as users start it, and Debian's Chromium driven by playwright."""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright

from tests.support import TIMEOUT

SHOTS = os.environ.get("GITINDEX_SHOTS", "")
"""A folder for screenshots; none are taken where it is not named."""
WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (e) =>
  window.violations.push(e.violatedDirective + " " + e.blockedURI + " " + e.sourceFile));
window.alerted = [];
window.alert = (text) => window.alerted.push(String(text));
"""


class WebServer:
    """`gitindex web` in a process of its own."""

    def __init__(self, path: Path, browser: Path | None = None) -> None:
        """`browser` is the program that the command opens the page with; none without."""
        options = [] if browser else ["--no-open"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gitindex", "web", *options],
            env=os.environ | ({"BROWSER": str(browser)} if browser else {}),
            cwd=path,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        self.link = self.process.stdout.readline().strip()
        assert self.link.startswith("http://127.0.0.1:"), self.link
        self.base = self.link.partition("/?")[0]
        self.port = urlsplit(self.base).port or 0
        self.cookie = ""

    def log_in(self) -> str:
        """Spend the token; the cookie as a request sends it."""
        target = self.link.removeprefix(self.base)
        status, headers, _ = self.ask(target)
        assert status == 303, status
        self.cookie = headers["set-cookie"].partition(";")[0]
        return self.cookie

    def ask(
        self, target: str, method: str = "GET", **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """One request by a program; underscores of header names are dashes."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookie:
            sent.setdefault("cookie", self.cookie)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        try:
            connection.putrequest(method, target, skip_host="host" in sent)
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, found, answer.read()
        finally:
            connection.close()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(TIMEOUT)
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextmanager
def serving(path: Path) -> Iterator[WebServer]:
    server = WebServer(path)
    try:
        yield server
    finally:
        server.stop()


def launch(driver: Playwright) -> Browser:
    """Debian's Chromium, or the one that CHROMIUM names."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not program:
        pytest.skip("no chromium: `python -m tests.bring` installs it")
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    return driver.chromium.launch(executable_path=program, args=flags)


class Visitor:
    """One browser window that was let in; remembers what the console and the policy said."""

    def __init__(self, browser: Browser, server: WebServer, cookie: str, **options: Any) -> None:
        self.server = server
        self.problems: list[str] = []
        self.context: BrowserContext = browser.new_context(
            viewport=options.pop("viewport", {"width": 1280, "height": 800}), **options
        )
        self.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.base)
        name, _, value = cookie.partition("=")
        self.context.add_cookies(
            [{"name": name, "value": value, "url": server.base, "sameSite": "Strict"}]
        )
        self.context.add_init_script(WATCH)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(120_000)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"{message.type}: {message.text}")

    def open(self, target: str) -> Page:
        """Go to an address of the server."""
        self.page.goto(self.server.base + target, wait_until="load")
        return self.page

    def check(self) -> None:
        """Nothing went wrong behind the page's back."""
        found = self.page.evaluate("[...window.violations, ...window.alerted]") + self.problems
        assert found == [], "\n".join(found)

    def shoot(self, name: str) -> None:
        """Keep a screenshot where a folder for them is named."""
        if SHOTS:
            Path(SHOTS).mkdir(parents=True, exist_ok=True)
            # Hiding the caret would add inline styles, which the policy of the page reports.
            self.page.screenshot(path=str(Path(SHOTS, f"{name}.png")), caret="initial")

    def close(self) -> None:
        self.context.close()
