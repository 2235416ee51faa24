"""Real repositories in a temporary home. A test that touches the user's home fails."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from gitindex.install.hooks.installation import install
from tests.pages.collection import promises_of
from tests.support import Repo, stop_runners
from tests.workers import fork_workers, forking_process

_MEMORY_DISK = "/dev/shm"
_ENOUGH_BYTES = 4 << 30
"""A run leaves the folders of failed tests and of shared fixtures: a few hundred megabytes."""


def _use_memory_disk() -> None:
    """Temporary files in memory where that is possible: an index waits 46 times for a disk."""
    if "TMPDIR" in os.environ or not os.access(_MEMORY_DISK, os.W_OK):
        return
    disk = os.statvfs(_MEMORY_DISK)
    if disk.f_bavail * disk.f_frsize < _ENOUGH_BYTES or disk.f_flag & os.ST_NOEXEC:
        return
    folder = os.path.join(_MEMORY_DISK, f"gitindex-tests-{os.getuid()}")
    os.makedirs(folder, exist_ok=True)
    if os.stat(folder).st_uid == os.getuid():
        os.chmod(folder, 0o711)  # tests that give up root go through it
        os.environ["TMPDIR"] = tempfile.tempdir = folder


sys.dont_write_bytecode = False  # where it is set, every worker compiles every test again
_use_memory_disk()
fork_workers(forking_process)
REAL_HOME = os.path.realpath(os.path.expanduser("~"))
CHECKOUT = str(Path(__file__).resolve().parent.parent)
TEMP_HOME = tempfile.mkdtemp(prefix="gitindex-home-")

# A shell that runs the suite in the background ignores Ctrl-C for it and for everything it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

for _name in [n for n in os.environ if n.startswith(("GIT_", "PYTHON", "XDG_"))]:
    del os.environ[_name]
for _name in ("CI", "GITINDEX", "SKIP", "PRE_COMMIT"):
    os.environ.pop(_name, None)
os.environ.update(
    HOME=TEMP_HOME,
    GIT_CONFIG_NOSYSTEM="1",
    GIT_AUTHOR_NAME="A U Thor",
    GIT_AUTHOR_EMAIL="author@example.com",
    GIT_COMMITTER_NAME="C O Mitter",
    GIT_COMMITTER_EMAIL="committer@example.com",
    GIT_AUTHOR_DATE="1700000000 +0000",
    GIT_COMMITTER_DATE="1700000000 +0000",
    GIT_EDITOR=":",
    TZ="UTC",
    LC_ALL="C.UTF-8",
)
Path(TEMP_HOME, ".gitconfig").write_text(
    "[user]\n\tname = C O Mitter\n\temail = committer@example.com\n"
    "[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n"
    '[protocol "file"]\n\tallow = always\n'
)

# A deadline would measure what else the machine does; a slow start of a strategy is no finding.
settings.register_profile(
    "gitindex", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("gitindex")


def _guard_home(event: str, args: tuple[object, ...]) -> None:
    """Fail on any write below the real home, except caches of this very checkout."""
    if event != "open" or not isinstance(args[0], (str, bytes)):
        return
    mode, flags = args[1], args[2]
    writes = (isinstance(mode, str) and any(c in mode for c in "wax+")) or (
        isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    )
    if not writes:
        return
    path = os.path.realpath(os.fsdecode(args[0]))
    allowed = (CHECKOUT, tempfile.gettempdir(), sys.prefix, sys.base_prefix)
    if path.startswith(REAL_HOME + os.sep) and not path.startswith(allowed):
        raise PermissionError(f"a test wrote into the user's home: {path}")


sys.addaudithook(_guard_home)


ALL_PROMISES = pytest.StashKey[list[dict[str, Any]]]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what a whole run has collected: the test of docs/promises.md need not collect again."""
    if config.args == config.getini("testpaths"):
        config.stash[ALL_PROMISES] = promises_of(items)


@pytest.fixture(autouse=True)
def _own_umask() -> Iterator[None]:
    """A command that runs inside the test process sets the mask for good: not for the next test."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture(autouse=True)
def _own_user_configuration() -> Iterator[None]:
    """The user's configuration of one test, such as its aliases, does not reach the next test."""
    config, ours = Path(TEMP_HOME, ".gitconfig"), Path(TEMP_HOME, ".config/gitindex")
    before, kept = config.read_bytes(), ours.exists()
    yield
    if config.read_bytes() != before:
        config.write_bytes(before)
    if not kept and ours.exists():
        shutil.rmtree(ours)


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    """An empty repository without hooks and without an index."""
    made = Repo(tmp_path / "repo")
    made.init()
    yield made
    stop_runners(tmp_path)


@pytest.fixture
def quiet(repo: Repo) -> Repo:
    """A repository with hooks, three files, a fresh index, and no runner alive."""
    repo.write("app.py", "import lib.util\n\n\ndef main():\n    return lib.util.helper()\n")
    repo.write("lib/util.py", "def helper():\n    return 42\n")
    repo.write("README.md", "# Title\n\nSome words.\n")
    repo.commit("first")
    repo.index()
    install(repo.worktree)
    return repo


@pytest.fixture
def indexed(quiet: Repo) -> Repo:
    """The same; by another name where the hooks and their runners are what is tested."""
    return quiet
