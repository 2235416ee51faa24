"""The hook: silent, harmless, quick, and never in the wrong repository."""

from __future__ import annotations

import ctypes
import os
import pty
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from gitindex.base.locations import shipped_folder
from gitindex.base.vocabulary import IndexState
from gitindex.freshness.index_status import load_status
from gitindex.git.command import VIEWS
from gitindex.install.hooks.block import EVENTS
from gitindex.install.hooks.installation import install
from tests.support import PROC, TIMEOUT, Repo, runner_pids, stop_runners

FRESH = Path(shipped_folder("hooks"), "fresh.sh")
SCRIPT = (
    ("commit", "-q", "--allow-empty", "-m", "loud", "--no-quiet"),
    ("switch", "-c", "side"),
    ("commit", "--allow-empty", "-m", "on side"),
    ("switch", "main"),
    ("merge", "--no-ff", "--no-edit", "side"),
    ("rebase", "--force-rebase", "HEAD~1"),
    ("checkout", "--", "app.py"),
    ("commit", "--amend", "--no-edit", "--allow-empty"),
    ("worktree", "add", "../linked", "-b", "linked"),
    ("worktree", "remove", "../linked"),
)


def _interpreter_gone(repo: Repo) -> None:
    Path(repo.worktree.store, "python").write_text("/nonexistent/python\n")


def _interpreter_unknown(repo: Repo) -> None:
    Path(repo.worktree.store, "python").unlink()


def _script_gone(repo: Repo) -> None:
    for event in EVENTS:
        hook = Path(repo.worktree.common_dir, "hooks", event)
        hook.write_text(hook.read_text().replace(shipped_folder("hooks"), "/nonexistent"))


def _spool_is_a_folder(repo: Repo) -> None:
    Path(repo.worktree.spool).mkdir()


def _spool_is_missing(repo: Repo) -> None:
    shutil.rmtree(Path(repo.worktree.store, "spool"))


def _store_removed(repo: Repo) -> None:
    shutil.rmtree(repo.worktree.store)


def _face_is_a_file(repo: Repo) -> None:
    shutil.rmtree(repo.worktree.llmc)
    Path(repo.worktree.llmc).write_text("mine\n")


def _face_is_a_link(repo: Repo) -> None:
    elsewhere = repo.path.parent / "elsewhere"
    shutil.move(repo.worktree.llmc, elsewhere)
    Path(repo.worktree.llmc).symlink_to(elsewhere)


def _alive_is_garbage(repo: Repo) -> None:
    Path(repo.worktree.store, "runner.alive").write_text("1 '; $(touch /tmp/owned)\n")


def _package_gone(repo: Repo) -> None:
    """An interpreter that has never heard of gitindex."""
    python = repo.path.parent / "python"
    python.write_text("#!/bin/sh\necho no module named gitindex >&2\nexit 1\n")
    python.chmod(0o755)
    Path(repo.worktree.store, "python").write_text(f"{python}\n")


def _nothing_broken(repo: Repo) -> None:
    """The plain case."""


BROKEN: dict[str, Callable[[Repo], None]] = {
    "working": _nothing_broken,
    "interpreter-gone": _interpreter_gone,
    "package-gone": _package_gone,
    "interpreter-unknown": _interpreter_unknown,
    "script-gone": _script_gone,
    "spool-is-a-folder": _spool_is_a_folder,
    "spool-is-missing": _spool_is_missing,
    "store-removed": _store_removed,
    "face-is-a-file": _face_is_a_file,
    "face-is-a-link": _face_is_a_link,
    "alive-is-garbage": _alive_is_garbage,
}


