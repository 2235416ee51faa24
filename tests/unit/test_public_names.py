"""The Python names that programs import from `gitindex` itself (docs/contract.md, last section)."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gitindex

PUBLIC = """
GitIndexError GateClosed IndexState JobStatus SearchMode FileState IndexStats
IndexStatus status_path load_status save_status validate_completion_proof IndexCoordinator
RefreshJobService FileStateService ContextRouter RefreshScope FULL EMPTY merge_scopes NonOkReason
open_index upsert_entity query_index reconcile
""".split()  # noqa: SIM905 - as contract.md lists them


def bare_python(code: str) -> str:
    """What a fresh interpreter prints that knows nothing of this test run."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", PUBLIC)
def test_name_is_importable_in_a_bare_interpreter(name: str) -> None:
    assert bare_python(f"from gitindex import {name} as it; print(it.__class__.__name__)").strip()


def test_star_import_brings_exactly_the_public_names() -> None:
    code = "before = set(globals()) | {'before'}\nfrom gitindex import *\nprint(*set(globals()) - before)"
    assert sorted(bare_python(code).split()) == sorted(PUBLIC)


def test_dir_lists_them_before_any_is_imported() -> None:
    listed = bare_python("import gitindex; print(*dir(gitindex))").split()
    assert set(PUBLIC) <= set(listed)
    assert sorted(gitindex.__all__) == sorted(PUBLIC)


def test_import_alone_loads_no_module_of_ours() -> None:
    code = "import sys, gitindex; print(*[m for m in sys.modules if m.startswith('gitindex.')])"
    assert bare_python(code).split() == []


def test_one_name_loads_only_what_it_needs() -> None:
    code = "import sys; from gitindex import load_status; print(*sys.modules)"
    loaded = bare_python(code).split()
    assert "gitindex.freshness.status_file" in loaded
    assert not {"pygit2", "sqlite3", "tantivy", "tree_sitter", "typer"} & set(loaded)


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = gitindex.nothing
    with pytest.raises(ImportError):
        exec("from gitindex import nothing")
