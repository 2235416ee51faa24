"""A teammate's clone: an empty home, no gitindex on PATH, one id in the team's configuration."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest

from gitindex import __version__
from tests.e2e.conftest import TOOLS, sample
from tests.e2e.install.test_install import program
from tests.support import TIMEOUT, Repo, stop_runners

BARE_PATH = "/usr/local/bin:/usr/bin:/bin"
CONFIGURATIONS = ["sample", "only the id"]


def team_configuration(source: Repo, which: str) -> str:
    """The shipped sample; or nothing but our id, as somebody would write it by heart."""
    if which == "sample":
        return sample(source)
    return f"repos:\n- repo: {source.path}\n  rev: v{__version__}\n  hooks:\n  - id: gitindex\n"


@pytest.fixture
def newcomer(env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who has never heard of gitindex."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", BARE_PATH)


@pytest.fixture
def team(repo: Repo, source: Repo) -> Repo:
    repo.write("lib/util.py", "def helper():\n    return 42\n")
    repo.write("app.py", "from lib.util import helper\n\n\ndef main():\n    return helper()\n")
    repo.write(".pre-commit-config.yaml", sample(source))
    repo.commit("team")
    return repo


def clone(team: Repo, to: Path) -> Repo:
    made = Repo(to)
    subprocess.run(["git", "clone", "-q", str(team.path), str(to)], check=True, timeout=TIMEOUT)
    return made


def install_plainly(repo: Repo, tool: str) -> None:
    """`pre-commit install`, without options."""
    done = subprocess.run(
        [tool, "install"], cwd=repo.path, capture_output=True, text=True, timeout=TIMEOUT
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("which", CONFIGURATIONS)
@pytest.mark.parametrize("tool", TOOLS)
def test_a_clone_is_indexed_from_its_first_commit(
    team: Repo,
    source: Repo,
    env: dict[str, str],
    tmp_path: Path,
    tool: str,
    which: str,
    request: pytest.FixtureRequest,
) -> None:
    program_path = program(tool)
    request.getfixturevalue("newcomer")
    team.write(".pre-commit-config.yaml", team_configuration(source, which))
    team.commit("configuration", "--allow-empty")
    mate = clone(team, tmp_path / "mate")
    config = Path(mate.worktree.common_dir, "config")
    before = config.read_bytes()
    install_plainly(mate, program_path)
    try:
        mate.write("new.py", "def added():\n    return 1\n")
        mate.commit("first")
        mate.wait_fresh()
        assert mate.git("fresh").startswith("fresh"), "Python answers while the first writer works"
        mate.wait_idle()
        assert mate.git("fresh") == "fresh\n", "then the files alone prove it"
        assert mate.git("-C", "lib", "idx", "status", "--short") == "fresh\n"
        assert "new.py:1" in mate.git("idx", "symbols", "added")
        mate.write("new.py", "def renamed():\n    return 1\n")
        mate.commit("second")
        mate.wait_fresh()
        if which == "sample":
            mate.git("switch", "-qc", "side", "HEAD~1")
            mate.wait_fresh()
            mate.write("side.py", "x = 1\n")
            mate.commit("side")
            mate.git("rebase", "-q", "main")
            mate.git("switch", "-q", "main")
            mate.git("merge", "-q", "side")
            mate.wait_fresh()
        mate.wait_idle()
        assert "removed gitindex" in mate.git("idx", "uninstall")
        assert config.read_bytes() == before
        assert mate.try_git("fresh").returncode != 0
        mate.commit("after", "--allow-empty")
        assert config.read_bytes() == before, "what was taken out stays out"
    finally:
        stop_runners(tmp_path)


def test_aliases_of_the_user_stay(
    team: Repo, env: dict[str, str], tmp_path: Path, newcomer: None
) -> None:
    mate = clone(team, tmp_path / "mate")
    mate.git("config", "--global", "alias.fresh", "pull --rebase")
    run_hook(env, mate)
    mate.wait_fresh()
    assert mate.git("config", "alias.fresh") == "pull --rebase\n"
    assert mate.git("idx", "status", "--short") == "fresh\n"
    stop_runners(tmp_path)


def run_hook(env: dict[str, str], repo: Repo, **more: str) -> None:
    """What the id runs, from pre-commit's environment, without pre-commit around it."""
    (command,) = Path(env["PRE_COMMIT_HOME"]).glob("repo*/py_env-*/bin/gitindex")
    done = subprocess.run(
        [str(command), "hook", "auto"],
        cwd=repo.path,
        env={**os.environ, **more},
        capture_output=True,
        timeout=TIMEOUT,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_nothing_starts_in_ci(
    team: Repo, env: dict[str, str], tmp_path: Path, newcomer: None
) -> None:
    mate = clone(team, tmp_path / "mate")
    for off in ({"CI": "true"}, {"GITINDEX": "0"}):
        run_hook(env, mate, **off)
        assert not Path(mate.worktree.store).exists()


def commit_on_a_terminal(repo: Repo) -> str:
    """What a person sees at `git commit`."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(repo.path)
        os.execvp("git", ["git", "commit", "-q", "--allow-empty", "-m", "x"])
    seen = b""
    while True:
        try:
            more = os.read(fd, 4096)
        except OSError:
            break
        if not more:
            break
        seen += more
    os.close(fd)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, seen
    return seen.decode()


def test_what_is_missing_is_told_once(
    team: Repo, source: Repo, env: dict[str, str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    tool = program("pre-commit")
    request.getfixturevalue("newcomer")
    team.write(".pre-commit-config.yaml", team_configuration(source, "only the id"))
    team.commit("only the id")
    install_plainly(team, tool)
    first, second = commit_on_a_terminal(team), commit_on_a_terminal(team)
    assert first.count("indexing this clone in the background") == 1
    assert first.count("add `default_install_hook_types: [pre-commit, post-commit,") == 1
    assert "gitindex:" not in second
    team.wait_fresh()
