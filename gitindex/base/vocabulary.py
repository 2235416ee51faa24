"""The vocabulary: every closed set of words, one line of meaning each. Refuses to hold logic."""

from gitindex.base.light_types import StrEnum

BINARY_PROBE = 8000  # git takes a file with a NUL in these first bytes for a binary one
MAX_PARSE_BYTES = 1 << 20  # larger texts are searched, not parsed: a parser takes seconds for them
MAX_TEXT_BYTES = 4 << 20  # larger texts have no facts; status counts them
AGAIN = " again"
"""Ends the reason of a quarantined blob whose retry failed as well: it is not tried a third time."""


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


class EditScope(StrEnum):
    """Which edits a probe of the work tree searches for."""

    NONE = "none"  # HEAD only: freshness does not depend on edits
    TRACKED = "tracked"
    ALL = "all"  # tracked and new paths


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


class ManageOutcome(StrEnum):
    """What became of a request to manage an index."""

    STARTED = "started"  # a process works on it
    CREATED = "created"  # it did, and the index is proven
    REINDEXED = "reindexed"
    SYNCED = "synced"
    ALREADY_INDEXED = "already_indexed"  # valid proof: nothing to create
    COALESCED = "coalesced"  # somebody is about to do it already
    SKIPPED_FRESH = "skipped_fresh"
    SKIPPED_INDEXING = "skipped_indexing"  # a job runs
    ADOPTED = "adopted"  # a generation without marker is proven again
    ALREADY_PROVEN = "already_proven"
    NOT_ADOPTABLE = "not_adoptable"
    CLEARED = "cleared"
    FAILED = "failed"  # the process ended without a proof


class SkipReason(StrEnum):
    """Why a tracked path has no facts."""

    SECRET = "secret"  # looks like a key or credential: never read
    IGNORED = "ignored"  # .gitindexignore
    VENDORED = "vendored"  # .gitattributes linguist-vendored
    GENERATED = "generated"  # .gitattributes linguist-generated
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


class Freshness(StrEnum):
    """How current what is known of a file is."""

    CLEAN = "clean"  # its facts are of the bytes on disk, and nothing it depends on has changed
    DIRTY = "dirty"  # the bytes on disk are not those that were indexed
    STALE = "stale"  # the interface of something it depends on changed since it was refreshed
    PENDING_CHECK = "pending_check"  # something it depends on is dirty or has no facts
    UNINDEXED = "unindexed"  # there are no facts of it


class Certainty(StrEnum):
    """How sure the facts of a file are."""

    CERTAIN = "certain"
    AMBIGUOUS = "ambiguous"  # its flags say that the language leaves something open
    UNKNOWN = "unknown"  # no facts of these bytes, or none worth the name


class Mutation(StrEnum):
    """What the mutation gate says."""

    OK = "ok"  # edit without asking
    NEEDS_DECISION = "needs_decision"  # somebody has to choose first
    BLOCKED = "blocked"  # what is known is not what is there


class Relation(StrEnum):
    """What one symbol is to another (SCIP's relationships)."""

    IMPLEMENTATION = "implementation"  # implements, overrides or inherits it
    REFERENCE = "reference"  # a reference to it is one to the other, too
    TYPE_DEFINITION = "type_definition"  # the other is its type
    DEFINITION = "definition"  # is defined where the other is


class ContextKind(StrEnum):
    """What makes a semantic context."""

    PACKAGE = "package"  # a package file in its folder
    WORKSPACE = "workspace"  # only a workspace or lock file: owns what no member does
    AMBIENT = "ambient"  # nothing: the family's files that no project owns


class ContextState(StrEnum):
    """What up to five of its files say of a context."""

    VALID = "valid"  # at least one could be parsed
    FAILED = "failed"  # none could
    EMPTY = "empty"  # it owns no file


class PathKind(StrEnum):
    """What a file of a repository is for, as far as its path and language tell."""

    CODE = "code"
    TESTS = "tests"
    DOCS = "docs"


class SearchMode(StrEnum):
    """How `IndexCoordinator.search` takes its query (seed 001)."""

    RANKED = "ranked"  # words; the best places first
    REGEX = "regex"  # a pattern; the lines that match
    LITERAL = "literal"  # a text; the lines that contain it
    SYMBOL = "symbol"  # a name; the definitions of it


class GrepForm(StrEnum):
    """What `gitindex grep` lists."""

    LINES = "lines"  # every line that matches
    FILES = "files"  # files with such a line
    COUNTS = "counts"  # files, with the number of such lines


class Tier(StrEnum):
    """How sure it is that a place refers to a definition."""

    SEMANTIC = "semantic"  # the semantic layer says so
    EXACT = "exact"  # the file's own scopes say so
    IMPORT = "import"  # imports and declared types lead there
    DISPATCH = "dispatch"  # leads to what it overrides or implements, or to what does so with it
    NAME = "name"  # possible: only the name is the same; in call graphs, never a reference


class OccurrenceClass(StrEnum):
    """Where an occurrence of a name stands in the partition of an answer about a symbol."""

    DEFINITIONS = "definitions"  # a definition that is asked about
    REFERENCES = "references"  # bound to it
    POSSIBLE = "possible"  # cannot be excluded, see Why
    UNLIKELY = "unlikely"  # inference gives it to another type
    ELSEWHERE = "elsewhere"  # bound to another definition: scopes, imports, declared types
    PROSE = "prose"  # comments, documents, words of a text


class Why(StrEnum):
    """Why an occurrence is possible."""

    RECEIVER = "receiver"  # a member access, its receiver is unknown
    UNBOUND = "unbound"  # no scope of the tree binds the name there
    KEY = "key"  # a key or a keyword in a call or a literal
    STRING = "string"  # in a string, a data file, a template or a comment that tools read
    NOT_PARSED = "not_parsed"  # no grammar, syntax errors, generated, oversize, a macro's body
    BUDGET = "budget"  # more files or places than one answer examines


class Assumption(StrEnum):
    """What an answer takes for granted about the code around a symbol."""

    EVAL = "eval"  # no text is run as code
    REBINDING = "rebinding"  # nothing assigns to attributes of modules, globals() or builtins
    COMPUTED_NAMES = "computed_names"  # no name is put together when the program runs
    OUTSIDE = "outside"  # a base outside of the tree does not call the member
    FRAMEWORK = "framework"  # no decorator or annotation registers it to be called


class MentionKind(StrEnum):
    """Where a name stands outside of code."""

    COMMENTS = "comments"
    STRINGS = "strings"
    DOCUMENTS = "documents"
    TEMPLATES = "templates"
    DATA = "data"


class Direction(StrEnum):
    """Which way a call graph goes from its symbol."""

    CALLERS = "callers"
    CALLEES = "callees"
    BOTH = "both"


class EdgeKind(StrEnum):
    """What an edge of the call graph is."""

    CALL = "call"
    IMPORT = "import"  # one file imports another
    INHERIT = "inherit"
    DYNAMIC = "dynamic"  # by name alone, or passed on to be called later


class MapSection(StrEnum):
    """What a repo map can show besides its files."""

    STRUCTURE = "structure"  # folders and what is below them
    LANGUAGES = "languages"
    ENTRYPOINTS = "entrypoints"  # where the program starts
    HUBS = "hubs"  # files that many import
    TESTS = "tests"  # where tests are, and of what
    SURFACE = "surface"  # exported names
