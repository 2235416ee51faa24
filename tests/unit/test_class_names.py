"""No class name stands twice in the product: a name that means two things explains neither."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "gitindex"


def test_no_class_name_twice() -> None:
    names = Counter(
        node.name
        for path in PACKAGE.rglob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
    )
    assert len(names) > 200
    assert [name for name, count in names.items() if count > 1] == []
