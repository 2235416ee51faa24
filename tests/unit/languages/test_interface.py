"""The interface hash moves with the exported surface and with nothing else (F13, F14)."""

import pytest

from gitindex.languages.syntax.extract import extract_facts

PYTHON = '''\
"""Module."""
from .base import Base
__all__ = ["area"]

LIMIT: int = 10

class Shape(Base):
    """Doc."""
    sides: int = 4

    def scale(self, by: float = 1.0, name='x') -> float:
        total = by * 2
        return total

    def _helper(self):
        return 1

def area(shape, *, unit="m"):
    # comment
    return shape.scale()
'''

TYPESCRIPT = """\
import { Base } from './base';
export interface Options { size: number; label?: string }
export class Shape extends Base {
  private cache = new Map();
  constructor(readonly name: string) { super(); }
  area(scale = 1): number { return scale; }
}
export const make = (name: string) => new Shape(name);
function hidden(a: number) { return a; }
export { hidden as shown } from './other';
"""

GO = """\
package shapes

// Area is exported.
func Area(r float64) float64 {
	return r * r
}

func helper(a int) int { return a }

type Shape struct {
	Name string
	size int
}
"""

SAME = {
    "python-body": ("python", PYTHON, "total = by * 2", "total = by * 3; self.other(total)"),
    "python-comment": ("python", PYTHON, "# comment", "# another comment"),
    "python-doc": ("python", PYTHON, "Doc.", "Other doc."),
    "python-private-added": ("python", PYTHON, "def area", "def _more(x): pass\n\ndef area"),
    "python-private-changed": ("python", PYTHON, "_helper(self)", "_helper(self, x=1)"),
    "python-quotes": ("python", PYTHON, "name='x'", 'name="x"'),
    "python-layout": (
        "python",
        PYTHON,
        "(self, by: float = 1.0, name='x')",
        "(\n        self,\n        by: float=1.0,  # factor\n        name='x',\n    )",
    ),
    "python-blank-lines": ("python", PYTHON, "\ndef area", "\n\n\n\ndef area"),
    "python-constant-value": ("python", PYTHON, "LIMIT: int = 10", "LIMIT: int = 11"),
    "python-import-unused": ("python", PYTHON, "from .base", "import os\nfrom .base"),
    "python-moved": ("python", PYTHON, "LIMIT: int = 10\n", "\n\n\nLIMIT: int = 10\n"),
    "typescript-body": ("typescript", TYPESCRIPT, "return scale;", "return scale * 2;"),
    "typescript-private": ("typescript", TYPESCRIPT, "new Map()", "new WeakMap()"),
    "typescript-hidden": ("typescript", TYPESCRIPT, "hidden(a: number)", "hidden(a: string)"),
    "typescript-layout": ("typescript", TYPESCRIPT, "area(scale = 1)", "area( scale=1 )"),
    "typescript-arrow-body": ("typescript", TYPESCRIPT, "=> new Shape(name)", "=> { return x; }"),
    "go-body": ("go", GO, "return r * r", "x := r\n\treturn x"),
    "go-private": ("go", GO, "helper(a int) int", "helper(a, b int) int"),
    "go-private-field": ("go", GO, "size int", "size int64"),
    "go-comment": ("go", GO, "// Area is exported.", "// Area of a circle."),
}

DIFFERENT = {
    "python-default": ("python", PYTHON, "by: float = 1.0", "by: float = 2.0"),
    "python-annotation": ("python", PYTHON, "by: float", "by: int"),
    "python-returns": ("python", PYTHON, "-> float", "-> int"),
    "python-base": ("python", PYTHON, "Shape(Base)", "Shape(Base, Mixin)"),
    "python-decorator": ("python", PYTHON, "def area", "@cache\ndef area"),
    "python-all": ("python", PYTHON, '["area"]', '["area", "Shape"]'),
    "python-renamed": ("python", PYTHON, "def area", "def surface"),
    "python-added": ("python", PYTHON, "def area", "def more(): pass\n\ndef area"),
    "python-removed": ("python", PYTHON, "    sides: int = 4\n", ""),
    "python-field-default": ("python", PYTHON, "sides: int = 4", "sides: int = 5"),
    "python-constant-type": ("python", PYTHON, "LIMIT: int", "LIMIT: float"),
    "python-reexport": ("python", PYTHON, "import Base", "import Base, Other"),
    "python-async": ("python", PYTHON, "def area", "async def area"),
    "python-string-space": ("python", PYTHON, "name='x'", "name='x  '"),
    "typescript-parameter": ("typescript", TYPESCRIPT, "scale = 1", "scale = 2"),
    "typescript-member": ("typescript", TYPESCRIPT, "label?: string", "label: string"),
    "typescript-arrow": ("typescript", TYPESCRIPT, "(name: string) =>", "(name: number) =>"),
    "typescript-exported": ("typescript", TYPESCRIPT, "function hidden", "export function hidden"),
    "typescript-reexport": ("typescript", TYPESCRIPT, "hidden as shown", "hidden as other"),
    "typescript-base": ("typescript", TYPESCRIPT, "extends Base", "extends Other"),
    "go-signature": ("go", GO, "Area(r float64)", "Area(r float32)"),
    "go-field": ("go", GO, "Name string", "Name []byte"),
    "go-added": ("go", GO, "func helper", "func Helper"),
}


def digest(language: str, text: str) -> str:
    return extract_facts(text.encode(), language).interface_hash


@pytest.mark.parametrize("name", SAME)
def test_hash_stays(name: str) -> None:
    language, text, old, new = SAME[name]
    assert old in text
    assert digest(language, text) == digest(language, text.replace(old, new, 1))


@pytest.mark.parametrize("name", DIFFERENT)
def test_hash_moves(name: str) -> None:
    language, text, old, new = DIFFERENT[name]
    assert old in text
    assert digest(language, text) != digest(language, text.replace(old, new, 1))


def test_line_ends_say_nothing() -> None:
    assert digest("python", PYTHON) == digest("python", PYTHON.replace("\n", "\r\n"))


def test_a_file_without_surface_has_no_hash() -> None:
    assert digest("python", "_x = 1\n") == ""
    assert digest("text", "words") == ""
