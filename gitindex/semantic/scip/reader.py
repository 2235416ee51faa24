"""Reads an indexer's output file, completely or not at all. Documents are decoded one at a time."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from gitindex.semantic.scip.schema import fill, messages

MAX_OUTPUT = 1 << 31
"""Protobuf's own size limit."""

_METADATA, _DOCUMENT, _EXTERNAL = 1, 2, 3


class BadOutput(Exception):
    """The output is empty, truncated, or not SCIP."""


class Output(NamedTuple):
    """The output of one run."""

    tool: str
    version: str
    project_root: str  # an absolute folder
    documents: dict[str, Any]  # by path relative to that folder


def read_output(data: bytes) -> Output:
    """Return all documents of an output. Raises BadOutput unless every byte of it is valid."""
    types = messages()
    index = types["Index"]()
    parts: dict[str, Any] = {}
    for number, piece in _fields(data):
        if number == _METADATA:
            _merge(index.metadata, piece)
        elif number == _DOCUMENT:
            document = types["Document"]()
            _merge(document, piece)
            path = posixpath.normpath(document.relative_path)
            if path in parts:  # a project that two others reference is written twice
                parts[path].MergeFrom(document)
            else:
                parts[path] = document
    root = unquote(urlsplit(index.metadata.project_root).path)
    if not index.metadata.tool_info.name or not root.startswith("/"):
        raise BadOutput("the output does not say who made it, and where")
    tool = index.metadata.tool_info
    return Output(tool.name, tool.version, root, parts)


def _merge(message: Any, piece: bytes) -> None:
    try:
        fill(message, piece)
    except ValueError as error:
        raise BadOutput(f"the output is damaged: {error}") from error


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the top-level fields of a message, in order; all have the same wire type."""
    if not data:
        raise BadOutput("the output is empty")
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        size, at = _varint(data, at)
        if tag & 7 != 2 or tag >> 3 not in (_METADATA, _DOCUMENT, _EXTERNAL):
            raise BadOutput(f"the output has a field {tag >> 3} that SCIP has not")
        if at + size > len(data):
            raise BadOutput("the output was cut off")
        yield tag >> 3, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 64:
        if at >= len(data):
            raise BadOutput("the output was cut off")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise BadOutput("the output has a number without an end")
