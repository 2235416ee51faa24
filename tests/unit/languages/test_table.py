"""The table of languages decides by name, extension and shebang, and names its extractor."""

import json
import subprocess
import sys

import pytest

from gitindex.languages import table as languages
from gitindex.languages.syntax import parser
from gitindex.languages.table import LANGUAGES, extractor_id, grammar_set, language_of


@pytest.mark.parametrize(
    ("path", "head", "expected"),
    [
        (b"a/b/mod.py", b"", "python"),
        (b"UPPER.PY", b"", "python"),
        (b"x.d.ts", b"", "typescript"),
        (b"view.tsx", b"", "tsx"),
        (b"lib/Rakefile", b"", "ruby"),
        (b"include/a.h", b"", "cpp"),
        (b"README.md", b"", "markdown"),
        (b"run", b"#!/bin/sh\n", "bash"),
        (b"run", b"#!/usr/bin/env python3.11\n", "python"),
        (b"run", b"#!/usr/bin/env -S FOO=1 node --flag\n", "javascript"),
        (b"run", b"#!/usr/bin/env\n", "text"),
        (b"run", b"#!", "text"),
        (b"run", b"#!/opt/unheard-of\n", "text"),
        (b"notes.txt", b"#!/bin/sh\n", "text"),
        (b".gitignore", b"", "text"),
        (b".bashrc", b"", "bash"),
        (b"odd\xff\n.go", b"", "go"),
        (b"", b"", "text"),
    ],
)
def test_language_of(path: bytes, head: bytes, expected: str) -> None:
    assert language_of(path, head) == expected


@pytest.mark.parametrize("column", ["extensions", "names", "interpreters"])
def test_no_two_languages_claim_one_word(column: str) -> None:
    words = [word for row in LANGUAGES for word in getattr(row, column).split()]
    assert len(words) == len(set(words))
    assert all(word == word.lower() for word in words)


def test_extractor_id_names_what_it_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {row.name: extractor_id(row.name) for row in LANGUAGES}
    assert len(set(before.values())) == len(LANGUAGES)
    changed = {**languages.installed_versions(), "tree-sitter-go": "99"}
    monkeypatch.setattr(languages, "installed_versions", lambda: changed)
    assert extractor_id("go") != before["go"]
    assert extractor_id("rust") == before["rust"]
    assert extractor_id("text") == extractor_id("no such language")


def test_grammar_set_lists_every_grammar_with_a_version() -> None:
    names = dict(pair.split("=") for pair in grammar_set().split())
    assert "none" not in names.values()
    assert len(names) == 1 + len({row.dist for row in LANGUAGES})


def test_importing_the_table_is_cheap() -> None:
    code = "import sys, gitindex.languages.table; print(*sys.modules)"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    heavy = {"tree_sitter", "importlib.metadata", "dataclasses", "pathlib", "subprocess", "inspect"}
    assert heavy.isdisjoint(out.stdout.split())


def test_grammars_load_without_what_their_packages_import() -> None:
    code = (
        "import sys; from gitindex.languages.syntax import parser;"
        "from gitindex.languages.table import BY_NAME;"
        "found = [name for name, row in BY_NAME.items() if row.dist and parser._grammar(name)];"
        "assert found, 'no grammar is installed';"
        "packages = [BY_NAME[name].dist.replace('-', '_') for name in found];"
        "sys.exit(any(name in sys.modules for name in ('importlib.resources', *packages)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_package_without_a_compiled_core_of_its_own_is_imported() -> None:
    assert parser._core_of("json", "loads") is json
    assert parser._core_of("tree_sitter_python", "nowhere").__name__ == "tree_sitter_python"
    with pytest.raises(ImportError):
        parser._core_of("tree_sitter_klingon", "language")
