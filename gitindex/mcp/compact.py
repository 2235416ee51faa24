"""Shorter answers: values that repeat in every row are given once in the envelope, as defaults."""

from __future__ import annotations

from typing import Any

from gitindex.base.vocabulary import Layer

_UTF16 = (("columnUtf16", "column"), ("endColumnUtf16", "endColumn"))


def compact(answer: dict[str, Any]) -> dict[str, Any]:
    """Drop source, layer and UTF-16 columns from rows where they equal the default."""
    receipt = answer.get("receipt")
    if answer.get("status") != "ok" or not isinstance(receipt, dict):
        return answer
    defaults = {"source": f"index@{receipt.get('treeId')}", "layer": str(Layer.SYNTACTIC)}
    rows = {name: _rows(value, defaults) for name, value in answer.items()}
    return rows | {"defaults": defaults} if rows != answer else answer


def _rows(value: Any, defaults: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_row(item, defaults) if isinstance(item, dict) else item for item in value]
    return value


def _row(row: dict[str, Any], defaults: dict[str, str]) -> dict[str, Any]:
    same = {name for name, default in defaults.items() if row.get(name) == default}
    same |= {wide for wide, plain in _UTF16 if wide in row and row[wide] == row.get(plain)}
    return {n: _rows(value, defaults) for n, value in row.items() if n not in same}
