"""How current and how certain the facts of each file are, compared with its bytes on disk now."""

from gitindex.filestate.core import FileState
from gitindex.filestate.service import FileStateService

__all__ = ["FileState", "FileStateService"]
