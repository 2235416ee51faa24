"""Commands that share facts between clones."""

from __future__ import annotations

import os
from typing import Any

from gitindex.base.errors import Exit
from gitindex.base.escape import counted, safe_text
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import CommandReply
from gitindex.cli.progress import progress_bar
from gitindex.sharing import packs
from gitindex.sharing.pack_file import Manifest, write_statement
from gitindex.sharing.packs import check_imports


def create(path: str, rev: str, output: str, key: str, statement: bool) -> CommandReply:
    """Write a pack file."""
    with progress_bar("packing") as report:
        pack = packs.create(find_worktree(path), rev, output, key, report)
    if statement:
        write_statement(pack.path, pack.manifest)
    signed, size = os.path.exists(f"{pack.path}.sig"), os.path.getsize(pack.path)
    file, blobs = safe_text(pack.path), pack.manifest.blobs
    answer = _fields(pack.manifest) | {"file": file, "bytes": size, "signed": signed}
    how = "signed" if signed else "not signed"
    return CommandReply(answer, [f"{file}: {counted(blobs, 'blobs')}, {size} bytes, {how}"])


def push(path: str, rev: str, dest: str, key: str, delta: bool) -> CommandReply:
    """Make a pack and put it at a destination."""
    with progress_bar("packing") as report:
        answer = _fields(packs.push(find_worktree(path), rev, dest, key, report, delta))
    return CommandReply(answer, [f"pushed {answer['name']}: {counted(answer['blobs'], 'blobs')}"])


def pull(path: str, dest: str) -> CommandReply:
    """Adopt the nearest pack."""
    worktree = find_worktree(path)
    with progress_bar("pulling") as report:
        fields = pull_fields(packs.pull(worktree, dest, report))
    packs.start_verification(worktree)
    code = Exit.NO if fields["outcome"] == "none" else Exit.OK
    return CommandReply({"status": "ok", **fields}, [pull_line(fields)], code)


def pull_fields(found: packs.Pulled) -> dict[str, Any]:
    """Return the JSON fields of a pull."""
    fields: dict[str, Any] = {"outcome": found.outcome}
    if found.outcome != "none":
        fields["commitsBehind"] = found.distance
    if found.adopted is not None:
        name, signer, blobs, whole = found.adopted
        fields |= {"name": name, "signer": signer, "blobs": blobs, "whole": whole}
    return fields


def pull_line(answer: dict[str, Any]) -> str:
    """Describe a pull in one line."""
    if answer["outcome"] == "none":
        return "no pack of an ancestor of HEAD"
    if answer["outcome"] == "taken_before":
        return "the nearest pack was taken before"
    signer = f"signed by {safe_text(answer['signer'])}" if answer["signer"] else "not signed"
    behind = (
        f", {counted(answer['commitsBehind'], 'commits')} behind HEAD"
        if answer["commitsBehind"]
        else ""
    )
    return f"adopted {answer['name']}: {counted(answer['blobs'], 'blobs')}, {signer}{behind}"


def list_packs(path: str, dest: str) -> CommandReply:
    """List the packs at a destination."""
    found = packs.list_packs(find_worktree(path), dest)
    rows = [{"name": p.name, "commitsBehind": p.distance, "usable": p.usable} for p in found]
    code = Exit.OK if rows else Exit.NO
    return CommandReply({"status": "ok", "packs": rows}, map(_pack_line, rows), code)


def _pack_line(row: dict[str, Any]) -> str:
    behind = row["commitsBehind"]
    where = "not an ancestor" if behind is None else f"{counted(behind, 'commits')} behind HEAD"
    return f"{row['name']}  {where}{'' if row['usable'] else '; other version'}"


def gc(path: str, dest: str, dry_run: bool) -> CommandReply:
    """Remove the packs that no branch or tag reaches."""
    names = packs.collect_garbage(find_worktree(path), dest, dry_run)
    done = "would be removed" if dry_run else "removed"
    lines = [*names, f"{counted(len(names), 'packs')} {done}"]
    return CommandReply({"status": "ok", "packs": names, "removed": not dry_run}, lines)


def verify(path: str, file: str) -> CommandReply:
    """Check a pack file."""
    answer = packs.verify_file(find_worktree(path), file)
    signer = safe_text(answer["signer"]) or "nobody"
    line = f"{answer['name']}: {counted(answer['blobs'], 'blobs')}, signed by {signer}, whole"
    return CommandReply(answer, [line])


def check(path: str) -> CommandReply:
    """Verify imported facts now by deriving them again."""
    with progress_bar("verifying") as report:
        answer = check_imports(find_worktree(path), report)
    left = answer["left"]
    line = f"{left} blobs of packs are not verified" if left else "all facts of packs are verified"
    if answer["rejected"]:
        line = f"wrong facts, signed by {', '.join(answer['rejected'])}: the index is built anew"
    return CommandReply(
        answer, [line], Exit.NO if answer["left"] or answer["rejected"] else Exit.OK
    )


def _fields(manifest: Manifest) -> dict[str, Any]:
    return {
        "status": "ok",
        "name": manifest.name,
        "commit": manifest.commit,
        "treeId": manifest.tree,
        "blobs": manifest.blobs,
    }
