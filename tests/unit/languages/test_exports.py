# ruff: noqa: E501 — a table reads better in rows
"""Exported names, whatever their value is: each is a symbol with a line, or an import that is passed on."""

from __future__ import annotations

import pytest

from gitindex.languages.syntax.extract import extract_facts

CASES = {
    ("javascript", "exports.a = anything();"): (["a"], ["a"]),
    ("javascript", "exports.a = exports.b = void 0;"): (["a", "b"], ["a", "b"]),
    ("javascript", "module.exports.a = 1; exports['b'] = 2;"): (["a", "b"], ["a", "b"]),
    ("javascript", "module.exports = { a: f(), 'b': 1, c() {}, ...d };"): (["a", "b", "c"], ["a", "b", "c"]),
    ("javascript", "Object.defineProperty(exports, 'a', { get: f });"): (["a"], ["a"]),
    ("javascript", "function a() {}\nexports.a = a;"): (["a"], ["a"]),
    ("javascript", "function a() {}\nmodule.exports = { a: a, b: a };"): (["a", "b"], ["a", "b"]),
    ("javascript", "function a() {}\nexports = module.exports = a;\n"): (["default"], ["a"]),
    ("javascript", "const text = 'exports.no = 1' // exports.no = 2\nexports.a = 1"): (["a"], ["a"]),
    ("javascript", "export const { a, b: c, d = 1, ...e } = f();"): (["a", "c", "d", "e"], ["a", "c", "d", "e"]),
    ("typescript", "export const [a, b = 1]: T = f();"): (["a", "b"], ["a", "b"]),
    ("typescript", "const a = 1;\nexport = a;"): (["default"], ["a"]),
    ("python", "from .x import a as a, b as c, d\n"): (["a"], []),
    ("python", "__all__ = ['a'] + x.__all__\n__all__ += ('b',)\n__all__.append('c')\n"): (["a", "b", "c"], ["__all__"]),
    ("python", "__all__: list[str] = [  # 'no'\n 'a']\n"): (["a"], ["__all__"]),
    ("python", "def f():\n    __all__ = ['no']\n"): (["f"], ["f"]),
}  # fmt: skip


@pytest.mark.parametrize(("language", "text"), CASES)
def test_exports(language: str, text: str) -> None:
    names, symbols = CASES[language, text]
    facts = extract_facts(text.encode(), language)
    assert sorted(facts.exports) == names
    assert sorted({symbol.name for symbol in facts.symbols if symbol.exported}) == symbols
