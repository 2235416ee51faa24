"""How current and how sure what is known of each file is: of the bytes on disk, this second."""

from gitindex.filestate.core import FileState
from gitindex.filestate.service import FileStateService

__all__ = ["FileState", "FileStateService"]
