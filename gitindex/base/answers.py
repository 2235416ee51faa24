"""The answers of docs/contract.md, for the type checker: import this module under TYPE_CHECKING only.

`typing` costs a prompt 17 ms. JSON names are the contract's; a field that may be absent is NotRequired.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class FreshnessFields(TypedDict):
    """How the index that answered relates to HEAD and to the disk."""

    state: str
    exact: bool
    edits: int | None
    branch: str | None
    servedCommit: str | None
    headCommit: str | None
    pendingPaths: int
    overlayPaths: int
    mode: str
    leftOut: NotRequired[int]


class TrustFields(TypedDict):
    """Facts of packs that an answer rests on, while some of them are not verified."""

    imported: int
    verified: int
    signer: str | None


class ReceiptFields(TypedDict):
    """What `gitindex verify` derives again."""

    treeId: str
    overlayDigest: str | None
    generation: int
    fingerprint: str


class Envelope(TypedDict):
    """What every answer has."""

    status: str
    codebaseRoot: str
    freshness: FreshnessFields
    receipt: ReceiptFields | None
    warnings: NotRequired[list[str]]
    gate: NotRequired[dict[str, Any]]  # why a live scan answered


class PathFields(TypedDict):
    """A path: escaped to be shown, and its very bytes (base64) where they are not UTF-8."""

    path: str
    pathBytes: NotRequired[str]


class SearchRow(PathFields):
    """One place that a search found, best first."""

    line: int
    startLine: int
    endLine: int
    name: NotRequired[str]
    kind: NotRequired[str]
    score: float
    snippet: str
    matched: list[str]
    source: str
    features: NotRequired[dict[str, dict[str, float]]]  # with --explain


class SearchAnswer(Envelope):
    """`search`, `search_codebase`."""

    query: str
    results: list[SearchRow]
    truncated: bool
    notSearched: NotRequired[dict[str, int]]  # files that the policy leaves out, by reason


class SymbolRow(PathFields):
    """One definition. Lines and columns are 1-based; columns count bytes."""

    name: str
    qualifiedName: str
    kind: str
    line: int
    column: int
    columnUtf16: int
    endLine: int
    signature: str
    exported: bool
    layer: str
    doc: NotRequired[str]
    parent: NotRequired[str]
    source: NotRequired[str]


class SymbolsAnswer(Envelope):
    """`symbols`, `outline`, `find_symbols`, `file_outline`."""

    symbols: list[SymbolRow]
    truncated: NotRequired[bool]
    near: NotRequired[list[str]]
    suggestions: NotRequired[list[str]]


class ReadAnswer(Envelope):
    """`read`, `read_file`."""

    path: str
    startLine: int
    endLine: int
    totalLines: int
    content: str
    source: str
    truncated: bool
    continueAt: NotRequired[str]
    symbols: NotRequired[list[SymbolRow]]


class NodeRow(PathFields):
    """A function, method or file of a call graph."""

    id: str
    name: str
    kind: str
    line: int


class CallGraphAnswer(Envelope):
    """`callers`, `callees`, `graph`, `call_graph`. Edges have `from`, which is no name in Python."""

    root: NotRequired[str]
    nodes: NotRequired[list[NodeRow]]
    edges: NotRequired[list[dict[str, Any]]]
    notes: NotRequired[list[dict[str, Any]]]
    notesTruncated: NotRequired[bool]
    totalNoteCount: NotRequired[int]
    returnedNoteCount: NotRequired[int]
    message: NotRequired[str]
    near: NotRequired[list[str]]
    candidates: NotRequired[list[NodeRow]]
    complete: NotRequired[bool]
    unexplained: NotRequired[list[dict[str, Any]]]
    truncated: NotRequired[bool]


class MapAnswer(Envelope):
    """`map`, `repo_map`."""

    map: str
    truncated: bool


class GrepRow(PathFields):
    """A line, or a file with or without a count."""

    source: str
    line: NotRequired[int]
    column: NotRequired[int]
    columnUtf16: NotRequired[int]
    text: NotRequired[str]
    before: NotRequired[list[str]]
    after: NotRequired[list[str]]
    count: NotRequired[int]


class GrepAnswer(Envelope):
    """`grep`, `grep_codebase`."""

    results: list[GrepRow]
    truncated: bool
    notSearched: NotRequired[dict[str, int]]  # files that the policy leaves out, by reason
