"""Records files as long as their blobs, and those that attributes explain. For the runner."""

from __future__ import annotations

from gitindex.base.atomic_file import write_atomic
from gitindex.base.worktree import Worktree
from gitindex.git.conversions import (
    ConversionNote,
    attributes_now,
    differing,
    in_use,
    is_noted,
    known_file,
    note_file,
    other_sizes,
    read_conversions,
    read_known,
    render_conversions,
    shared_known,
    still_explained,
    unlike_blob,
)
from gitindex.git.file_system import was_read, write_unread
from gitindex.git.hidden_edits import look_at_index
from gitindex.git.index_file import SizedEntry
from gitindex.git.shadow_index import identity_of, index_of

MAX_OLD = 2
"""Known pairs for each entry of the index from which those of other indexes are dropped."""


def note_conversions(worktree: Worktree, digits: int) -> None:
    """Bring both records up to the current index, if somebody has read them since they were written."""
    if not was_read(note_file(worktree)):
        return  # nobody has asked since: a reader compares what is new itself
    before = identity_of(index_of(worktree))
    look = look_at_index(worktree, digits)
    held = read_conversions(worktree)
    steady = still_explained(worktree, held)
    if steady and is_noted(held, look.checksum):
        return
    held = in_use(worktree, held)
    known = read_known(worktree, held, look.id_bytes)
    if len(known) > MAX_OLD * look.entries:
        # Most are of files as they were: keep those of this index.
        known &= frozenset(entry.key for entry in look.beyond(frozenset(), held.start))
    entries = look.beyond(known, held.start)
    seen = held.explained if steady else {}
    new = [e for e in entries if seen.get(e.path) != e.key]
    others = unlike_blob(worktree, new) if held.by_bytes else other_sizes(worktree, new)
    plain = known | {e.key for e in new} - {e.key for e in others}
    suspects = [entry for entry in entries if entry.key not in plain]
    note = _explain(worktree, held._replace(checksum=look.checksum), suspects, others)
    if identity_of(index_of(worktree)) != before:
        return  # git is at work: the next run will do
    if not plain <= shared_known(worktree, held, look.id_bytes) and plain != known:
        write_atomic(known_file(worktree, held), b"".join(sorted(plain)), durable=False)
    write_unread(note_file(worktree), render_conversions(note))


def _explain(
    worktree: Worktree, held: ConversionNote, suspects: list[SizedEntry], new: list[SizedEntry]
) -> ConversionNote:
    """Return the record of files that are not as their blobs; compares `new` ones."""
    if not suspects:
        return held._replace(attributes="-", explained={}, differ=())
    now = attributes_now(worktree, [entry.path for entry in suspects])
    differ = set(differing(worktree, unlike_blob(worktree, new), now))
    explained = {e.path: e.key for e in suspects if e.path not in differ}
    return held._replace(attributes=now.digest, explained=explained, differ=tuple(sorted(differ)))
