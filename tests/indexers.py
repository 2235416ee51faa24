"""Indexers for tests: the fake one on PATH, and the real ones by npm, once per machine."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gitindex.refresh import public_files
from gitindex.refresh.runner import RefreshRequest, Runner
from gitindex.semantic.jobs import Outcome, SemanticRequest, run
from gitindex.semantic.scip.schema import messages
from gitindex.store import semantic
from gitindex.view.tree import TreeView, open_tree
from tests.support import Repo

PACKAGES = ("@sourcegraph/scip-python@0.6.6", "@sourcegraph/scip-typescript@0.4.0")


class Fake:
    """The fake indexer, installed in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        script = Path(__file__).with_name("fake_indexer.py").read_text()
        program = folder / "scip-python"
        program.write_text(f"#!{sys.executable}\n{script}")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.plan()

    def plan(self, **fields: Any) -> None:
        """What its next runs do."""
        (self.folder / "plan.json").write_text(json.dumps(fields))

    def say(
        self, root: Path, marks: dict[str, str], relations: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """What its next runs write, word for word.

        A mark is `path:line:word`, 1-based, and what stands there: a symbol, with `=` before it where
        it is defined. A relation says what a symbol implements.
        """
        found = messages()["Index"]()
        found.metadata.tool_info.name = "scip-python"
        found.metadata.project_root = root.as_uri()
        documents: dict[str, Any] = {}
        for mark, symbol in marks.items():
            path, line, word = mark.split(":")
            if path not in documents:
                documents[path] = found.documents.add(relative_path=path)
            text = (root / path).read_text().split("\n")[int(line) - 1]
            column = re.search(rf"\b{word}\b", text).start()  # type: ignore[union-attr]
            span = [int(line) - 1, column, column + len(word)]
            added = documents[path].occurrences.add(range=span, symbol=_symbol(symbol.lstrip("=")))
            if symbol.startswith("="):
                added.symbol_roles = 1
                info = documents[path].symbols.add(symbol=added.symbol)
                if symbol[1:] in relations:
                    over = _symbol(relations[symbol[1:]])
                    info.relationships.add(symbol=over, is_implementation=True)
        (self.folder / "index.scip").write_bytes(found.SerializeToString())
        self.plan(mode="replay")

    def runs(self) -> int:
        path = self.folder / "runs"
        return len(path.read_text().splitlines()) if path.exists() else 0


def _symbol(short: str) -> str:
    """`local N` as it is; anything else is of the package `fake`."""
    return short if short.startswith("local ") else f"scip-python python fake 1 {short}"


def allow(repo: Repo) -> None:
    """Turn the indexers on, as a user does."""
    repo.git("config", "--global", "--add", "gitindex.semantic", str(repo.path.resolve()))


def refresh(repo: Repo) -> None:
    """Bring the index to HEAD in this process: a quarter of what a command costs."""
    public_files.create_store(repo.worktree)
    assert Runner(repo.worktree).serve(RefreshRequest(repo.worktree, "test"))


def index_semantically(repo: Repo, wanted: SemanticRequest | None = None) -> list[Outcome]:
    """A run in this process."""
    return run(repo.worktree, wanted or SemanticRequest(), lambda _phase, _percent: None)


def with_lens(repo: Repo, ask: Any) -> Any:
    """What a function says of the tree on disk."""
    with open_tree(repo.worktree, str(repo.path)) as view:
        return ask(view)


def dump(repo: Repo) -> dict[str, list[Any]]:
    """Every row of the semantic layer, times included."""
    tables = (
        "contexts",
        "file_semantic_facts",
        "semantic_symbols",
        "semantic_externals",
        "semantic_definitions",
        "semantic_occurrences",
        "semantic_relations",
        "edges",
    )

    def ask(view: TreeView) -> dict[str, list[Any]]:
        return {name: sorted(view.served.database.rows(f"SELECT * FROM {name}")) for name in tables}

    found: dict[str, list[Any]] = with_lens(repo, ask)
    return found


def places(repo: Repo, name: str) -> list[tuple[str, int, int, str]]:
    """Path, line, column and text on disk of every place of the symbols called `name`."""

    def ask(view: TreeView) -> list[tuple[str, int, int, str]]:
        found = semantic.references(view.rows, semantic.find_identities(view.rows, name))
        data = view.read({ref.path for ref in found})
        lines = {path: text.split(b"\n") for path, text in data.items()}
        return [
            (
                os.fsdecode(ref.path),
                ref.place.line,
                ref.place.column,
                lines[ref.path][ref.place.line][ref.place.column : ref.place.end_column].decode(),
            )
            for ref in found
        ]

    listed: list[tuple[str, int, int, str]] = with_lens(repo, ask)
    return listed


def real_indexers() -> str | None:
    """The folder with the real ones' programs, installed at first use; None where npm has none."""
    packages = npm_packages(PACKAGES)
    return None if packages is None else str(packages / ".bin")


def npm_packages(names: tuple[str, ...]) -> Path | None:
    """The folder `node_modules` with these packages, once per machine; None where npm has none."""
    npm = shutil.which("npm")
    kind = re.sub(r"\W+", "-", names[0])
    folder = Path(tempfile.gettempdir(), f"gitindex-npm-{kind}-{os.getuid()}")
    if npm is None:
        return None
    folder.mkdir(mode=0o700, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one worker installs, the others wait
        done = folder / "done"
        if not done.exists() or done.read_text() != str(names):
            options = ["--no-audit", "--no-fund", "--silent", "--prefix", str(folder)]
            command = [npm, "install", *options, *names]
            try:
                subprocess.run(command, check=True, timeout=300)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
                return None  # no registry in reach: the reason of the skip says so
            done.write_text(str(names))
    return folder / "node_modules"
