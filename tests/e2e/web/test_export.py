"""`gitindex web --export`: a static snapshot that needs no server and runs no script."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.support import Repo


def test_the_snapshot_is_static_and_whole(quiet: Repo, tmp_path: Path) -> None:
    quiet.write("<b>odd.py", "import app\n\n\ndef odd():\n    return '<script>'\n")
    quiet.commit("odd")
    quiet.index()
    out = tmp_path / "out"
    done = quiet.gitindex("web", "--export", str(out))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(path) for path in sorted(out.iterdir())]
    names = {path.name for path in out.iterdir()}
    assert names == {
        "index.html",
        "map.html",
        "symbols.html",
        "health.json",
        "map.json",
        "symbols.json",
        "map.svg",
        "style.css",
    }
    for page in out.glob("*.html"):
        text = page.read_text()
        assert "<script" not in text
        assert "<b>odd" not in text
        assert not re.search(r"data-part|onload|http", text)
        for target in re.findall(r'(?:href|src)="([^"#]+)"', text):
            assert target in names, target
    assert "helper" in (out / "symbols.html").read_text()
    assert "&lt;b&gt;odd.py" in (out / "map.html").read_text()
    symbols = json.loads((out / "symbols.json").read_text())
    assert symbols == quiet.answer("symbols", "-n", "1000")
    assert f"Symbols: {len(symbols['symbols'])}" in (out / "symbols.html").read_text()
    assert json.loads((out / "health.json").read_text())["receipt"]["treeId"] == quiet.tree()


def test_no_symbol_is_left_out(repo: Repo, tmp_path: Path) -> None:
    """More than any answer lists, and more than fit on one page."""
    repo.init()
    for number in range(3):
        lines = [f"def f{number}_{at}():\n    pass\n" for at in range(900)]
        repo.write(f"m{number}.py", "\n\n".join(lines))
    repo.commit("many")
    repo.index()
    out = tmp_path / "out"
    assert repo.gitindex("web", "--export", str(out)).returncode == 0
    symbols = json.loads((out / "symbols.json").read_text())
    assert len(symbols["symbols"]) == 2_700
    assert symbols["truncated"] is False
    pages = [(out / name).read_text() for name in ("symbols.html", "symbols-2.html")]
    assert [page.count('class="hit one"') for page in pages] == [2_000, 700]
    assert all('href="symbols-2.html"' in page for page in pages)
    listed = {row["name"] for row in symbols["symbols"]}
    assert all(any(name in page for page in pages) for name in listed)


def test_a_folder_that_holds_something_is_left_alone(quiet: Repo, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = quiet.gitindex("web", "--export", str(tmp_path))
    assert done.returncode == 2
    assert "not empty" in done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["mine.txt"]


def test_without_an_index_there_is_nothing_to_export(repo: Repo, tmp_path: Path) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit("first")
    done = repo.gitindex("web", "--export", str(tmp_path / "out"))
    assert done.returncode == 3
    assert "gitindex index" in done.stderr
