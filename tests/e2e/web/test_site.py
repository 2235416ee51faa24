"""`make docs`: the book as a site, every link and anchor checked, nothing fetched from elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import DOCS, ROOT
from tests.pages.site import remote_assets
from tests.support import TIMEOUT

pytest.importorskip("mkdocs", reason="the site needs mkdocs-material: pip install -e '.[dev]'")


def test_the_site_is_built_strictly_and_is_whole(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    pages = {path.stem for path in DOCS.glob("*.md")} - {"README"} | {"index"}
    assert pages <= {path.stem for path in site.glob("*.html")}
    assert remote_assets(site) == []
    found = json.loads((site / "search/search_index.json").read_text())
    assert any("certificate" in entry["text"] for entry in found["docs"])


def test_remote_assets_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<link rel="stylesheet" href="https://example.com/a.css"><script src="//example.com/b.js">'
    )
    (tmp_path / "b.css").write_text("@import 'https://example.com/c.css';")
    assert len(remote_assets(tmp_path)) == 3
