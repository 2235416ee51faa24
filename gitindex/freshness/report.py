"""`gitindex status`: prints one observation. Shell prompts run it: no slow imports."""

from __future__ import annotations

import os

from gitindex.base.errors import Exit
from gitindex.base.escape import counted, print_json, print_line, safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.base.vocabulary import EditScope, FreshnessState
from gitindex.base.worktree import Worktree, find_worktree
from gitindex.freshness.marker import is_newer
from gitindex.freshness.observation import Observation, observe
from gitindex.freshness.status_file import PackNote, read_pack_note
from gitindex.freshness.verdict import NEVER, Verdict, judge
from gitindex.git.settings import is_enabled

if TYPE_CHECKING:
    from gitindex.freshness.observation import Progress


def show_status(
    form: str = "text", path: str = ".", *, check: bool = False, clean: bool = False
) -> int:
    """Print the state of the index and return its exit code.

    Edits are counted for the long forms of `status`, and tracked ones where `clean` asks for none.
    `check` is for scripts: a proof that cannot be read is an error there.
    """
    worktree = find_worktree(path)
    _end_edit(worktree)
    seen = observe(worktree, _scope(form, check, clean))
    verdict = judge(seen)
    edited = len(seen.head.dirty) if clean else 0
    if form == "json":
        from gitindex.freshness.envelope import status_envelope  # lazily: not for a prompt

        envelope = status_envelope(worktree, seen, verdict, path)
        envelope |= {"clean": not edited} if clean else {}
        print_json(envelope)
    elif form == "short":
        print_line(verdict.word)
    else:
        _print_text(worktree, seen, verdict)
    if edited and form != "json":
        print_line(f"  not clean: {edited} tracked {_paths(edited)} HEAD")
    if check and verdict.freshness is FreshnessState.UNKNOWN:
        return int(Exit.ERROR)
    return int(Exit.NO if edited and verdict.code is Exit.OK else verdict.code)


def _print_text(worktree: Worktree, seen: Observation, verdict: Verdict) -> None:
    print_line(_text(worktree, seen, verdict))
    for line in _pack_lines(read_pack_note(worktree.store)):
        print_line(line)
    if not is_enabled(worktree):
        print_line("  hooks are disabled (gitindex.enabled is false)")


def _end_edit(worktree: Worktree) -> None:
    """Undo an edit of the work tree that was interrupted."""
    if os.path.lexists(worktree.edit):
        from gitindex.base.tree_edit import undo_unfinished  # lazily: not for a prompt

        undo_unfinished(worktree)


def _scope(form: str, check: bool, clean: bool) -> EditScope:
    if form in ("text", "json") and not check:
        return EditScope.ALL
    return EditScope.TRACKED if clean else EditScope.NONE


def _paths(count: int) -> str:
    return "path differs from" if count == 1 else "paths differ from"


def _pack_lines(note: PackNote) -> list[str]:
    """What packs brought and is not verified yet, and whose packs had wrong facts."""
    lines = []
    if note.imported:
        signer = f"signed by {safe_text(note.signer)}" if note.signer else "not signed"
        lines.append(f"  facts of a pack, {signer}: {note.verified} of {note.imported} verified")
    for signer in note.rejected:
        who = f"signed by {safe_text(signer)}" if signer else "without a signature"
        lines.append(f"  a pack {who} had wrong facts: it was dropped, and is refused from now on")
    return lines


def _text(worktree: Worktree, seen: Observation, verdict: Verdict) -> str:
    answers = verdict.code in (Exit.OK, Exit.NO)
    overlaid = _overlaid(worktree, seen) if answers else ""
    lines = [verdict.why if verdict.word == NEVER else f"{verdict.word}: {verdict.why}{overlaid}"]
    if answers and seen.proof.marker is not None:
        lines += _left_out(seen.proof.marker.quarantined_files, seen.proof.marker.left_out)
    if seen.progress is not None:
        lines += _progress(seen.progress)
    if verdict.code is Exit.GATED and not is_newer(seen.proof):
        lines.append(f"  hint: run `gitindex {'wait' if seen.pending else 'index'}`")
    elif "run `gitindex" not in verdict.why and (
        verdict.code is Exit.ERROR or verdict.freshness is FreshnessState.UNKNOWN
    ):
        lines.append("  hint: run `gitindex doctor`")
    return "\n".join(lines)


def _overlaid(worktree: Worktree, seen: Observation) -> str:
    """Say how many paths answers read from disk: edits, and files that git converted."""
    counts = (seen.head.edits or 0, "edited paths"), (len(seen.head.converted), "converted files")
    what = " and ".join(counted(number, words) for number, words in counts if number)
    if not what and not seen.head.unchecked:
        return ""
    from gitindex.freshness.envelope import edits_left_out  # lazily: mostly nothing is edited

    over = edits_left_out(worktree.root, seen.head)
    shown = [what] if what else []
    if over:
        shown.append(f"{over} over the budget of an answer")
    return "; " + ", ".join(shown) + ("" if over else " overlaid")


def _left_out(quarantined: int, left_out: int) -> list[str]:
    """Say what no answer contains."""
    lines, hint = list[str](), "see `gitindex status --skipped`"
    if quarantined:
        files = f"{quarantined} file{'s' if quarantined > 1 else ''}"
        lines.append(f"  {files} could not be parsed: {hint}")
    if left_out:
        paths = f"{left_out} path{'s' if left_out > 1 else ''}"
        lines.append(f"  {paths} left out of every answer: {hint}")
    return lines


def _progress(progress: Progress) -> list[str]:
    if progress.progress_pct is not None:
        return [f"  {progress.progress_pct:.0f} %"]
    phase = progress.phase or ""
    return [f"  {safe_text(str(phase))}"] if phase.startswith("waiting") else []