@pytest.mark.promise("I-31", "P-2")
@pytest.mark.parametrize("damage", BROKEN.values(), ids=BROKEN.keys())
def test_k1_git_speaks_and_ends_as_without_us(
    quiet: Repo, tmp_path: Path, damage: Callable[[Repo], None]
) -> None:
    plain = Repo(tmp_path / "plain" / "repo")
    plain.path.parent.mkdir()
    shutil.copytree(quiet.path, plain.path, symlinks=True)
    for event in EVENTS:
        Path(plain.path, ".git", "hooks", event).unlink()
    damage(quiet)
    if damage is _face_is_a_file:
        shutil.rmtree(plain.path / ".llmc")
        (plain.path / ".llmc").write_text("mine\n")
    for command in SCRIPT:
        ours, theirs = _run(quiet, *command), _run(plain, *command)
        assert ours == theirs, command
    link = tmp_path / "elsewhere"
    if link.exists():
        assert "rebuilding" not in (link / "rag_index_status.json").read_text()


@pytest.mark.parametrize("where", ["store", "face"])
@pytest.mark.parametrize("how", ["full", "read-only"])
def test_k1_on_a_disk_that_takes_nothing(quiet: Repo, tmp_path: Path, where: str, how: str) -> None:
    """Git as without us, no false fresh meanwhile, and fresh at the first request with room again."""
    plain = Repo(tmp_path / "plain" / "repo")
    plain.path.parent.mkdir()
    shutil.copytree(quiet.path, plain.path, symlinks=True)
    for event in EVENTS:
        Path(plain.path, ".git", "hooks", event).unlink()
    folder = Path(quiet.worktree.store if where == "store" else quiet.worktree.llmc)
    with _small_disk(folder) as fill:
        quiet.git("commit", "-q", "--allow-empty", "-m", "known there")
        plain.git("commit", "-q", "--allow-empty", "-m", "known there")
        quiet.wait_fresh()
        quiet.wait_idle()
        fill() if how == "full" else _mount("-o", "remount,ro", str(folder))
        try:
            for repo in (quiet, plain):
                repo.write("lib/util.py", "def other():\n    return 1\n")
            assert _run(quiet, "commit", "-am", "loud") == _run(plain, "commit", "-am", "loud")
            for command in SCRIPT:
                assert _run(quiet, *command) == _run(plain, *command), command
            quiet.wait_idle()
            if quiet.verdict().state is IndexState.FRESH:
                quiet.assert_published()
        finally:
            _mount("-o", "remount,rw", str(folder))
            (folder / "ballast").unlink(missing_ok=True)
        assert quiet.gitindex("index").returncode == 0, quiet.log()
        assert quiet.verdict().state is IndexState.FRESH
        quiet.assert_published()


