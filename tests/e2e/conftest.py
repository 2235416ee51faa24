"""One environment per hook manager for the whole run: building it is what costs."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitindex import __version__
from tests.support import TIMEOUT, Repo

ROOT = Path(__file__).resolve().parents[2]
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
TOOLS = ("pre-commit", "prek")
SAMPLE = ROOT / "templates/pre-commit-config.yaml"
ADDRESS = "ADDRESS"


@contextmanager
def shared_folder(factory: pytest.TempPathFactory, name: str) -> Iterator[Path]:
    """A folder of the whole run, held alone: the workers of xdist share what the first one builds."""
    base = factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / name
    folder.mkdir(exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """What a user's configuration names: this repository, as it is on disk, at a tag.

    Without its dependencies: the environments borrow those of this run, which saves a minute. The
    torture suite installs them for real.
    """
    with shared_folder(tmp_path_factory, "source") as folder:
        made = Repo(folder / "gitindex")
        if not made.path.exists():
            copy_checkout(made)
            text = (made.path / "pyproject.toml").read_text()
            text = re.sub(r"(?ms)^dependencies = \[.*?^\]", "dependencies = []", text)
            made.write("pyproject.toml", text)
            made.commit("release")
            made.git("tag", f"v{__version__}")
    return made


def copy_checkout(made: Repo, *more: str) -> None:
    """A repository with everything that an installation from git needs; not committed yet.

    `more` folders: `native/` makes an installation compile."""
    listed = Repo(ROOT).try_git("ls-files", "-z", "-co", "--exclude-standard")
    if listed.returncode:
        pytest.skip("not a git checkout")
    made.init()
    kept = ("hooks/", "gitindex/", "templates/", *more)
    for name in filter(None, listed.stdout.split("\0")):
        if (name.startswith(kept) or "/" not in name) and (ROOT / name).is_file():
            (made.path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, made.path / name)


@pytest.fixture(scope="session")
def hook_home(source: Repo, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The stores of both tools, with the environment of our ids in each."""
    with shared_folder(tmp_path_factory, "caches") as folder:
        found = {"PRE_COMMIT_HOME": str(folder / "pc"), "PREK_HOME": str(folder / "prek")}
        if not (folder / "built").exists():
            scratch = Repo(folder / "scratch")
            scratch.init()
            scratch.write(".pre-commit-config.yaml", sample(source))
            scratch.commit()
            for tool in TOOLS:
                _build(scratch, tool, found)
            _borrow_dependencies(folder)
            (folder / "built").touch()
    return found


def sample(source: Repo) -> str:
    """The shipped sample, with the address of our clone."""
    return SAMPLE.read_text().replace(ADDRESS, str(source.path))


def _build(scratch: Repo, tool: str, home: dict[str, str]) -> None:
    program = shutil.which(tool, path=PATH)
    if program is None:
        return
    verb = "install-hooks" if tool == "pre-commit" else "prepare-hooks"
    done = subprocess.run(
        [program, verb],
        cwd=scratch.path,
        env={**os.environ, **home, "PATH": PATH},
        capture_output=True,
        text=True,
        timeout=2 * TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _borrow_dependencies(folder: Path) -> None:
    borrowed = sysconfig.get_path("purelib") + "\n"
    places = [found.parent for found in folder.glob("p*/**/site-packages/gitindex")]
    assert len(places) == len([tool for tool in TOOLS if shutil.which(tool, path=PATH)]), places
    for place in places:
        (place / "borrowed.pth").write_text(borrowed)


@pytest.fixture
def env(hook_home: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The tools' stores, and our tools on PATH."""
    found = {**hook_home, "PATH": PATH}
    for name, value in found.items():
        monkeypatch.setenv(name, value)
    return found
