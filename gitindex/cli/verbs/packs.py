"""Verbs that share facts between clones: plain functions that return an exit code."""

from __future__ import annotations

import os
from typing import Any

from gitindex.base.errors import Exit
from gitindex.base.escape import counted, safe_text
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import print_answer
from gitindex.cli.progress import progress_bar
from gitindex.cli.terminal import say
from gitindex.sharing import packs
from gitindex.sharing.imports import check_imports
from gitindex.sharing.manifest import Manifest


def create(path: str, rev: str, output: str, key: str, as_json: bool) -> int:
    """Write a pack file."""

    def made() -> dict[str, Any]:
        with progress_bar("packing") as report:
            pack = packs.create(find_worktree(path), rev, output, key, report)
        signed = os.path.exists(f"{pack.path}.sig")
        size = os.path.getsize(pack.path)
        return _fields(pack.manifest) | {
            "file": safe_text(pack.path),
            "bytes": size,
            "signed": signed,
        }

    def text(answer: dict[str, Any]) -> None:
        signed = "signed" if answer["signed"] else "not signed"
        say(f"{answer['file']}: {answer['blobs']} blobs, {answer['bytes']} bytes, {signed}")

    return print_answer(made, as_json, text)


def push(path: str, rev: str, dest: str, key: str, as_json: bool) -> int:
    """Make a pack and put it at a destination."""

    def pushed() -> dict[str, Any]:
        with progress_bar("packing") as report:
            return _fields(packs.push(find_worktree(path), rev, dest, key, report))

    return print_answer(
        pushed, as_json, lambda answer: say(f"pushed {answer['name']}: {answer['blobs']} blobs")
    )


def pull(path: str, dest: str, as_json: bool) -> int:
    """Adopt the nearest pack."""
    worktree = find_worktree(path)

    def pulled() -> dict[str, Any]:
        with progress_bar("pulling") as report:
            found = packs.pull(worktree, dest, report)
        packs.start_verification(worktree)
        return {"status": "ok", **pull_fields(found)}

    def code(answer: dict[str, Any]) -> int:
        return int(Exit.NO if answer["outcome"] == "none" else Exit.OK)

    return print_answer(pulled, as_json, lambda answer: say(pull_line(answer)), code)


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
    behind = f", {answer['commitsBehind']} commits behind HEAD" if answer["commitsBehind"] else ""
    return f"adopted {answer['name']}: {answer['blobs']} blobs, {signer}{behind}"


def list_packs(path: str, dest: str, as_json: bool) -> int:
    """List the packs at a destination."""

    def listed() -> dict[str, Any]:
        found = packs.list_packs(find_worktree(path), dest)
        rows = [{"name": p.name, "commitsBehind": p.distance, "usable": p.usable} for p in found]
        return {"status": "ok", "packs": rows}

    def text(answer: dict[str, Any]) -> None:
        for row in answer["packs"]:
            behind = row["commitsBehind"]
            where = (
                "not an ancestor" if behind is None else f"{counted(behind, 'commits')} behind HEAD"
            )
            say(f"{row['name']}  {where}{'' if row['usable'] else '; other version'}")

    def code(answer: dict[str, Any]) -> int:
        return int(Exit.OK if answer["packs"] else Exit.NO)

    return print_answer(listed, as_json, text, code)


def verify(path: str, file: str, as_json: bool) -> int:
    """Check a pack file."""

    def text(answer: dict[str, Any]) -> None:
        signer = safe_text(answer["signer"]) or "nobody"
        say(f"{answer['name']}: {answer['blobs']} blobs, signed by {signer}, whole")

    return print_answer(lambda: packs.verify_file(find_worktree(path), file), as_json, text)


def check(path: str, as_json: bool) -> int:
    """Verify imported facts now by deriving them again."""

    def checked() -> dict[str, Any]:
        with progress_bar("verifying") as report:
            return check_imports(find_worktree(path), report)

    def text(answer: dict[str, Any]) -> None:
        if answer["rejected"]:
            say(f"wrong facts, signed by {', '.join(answer['rejected'])}: the index is built anew")
        else:
            say(f"{answer['left']} blobs of packs are not verified")

    def code(answer: dict[str, Any]) -> int:
        return int(Exit.NO if answer["left"] or answer["rejected"] else Exit.OK)

    return print_answer(checked, as_json, text, code)


def _fields(manifest: Manifest) -> dict[str, Any]:
    return {
        "status": "ok",
        "name": manifest.name,
        "commit": manifest.commit,
        "treeId": manifest.tree,
        "blobs": manifest.blobs,
    }
