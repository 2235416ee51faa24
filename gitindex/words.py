"""The vocabulary: every closed set of words, one line of meaning each. Refuses to hold logic."""

from enum import StrEnum


class IndexState(StrEnum):
    """What `rag_index_status.json` and `gitindex status` say."""

    FRESH = "fresh"  # the published generation is proven for HEAD's tree
    STALE = "stale"  # something differs, is queued, or is not proven
    REBUILDING = "rebuilding"  # a job runs
    ERROR = "error"  # the last attempt failed


class FreshnessState(StrEnum):
    """The `freshness.state` of an answer."""

    FRESH = "fresh"
    STALE = "stale"
    UNKNOWN = "unknown"  # the proof could not be read


class ProofOutcome(StrEnum):
    """What validating the completion marker says."""

    VALID = "valid"
    STALE_LOCAL = "stale_local"  # looked up, and there is no usable proof
    FINGERPRINT_MISMATCH = "fingerprint_mismatch"  # proven, but by other tools than ours
    PROBE_FAILED = "probe_failed"  # could not look


class ProofReason(StrEnum):
    """Why a proof is not valid."""

    MISSING_MARKER_DOC = "missing_marker_doc"
    INVALID_MARKER_KIND = "invalid_marker_kind"
    PATH_MISMATCH = "path_mismatch"
    INVALID_PAYLOAD = "invalid_payload"
    FINGERPRINT_MISMATCH = "fingerprint_mismatch"
    PROBE_FAILED = "probe_failed"


class GateStatus(StrEnum):
    """The `status` of a gating answer."""

    REQUIRES_REINDEX = "requires_reindex"
    NOT_READY = "not_ready"
    NOT_INDEXED = "not_indexed"


class NonOkReason(StrEnum):
    """The `reason` of a gating answer; closed."""

    REQUIRES_REINDEX = "requires_reindex"
    INDEXING = "indexing"
    NOT_INDEXED = "not_indexed"


class JobStatus(StrEnum):
    """Life of a refresh job."""

    QUEUED = "queued"  # waits for a runner
    RUNNING = "running"  # one live runner works on it
    COMPLETED = "completed"  # its marker is written
    SUPERSEDED = "superseded"  # HEAD moved; a newer job carries its scope
    FAILED = "failed"  # gave up, with a cause


class FailureReason(StrEnum):
    """Why a job failed."""

    MISSING_TOOL = "missing_tool"
    TOOL_CRASHED = "tool_crashed"
    TOOL_TIMEOUT = "tool_timeout"
    PARSE_ERROR = "parse_error"
    IO_ERROR = "io_error"
    INTERNAL_ERROR = "internal_error"


class BuildKind(StrEnum):
    """What a running job does; readers ignore the marker during the first two."""

    CREATE = "create"  # no proven generation yet
    REINDEX = "reindex"  # asked for explicitly
    REFRESH = "refresh"  # difference of two trees


class SkipReason(StrEnum):
    """Why a tracked path has no facts."""

    SECRET = "secret"  # looks like a key or credential: never read
    IGNORED = "ignored"  # .gitindexignore
    VENDORED = "vendored"  # .gitattributes linguist-vendored
    GENERATED = "generated"  # .gitattributes linguist-generated, or says so at its top
    SYMLINK = "symlink"  # links are never followed
    SUBMODULE = "submodule"  # a gitlink: another repository
    LFS_POINTER = "lfs_pointer"  # the content is not in git
    BINARY = "binary"
    OVERSIZE = "oversize"
    MINIFIED = "minified"
    MISSING_BLOB = "missing_blob"  # partial clone: never fetched


class FactsStatus(StrEnum):
    """How much of a blob the syntactic layer understood."""

    PARSED = "parsed"
    PARTIAL = "partial"  # syntax errors, or a cap was hit
    LEXICAL = "lexical"  # no grammar for it
    QUARANTINED = "quarantined"  # its parser was killed twice
    SKIPPED = "skipped"  # the content policy left it out


class Layer(StrEnum):
    """Where a fact comes from."""

    SYNTACTIC = "syntactic"
    SEMANTIC = "semantic"


class Role(StrEnum):
    """What an occurrence is."""

    DEFINITION = "definition"
    REFERENCE = "reference"
    IMPORT = "import"
