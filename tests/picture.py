"""`python -m tests.picture`: makes the picture of README.md, of this repository with one edited file."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from tests.browser import Visitor, launch, serving
from tests.support import Repo, stop_runners

HERE = Path(__file__).parent.parent
PICTURE = HERE / "docs" / "images" / "web.png"
EDITED = "gitindex/freshness/verdict.py"
QUERY = "freshness verdict"


def main() -> None:
    """Index a clone of this repository, edit a file, search, and keep what Chromium shows."""
    with tempfile.TemporaryDirectory() as top:
        repo = Repo(Path(top, "gitindex"))
        subprocess.run(["git", "clone", "-q", "-b", "main", HERE, repo.path], check=True)
        repo.index()
        edited = repo.path / EDITED
        edited.write_text(edited.read_text() + "\n# edited a moment ago\n")
        with serving(repo.path) as server, sync_playwright() as driver:
            browser = launch(driver)
            visitor = Visitor(
                browser, server, server.log_in(), viewport={"width": 1280, "height": 720}
            )
            page = visitor.open("/")
            page.locator("#q").press_sequentially(QUERY)
            expect(page.locator(".hit").first).to_be_visible()
            expect(page.locator("#bar")).to_contain_text("1 edited path laid over")
            expect(page.locator(".source.edited").first).to_be_visible()
            page.screenshot(path=str(PICTURE), caret="initial")
            visitor.check()
            browser.close()
        stop_runners(Path(top))


if __name__ == "__main__":
    main()