@contextmanager
def _small_disk(folder: Path) -> Iterator[Callable[[], None]]:
    """What a folder holds moves to a disk of its own, which the yielded function fills up."""
    kept = folder.parent / "kept"
    folder.rename(kept)
    folder.mkdir()
    try:
        _mount("-t", "tmpfs", "-o", "size=64m,mode=700", "none", str(folder))
    except OSError as error:
        folder.rmdir()
        kept.rename(folder)
        pytest.skip(f"cannot mount: {error}")
    shutil.copytree(kept, folder, symlinks=True, dirs_exist_ok=True)

    def fill() -> None:
        with open(folder / "ballast", "wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(4096))

    try:
        yield fill
    finally:
        stop_runners(folder.parent)
        assert (
            ctypes.CDLL(None).umount2(os.fsencode(folder), 2) == 0
        )  # MNT_DETACH; the program reads /proc


def _mount(*options: str) -> None:
    done = subprocess.run(
        ["mount", *options], capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    if done.returncode:
        raise OSError(done.stderr)


@pytest.mark.parametrize(
    "shell",
    ["dash", "bash --posix", "busybox ash", "ksh", "ksh93", "mksh", "yash", "zsh --emulate sh"],
)
def test_any_shell_may_be_sh(quiet: Repo, shell: str) -> None:
    program, *options = shell.split()
    if shutil.which(program) is None:
        pytest.skip(f"no {program}")
    sh = [program, *options]
    run = partial(
        subprocess.run, cwd=quiet.path, capture_output=True, text=True, timeout=TIMEOUT, check=True
    )
    marker = quiet.worktree.marker
    os.utime(marker, (time.time() + 60,) * 2)  # nothing was installed since
    script = f"gitindex_python=/nonexistent; gitindex_home=/usr; gitindex_site=/usr; . '{FRESH}'"
    Path(quiet.worktree.store, "python").write_text("/nonexistent\n")
    assert run([*sh, "-c", script]).stdout == "fresh\n"
    done = run([*sh, str(quiet.path / ".git/hooks/post-commit"), "a", "b"])
    assert (done.stdout, done.stderr) == ("", "")
    assert Path(quiet.worktree.spool).read_text() == "post-commit a b\n"
    told = load_status(quiet.path)
    assert told is not None
    assert told.index_state is IndexState.STALE


def test_a_tracked_status_is_left_alone(repo: Repo) -> None:
    """It is the repository's: a hook that renamed it would make the work tree dirty."""
    for name in ("stale_status.json", "rag_index_status.json", "completion_marker.json"):
        repo.write(f".llmc/{name}", "{}\n")
    repo.git("add", "-f", ".llmc")
    repo.commit("hostile")
    repo.gitindex("install")
    repo.write("a.py", "a = 1\n")
    repo.commit("more")
    repo.wait_idle()
    assert repo.git("status", "--porcelain") == ""
    assert repo.gitindex("status").returncode == 4


def _run(repo: Repo, *command: str) -> tuple[int, str, str]:
    done = repo.try_git(*command)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "variables", [{"GITINDEX": "0"}, {"CI": "true"}, {"SKIP": "other,gitindex"}], ids=str
)
def test_environment_switches_the_hook_off(quiet: Repo, variables: dict[str, str]) -> None:
    quiet.git("commit", "-q", "--allow-empty", "-m", "unseen", env=variables)
    assert not os.path.exists(quiet.worktree.spool)
    assert runner_pids(quiet.path) == []


def test_gitindex_1_switches_it_on_in_ci(quiet: Repo) -> None:
    quiet.write("more.py", "more = 1\n")
    quiet.git("add", "-A")
    quiet.git("commit", "-qm", "more", env={"CI": "true", "GITINDEX": "1"})
    quiet.wait_fresh()


def test_not_opted_in_means_no_side_effect(repo: Repo) -> None:
    install(repo.worktree)
    before = _listing(repo.path)
    repo.write("a.py", "a = 1\n")
    repo.commit()
    repo.git("switch", "-qc", "side")
    gained = {p for p in _listing(repo.path) - before if "objects" not in p and "refs" not in p}
    assert not [path for path in gained if "gitindex" in path or "llmc" in path]
    assert runner_pids(repo.path) == []


@pytest.mark.promise("I-31", "P-2")
def test_k7_captured_output_returns_while_the_runner_lives(indexed: Repo) -> None:
    indexed.wait_idle()
    pipe_read, pipe_write = os.pipe()
    os.set_inheritable(pipe_write, True)
    indexed.write("more.py", "more = 1\n")
    indexed.git("add", "-A")
    done = subprocess.run(
        ["git", "-C", str(indexed.path), "commit", "-qm", "more"],
        capture_output=True,
        timeout=TIMEOUT,
        check=True,
        pass_fds=(pipe_write,),
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    os.close(pipe_write)
    indexed.wait_fresh()
    (pid,) = runner_pids(indexed.path)
    targets = {os.readlink(f"{PROC}/{pid}/fd/{n}") for n in (0, 1, 2)}
    assert targets == {"/dev/null"}
    inherited = f"pipe:[{os.stat(pipe_read).st_ino}]"
    assert inherited not in _descriptors(pid)
    assert os.read(pipe_read, 1) == b"", "somebody still holds the pipe"
    os.close(pipe_read)
    assert os.readlink(f"{PROC}/{pid}/cwd") == "/"
    assert os.getsid(pid) == pid
    ours = b"GIT_DIR=" + os.fsencode(VIEWS), b"GIT_WORK_TREE=" + os.fsencode(indexed.worktree.root)
    assert all(line.startswith(ours) for line in _environment_git_sees(pid))


def _descriptors(pid: int) -> set[str]:
    found = set()
    for name in os.listdir(f"{PROC}/{pid}/fd"):
        try:
            found.add(os.readlink(f"{PROC}/{pid}/fd/{name}"))
        except FileNotFoundError:
            continue
    return found


def _environment_git_sees(pid: int) -> list[bytes]:
    """Children of the runner, such as the one that reads objects, start with a clean environment."""
    children = Path(f"{PROC}/{pid}/task/{pid}/children").read_text().split()
    return [
        line
        for child in children
        for line in Path(f"{PROC}/{child}/environ").read_bytes().split(b"\0")
        if line.startswith((b"GIT_DIR", b"GIT_INDEX_FILE", b"GIT_WORK_TREE"))
    ]


def test_k8_the_refresh_survives_a_closed_terminal(quiet: Repo) -> None:
    quiet.write("late.py", "late = 1\n")
    quiet.git("add", "-A")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(quiet.path)
        os.execvp("sh", ["sh", "-c", "git commit -qm late && echo done && exec sleep 60"])
    seen = b""
    while b"done" not in seen:
        seen += os.read(terminal, 1024)
    os.close(terminal)
    os.kill(pid, signal.SIGHUP)
    os.kill(pid, signal.SIGKILL)  # under nohup it does not hear the first one
    os.waitpid(pid, 0)
    quiet.wait_fresh()
    quiet.assert_published()


def test_no_runner_two_seconds_after_the_work_is_done(indexed: Repo) -> None:
    indexed.write("more.py", "more = 1\n")
    indexed.commit("more")
    indexed.wait_fresh()
    drained = time.monotonic()
    indexed.wait_idle()
    assert time.monotonic() - drained < 120, "two seconds on an idle machine"


def test_k4_a_program_with_an_empty_environment(quiet: Repo) -> None:
    quiet.write("more.py", "more = 1\n")
    quiet.git("add", "-A")
    git = shutil.which("git")
    assert git is not None
    who = ["-c", "user.name=A", "-c", "user.email=a@b"]
    for environment in ({}, {"PATH": ""}, {"PATH": "/nonexistent"}):
        done = subprocess.run(
            [git, "-C", str(quiet.path), *who, "commit", "-q", "--allow-empty", "-m", "gui"],
            env=environment,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    quiet.wait_fresh()
    quiet.assert_published()


@pytest.mark.promise("I-32")
def test_k4_git_dir_and_index_file_in_the_environment(quiet: Repo, tmp_path: Path) -> None:
    other = _second_repository(tmp_path)
    before = _listing(other.path)
    quiet.write("more.py", "more = 1\n")
    shutil.copy(quiet.path / ".git" / "index", tmp_path / "index")
    environment = {
        "GIT_DIR": str(quiet.path / ".git"),
        "GIT_WORK_TREE": str(quiet.path),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
    }
    other.git("add", "-A", env=environment)
    other.git("commit", "-qm", "from elsewhere", env=environment)
    quiet.git("read-tree", "HEAD")
    quiet.wait_fresh()
    quiet.assert_published()
    assert _listing(other.path) == before


def test_k4_dash_capital_c_and_a_linked_worktree(quiet: Repo, tmp_path: Path) -> None:
    linked = Repo(tmp_path / "linked")
    quiet.git("worktree", "add", "-q", "-b", "side", str(linked.path))
    linked.wait_fresh()
    before = quiet.marker()
    linked.write("side.py", "side = 1\n")
    quiet.git("-C", str(linked.path), "add", "-A")
    quiet.git("-C", str(linked.path), "commit", "-qm", "side")
    linked.wait_fresh()
    linked.assert_published()
    assert quiet.marker() == before


def test_k4_dotfiles_style_repository_is_left_alone(quiet: Repo, tmp_path: Path) -> None:
    """A git folder beside its work tree has no root of its own: the hook does nothing at all."""
    home, dots = tmp_path / "home", tmp_path / "dots"
    home.mkdir()
    quiet.git("clone", "-q", "--bare", str(quiet.path), str(dots))
    for event in EVENTS:
        shutil.copy(quiet.path / ".git" / "hooks" / event, dots / "hooks" / event)
    options = ("--git-dir", str(dots), "--work-tree", str(home))
    (home / "rc").write_text("x\n")
    quiet.git(*options, "add", "--force", str(home / "rc"))
    quiet.git(*options, "commit", "-qm", "rc")
    assert sorted(p.name for p in home.iterdir()) == ["rc"]
    assert not (dots / "gitindex").exists()


@pytest.mark.parametrize(
    "name",
    [b"with space", b'it\'s "quoted"', b"$(touch owned)`x`", b"new\nline", b"latin\xe9", b"-dash"],
    ids=["space", "quotes", "dollar", "newline", "latin1", "dash"],
)
def test_any_path_may_hold_a_repository(tmp_path: Path, name: bytes) -> None:
    if not name.isascii() and not os.path.isdir("/proc/self/fd"):
        pytest.skip("no file system of macOS has such a name")
    repo = Repo(Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))))
    repo.init()
    repo.write("a.py", "a = 1\n")
    repo.commit()
    assert repo.gitindex("install").returncode == 0
    repo.wait_fresh()
    linked = Repo(Path(f"{repo.path}-linked"))
    repo.git("worktree", "add", "-q", "-b", "side", str(linked.path))
    linked.wait_fresh()
    repo.write("b.py", "b = 1\n")
    repo.commit()
    repo.wait_fresh()
    repo.assert_published()
    assert not list(tmp_path.rglob("owned"))
    repo.wait_idle()


