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
    converted: NotRequired[int]  # overlaid, no edits: a filter or an encoding wrote other bytes
    leftOut: NotRequired[int]
    probeAgeMs: NotRequired[
        int
    ]  # a server's last comparison with the disk; absent: this answer's own


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
    footprint: NotRequired[dict[str, Any]]  # what `recheck` compares


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
    within: NotRequired[str]  # the folder asked about


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
    callers: NotRequired[dict[str, int | None]]
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
    possible: NotRequired[list[MentionRow]]
    unexplained: NotRequired[list[MentionRow]]  # the same list, until 0.3
    accounted: NotRequired[dict[str, int]]
    accountedFor: NotRequired[bool]
    complete: NotRequired[bool]
    absent: NotRequired[bool]
    reasons: NotRequired[list[str]]
    assumes: NotRequired[list[dict[str, Any]]]
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
    searchedFiles: NotRequired[int]
    truncated: bool
    notSearched: NotRequired[dict[str, int]]  # files that the policy leaves out, by reason


class SpanFields(PathFields):
    """A place in a file, 1-based: columns in bytes, and in UTF-16 units as editors count."""

    line: int
    column: int
    endColumn: int
    columnUtf16: int
    endColumnUtf16: int


class ReferenceRow(SpanFields):
    """One use of a symbol, the surest first."""

    role: str
    use: str
    tier: str
    text: str
    enclosing: NotRequired[str]
    via: NotRequired[str]  # the alias that stands there
    layer: str
    source: str


class DefinitionRow(SpanFields):
    """A definition, or the declaration of a name that is no symbol."""

    name: str
    qualifiedName: str
    kind: str
    endLine: int
    signature: str
    exported: bool
    layer: str
    source: str


class MentionRow(SpanFields):
    """A place that is no reference, and why it is where it is."""

    why: str
    text: str


class ReferencesAnswer(Envelope):
    """`find_references`: every occurrence of the name, each in one class."""

    name: str
    definitions: list[DefinitionRow]
    references: list[ReferenceRow]
    truncated: bool
    totalReferences: int
    possible: list[MentionRow]
    unexplained: list[MentionRow]  # the same list, until 0.3
    unlikely: NotRequired[list[MentionRow]]
    accounted: dict[str, int]
    accountedFor: bool
    complete: bool
    absent: bool
    reasons: list[str]  # why `absent` cannot be said, apart from the lists
    assumes: list[dict[str, Any]]
    leftOut: NotRequired[dict[str, list[str]]]
    handedOver: NotRequired[int]  # places that pass, store or decorate the function
    mentions: dict[str, int]
    mentioned: NotRequired[list[MentionRow]]
    coverage: NotRequired[dict[str, int]]
    near: NotRequired[list[str]]
    semanticLayer: NotRequired[dict[str, Any]]


class ChangedFile(PathFields):
    """A path that differs between two trees."""

    change: str


class ReachRow(PathFields):
    """A symbol that changed, or that a changed one reaches."""

    name: str
    qualifiedName: str
    kind: str
    line: int
    change: NotRequired[str]
    distance: NotRequired[int]
    tier: NotRequired[str]


class ImpactAnswer(Envelope):
    """`impact`."""

    base: str
    changedFiles: list[ChangedFile]
    changedSymbols: list[ReachRow]
    reached: list[ReachRow]
    files: list[str]
    tests: list[str]
    truncated: bool


class SliceAnswer(TypedDict):
    """`slice`: also without an index, so without the proof of one."""

    status: str
    path: str
    codebaseRoot: str
    message: NotRequired[str]  # where the status is not ok
    line: NotRequired[int]
    column: NotRequired[int]
    language: NotRequired[str]
    direction: NotRequired[str]
    function: NotRequired[dict[str, Any]]
    variable: NotRequired[dict[str, Any]]
    definitions: NotRequired[list[dict[str, Any]]]
    uses: NotRequired[list[dict[str, Any]]]
    lines: NotRequired[list[dict[str, Any]]]
    partial: NotRequired[bool]
    truncated: NotRequired[bool]
    source: NotRequired[str]
    freshness: NotRequired[FreshnessFields]
    receipt: NotRequired[ReceiptFields | None]


class DocumentRow(PathFields):
    """One document, with the place that matched or its first paragraph."""

    topics: list[str]
    summary: str
    createdAt: str | None
    startLine: int
    endLine: int
    snippet: str
    matched: list[str]
    source: str


class DocumentsAnswer(Envelope):
    """`docs`, `search_documents`."""

    query: str
    tags: list[str]
    dateFrom: str | None
    dateTo: str | None
    fields: dict[str, str]
    results: list[DocumentRow]
    totalCount: int
    truncated: bool


class StateRow(PathFields):
    """How current and how sure what is known of one file is."""

    freshness: str
    certainty: str
    via: NotRequired[list[str]]  # the files on the way to what makes it uncertain
    because: NotRequired[list[str]]


class StatesAnswer(Envelope):
    """`state`, `file_state`."""

    files: list[StateRow]


class TargetRow(StateRow):
    """What the mutation gate says of one target."""

    status: str
    symbol: NotRequired[str]
    line: NotRequired[int]
    decision: NotRequired[dict[str, Any]]
    witness: NotRequired[dict[str, Any]]


class GateAnswer(Envelope):
    """`state --gate`, `check_mutation_gate`: the worst of its targets is the status."""

    targets: list[TargetRow]
