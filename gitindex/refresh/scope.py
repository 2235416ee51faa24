"""RefreshScope: where a refresh looks first. A lattice; FULL and EMPTY are values of their own."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from gitindex.base.errors import GitIndexError
from gitindex.base.worktree import normalize_rel_path


class _Fields(NamedTuple):  # not a dataclass: a runner that a hook starts cannot afford the import
    files: tuple[str, ...]
    packages: tuple[str, ...]
    changed_since: float | None
    full: bool


class RefreshScope(_Fields):
    """Files, path prefixes and a time, OR-ed. Always in canonical form, so equal means equal."""

    __slots__ = ()

    def __new__(
        cls,
        files: Iterable[str] = (),
        packages: Iterable[str] = (),
        changed_since: float | None = None,
        full: bool = False,
    ) -> RefreshScope:
        outermost = _outermost(_paths(packages))
        named = _paths(files)
        if changed_since is not None and math.isnan(changed_since):
            raise ValueError("changed_since is not a time")
        if full or "" in outermost or "" in named:
            return super().__new__(cls, (), (), None, True)
        roots = set(outermost)
        kept = tuple(sorted(name for name in named if not _under(name, roots)))
        return super().__new__(cls, kept, outermost, changed_since, False)

    def covers(self, other: RefreshScope | None) -> bool:
        """Does this scope select all that the other selects? None is FULL."""
        return merge_scopes(self, other) == self

    def to_json(self) -> str:
        """The stored form."""
        if self.full:
            return '{"full":true}'
        fields: dict[str, Any] = {}
        if self.files:
            fields["files"] = self.files
        if self.packages:
            fields["packages"] = self.packages
        if self.changed_since is not None:
            fields["changed_since"] = self.changed_since
        return json.dumps(fields, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | None) -> RefreshScope:
        """Parse a stored form. None, and what cannot be understood, is FULL: it must hide nothing."""
        if text is None:
            return FULL
        try:
            return cls(**_understand(json.loads(text)))
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError, GitIndexError):
            return FULL


def merge_scopes(a: RefreshScope | None, b: RefreshScope | None) -> RefreshScope:
    """Return the least scope that covers both. None is FULL, as in seed 001."""
    a, b = scope_or_full(a), scope_or_full(b)
    times = [t for t in (a.changed_since, b.changed_since) if t is not None]
    return RefreshScope(
        a.files + b.files, a.packages + b.packages, min(times, default=None), a.full or b.full
    )


def scope_or_full(scope: RefreshScope | None) -> RefreshScope:
    """Return the scope; FULL for None."""
    return FULL if scope is None else scope


def resolve_scope(
    scope: RefreshScope | None, paths: Iterable[str], changed_at: Callable[[str], float | None]
) -> set[str]:
    """Those of `paths` that the scope selects now; `changed_at` is asked only if a time is given."""
    if scope is None or scope.full:
        return set(paths)
    files, packages, since = set(scope.files), set(scope.packages), scope.changed_since
    return {
        path
        for path in paths
        if path in files
        or _under(path, packages)
        or (since is not None and _is_after(changed_at(path), since))
    }


def _understand(fields: Any) -> dict[str, Any]:
    """The fields of a stored form, each of its type; anything else raises."""
    if not isinstance(fields, dict):
        raise TypeError("not a scope")
    if fields.get("full") is True:
        return {"full": True}
    given = {name: value for name, value in fields.items() if value is not None}
    if fields and not given:
        raise ValueError("no field says anything")
    if unknown := fields.keys() - _READERS.keys():
        raise KeyError(*unknown)
    return {name: _READERS[name](value) for name, value in given.items()}


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError("texts expected")
    return tuple(value)


def _time(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError("a time expected")
    return float(value)


_READERS: dict[str, Callable[[Any], Any]] = {
    "files": _texts,
    "packages": _texts,
    "changed_since": _time,
}


def _is_after(changed: float | None, since: float) -> bool:
    return changed is not None and changed >= since


def _paths(names: Iterable[str] | None) -> set[str]:
    if isinstance(names, str):
        raise TypeError("files and packages are collections of paths, not one text")
    return {normalize_rel_path(name) for name in names or ()}


def _outermost(packages: set[str]) -> tuple[str, ...]:
    kept: set[str] = set()
    for package in sorted(packages, key=lambda name: name.count("/")):
        if not _under(package, kept):
            kept.add(package)
    return tuple(sorted(kept))


def _under(path: str, packages: set[str]) -> bool:
    """Is the path one of the packages, or inside one? Looks at whole segments only."""
    if not packages:
        return False
    at = len(path)
    while at > 0:
        if path[:at] in packages:
            return True
        at = path.rfind("/", 0, at)
    return "" in packages


FULL = RefreshScope(full=True)
EMPTY = RefreshScope()
