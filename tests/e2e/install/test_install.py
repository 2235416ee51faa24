"""Install → use → uninstall beside every kind of existing hook: byte for byte, and theirs still run."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from gitindex.install.hooks import block
from gitindex.install.hooks import installation as hooks
from gitindex.install.hooks.block import EVENTS
from gitindex.install.hooks.checks import check_hooks
from gitindex.install.hooks.installation import HookState
from gitindex.install.hooks.place import git_version
from gitindex.refresh import public_files
from tests import gits
from tests.support import TIMEOUT, Repo, wait_for

LOG = "HOOK_LOG"
TELL = 'echo "args: $*" >>"$HOOK_LOG"; cat >>"$HOOK_LOG"\n'
SH = f"#!/bin/sh\n{TELL}exit 7\n"
PYTHON = f"""#!{sys.executable}
import os, sys
with open(os.environ["HOOK_LOG"], "a") as log:
    log.write("args: " + " ".join(sys.argv[1:]) + "\\n" + sys.stdin.read())
sys.exit(7)
"""
NODE = """#!/usr/bin/env node
const fs = require("fs");
fs.appendFileSync(process.env.HOOK_LOG, "args: " + process.argv.slice(2).join(" ") + "\\n");
fs.appendFileSync(process.env.HOOK_LOG, fs.readFileSync(0));
process.exit(7);
"""
POLYGLOT = (
    f"#!/bin/sh\n'''exec' '{sys.executable}' \"$0\" \"$@\"\n' '''\n" + PYTHON.split("\n", 1)[1]
)
BRANCHLESS = f"#!/bin/sh\n## START BRANCHLESS CONFIG\n\n{TELL}\n## END BRANCHLESS CONFIG\nexit 7\n"
USED = ("post-checkout", "post-rewrite")


class Case(NamedTuple):
    """An existing hook, and what install makes of it."""

    content: str | bytes
    via: str
    mode: int = 0o755
    same_output: bool = True


CASES = {
    "sh": Case(SH, "block"),
    "sh that fails early": Case(f"#!/bin/sh\nset -eu\n{TELL}false\n", "block"),
    "sh -e": Case(f"#! /bin/sh -e\n{TELL}exit 7\n", "block"),
    "bash ending in exec": Case(f"#!/bin/bash\nexec sh -c '{TELL}exit 7' sh \"$@\"\n", "block"),
    "env bash": Case(f"#!/usr/bin/env bash\n{TELL}exit 7", "block"),
    "env -S": Case(f"#!/usr/bin/env -S bash -eu -o pipefail\n{TELL}exit 7\n", "block"),
    "git-branchless": Case(BRANCHLESS, "block"),
    "CRLF": Case(f"#!/bin/sh\n: one\r\n{TELL}exit 7\n", "block"),
    "CRLF throughout": Case("#!/bin/sh\r\nexit 7\r\n", "dispatcher", same_output=False),
    "only a shebang": Case("#!/bin/sh\n", "block"),
    "shebang without newline": Case("#!/bin/sh", "block"),
    "empty": Case("", "dispatcher"),
    "without shebang": Case(f"{TELL}exit 7\n", "dispatcher"),
    "Python": Case(PYTHON, "dispatcher"),
    "node": Case(NODE, "dispatcher"),
    "sh and Python in one": Case(POLYGLOT, "dispatcher"),
    "sh that reads itself": Case(
        f'#!/bin/sh\n{TELL}tail -n +4 "$0" | sh\nexit 7\n:\n', "dispatcher"
    ),
    "not executable": Case(SH, "dispatcher", 0o644, same_output=False),
    "private": Case(SH, "block", 0o700),
    "not UTF-8": Case(b"#!/bin/sh\n# caf\xe9\n" + TELL.encode() + b"exit 7\n", "block"),
}


@pytest.fixture
def ready(repo: Repo) -> Repo:
    """A repository with one commit and a store whose hooks start nothing."""
    repo.write("app.py", "x = 1\n")
    repo.commit("first")
    opt_in(repo)
    return repo


@contextmanager
def unprivileged(owned: Path) -> Iterator[None]:
    """Not root for a while: root may write anything."""
    if os.geteuid() != 0:
        yield
        return
    for path in (owned, *owned.rglob("*")):
        os.chown(path, 65534, 65534, follow_symlinks=False)
    os.setegid(65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


def opt_in(repo: Repo) -> None:
    public_files.create_store(repo.worktree)
    Path(repo.worktree.store, "python").write_text("/nonexistent\n")


def set_hooks(folder: Path, case: Case) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    content = case.content.encode() if isinstance(case.content, str) else case.content
    for event in USED:
        (folder / event).write_bytes(content)
        (folder / event).chmod(case.mode)


def snapshot(*roots: Path) -> dict[str, tuple[int, bytes | str]]:
    """Everything below some folders or files: mode and content, links as links."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for root in roots:
        for path in [root, *root.rglob("*")] if root.is_dir() else [root]:
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                found[str(path)] = (0, os.readlink(path))
            else:
                found[str(path)] = (mode, path.read_bytes() if path.is_file() else b"")
    return found


