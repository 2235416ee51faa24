"""gitindex: a code index of a git repository that is always fresh, and can prove it.

Programs import the names of `__all__` from here; the modules behind them may move. Each name is
imported at its first use: a shell prompt that imports this package pays for none of them.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036  an older one that finds the package on its path
    sys.stderr.write("gitindex: Python 3.11 or later is needed\n  hint: `pipx install gitindex`\n")
    raise SystemExit(4)
try:
    import fcntl as _fcntl  # noqa: F401  locks between processes, which every command needs
except ImportError:
    sys.stderr.write("gitindex: a POSIX system is needed\n  hint: on Windows use WSL\n")
    raise SystemExit(4) from None  # here, because every command and every runner passes this line


def _survive_cut_bytecode(loader: type) -> None:
    """Compile a module whose bytecode file is cut, instead of failing at it in every command for good.

    A Python before 3.12.8 leaves such a file if the disk is full or a limit stops its write (gh-126606).
    """
    get_code = loader.get_code  # type: ignore[attr-defined]

    def get_code_anyway(self, name):  # type: ignore[no-untyped-def]
        try:
            return get_code(self, name)
        except (EOFError, ValueError):  # cut; or none of marshal's codes
            import os
            from importlib.util import cache_from_source

            try:
                os.unlink(cache_from_source(self.path))
            except (OSError, NotImplementedError):
                return self.source_to_code(self.get_data(self.path), self.path)
            return get_code(self, name)

    loader.get_code = get_code_anyway  # type: ignore[attr-defined]


if __spec__ is not None and type(__spec__.loader).__name__ == "SourceFileLoader":
    _survive_cut_bytecode(type(__spec__.loader))

TYPE_CHECKING = False  # without `typing`: type checkers take it for true by its name

if TYPE_CHECKING:
    from gitindex.base.errors import GitIndexError
    from gitindex.base.version import __version__ as __version__
    from gitindex.base.vocabulary import IndexState, JobStatus, NonOkReason, SearchMode
    from gitindex.coordinator import IndexCoordinator, IndexStats
    from gitindex.filestate.core import FileState
    from gitindex.filestate.service import FileStateService
    from gitindex.freshness.index_status import IndexStatus, load_status, save_status, status_path
    from gitindex.freshness.observation import validate_completion_proof
    from gitindex.refresh.queue import EMPTY, FULL, RefreshJobService, RefreshScope, merge_scopes
    from gitindex.semantic.contexts.router import ContextRouter
    from gitindex.store.seed_documents import open_index, query_index, reconcile, upsert_entity
    from gitindex.view.snapshot import GateClosed

__all__ = [
    "EMPTY",
    "FULL",
    "ContextRouter",
    "FileState",
    "FileStateService",
    "GateClosed",
    "GitIndexError",
    "IndexCoordinator",
    "IndexState",
    "IndexStats",
    "IndexStatus",
    "JobStatus",
    "NonOkReason",
    "RefreshJobService",
    "RefreshScope",
    "SearchMode",
    "load_status",
    "merge_scopes",
    "open_index",
    "query_index",
    "reconcile",
    "save_status",
    "status_path",
    "upsert_entity",
    "validate_completion_proof",
]

_MODULES = {
    "base.errors": "GitIndexError",
    "base.version": "__version__",
    "base.vocabulary": "IndexState JobStatus NonOkReason SearchMode",
    "coordinator": "IndexCoordinator IndexStats",
    "filestate.core": "FileState",
    "filestate.service": "FileStateService",
    "freshness.observation": "validate_completion_proof",
    "freshness.index_status": "IndexStatus load_status save_status status_path",
    "refresh.queue": "EMPTY FULL RefreshJobService RefreshScope merge_scopes",
    "semantic.contexts.router": "ContextRouter",
    "store.seed_documents": "open_index query_index reconcile upsert_entity",
    "view.snapshot": "GateClosed",
}


def __getattr__(name: str) -> object:
    """Import a public name at its first use."""
    for module, names in _MODULES.items():
        if name in names.split():
            from importlib import import_module

            value = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return sorted({*globals(), *__all__})
