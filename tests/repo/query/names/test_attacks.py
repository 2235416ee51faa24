"""Programs written to mislead: an answer that says `complete` lists every line that is marked."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitindex.base.vocabulary import Direction
from gitindex.query.callgraph.answer import GraphQuery, call_graph
from gitindex.query.names.memory import Memory
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import open_tree
from tests.misleading import LANGUAGES
from tests.support import Repo


@pytest.mark.parametrize("language", LANGUAGES)
def test_complete_answers_list_every_marked_line(tmp_path: Path, language: str) -> None:
    repo = Repo(tmp_path / "repo")
    repo.init()
    asked: list[tuple[str, set[tuple[str, int]], set[tuple[str, int]]]] = []
    for number, (symbol, files) in enumerate(LANGUAGES[language]):
        name, package = f"name{number}x", f"pkg{number}"
        used, called = set(), set()
        for file, raw in files.items():
            path = f"{package}/{file}".replace("NAME", name)
            text = raw.replace("NAME", name).replace("PKG", package)
            repo.write(path, text)
            for at, line in enumerate(text.splitlines(), 1):
                used |= {(path, at)} if line.endswith((" USE", " CALL")) else set()
                called |= {(path, at)} if line.endswith(" CALL") else set()
        home = f"{package}/{next(iter(files))}"
        asked.append((f"{home}#{symbol.replace('NAME', name)}", used, called))
    repo.commit()
    repo.index()
    wrong, memory = [], Memory()
    with open_tree(repo.worktree, ".") as view:
        for symbol, used, called in asked:
            asked_for = ReferenceQuery(symbol, limit=500, everything=True)
            told = find_references(view, asked_for, memory)
            assert told["definitions"], symbol
            open_rows = [*told["possible"], *told["unlikely"]]
            listed = {(r["path"], r["line"]) for r in (*told["references"], *open_rows)}
            if told["assumes"]:
                continue  # the answer says which assumption the program breaks
            used = {place for place in used if not _declares(repo, place)}
            if told["absent"] and used:
                wrong.append(f"absent {symbol}")
            if told["complete"] and used - listed:
                wrong.append(f"refs {symbol}: {sorted(used - listed)}")
            graph = call_graph(view, GraphQuery(symbol, Direction.CALLERS, limit=500), memory)
            sites = {(e["site"]["path"], e["site"]["line"]) for e in graph.get("edges", ())}
            if graph.get("complete") and called - sites:
                wrong.append(f"callers {symbol}: {sorted(called - sites)}")
    assert not wrong, "\n".join(wrong)


def _declares(repo: Repo, place: tuple[str, int]) -> bool:
    """Return whether a line is a prototype of C, which is a definition of the symbol, too."""
    return (repo.path / place[0]).read_text().splitlines()[place[1] - 1].startswith("extern ")


def test_nothing_is_proven_where_an_edit_cannot_be_read(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "def f(other):\n    return other\n"
    repo.index_files({"c.py": "def other():\n    pass\n", "d.py": text})
    for fault, complete in (("", True), ("crash:return other", False)):
        monkeypatch.setenv("GITINDEX_TEST_FAULT", fault)
        repo.write("d.py", f"{text}# {fault}\n")
        with open_tree(repo.worktree, ".") as view:
            told = find_references(view, ReferenceQuery("other"))
        assert (told["accounted"]["total"], told["complete"]) == (3 + (not complete), complete)