def use(repo: Repo, branch: str, tmp_path: Path) -> list[tuple[int, str, str]]:
    """Amend and switch; what git said, and what the user's hooks were given."""
    log = tmp_path / f"log-{branch}"
    env = {LOG: str(log)}
    said = []
    for args in (("commit", "-q", "--amend", "--no-edit", "--allow-empty"), ("switch", "-qc", "b")):
        done = repo.try_git(*args, env=env)
        said.append((done.returncode, done.stdout, done.stderr))
    repo.git("switch", "-q", "main", env={"GITINDEX": "0", LOG: os.devnull}, check=False)
    repo.git("branch", "-qD", "b")
    said.append((0, log.read_text() if log.exists() else "", ""))
    return said


def events(repo: Repo) -> list[str]:
    """What arrived since the last call."""
    spool = Path(repo.worktree.spool)
    lines = spool.read_text().splitlines() if spool.exists() else []
    spool.unlink(missing_ok=True)
    return lines


def round_trip(
    repo: Repo, tmp_path: Path, *watched: Path, same_output: bool = True
) -> dict[str, HookState]:
    """Use, install, install again, use, uninstall: returns the state in between."""
    watched = (Path(repo.worktree.common_dir, "config"), *watched)
    bare = use(repo, "bare", tmp_path)
    events(repo)
    before = snapshot(*(path for path in watched if path.exists()))
    states = {state.event: state for state in hooks.install(repo.worktree)}
    installed = snapshot(*(path for path in watched if path.exists()))
    hooks.install(repo.worktree)
    assert snapshot(*(path for path in watched if path.exists())) == installed
    with_us = use(repo, "ours", tmp_path)
    if same_output:
        assert with_us == bare
    assert [code for code, _, _ in with_us] == [code for code, _, _ in bare]
    hooks.uninstall(repo.worktree)
    assert snapshot(*(path for path in watched if path.exists())) == before
    assert repo.git("status", "--porcelain") == ""
    return states


def head_event(repo: Repo) -> list[str]:
    head = repo.git("rev-parse", "HEAD").strip()
    return ["post-commit ", "post-rewrite amend", f"post-checkout {head} {head} 1"]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_existing_hook(ready: Repo, tmp_path: Path, case: Case) -> None:
    if case.content == NODE and shutil.which("node") is None:
        pytest.skip("no node")
    folder = ready.path / ".git/hooks"
    set_hooks(folder, case)
    states = round_trip(ready, tmp_path, folder, same_output=case.same_output)
    assert {states[event].via for event in USED} == {case.via}
    assert states["post-commit"].via == "file"
    assert {state.state for state in states.values()} == {"installed"}
    assert events(ready) == head_event(ready)


def test_no_hook_and_no_folder(ready: Repo, tmp_path: Path) -> None:
    shutil.rmtree(ready.path / ".git/hooks")
    folder = ready.path / ".git/hooks"
    states = round_trip(ready, tmp_path, folder)
    assert {state.via for state in states.values()} == {"file"}
    assert events(ready) == head_event(ready)
    assert not folder.exists()


def test_binary_hook(ready: Repo, tmp_path: Path) -> None:
    """`tee` writes its input into the files its arguments name."""
    tee = shutil.which("tee")
    assert tee is not None
    folder = ready.path / ".git/hooks"
    shutil.copy(tee, folder / "post-rewrite")
    ready.write(".git/info/exclude", "amend\n")
    states = round_trip(ready, tmp_path, folder)
    assert states["post-rewrite"].via == "dispatcher"
    old, new = (ready.path / "amend").read_text().split()
    assert old == new == ready.git("rev-parse", "HEAD").strip()


@pytest.mark.parametrize("target", ["scripts/hook", "nowhere"])
def test_symlinked_hook(ready: Repo, tmp_path: Path, target: str) -> None:
    """The link's target may be tracked: it is never written through."""
    ready.write("scripts/hook", SH)
    (ready.path / "scripts/hook").chmod(0o755)
    ready.commit("a tracked hook")
    folder = ready.path / ".git/hooks"
    for event in USED:
        (folder / event).symlink_to(f"../../{target}")
    states = round_trip(ready, tmp_path, folder, ready.path / "scripts")
    assert {states[event].via for event in USED} == {"dispatcher"}
    assert events(ready) == head_event(ready)


@pytest.mark.parametrize("content", [SH, PYTHON], ids=["sh", "Python"])
@pytest.mark.parametrize("where", ["inside .git", "absolute", "ignored"])
def test_k3_local_hooks_path(ready: Repo, tmp_path: Path, where: str, content: str) -> None:
    value, folder = {
        "inside .git": (".git/other", ready.path / ".git/other"),
        "absolute": (str(tmp_path / "my hooks"), tmp_path / "my hooks"),
        "ignored": ("private", ready.path / "private"),
    }[where]
    if where == "ignored":
        ready.write(".gitignore", "/private/\n")
        ready.commit("ignore")
    set_hooks(folder, Case(content, ""))
    ready.git("config", "core.hooksPath", value)
    states = round_trip(ready, tmp_path, folder)
    assert {state.state for state in states.values()} == {"installed"}
    assert events(ready) == head_event(ready)


def test_k3_hooks_path_under_version_control(ready: Repo, tmp_path: Path) -> None:
    """Others get that file: nothing is written, and what is printed names no path of this machine."""
    set_hooks(ready.path / ".githooks", Case(SH, ""))
    ready.commit("team hooks")
    ready.git("config", "core.hooksPath", ".githooks")
    states = round_trip(ready, tmp_path, ready.path / ".githooks")
    assert {state.state for state in states.values()} == {"by hand"}
    assert events(ready) == []
    hooks.install(ready.worktree)
    follow(states["post-checkout"], after_shebang=True)
    assert str(tmp_path) not in (ready.path / ".githooks/post-checkout").read_text()
    ready.commit("advice followed")
    bare_code = ready.try_git("switch", "-qc", "x", env={LOG: os.devnull}).returncode
    assert bare_code == 1
    assert [line.split()[0] for line in events(ready)] == ["post-checkout"]


