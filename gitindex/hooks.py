"""Installs and removes the git hooks. Refuses to touch a hook that is not ours."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NamedTuple

from gitindex.atomic import remove, write_atomic
from gitindex.errors import Exit, GitIndexError
from gitindex.git.command import clean_env, git_program
from gitindex.paths import Worktree, safe_text

EVENTS = ("post-commit", "post-checkout", "post-merge", "post-rewrite", "post-applypatch")
BLOCK_VERSION = 1
BEGIN = f"# >>> gitindex {BLOCK_VERSION} >>> made by `gitindex install`, removed by `gitindex uninstall`"
END = "# <<< gitindex <<<"


class HookState(NamedTuple):
    """One hook file and what we know of it."""

    event: str
    path: str
    state: str  # "installed", "absent", "foreign", "outdated", "not executable"


def data_folder(name: str) -> str:
    """Where the shipped `hooks/` or `templates/` is: in the wheel, or beside the package."""
    package = os.path.dirname(os.path.abspath(__file__))
    shipped = os.path.join(package, "_data", name)
    return shipped if os.path.isdir(shipped) else os.path.join(os.path.dirname(package), name)


def hooks_folder(worktree: Worktree) -> str:
    """The folder git runs hooks from; core.hooksPath counts."""
    env = clean_env(worktree.root)
    done = subprocess.run(
        [git_program(env), "-C", worktree.root, "rev-parse", "--git-path", "hooks"],
        env=env, capture_output=True, timeout=30, check=False,
    )  # fmt: skip
    if done.returncode:
        raise GitIndexError(
            "git does not say where its hooks are", "run `git rev-parse --git-path hooks`"
        )
    return os.path.normpath(
        os.path.join(worktree.root, os.fsdecode(done.stdout.removesuffix(b"\n")))
    )


def render_block(event: str) -> str:
    """The lines that belong to us in a hook file. They depend on nothing but absolute paths."""
    script = _sh_quote(os.path.join(data_folder("hooks"), "event.sh"))
    return (
        f"{BEGIN}\n"
        f"[ -r {script} ] && (\n"
        f"    gitindex_event={event}\n"
        f"    . {script}\n"
        f") </dev/null >/dev/null 2>&1 || :\n"
        f"{END}\n"
    )


def install(worktree: Worktree) -> list[HookState]:
    """Write our hooks where none is; returns the state of each afterwards."""
    folder = hooks_folder(worktree)
    if not folder.startswith(worktree.common_dir + os.sep):
        raise GitIndexError(
            f"core.hooksPath points to {safe_text(folder)}, which is not ours to write",
            "add to its hooks: " + " ".join(render_block("post-commit").splitlines()[1:-1]),
            Exit.ERROR,
        )
    os.makedirs(folder, exist_ok=True)
    for hook in hook_states(worktree):
        if hook.state != "foreign":
            write_atomic(hook.path, _hook_file(hook.event))
            os.chmod(hook.path, 0o755)  # noqa: S103 — git runs it for everybody
    return hook_states(worktree)


def uninstall(worktree: Worktree) -> list[HookState]:
    """Remove the hooks that are ours; returns those that were."""
    ours = [h for h in hook_states(worktree) if h.state not in ("foreign", "absent")]
    for hook in ours:
        remove(hook.path)
    return ours


def hook_states(worktree: Worktree) -> list[HookState]:
    """What is installed for every event."""
    folder = hooks_folder(worktree)
    return [_state(event, os.path.join(folder, event)) for event in EVENTS]


def start_runner(worktree: Worktree) -> None:
    """What the hook does last: a detached runner that holds nothing of ours."""
    subprocess.Popen(
        [sys.executable, "-I", "-m", "gitindex.runner", worktree.common_dir, worktree.root],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=clean_env(), cwd="/", start_new_session=True, close_fds=True,
    )  # fmt: skip


def _state(event: str, path: str) -> HookState:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return HookState(event, path, "absent")
    except OSError:
        return HookState(event, path, "foreign")
    if data == _hook_file(event):
        runnable = os.access(path, os.X_OK)
        return HookState(event, path, "installed" if runnable else "not executable")
    ours = data.startswith(b"#!/bin/sh\n# >>> gitindex ") and data.endswith(END.encode() + b"\n")
    return HookState(event, path, "outdated" if ours else "foreign")


def _hook_file(event: str) -> bytes:
    return os.fsencode(f"#!/bin/sh\n{render_block(event)}")


def _sh_quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
