"""The codebases this user has registered: one private file in the user's state directory."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator

from gitindex.base.atomic_file import read_small, write_atomic
from gitindex.base.errors import GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.system import lock

VERSION = 1
MAX_ROOTS = 1_000


class Registry:
    """Canonical roots, sorted. Reading creates nothing; an unreadable file is never replaced."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._path = os.path.join(folder, "codebases.json")

    def exists(self) -> bool:
        """Does the file exist? A missing file is not an empty list: clearing writes one."""
        return os.path.lexists(self._path)

    def roots(self) -> list[str]:
        """Return every registered root, sorted."""
        try:
            data = read_small(self._path)
        except OSError as error:
            raise GitIndexError(
                f"cannot read {safe_text(self._path)}: {error.strerror}", "check its permissions"
            ) from error
        return [] if data is None else _parse(self._path, data)

    def add(self, root: str) -> bool:
        """Register a root. False if it was registered already."""
        with self._locked():
            known = self.roots()
            if root in known:
                return False
            if len(known) >= MAX_ROOTS:
                raise GitIndexError(
                    f"{MAX_ROOTS} codebases are registered", "clear those that are gone"
                )
            self._save([*known, root])
            return True

    def discard(self, root: str) -> bool:
        """Remove a root. False if it was not registered."""
        if root not in self.roots():
            return False
        with self._locked():
            known = self.roots()
            self._save([name for name in known if name != root])
            return root in known

    def _save(self, roots: list[str]) -> None:
        fields = {"version": VERSION, "roots": sorted(roots)}
        write_atomic(self._path, json.dumps(fields, indent=1).encode() + b"\n")

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock: with one writer at a time no registration is lost."""
        os.makedirs(self._folder, 0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        fd = os.open(os.path.join(self._folder, "lock"), flags, 0o600)
        try:
            lock(fd)
            yield
        finally:
            os.close(fd)


def _parse(path: str, data: bytes) -> list[str]:
    try:
        fields = json.loads(data)
        version, roots = fields["version"], fields["roots"]
    except (ValueError, KeyError, TypeError, RecursionError):
        version, roots = None, None
    if version != VERSION and isinstance(version, int):
        raise GitIndexError(f"{safe_text(path)} is of a newer gitindex", "upgrade gitindex")
    if not isinstance(roots, list) or not all(isinstance(root, str) for root in roots):
        raise GitIndexError(f"{safe_text(path)} is damaged", "move it away and register again")
    return sorted(set(roots))
