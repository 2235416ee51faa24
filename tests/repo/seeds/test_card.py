"""The card that describes this product: what it names is there, under its name.

Its behaviour is held by tests/e2e/install/test_precommit.py, test_precommit_gates.py, test_hook.py,
test_templates.py and e2e/refresh/test_events.py; `rows.tsv` names each.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from gitindex import RefreshScope
from gitindex.store.connection import open_reader
from tests.states import publish, write
from tests.support import Repo

ROOT = Path(__file__).parents[3]


def test_card_c11_c20_the_top_level() -> None:
    for name in ("pyproject.toml", ".pre-commit-hooks.yaml"):
        assert (ROOT / name).is_file()
    for name in ("hooks", "gitindex", "tests", "templates"):
        assert (ROOT / name).is_dir()
    assert {path.name for path in (ROOT / "hooks").iterdir()} == {"event.sh", "fresh.sh"}
    assert all(path.read_text().startswith("# ") for path in (ROOT / "hooks").iterdir())


def test_card_c8_a_commit_enqueues_a_scoped_refresh(repo: Repo) -> None:
    publish(write(repo, {"a.py": "a = 1\n", "b.py": "b = 1\n"}))
    publish(write(repo, {"b.py": "b = 2\n"}))
    database = open_reader(repo.worktree.database)
    assert database is not None
    asked = "SELECT scope FROM refresh_jobs ORDER BY id DESC LIMIT 1"
    [[stored]] = database.rows(asked)
    database.close()
    assert RefreshScope.from_json(stored) == RefreshScope(files=("b.py",))


def test_card_c12_c13_c18_c19_the_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = {line.partition(">")[0] for line in project["dependencies"]}
    assert {"pygit2", "tantivy", "tree-sitter", "typer"} <= needed
    development = {line.partition(">")[0] for line in project["optional-dependencies"]["dev"]}
    assert {"pytest", "pre-commit"} <= development
