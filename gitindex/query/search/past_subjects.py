"""BM25 over the subjects of past commits: the words of the commits that changed each path."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from gitindex.query.search.features import Atom
from gitindex.store.connection import marks
from gitindex.store.lexical import stem
from gitindex.store.subjects import (
    ALL,
    SUBJECT,
    Counts,
    StoredWindow,
    stored_counts,
    stored_window,
    window_change,
)
from gitindex.view.tree import TreeView

K1, B = 1.2 * SUBJECT, 0.75
"""BM25's constants; a word of a subject counts for SUBJECT."""
MAX_HOLDERS = 400
"""A word that occurs for more paths than this adds no candidates."""
MAX_TIES = 400
_NEW = -1


class StoredSubjects:
    """Cached data of one published tree: the window, ids of paths."""

    def __init__(self) -> None:
        self.window: StoredWindow | None = None
        self._is_known = False
        self._ids: dict[bytes, int | None] = {}

    def read_window(self, view: TreeView) -> StoredWindow | None:
        """Return the window of the published commit; None if none is stored."""
        if not self._is_known:
            served = view.served
            self.window = stored_window(served.database, served.published.worktree_id)
            self._is_known = True
        return self.window

    def ids(self, view: TreeView, paths: list[bytes]) -> dict[bytes, int]:
        """Return the ids of those paths that the store knows."""
        unknown = [path for path in paths if path not in self._ids]
        self._ids.update(dict.fromkeys(unknown))
        sql = "SELECT path, id FROM paths WHERE path IN ({marks})"
        self._ids.update(view.served.database.rows_among(sql, unknown))
        pairs = ((path, self._ids[path]) for path in paths)
        return {path: path_id for path, path_id in pairs if path_id is not None}


class PastSubjects:
    """The subjects of past commits, for one query and one view.

    Only commits up to the requested tree count: `--at` an older commit ignores later ones. Edited
    and staged files have the subjects of their path.
    """

    def __init__(self, view: TreeView, atoms: Sequence[Atom], known: StoredSubjects) -> None:
        """`known`: the cached window and ids of the published tree."""
        self._view = view
        self._known = known
        self._new: dict[bytes, int] = {}  # paths that the store does not know
        words = list(dict.fromkeys(stem(atom.text) for atom in atoms))
        counts = self._counts([*words, ALL]) if words else {}
        self._lengths = counts.pop(ALL, {})
        self._average = sum(self._lengths.values()) / max(1, len(self._lengths)) or 1.0
        self._words = [(self._idf(len(paths)), paths) for paths in counts.values() if paths]

    def scores(self, paths: Iterable[bytes]) -> dict[bytes, float]:
        """Return the scores of some paths; paths without a score are left out."""
        if not self._words:
            return {}
        ids = self._known.ids(self._view, list(paths)) | self._new
        scores = self._scores(ids.values())
        return {path: scores[path_id] for path, path_id in ids.items() if path_id in scores}

    def best(self, limit: int) -> list[bytes]:
        """Return the paths that score highest for the rare words of the query."""
        rare = [paths for _, paths in self._words if len(paths) <= MAX_HOLDERS]
        ids = set().union(*rare) if rare else set()
        scores = self._scores(ids)
        highest = sorted(scores.values(), reverse=True)[:limit]
        least = highest[-1] if highest else 0.0
        listed = [path_id for path_id, score in scores.items() if score >= least][:MAX_TIES]
        known = dict(
            self._view.rows(f"SELECT id, path FROM paths WHERE id IN ({marks(listed)})", *listed)
        ) | {path_id: path for path, path_id in self._new.items()}
        named = ((-scores[path_id], known[path_id]) for path_id in listed if path_id in known)
        return [path for _, path in sorted(named)[:limit]]

    def _scores(self, ids: Iterable[int]) -> dict[int, float]:
        """Return the scores of some paths by id; those without one are left out."""
        chosen, scores = set(ids), dict[int, float]()
        lengths, average = self._lengths, self._average
        for idf, paths in self._words:
            for path_id in chosen.intersection(paths):
                count = paths[path_id]
                least = K1 * (1 - B + B * (lengths.get(path_id, 0) / average))
                scores[path_id] = scores.get(path_id, 0.0) + idf * count / (count + least)
        return scores

    def _idf(self, holders: int) -> float:
        paths = max(len(self._lengths), holders)
        return math.log(1 + (paths - holders + 0.5) / (holders + 0.5))

    def _counts(self, words: list[str]) -> dict[str, dict[int, int]]:
        """Return counts by word and path id, for the commit of the view."""
        overlay = self._view.overlay
        stored = self._known.read_window(self._view)
        if stored is None:
            return {}
        served = self._view.served
        counts = stored_counts(served.database, served.published.worktree_id, words)
        if overlay.source != self._view.source() or overlay.commit in (None, stored.head):
            return counts
        change = window_change(self._view.worktree.root, stored, overlay.commit or "")
        if change is None:
            return {}
        return self._changed(counts if change.base else {}, change.counts, words)

    def _changed(
        self, stored: dict[str, dict[int, int]], counts: Counts, words: list[str]
    ) -> dict[str, dict[int, int]]:
        paths = sorted({path for word in words for path in counts.get(word, ())})
        known = self._known.ids(self._view, paths)
        self._new = {p: _NEW - n for n, p in enumerate(p for p in paths if p not in known)}
        ids = known | self._new
        changed: dict[str, dict[int, int]] = {}
        for word in words:
            mine = changed[word] = dict(stored.get(word, {}))
            for path, count in counts.get(word, {}).items():
                mine[ids[path]] = mine.get(ids[path], 0) + count
                if mine[ids[path]] <= 0:
                    del mine[ids[path]]
        return changed
