"""The one error users see: a line, a hint, an exit code. Adapters translate into it."""

from gitindex.base.light_types import IntEnum


class Exit(IntEnum):
    """Exit codes of every command (contract)."""

    OK = 0  # fresh; found
    NO = 1  # stale or rebuilding; nothing found
    USAGE = 2
    GATED = 3  # not indexed, requires reindex, not ready
    ERROR = 4


_STATUSES = {Exit.USAGE: "invalid_request", Exit.NO: "not_found", Exit.GATED: "unsupported"}


class GitIndexError(Exception):
    """A failure with a message, a hint how to fix it, and an exit code."""

    def __init__(self, message: str, hint: str = "", code: Exit = Exit.ERROR) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code

    @property
    def status(self) -> str:
        """What a structured answer calls it."""
        return _STATUSES.get(self.code, "error")


def shortage(error: BaseException) -> GitIndexError | None:
    """What an error says about this machine's memory or number of threads; None for any other error."""
    if isinstance(error, MemoryError):
        return GitIndexError("not enough memory", "raise the limit, or close other programs")
    if isinstance(error, RuntimeError) and "new thread" in str(error):
        return GitIndexError("cannot start a thread", "raise the limit of processes or memory")
    return None


class NotIndexed(GitIndexError):
    """There is no store to ask."""

    status = "not_indexed"

    def __init__(self) -> None:
        super().__init__("not indexed", "run `gitindex index`", Exit.GATED)


class StoreError(GitIndexError):
    """The store could not be read or written; nothing in it was changed."""


class StoreBusy(StoreError):
    """Another process holds the store longer than we wait."""


class NewerSchema(StoreError):
    """The store was written by a newer gitindex: it is left alone."""


class CorruptStore(StoreError):
    """The store is proven damaged: only a rebuild repairs it."""


class OlderSchema(CorruptStore):
    """The store is of an older version: its writer builds it anew."""


class ObjectMissing(GitIndexError):
    """Git does not have an object here (partial clone, pruned); never fetched."""


class StoreReplaced(Exception):
    """The store's files are not those we opened: the repository was moved, deleted or restored."""
