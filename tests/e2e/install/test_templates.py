"""Template directory, aliases, prompts and samples: shipped, used for real, taken away again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gitindex.base.locations import shipped_folder
from gitindex.base.vocabulary import IndexState
from gitindex.install.aliases import install_aliases, uninstall_aliases
from gitindex.install.git_template import write_template
from gitindex.install.hooks.block import EVENTS
from gitindex.refresh.public_files import create_store
from gitindex.refresh.runner import RefreshRequest, Runner
from gitindex.refresh.spool import append_event
from tests.e2e.install.test_install import SH, Case, set_hooks, snapshot
from tests.support import TIMEOUT, Repo, stop_runners, wait_for

TEMPLATES = Path(shipped_folder("templates"))
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, with a configuration to keep."""
    folder = tmp_path / "home"
    folder.mkdir()
    shutil.copy(Path(os.environ["HOME"], ".gitconfig"), folder / ".gitconfig")
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def proven(repo: Repo) -> Repo:
    """A fresh index made in this very process, and no hooks."""
    repo.write("app.py", "x = 1\n")
    repo.write("lib/util.py", "def helper():\n    return 42\n")
    repo.commit("first")
    create_store(repo.worktree)
    Runner(repo.worktree).serve(RefreshRequest(repo.worktree, "index"))
    assert repo.verdict().state is IndexState.FRESH
    return repo


# The template directory