def follow(state: HookState, after_shebang: bool = False) -> None:
    """Do what install told the user to do."""
    assert state.advice is not None
    path = Path(state.advice.file)
    text = path.read_text() if path.exists() else ""
    if after_shebang:
        first, rest = text.split("\n", 1)
        path.write_text(f"{first}\n{state.advice.lines}{rest}")
    else:
        path.write_text(text + state.advice.lines)


def test_portable_lines_in_a_linked_worktree_and_a_submodule(ready: Repo, tmp_path: Path) -> None:
    ready.git("config", "core.hooksPath", ".githooks")
    set_hooks(ready.path / ".githooks", Case("#!/bin/sh\nset -eu\n", ""))
    ready.git("add", "-A")
    states = {state.event: state for state in hooks.install(ready.worktree)}
    follow(states["post-checkout"], after_shebang=True)
    ready.commit("team hooks")
    ready.git("worktree", "add", "-q", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked")
    events(linked)
    linked.git("switch", "-qc", "there")
    assert [line.split()[0] for line in events(linked)] == ["post-checkout"]


def test_portable_lines_source_nothing_outside_the_git_directory(
    ready: Repo, tmp_path: Path
) -> None:
    """A file beside the repository is not ours, whatever its name."""
    planted = tmp_path / "gitindex"
    planted.mkdir()
    (planted / "event.sh").write_text(f": >'{tmp_path}/stolen'\n")
    shutil.rmtree(ready.worktree.store)
    hook = ready.path / ".git/hooks/post-commit"
    hook.write_text(f"#!/bin/sh\nset -eu\n{block.render_portable('post-commit')}")
    hook.chmod(0o755)
    ready.git("commit", "-q", "--allow-empty", "-m", "x")
    assert not (tmp_path / "stolen").exists()


def test_k3_global_hooks_path(ready: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never written without --global; then in all repositories, and inert where not opted in."""
    home = tmp_path / "home"
    folder = home / "hooks"
    set_hooks(folder, Case(SH, ""))
    shutil.copy(Path(os.environ["HOME"], ".gitconfig"), home / ".gitconfig")
    monkeypatch.setenv("HOME", str(home))
    ready.git("config", "--global", "core.hooksPath", "~/hooks")
    states = round_trip(ready, tmp_path, folder)
    assert {state.state for state in states.values()} == {"by hand"}
    assert "global" in states["post-commit"].why
    assert events(ready) == []
    before = snapshot(folder)
    assert {state.state for state in hooks.install_for_user("hooks")} == {"installed"}
    use(ready, "global", tmp_path)
    assert events(ready) == head_event(ready)
    hooks.uninstall(ready.worktree)
    assert snapshot(folder) != before, "uninstall of one repository leaves the user's folder alone"
    hooks.uninstall_for_user()
    assert snapshot(folder) == before


def test_global_install_never_claims_the_hooks_path(ready: Repo) -> None:
    done = ready.gitindex("install", "--global", "--mode", "hooks")
    assert done.returncode == 4
    assert "silence every other hook" in done.stderr
    assert ready.try_git("config", "--global", "core.hooksPath").returncode == 1


def test_hooks_switched_off_by_the_user(ready: Repo, tmp_path: Path) -> None:
    ready.git("config", "core.hooksPath", "/dev/null")
    states = round_trip(ready, tmp_path)
    assert {state.state for state in states.values()} == {"by hand"}
    assert "switched off" in states["post-commit"].why


def test_linked_worktree(ready: Repo, tmp_path: Path) -> None:
    """Its hooks are those of the common folder; events say which worktree they are from."""
    set_hooks(ready.path / ".git/hooks", Case(SH, ""))
    ready.git("worktree", "add", "-q", str(tmp_path / "linked"), env={LOG: os.devnull}, check=False)
    linked = Repo(tmp_path / "linked")
    hooks.install(linked.worktree)
    linked.git("commit", "-q", "--amend", "--no-edit", "--allow-empty", env={LOG: os.devnull})
    assert events(linked) == ["post-commit ", "post-rewrite amend"]
    assert events(ready) == []
    hooks.uninstall(linked.worktree)
    assert (ready.path / ".git/hooks/post-rewrite").read_text() == SH


def test_submodule(ready: Repo, tmp_path: Path) -> None:
    outer = Repo(tmp_path / "outer")
    outer.init()
    outer.git("submodule", "--quiet", "add", str(ready.path), "inner")
    outer.commit("with a submodule")
    inner = Repo(outer.path / "inner")
    opt_in(inner)
    inner.git("switch", "-qC", "main")
    states = round_trip(inner, tmp_path, Path(inner.worktree.git_dir, "hooks"))
    assert {state.via for state in states.values()} == {"file"}
    assert events(inner) == head_event(inner)
    assert not Path(outer.worktree.store).exists()


def test_read_only_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(prefix="gitindex-ro-") as top:
        os.chmod(top, 0o755)
        monkeypatch.setenv("HOME", top)
        repo = Repo(Path(top, "repo"))
        repo.init()
        repo.write("app.py", "x = 1\n")
        repo.commit("first")
        opt_in(repo)
        folder = repo.path / ".git/hooks"
        set_hooks(folder, Case(SH, ""))
        before = snapshot(folder)
        folder.chmod(0o555)
        with unprivileged(repo.path):
            states = {state.event: state for state in hooks.install(repo.worktree)}
        assert {state.state for state in states.values()} == {"by hand"}
        assert "Permission denied" in states["post-commit"].why
        folder.chmod(0o755)
        assert snapshot(folder) == before
        for event in USED:
            follow(states[event], after_shebang=True)
        with unprivileged(repo.path):
            done = repo.try_git("switch", "-qc", "x", env={LOG: os.devnull})
        assert done.returncode == 1
        assert [line.split()[0] for line in events(repo)] == ["post-checkout"]


def test_a_folder_where_the_hook_should_be(ready: Repo, tmp_path: Path) -> None:
    (ready.path / ".git/hooks/post-merge/x").mkdir(parents=True)
    states = round_trip(ready, tmp_path, ready.path / ".git/hooks")
    assert states["post-merge"].state == "by hand"
    assert states["post-commit"].state == "installed"


@pytest.mark.parametrize("name", ["with space", "quo'te", 'dou"ble', "do$llar", "new\nline", "ü"])
def test_any_path(tmp_path: Path, name: str) -> None:
    repo = Repo(tmp_path / name)
    repo.init()
    repo.write("app.py", "x = 1\n")
    repo.commit()
    opt_in(repo)
    set_hooks(repo.path / ".git/hooks", Case(PYTHON, ""))
    states = round_trip(repo, tmp_path, repo.path / ".git/hooks")
    assert states["post-checkout"].via == "dispatcher"
    assert events(repo) == head_event(repo)


# The tools that manage hooks, for real


def program(name: str) -> str:
    found = shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def run_tool(repo: Repo, *argv: str) -> str:
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        argv, cwd=repo.path, env=env, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write_pre_commit_config(repo: Repo) -> None:
    repo.write(
        ".pre-commit-config.yaml",
        "default_install_hook_types: [post-checkout, post-rewrite]\nrepos: []\n",
    )
    repo.commit("config")


@pytest.mark.parametrize("tool", ["pre-commit", "prek"])
def test_beside_pre_commit(ready: Repo, tmp_path: Path, tool: str) -> None:
    """Their own hook takes our block; their install puts ours aside and runs it."""
    write_pre_commit_config(ready)
    run_tool(ready, program(tool), "install")
    folder = ready.path / ".git/hooks"
    states = round_trip(ready, tmp_path, folder)
    assert {states[event].via for event in USED} == {"block"}
    assert events(ready) == head_event(ready)


@pytest.mark.parametrize("tool", ["pre-commit", "prek"])
@pytest.mark.parametrize("content", ["", SH, PYTHON], ids=["alone", "sh", "Python"])
def test_pre_commit_installed_over_us(ready: Repo, tmp_path: Path, tool: str, content: str) -> None:
    """44, 45: run as `.legacy`, installed again, no recursion, nothing twice, all undone."""
    write_pre_commit_config(ready)
    folder = ready.path / ".git/hooks"
    if content:
        set_hooks(folder, Case(content, ""))
    before = snapshot(folder)
    hooks.install(ready.worktree)
    run_tool(ready, program(tool), "install")
    for _ in range(2):
        states = {state.event: state for state in hooks.install(ready.worktree)}
        assert {states[event].via for event in USED} == {"legacy"}
        assert {state.state for state in states.values()} == {"installed"}
        said = use(ready, "over", tmp_path)
        assert events(ready) == head_event(ready)
        assert said[-1][1].count("args:") == (2 if content else 0)
        (tmp_path / "log-over").unlink(missing_ok=True)
    hooks.uninstall(ready.worktree)
    use(ready, "gone", tmp_path)
    assert events(ready) == []
    run_tool(ready, program(tool), "uninstall")
    assert snapshot(folder) == before


def test_pre_commit_uninstalled_after_us(ready: Repo, tmp_path: Path) -> None:
    write_pre_commit_config(ready)
    folder = ready.path / ".git/hooks"
    hooks.install(ready.worktree)
    ours = snapshot(folder)
    run_tool(ready, program("pre-commit"), "install")
    run_tool(ready, program("pre-commit"), "uninstall")
    assert snapshot(folder) == ours


def test_k3_lefthook(ready: Repo, tmp_path: Path) -> None:
    """It rewrites its hooks at will: nothing is written into them, and the printed job works."""
    job = 'echo "args {0}" >>"$HOOK_LOG"'
    ready.write("lefthook.yml", f"post-checkout:\n  jobs:\n    - run: {job}\n")
    ready.commit("lefthook")
    lefthook = program("lefthook")
    run_tool(ready, lefthook, "install")
    folder = ready.path / ".git/hooks"
    states = round_trip(ready, tmp_path, folder, same_output=False)
    assert states["post-checkout"].state == "by hand"
    assert states["post-commit"].state == "installed"
    hooks.install(ready.worktree)
    advice = states["post-checkout"].advice
    assert advice is not None
    (ready.path / "lefthook-local.yml").write_text(advice.lines)
    run_tool(ready, lefthook, "install")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    events(ready)
    done = ready.try_git("switch", "-qc", "x", env={LOG: os.devnull, "PATH": path})
    assert done.returncode == 0
    head = ready.git("rev-parse", "HEAD").strip()
    assert f"post-checkout {head} {head} 1" in events(ready)
    found = {state.event: state for state in hooks.hook_states(ready.worktree)}
    assert (found["post-checkout"].state, found["post-checkout"].via) == ("installed", "lefthook")
    assert all(finding.ok for finding in check_hooks(ready.worktree))
    assert {state.state for state in hooks.install(ready.worktree)} == {"installed"}


def test_install_writes_for_lefthook(ready: Repo, tmp_path: Path) -> None:
    """`install --write` makes the local file that lefthook reads, and uninstall removes it."""
    ready.write("lefthook.yml", "post-commit:\n  jobs:\n    - run: 'true'\n")
    ready.write(".gitignore", "lefthook-local.yml\n")
    ready.commit("lefthook")
    run_tool(ready, program("lefthook"), "install")
    states = hooks.install(ready.worktree)
    written = hooks.install_shared(ready.worktree, states)
    assert written == [str(ready.path / "lefthook-local.yml")]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    events(ready)
    ready.git("commit", "-q", "--allow-empty", "-m", "x", env={"PATH": path})
    assert events(ready) == ["post-commit "]
    hooks.uninstall(ready.worktree)
    assert not (ready.path / "lefthook-local.yml").exists()
    (ready.path / "lefthook-local.yml").write_text("# mine\n")
    assert hooks.install_shared(ready.worktree, hooks.install(ready.worktree)) == []
    assert (ready.path / "lefthook-local.yml").read_text() == "# mine\n"


@pytest.mark.parametrize("content", ["", "npm test\n", "#!/bin/sh\nexit 0\n"])
def test_install_writes_for_husky(ready: Repo, content: str) -> None:
    """One marked line per hook, run as husky runs it; taken out byte for byte."""
    folder = ready.path / ".husky"
    (folder / "_").mkdir(parents=True)
    if content:
        (folder / "post-commit").write_text(content)
    before = snapshot(folder)
    ready.git("config", "core.hooksPath", ".husky/_")
    assert ready.gitindex("install").returncode == 1
    done = ready.gitindex("install", "--write")
    assert (done.returncode, f"written to {folder}/post-commit" in done.stdout) == (0, True)
    assert (folder / "post-commit").read_text().count("gitindex_event=post-commit") == 1
    ready.wait_idle()
    Path(ready.worktree.store, "python").write_text("/nonexistent\n")
    events(ready)
    line = next(x for x in (folder / "post-commit").read_text().splitlines() if "gitindex_" in x)
    for where in (ready.path, Path("/")):
        ran = subprocess.run(["sh", "-ec", line], cwd=where, capture_output=True, timeout=TIMEOUT)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    assert events(ready) == ["post-commit "]
    assert {state.via for state in hooks.hook_states(ready.worktree)} == {"shared"}
    assert ready.gitindex("uninstall").returncode == 0
    assert snapshot(folder) == before


def test_lefthook_installed_over_us(ready: Repo) -> None:
    """It moves ours to `.old` and does not run it; uninstall cleans that copy too."""
    hooks.install(ready.worktree)
    ready.write("lefthook.yml", "post-commit:\n  jobs:\n    - run: 'true'\n")
    run_tool(ready, program("lefthook"), "install")
    folder = ready.path / ".git/hooks"
    assert (folder / "post-commit.old").exists()
    states = {state.event: state for state in hooks.install(ready.worktree)}
    assert states["post-commit"].state == "by hand"
    hooks.uninstall(ready.worktree)
    assert not (folder / "post-commit.old").exists()


def test_k3_husky(ready: Repo, tmp_path: Path) -> None:
    """It rewrites `.husky/_`; the printed lines go into `.husky/<hook>` and work under `sh -e`."""
    npm, shared = program("npm"), tmp_path / "npm"
    done = subprocess.run(
        [npm, "install", "--silent", "--prefix", str(shared), "husky@9"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    if done.returncode:
        pytest.skip("husky cannot be installed")
    ready.write("package.json", "{}\n")
    ready.write(".husky/post-checkout", f"{TELL}exit 7\n")
    run_tool(ready, str(shared / "node_modules/.bin/husky"))
    ready.commit("husky")
    states = round_trip(ready, tmp_path, ready.path / ".husky")
    assert {state.state for state in states.values()} == {"by hand"}
    assert states["post-commit"].advice is not None
    assert states["post-commit"].advice.file == str(ready.path / ".husky/post-commit")
    hooks.install(ready.worktree)
    follow(states["post-commit"])
    ready.commit("advice followed")
    assert events(ready) == ["post-commit "]


def test_git_lfs(ready: Repo, tmp_path: Path) -> None:
    program("git-lfs")
    ready.git("lfs", "install", "--local")
    states = round_trip(ready, tmp_path, ready.path / ".git/hooks")
    assert states["post-commit"].via == "block"
    assert events(ready) == head_event(ready)


# Versions, and the hands of others


def test_an_older_block_is_replaced(ready: Repo) -> None:
    folder = ready.path / ".git/hooks"
    old = "# >>> gitindex 1 >>> made by x\n(exit 3) || :\n# <<< gitindex <<<\n"
    (folder / "post-commit").write_text(f"#!/bin/sh\n{old}")
    (folder / "post-merge").write_text(f"#!/bin/bash\n{old}echo mine\n")
    (folder / "post-merge").chmod(0o755)
    states = {state.event: state for state in hooks.install(ready.worktree)}
    assert states["post-commit"] == states["post-commit"]._replace(state="installed", via="file")
    assert states["post-merge"] == states["post-merge"]._replace(state="installed", via="block")
    assert "gitindex 1" not in (folder / "post-merge").read_text()
    hooks.uninstall(ready.worktree)
    assert not (folder / "post-commit").exists()
    assert (folder / "post-merge").read_text() == "#!/bin/bash\necho mine\n"


def test_a_newer_block_is_left_at_work(ready: Repo) -> None:
    """A downgrade leaves a working hook."""
    hooks.install(ready.worktree)
    path = ready.path / ".git/hooks/post-commit"
    newer = path.read_text().replace(f"gitindex {block.BLOCK_VERSION} >>>", "gitindex 99 >>>")
    path.write_text(newer)
    states = {state.event: state for state in hooks.install(ready.worktree)}
    assert states["post-commit"].state == "installed"
    assert path.read_text() == newer
    ready.git("commit", "-q", "--allow-empty", "-m", "x")
    assert events(ready) == ["post-commit "]
    hooks.uninstall(ready.worktree)
    assert not path.exists()


def test_lines_added_behind_ours_survive(ready: Repo) -> None:
    hooks.install(ready.worktree)
    path = ready.path / ".git/hooks/post-commit"
    with path.open("a") as file:
        file.write("echo added later\n")
    hooks.install(ready.worktree)
    assert "added later" in ready.try_git("commit", "--allow-empty", "-qm", "x").stderr
    assert events(ready) == ["post-commit "]
    hooks.uninstall(ready.worktree)
    assert path.read_text() == "#!/bin/sh\necho added later\n"


def test_a_second_original_is_never_made(ready: Repo) -> None:
    """Somebody replaced our dispatcher: neither hook is lost, and nothing is guessed."""
    folder = ready.path / ".git/hooks"
    set_hooks(folder, Case(PYTHON, ""))
    hooks.install(ready.worktree)
    other = PYTHON.replace("exit(7)", "exit(8)")
    (folder / "post-rewrite").write_text(other)
    states = {state.event: state for state in hooks.install(ready.worktree)}
    assert states["post-rewrite"].state == "by hand"
    assert "which one is yours" in states["post-rewrite"].why
    done = ready.gitindex("uninstall")
    assert done.returncode == 1
    assert "post-rewrite.gitindex-orig: your previous hook" in done.stdout
    assert (folder / "post-rewrite").read_text() == other
    assert (folder / "post-rewrite.gitindex-orig").read_text() == PYTHON


def test_a_deleted_dispatcher_comes_back(ready: Repo, tmp_path: Path) -> None:
    folder = ready.path / ".git/hooks"
    set_hooks(folder, Case(PYTHON, ""))
    before = snapshot(folder)
    hooks.install(ready.worktree)
    (folder / "post-rewrite").unlink()
    hooks.install(ready.worktree)
    assert use(ready, "again", tmp_path)[-1][1].startswith("args: amend")
    (folder / "post-rewrite").unlink()
    hooks.uninstall(ready.worktree)
    assert snapshot(folder) == before


@pytest.mark.parametrize("content", [SH, PYTHON], ids=["sh", "Python"])
def test_a_moved_repository_keeps_both_hooks(ready: Repo, tmp_path: Path, content: str) -> None:
    set_hooks(ready.path / ".git/hooks", Case(content, ""))
    hooks.install(ready.worktree)
    moved = Repo(tmp_path / "elsewhere")
    ready.path.rename(moved.path)
    assert use(moved, "moved", tmp_path)[-1][1].startswith("args: amend")
    assert events(moved) == head_event(moved)


def test_the_script_is_gone(ready: Repo, tmp_path: Path) -> None:
    """The environment was deleted: the hook does nothing, says nothing."""
    hooks.install(ready.worktree)
    for event in EVENTS:
        path = ready.path / ".git/hooks" / event
        path.write_text(path.read_text().replace("event.sh", "gone.sh"))
    said = use(ready, "gone", tmp_path)
    assert said == [(0, "", "")] * 3
    assert {state.state for state in hooks.hook_states(ready.worktree)} == {"outdated"}


# Config mode: git 2.54 and later


@pytest.fixture
def newer_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """This machine's git under another version number; hooks still run the old way."""
    real = program("git")

    def pretend(version: str) -> None:
        folder = tmp_path / f"git-{version}"
        folder.mkdir()
        script = f"#!/bin/sh\ncase \" $* \" in *' version '*) echo 'git version {version}'; exit;; esac\n"
        (folder / "git").write_text(f'{script}exec {real} "$@"\n')
        (folder / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    return pretend


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2.54.0", (2, 54)),
        ("2.53.9.windows.1", (2, 53)),
        ("3.0.0-rc1", (3, 0)),
        ("2.39.5 (Apple Git-154)", (2, 39)),
    ],
)
def test_git_version(
    ready: Repo, newer_git: Callable[[str], None], version: str, expected: tuple[int, int]
) -> None:
    newer_git(version)
    assert git_version(str(ready.path)) == expected


def test_config_mode_needs_a_git_that_knows_it(repo: Repo) -> None:
    """Refused before anything is written: a failed install opts nobody in."""
    if git_version() >= (2, 54):
        pytest.skip("this git knows config hooks")
    done = repo.gitindex("install", "--mode", "config")
    assert done.returncode == 4
    assert "does not run hooks from its configuration" in done.stderr
    assert repo.gitindex("install", "--mode", "what").returncode == 2
    assert not Path(repo.worktree.store).exists()


@pytest.mark.parametrize("existing", ["", "[include]\n\tpath = other.gitconfig\n"])
def test_config_mode(ready: Repo, newer_git: Callable[[str], None], existing: str) -> None:
    """One include line, undone byte for byte; hook files stay as they are."""
    set_hooks(ready.path / ".git/hooks", Case(PYTHON, ""))
    with (ready.path / ".git/config").open("a") as config:
        config.write(existing)
    newer_git("2.54.0")
    watched = (ready.path / ".git/config", ready.path / ".git/hooks")
    before = snapshot(*watched)
    for _ in range(2):
        states = hooks.install(ready.worktree)
        assert {(state.state, state.via) for state in states} == {("installed", "config")}
    paths = ready.git("config", "--get-all", "include.path").split()
    assert paths.count("gitindex/hooks.gitconfig") == 1
    assert snapshot(watched[1]).items() <= before.items()
    assert ready.git("config", "hook.gitindex-post-merge.event").strip() == "post-merge"
    hooks.uninstall(ready.worktree)
    assert snapshot(*watched) == before
    assert not Path(ready.worktree.store, "hooks.gitconfig").exists()


def test_changing_the_mode_leaves_nothing_of_the_other(
    ready: Repo, newer_git: Callable[[str], None]
) -> None:
    newer_git("2.54.0")
    before = snapshot(ready.path / ".git/config", ready.path / ".git/hooks")
    hooks.install(ready.worktree, "hooks")
    hooks.install(ready.worktree, "config")
    assert not (ready.path / ".git/hooks/post-commit").exists()
    states = hooks.install(ready.worktree, "hooks")
    assert {state.via for state in states} == {"file"}
    assert ready.try_git("config", "--local", "include.path").returncode == 1
    hooks.uninstall(ready.worktree)
    assert snapshot(ready.path / ".git/config", ready.path / ".git/hooks") == before


def test_global_config_mode(
    ready: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, newer_git: Callable[[str], None]
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(Path(os.environ["HOME"], ".gitconfig"), home / ".gitconfig")
    monkeypatch.setenv("HOME", str(home))
    newer_git("2.55.0")
    before = snapshot(home)
    assert {state.via for state in hooks.install_for_user()} == {"config"}
    command = ready.git("config", "hook.gitindex-post-commit.command")
    assert "event.sh" in command
    hooks.uninstall_for_user()
    (home / ".config").rmdir()
    assert snapshot(home) == before


@pytest.mark.parametrize(
    "folder",
    ["plain", "sp ace", "quo'te", 'dou"ble', "do$llar", "back\\slash", "new\nline", "a#b;c"],
)
def test_config_command_runs_as_git_runs_it(ready: Repo, tmp_path: Path, folder: str) -> None:
    """Git reads the value back, appends `"$@"`, and gives it to `sh -c` with the arguments."""
    from gitindex.base.locations import event_script
    from gitindex.install.hooks.include import render_include

    script = tmp_path / folder / "event.sh"
    script.parent.mkdir()
    shutil.copy(event_script(), script)
    config = tmp_path / "hooks.gitconfig"
    config.write_bytes(render_include(str(script)))
    for event in EVENTS:
        named = f"hook.gitindex-{event}"
        assert ready.git("config", "-f", str(config), f"{named}.event").strip() == event
        command = ready.git("config", "-f", str(config), f"{named}.command").removesuffix("\n")
        for args in ([], ["a b", "c"]):
            shell = f'{command} "$@"' if args else command
            done = subprocess.run(
                ["sh", "-c", shell, command, *args],
                cwd=ready.path,
                capture_output=True,
                input=b"x",
                timeout=TIMEOUT,
                check=False,
            )
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
            assert events(ready) == [f"{event} {' '.join(args)}"]
    script.unlink()
    done = subprocess.run(
        ["sh", "-c", command], cwd=ready.path, capture_output=True, timeout=TIMEOUT, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.fixture
def real_newer_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """A git that does run hooks from its configuration."""
    try:
        monkeypatch.setenv("PATH", gits.newer_git((2, 54)).path)
    except gits.GitUnavailable as why:
        pytest.skip(str(why))


@pytest.mark.parametrize("setting", ["", "/dev/null", ".husky/_"], ids=["default", "off", "husky"])
def test_config_hooks_fire(ready: Repo, tmp_path: Path, real_newer_git: None, setting: str) -> None:
    """Whatever core.hooksPath says; the user's own hooks run as before, files are not touched."""
    folder = ready.path / (setting if setting.startswith(".") else ".git/hooks")
    ready.write(".git/info/exclude", "/.husky/\n")
    set_hooks(folder, Case(PYTHON, ""))
    if setting:
        ready.git("config", "core.hooksPath", setting)
    states = round_trip(ready, tmp_path, folder)
    assert {(state.state, state.via) for state in states.values()} == {("installed", "config")}
    assert events(ready) == head_event(ready)


def test_config_hooks_can_be_listed_and_switched_off(ready: Repo, real_newer_git: None) -> None:
    hooks.install(ready.worktree)
    assert "gitindex-post-commit" in ready.git("hook", "list", "post-commit")
    ready.git("config", "hook.gitindex-post-commit.enabled", "false")
    ready.git("commit", "-q", "--allow-empty", "-m", "x")
    assert events(ready) == []
    ready.git("commit", "-q", "--amend", "--no-edit", "--allow-empty")
    assert events(ready) == ["post-rewrite amend"]


def test_config_hooks_of_a_worktree_and_of_a_user(
    ready: Repo, tmp_path: Path, real_newer_git: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks.install(ready.worktree)
    ready.git("worktree", "add", "-q", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked")
    events(linked)
    linked.git("commit", "-q", "--allow-empty", "-m", "x")
    assert events(linked) == ["post-commit "]
    hooks.uninstall(ready.worktree)
    shutil.copy(Path(os.environ["HOME"], ".gitconfig"), tmp_path / ".gitconfig")
    monkeypatch.setenv("HOME", str(tmp_path))
    hooks.install_for_user()
    ready.git("commit", "-q", "--allow-empty", "-m", "x")
    assert events(ready) == ["post-commit "]
    hooks.uninstall_for_user()
    ready.git("commit", "-q", "--allow-empty", "-m", "x")
    assert events(ready) == []


@pytest.mark.parametrize("gone", ["script", "store"])
def test_config_hooks_of_a_deleted_gitindex(ready: Repo, real_newer_git: None, gone: str) -> None:
    """47: neither a missing script nor a missing include makes git fail or speak."""
    hooks.install(ready.worktree)
    included = Path(ready.worktree.store, "hooks.gitconfig")
    if gone == "script":
        included.write_text(included.read_text().replace("event.sh", "gone.sh"))
    else:
        shutil.rmtree(ready.worktree.store)
    for args in (("commit", "-q", "--allow-empty", "-m", "x"), ("switch", "-qc", "b")):
        done = ready.try_git(*args)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_hook_files_under_a_newer_git(ready: Repo, tmp_path: Path, real_newer_git: None) -> None:
    folder = ready.path / ".git/hooks"
    set_hooks(folder, Case(PYTHON, ""))
    before = snapshot(folder)
    bare = use(ready, "bare", tmp_path)
    hooks.install(ready.worktree, "hooks")
    events(ready)
    assert use(ready, "ours", tmp_path) == bare
    assert events(ready) == head_event(ready)
    hooks.uninstall(ready.worktree)
    assert snapshot(folder) == before


# `gitindex hook`, and `gitindex.enabled`


def test_hook_command(ready: Repo) -> None:
    done = ready.gitindex("hook", "post-checkout", "a", "b", "1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert events(ready) == ["post-checkout a b 1"]
    ready.gitindex("hook", "--", "post-merge", "0")
    assert events(ready) == ["post-merge 0"], "the long way round"
    assert ready.gitindex("hook", "post-commit", env={"GITINDEX": "0"}).returncode == 0
    assert ready.gitindex("hook", "post-commit", cwd=Path("/")).returncode == 0
    assert events(ready) == []


def test_hook_command_opts_in_only_by_configuration(repo: Repo) -> None:
    repo.write("app.py", "x = 1\n")
    repo.commit()
    repo.gitindex("hook", "post-commit")
    assert not Path(repo.worktree.store).exists()
    repo.git("config", "gitindex.enabled", "true")
    repo.gitindex("hook", "post-commit")
    repo.wait_fresh()


def test_disabled_by_configuration(quiet: Repo) -> None:
    """The first event after the change is dropped by the runner; then hooks end at once."""
    quiet.git("config", "gitindex.enabled", "false")
    quiet.write("app.py", "x = 2\n")
    quiet.commit("dropped")
    off = Path(quiet.worktree.store, "off.main")
    wait_for(off.exists)
    quiet.wait_idle()
    assert "hooks are disabled" in quiet.gitindex("status").stdout
    assert quiet.answer("status")["hooksEnabled"] is False
    assert quiet.state() == "stale"
    before = len(quiet.jobs())
    quiet.write("app.py", "x = 3\n")
    quiet.commit("not even noted")
    assert not Path(quiet.worktree.spool).exists()
    quiet.git("config", "gitindex.enabled", "true")
    quiet.write("app.py", "x = 4\n")
    quiet.commit("noted again")
    quiet.wait_fresh()
    assert not off.exists()
    assert len(quiet.jobs()) == before + 1
    assert "hooks are off" not in quiet.gitindex("status").stdout


def test_disabled_in_a_file_that_another_includes(quiet: Repo, tmp_path: Path) -> None:
    more = tmp_path / "more.gitconfig"
    more.write_text("[GitIndex]\n\tenabled = off\n")
    assert quiet.answer("status")["hooksEnabled"] is True
    quiet.git("config", "include.path", str(more))
    assert quiet.answer("status")["hooksEnabled"] is False


def test_a_disabled_repository_is_indexed_when_asked(repo: Repo) -> None:
    repo.write("app.py", "x = 1\n")
    repo.commit()
    repo.git("config", "gitindex.enabled", "no")
    repo.index()
    assert repo.state() == "fresh"


def test_install_says_what_to_add(ready: Repo) -> None:
    """The exit code says that something is left to do by hand."""
    assert ready.gitindex("install").returncode == 0
    ready.git("config", "core.hooksPath", ".husky/_")
    done = ready.gitindex("install")
    assert done.returncode == 1
    assert f"add to {ready.path}/.husky/post-commit:" in done.stdout
    assert "gitindex_event=post-commit" in done.stdout
