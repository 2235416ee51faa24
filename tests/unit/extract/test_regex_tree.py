"""What is relied on of CPython's private `re._parser`, on whatever version this is."""

from __future__ import annotations

import ast
from pathlib import Path

import gitindex
from gitindex.extract.fragments import SubPattern, op, parse

PACKAGE = Path(gitindex.__file__).parent


def _constants(file: Path) -> set[str]:
    """The members of `op` that a file names."""
    names = (
        node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Attribute)
    )
    return {n.attr for n in names if isinstance(n.value, ast.Name) and n.value.id == "op"}


def test_a_pattern_is_a_tree_of_kinds_and_values() -> None:
    tree = parse("ab?(?P<n>[c-d])|^x", 0)
    assert isinstance(tree, SubPattern)
    ((kind, (_none, branches)),) = tree
    assert kind is op.BRANCH
    (first, optional, group), (start, last) = branches
    assert tuple(first) == (op.LITERAL, ord("a"))
    assert optional[0] is op.MAX_REPEAT
    assert optional[1][:2] == (0, 1)
    assert [*optional[1][2]] == [(op.LITERAL, ord("b"))]
    assert group[0] is op.SUBPATTERN
    assert [*group[1][3]] == [(op.IN, [(op.RANGE, (ord("c"), ord("d")))])]
    assert tuple(start) == (op.AT, op.AT_BEGINNING)
    assert tuple(last) == (op.LITERAL, ord("x"))
    assert tree.getwidth()[0] == 1
    assert tree.state.flags & 32  # re.UNICODE


def test_every_constant_that_is_named_exists() -> None:
    for file in (PACKAGE / "extract/fragments.py", PACKAGE / "query/grep/pattern.py"):
        used = _constants(file)
        assert used
        assert {name for name in used if not hasattr(op, name)} == set(), file


def test_one_file_imports_the_private_parser() -> None:
    users = [p.name for p in PACKAGE.rglob("*.py") if "re._parser import" in p.read_text()]
    private = [p.name for p in PACKAGE.rglob("*.py") if "import re._" in p.read_text()]
    assert users == private == ["fragments.py"]
