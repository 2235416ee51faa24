"""symbols, outline and export: definitions as people, editors and programs ask for them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support import Repo

SOURCE = '''"""Doc."""


class Shape:
    """A shape."""

    def area(self, scale: float = 1.0) -> float:
        return scale


def größe():
    pass


def area():
    pass
'''


@pytest.fixture
def shapes(repo: Repo) -> Repo:
    repo.write("geo/shape.py", SOURCE)
    repo.write("geo/other.py", "def area():\n    return 1\n")
    repo.write("web/shape.ts", "export class Shape {}\n")
    repo.commit()
    repo.index()
    return repo


def test_symbols_by_name_kind_and_path(shapes: Repo) -> None:
    found = shapes.answer("symbols", "area")["symbols"]
    places = [(s["path"], s["line"], s["kind"]) for s in found]
    assert places == [
        ("geo/other.py", 1, "function"),
        ("geo/shape.py", 7, "method"),
        ("geo/shape.py", 15, "function"),
    ]
    assert [
        s["path"] for s in shapes.answer("symbols", "area", "--path", "geo/shape.py")["symbols"]
    ] == (["geo/shape.py"] * 2)
    assert len(shapes.answer("symbols", "area", "--kind", "method")["symbols"]) == 1
    assert len(shapes.answer("symbols", "Shape.area")["symbols"]) == 1
    assert shapes.gitindex("symbols", "nowhere").returncode == 1


def test_a_symbol_has_all_fields_of_the_contract(shapes: Repo) -> None:
    [method] = shapes.answer("symbols", "area", "--kind", "method")["symbols"]
    assert method == {
        "name": "area",
        "qualifiedName": "Shape.area",
        "kind": "method",
        "path": "geo/shape.py",
        "line": 7,
        "column": 9,
        "columnUtf16": 9,
        "endLine": 8,
        "signature": "def area(self, scale: float = 1.0) -> float",
        "exported": True,
        "layer": "syntactic",
        "parent": "Shape",
        "source": f"index@{shapes.tree()}",
    }
    [shape] = shapes.answer("symbols", "Shape", "--path", "geo")["symbols"]
    assert shape["doc"] == "A shape."


def test_every_answer_carries_proof(shapes: Repo) -> None:
    answer = shapes.answer("symbols", "Shape")
    assert answer["receipt"]["treeId"] == shapes.tree()
    assert answer["freshness"]["state"] == "fresh"


def test_outline_is_in_the_order_of_the_file(shapes: Repo) -> None:
    names = [s["qualifiedName"] for s in shapes.answer("outline", "geo/shape.py")["symbols"]]
    assert names == ["Shape", "Shape.area", "größe", "area"]
    done = shapes.gitindex("outline", "nowhere.py")
    assert done.returncode == 1
    assert "not in the tree" in done.stderr


def test_symbols_of_a_file_outside_any_repository(tmp_path: Path, repo: Repo) -> None:
    lone = tmp_path / "lone.py"
    lone.write_text(SOURCE)
    answer = json.loads(
        repo.gitindex("symbols", "--file", str(lone), "--json", cwd=tmp_path).stdout
    )
    assert [s["name"] for s in answer["symbols"]] == ["Shape", "area", "größe", "area"]


@pytest.mark.parametrize("folder", [".", "geo", ".."])
def test_a_ctags_file_works_in_vim(shapes: Repo, folder: str) -> None:
    """Wherever it is: vim looks for files from the folder of the tags."""
    vim = shutil.which("vim")
    if vim is None:
        pytest.skip("vim is not installed")
    here = shapes.path / folder
    out = here / "out"
    options = ("--repo", str(shapes.path), "--output", "tags")
    assert shapes.gitindex("export", "--format", "ctags", *options, cwd=here).returncode == 0
    body = [line for line in (here / "tags").read_bytes().splitlines() if line[:1] != b"!"]
    assert body == sorted(body)
    script = f"redir! > {out} | silent echo expand('%:p') . ':' . line('.') | redir END | qa!"
    subprocess.run(
        [vim, "-e", "-s", "-u", "NONE", "-c", "set tags=tags", "-c", "tag größe", "-c", script],
        cwd=here,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert out.read_text().strip() == f"{os.path.realpath(shapes.path)}/geo/shape.py:11"


def test_json_export_has_every_file(shapes: Repo) -> None:
    lines = shapes.gitindex("export", "--format", "json").stdout.splitlines()
    assert {json.loads(line)["path"] for line in lines} == {p.decode() for p in shapes.ls_tree()}


def test_scip_export_is_valid_protobuf(shapes: Repo) -> None:
    """Read back with a reader of its own: messages nest, ranges name the symbol's text."""
    assert shapes.gitindex("export", "--format", "scip", "--output", "index.scip").returncode == 0
    fields = _fields((shapes.path / "index.scip").read_bytes())
    documents = [_fields(data) for number, data in fields if number == 2]
    assert [dict(d)[1] for d in documents] == [b"geo/other.py", b"geo/shape.py", b"web/shape.ts"]
    shape = documents[1]
    texts = []
    lines = SOURCE.encode().split(b"\n")
    for number, data in shape:
        if number == 2:
            occurrence = dict(_fields(data))
            line, start, end = occurrence[1]
            texts.append(lines[line][start:end].decode())
            assert occurrence[3] == 1
    assert sorted(texts) == ["Shape", "area", "area", "größe"]


def test_an_unknown_format_is_a_usage_error(shapes: Repo) -> None:
    assert shapes.gitindex("export", "--format", "xml").returncode == 2


def _fields(data: bytes) -> list[tuple[int, Any]]:
    found: list[tuple[int, Any]] = []
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        value, at = _varint(data, at)
        if key & 7 == 2:
            found.append((key >> 3, data[at : at + value]))
            at += value
        else:
            assert key & 7 == 0
            found.append((key >> 3, value))
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if byte < 0x80:
            return value, at
