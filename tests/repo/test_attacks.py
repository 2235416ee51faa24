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
            told = find_references(view, ReferenceQuery(symbol, limit=500), memory)
            assert told["definitions"], symbol
            listed = {(r["path"], r["line"]) for r in told["references"]}
            if told["complete"] and used - listed:
                wrong.append(f"refs {symbol}: {sorted(used - listed)}")
            graph = call_graph(view, GraphQuery(symbol, Direction.CALLERS, limit=500), memory)
            sites = {(e["site"]["path"], e["site"]["line"]) for e in graph.get("edges", ())}
            if graph.get("complete") and called - sites:
                wrong.append(f"callers {symbol}: {sorted(called - sites)}")
    assert not wrong, "\n".join(wrong)


def test_nothing_is_proven_where_scopes_cannot_be_read(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "a.js": "export default function name() {}\n",
        "b.js": "import x from './a.js';\nx();\n",
    }
    files |= {"c.py": "def other():\n    pass\n\n\ndef f(other):\n    return other\n"}
    repo.index_files(files)
    for fault, complete in (("", True), ("crash:name()", False)):
        monkeypatch.setenv("GITINDEX_TEST_FAULT", fault)
        with open_tree(repo.worktree, ".") as view:
            assert find_references(view, ReferenceQuery("name"))["complete"] is complete
    for fault, complete in (("", True), ("crash:return other", False)):
        monkeypatch.setenv("GITINDEX_TEST_FAULT", fault)
        with open_tree(repo.worktree, ".") as view:
            assert find_references(view, ReferenceQuery("other"))["complete"] is complete