def test_install_is_idempotent_and_uninstall_removes_exactly_ours(repo: Repo) -> None:
    repo.write("a.py", "a = 1\n")
    repo.commit()
    hooks = repo.path / ".git" / "hooks"
    before = _contents(hooks)
    first = repo.gitindex("install")
    after = _contents(hooks)
    second = repo.gitindex("install")
    assert (first.returncode, second.returncode) == (0, 0)
    assert _contents(hooks) == after
    assert set(after) - set(before) == set(EVENTS)
    assert repo.gitindex("uninstall").returncode == 0
    assert _contents(hooks) == before
    repo.wait_fresh()


def test_k6_a_foreign_hook_still_runs_and_is_restored_byte_for_byte(repo: Repo) -> None:
    repo.write("a.py", "a = 1\n")
    repo.commit()
    hook = repo.path / ".git" / "hooks" / "post-commit"
    hook.write_text("#!/bin/sh\necho mine\n")
    hook.chmod(0o755)
    before = _contents(hook.parent)["post-commit"]
    assert repo.gitindex("install").returncode == 0
    repo.wait_fresh()
    repo.write("b.py", "b = 1\n")
    repo.git("add", "-A")
    done = repo.try_git("commit", "-qm", "both hear")
    assert "mine" in done.stdout + done.stderr
    repo.wait_fresh()
    assert repo.gitindex("uninstall").returncode == 0
    assert _contents(hook.parent)["post-commit"] == before


@pytest.mark.promise("I-36")
def test_everything_of_ours_is_private(indexed: Repo) -> None:
    """I-36: under any umask."""
    indexed.wait_idle()
    assert indexed.git("status", "--porcelain") == "", "card-C14"
    for folder in (indexed.worktree.store, indexed.worktree.llmc):
        for path in (Path(folder), *Path(folder).rglob("*")):
            mode = stat.S_IMODE(path.lstat().st_mode)
            assert mode & 0o077 == 0, path


def _second_repository(tmp_path: Path) -> Repo:
    other = Repo(tmp_path / "other")
    other.init()
    other.write("x.py", "x = 1\n")
    other.commit()
    other.index()
    return other


def _listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {p.name: (p.read_bytes(), p.stat().st_mode) for p in folder.iterdir()}