def test_a_clone_is_indexed_without_a_command(quiet: Repo, home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "git template"
    done = quiet.gitindex("template", "--temporary", str(folder))
    assert f"git config --global init.templateDir '{folder}'" in done.stdout
    quiet.git("config", "--global", "init.templateDir", str(folder))
    quiet.git("clone", "-q", str(quiet.path), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    try:
        clone.wait_fresh()
        clone.write("new.py", "x = 1\n")
        clone.commit("noted by its hooks")
        clone.wait_fresh()
        clone.assert_published()
        assert clone.git("status", "--porcelain", "--ignored=no") == ""
        assert os.stat(clone.worktree.store).st_mode & 0o777 == 0o700
        assert json.loads(clone.gitindex("doctor", "--json").stdout)["status"] == "ok"
    finally:
        stop_runners(tmp_path)


def test_a_new_repository_is_indexed_at_its_first_commit(home: Path, tmp_path: Path) -> None:
    write_template(str(tmp_path / "template"), temporary=True)
    made = Repo(tmp_path / "made")
    made.init(f"--template={tmp_path / 'template'}")
    made.write("app.py", "x = 1\n")
    made.commit()
    try:
        made.wait_fresh()
    finally:
        stop_runners(tmp_path)


def test_template_over_an_existing_one(home: Path, tmp_path: Path) -> None:
    """The user's own template keeps its hooks and files; writing again changes nothing."""
    folder = tmp_path / "template"
    set_hooks(folder / "hooks", Case(SH, ""))
    (folder / "info").mkdir()
    (folder / "info/exclude").write_text("mine\n")
    git_config = ["git", "config", "--global", "init.templateDir", str(folder)]
    subprocess.run(git_config, check=True, timeout=TIMEOUT)
    lines = write_template(str(folder))
    assert lines == ["new clones and repositories are indexed from now on"]
    assert (folder / "info/exclude").read_text() == "mine\n"
    assert (folder / "hooks/post-checkout").read_text().endswith(SH.split("\n", 1)[1])
    once = snapshot(folder)
    write_template(str(folder))
    assert snapshot(folder) == once
    other = write_template(str(tmp_path / "other"))
    assert any("replaces your template" in line for line in other)


def test_template_refuses_a_git_directory(repo: Repo) -> None:
    assert repo.gitindex("template", str(repo.path / ".git")).returncode == 2


# Aliases


def test_aliases_come_and_go(repo: Repo, home: Path) -> None:
    before = snapshot(home)
    for _ in range(2):
        assert repo.gitindex("aliases", "install").returncode == 0
    assert repo.git("config", "--get-all", "include.path").count("aliases.gitconfig") == 1
    assert repo.gitindex("aliases", "uninstall").returncode == 0
    (home / ".config").rmdir()
    assert snapshot(home) == before
    assert repo.gitindex("aliases", "uninstall").stdout == "not installed\n"


def test_an_alias_of_the_user_stays(repo: Repo, home: Path) -> None:
    repo.git("config", "--global", "alias.fresh", "pull --rebase")
    done = repo.gitindex("aliases", "install")
    assert done.returncode == 1
    assert "it stays" in done.stdout
    assert repo.git("config", "alias.fresh") == "pull --rebase\n"
    assert "gitindex" in repo.git("config", "alias.idx")
    uninstall_aliases()
    assert repo.git("config", "alias.fresh") == "pull --rebase\n"


def test_idx_runs_where_the_user_is(proven: Repo, home: Path) -> None:
    install_aliases()
    bare = {"PATH": "/usr/bin:/bin"}
    assert proven.git("-C", "lib", "idx", "status", "--short", env=bare) == "fresh\n"
    alone = proven.git("-C", "lib", "idx", env=bare)
    assert alone == proven.gitindex("status").stdout, "alone it shows the status"
    found = proven.try_git("idx", "search", "helper", "--json")
    assert json.loads(found.stdout)["status"] == "ok"


def _edit(repo: Repo) -> None:
    repo.write("app.py", "edited = 1\n")


def _stage_new(repo: Repo) -> None:
    repo.write("new.py", "x = 1\n")
    repo.git("add", "new.py")


def _untracked(repo: Repo) -> None:
    repo.write("new.py", "x = 1\n")


def _queue(repo: Repo) -> None:
    append_event(repo.worktree, "post-commit")


def _unseen_commit(repo: Repo) -> None:
    repo.git("commit", "-q", "--allow-empty", "-m", "same tree", env={"GITINDEX": "0"})


def _unseen_change(repo: Repo) -> None:
    _edit(repo)
    repo.git("commit", "-qam", "other tree", env={"GITINDEX": "0"})


def _marker_gone(repo: Repo) -> None:
    Path(repo.worktree.marker).unlink()


def _marker_of_another_version(repo: Repo) -> None:
    """As another environment leaves it, which shares the store."""
    path = Path(repo.worktree.marker)
    path.write_text(path.read_text().replace('"schemaVersion": "', '"schemaVersion": "x'))
    Path(repo.worktree.store, "python").write_text("/other/python\n")


def _store_replaced(repo: Repo) -> None:
    store = Path(repo.worktree.store)
    shutil.copytree(store, f"{store}.copy")
    shutil.rmtree(store)
    os.rename(f"{store}.copy", store)


def _store_gone(repo: Repo) -> None:
    shutil.rmtree(repo.worktree.store)


def _database_gone(repo: Repo) -> None:
    Path(repo.worktree.database).unlink()


def _face_gone(repo: Repo) -> None:
    shutil.rmtree(repo.path / ".llmc")


def _failed(repo: Repo) -> None:
    Path(repo.worktree.failure).write_text('{"message": "x", "commit": null}')


def _detached(repo: Repo) -> None:
    repo.git("switch", "-q", "--detach", env={"GITINDEX": "0"})


def _nothing(_: Repo) -> None:
    return


STATES: dict[str, Callable[[Repo], None]] = {
    name.strip("_").replace("_", " "): made
    for name, made in list(globals().items())
    if name.startswith("_") and callable(made) and not name.startswith("__")
}


@pytest.mark.parametrize("change", STATES.values(), ids=STATES)
def test_git_fresh_says_what_gitindex_says(
    proven: Repo, home: Path, change: Callable[[Repo], None]
) -> None:
    """Exit code and first word; also when the environment changed after the marker."""
    install_aliases()
    change(proven)
    told = proven.verdict()
    for ahead in (60, -60):
        _date_marker(proven, time.time() + ahead)
        done = proven.try_git("fresh", env={"PATH": "/usr/bin:/bin"})
        assert (done.returncode, done.stderr) == (told.code, "")
        never = told.why == "not indexed"  # said without a state in front of it
        assert done.stdout.splitlines()[0].split(":")[0] == ("not indexed" if never else told.state)
    if change is _nothing:
        _date_marker(proven, time.time() + 60)
        Path(proven.worktree.store, "python").write_text("/nonexistent\n")
        script = proven.git("config", "alias.fresh").replace(sys.executable, "/nonexistent")
        assert proven.git("-c", f"alias.quick={script}", "quick") == "fresh\n", "without Python"


def _date_marker(repo: Repo, when: float) -> None:
    """Newer than every installed file, or older than some."""
    if os.path.exists(repo.worktree.marker):
        os.utime(repo.worktree.marker, (when, when))


def test_git_fresh_in_a_linked_worktree(quiet: Repo, home: Path, tmp_path: Path) -> None:
    install_aliases()
    quiet.git("worktree", "add", "-q", str(tmp_path / "linked"), env={"GITINDEX": "0"})
    linked = Repo(tmp_path / "linked")
    assert linked.try_git("fresh").returncode == 3
    linked.index()
    _date_marker(linked, time.time() + 60)
    assert linked.git("fresh").startswith("fresh")
    append_event(linked.worktree, "post-commit")
    assert linked.try_git("fresh").stdout == "stale: a refresh is queued\n"
    assert quiet.git("fresh").startswith("fresh")


def test_git_fresh_speaks_for_no_repository_elsewhere(
    proven: Repo, home: Path, tmp_path: Path
) -> None:
    """Git would compare this folder with the other's HEAD."""
    install_aliases()
    other = Repo(tmp_path / "other")
    other.init()
    assert proven.git("fresh", env={"GIT_DIR": str(proven.path / ".git")}).startswith("fresh")
    done = proven.try_git("fresh", env={"GIT_DIR": str(other.path / ".git")})
    assert (done.returncode, done.stdout.split(":")[0]) == (4, "error")


# Prompts and samples


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_prompt(quiet: Repo, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    script = TEMPLATES / "prompt" / f"gitindex.{shell}"

    def prompt(folder: Path) -> str:
        done = subprocess.run(
            [shell, "-c", f". '{script}'; gitindex_prompt"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert done.stderr == ""
        return done.stdout

    assert prompt(quiet.path / "lib") == " ✓idx"
    quiet.git("commit", "-q", "--allow-empty", "-m", "x")
    wait_for(lambda: prompt(quiet.path) == " ✓idx")
    quiet.wait_idle()
    shutil.rmtree(quiet.path / ".llmc")
    assert prompt(quiet.path) == prompt(quiet.path.parent) == ""


def test_starship_command(quiet: Repo) -> None:
    custom = tomllib.loads((TEMPLATES / "prompt/starship.toml").read_text())["custom"]["gitindex"]
    for command, expected in ((custom["when"], ""), (custom["command"], "✓idx\n")):
        done = subprocess.run(
            ["sh"],
            input=command,
            cwd=quiet.path,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=True,
        )
        assert (done.stdout, done.stderr) == (expected, "")


def test_client_snippets() -> None:
    assert json.loads((TEMPLATES / "mcp/mcp.json").read_text())["mcpServers"]["gitindex"]
    assert json.loads((TEMPLATES / "mcp/vscode-mcp.json").read_text())["servers"]["gitindex"]
    assert tomllib.loads((TEMPLATES / "mcp/codex-config.toml").read_text())["mcp_servers"]
    listed = (TEMPLATES / "README.md").read_text()
    for path in TEMPLATES.rglob("*.*"):
        folders = {"prompt", "plugins"} & set(path.parts)
        assert path.name in listed + " README.md" or folders, path


# The wheel


def test_wheel_is_complete_and_works(repo: Repo, tmp_path: Path) -> None:
    """Installed without a checkout in sight: hooks, templates and aliases are there and work."""
    source = tmp_path / "source"
    folders = ("gitindex", "hooks", "man", "native", "templates")
    parts = (*folders, "*.md", "LICENSE", "pyproject.toml", "hatch_build.py")
    names = _run("git", "-C", str(ROOT), "ls-files", "-z", "-co", "--exclude-standard", *parts)
    for name in filter(None, names.split("\0")):
        if (ROOT / name).exists():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    env = {k: v for k, v in os.environ.items() if k != "HOME"} | {"HOME": str(tmp_path)}
    build = ("-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path))
    built = subprocess.run(
        [sys.executable, *build, str(source)],
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        shipped = set(archive.namelist())
        for folder in ("hooks", "templates"):
            for path in (source / folder).rglob("*"):
                if path.is_file():
                    assert f"gitindex/_data/{folder}/{path.relative_to(source / folder)}" in shipped
        site = tmp_path / "site-packages"
        archive.extractall(site)
    python = _python_with(site, tmp_path)
    repo.write("app.py", "x = 1\n")
    repo.commit()
    run = [str(python), "-I", "-m", "gitindex"]
    _run(*run, "install", cwd=repo.path)
    hook = (repo.path / ".git/hooks/post-commit").read_text()
    assert str(site / "gitindex/_data/hooks/event.sh") in hook
    repo.write("app.py", "x = 2\n")
    repo.commit("noted by the wheel's hook")
    _run(*run, "wait", cwd=repo.path)
    assert json.loads(_run(*run, "doctor", "--json", cwd=repo.path))["status"] == "ok"
    stop_runners(tmp_path)
    shutil.rmtree(site)
    done = repo.try_git("commit", "-q", "--allow-empty", "-m", "the environment was deleted")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def _run(*argv: str, cwd: Path | None = None) -> str:
    done = subprocess.run(
        argv, cwd=cwd, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _python_with(site: Path, tmp_path: Path) -> Path:
    """An environment that has the wheel, and our dependencies from the one that runs."""
    venv = tmp_path / "venv"
    _run(sys.executable, "-m", "venv", "--without-pip", str(venv))
    (packages,) = venv.glob("lib/python*/site-packages")
    ours = Path(os.__file__).parent / "site-packages"
    running = [p for p in sys.path if p.endswith("site-packages") and p != str(ours)] or [str(ours)]
    (packages / "wheel.pth").write_text("\n".join([str(site), *running]) + "\n")
    return venv / "bin/python"


def test_the_sample_lists_every_event_pre_commit_knows() -> None:
    sample = (TEMPLATES / "pre-commit-config.yaml").read_text()
    for event in set(EVENTS) - {"post-applypatch"}:
        assert event in sample
