"""`make release` in a scratch repository: what it builds, what it tags, and when it tags nothing."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from gitindex import __version__
from tests.e2e.conftest import ROOT, copy_checkout
from tests.support import TIMEOUT, Repo

VENV = Path(sys.executable).parent.parent
AARCH64 = "manylinux_2_17_aarch64"
ADDRESS = "https://example.org/gitindex"
ELF_AARCH64 = b"\xb7\x00"  # e_machine of an ELF header


def make(repo: Repo, *wanted: str) -> subprocess.CompletedProcess[str]:
    """Run make with the environment that runs this test, which is taken for installed."""
    argv = ["make", f"VENV={VENV}", "--old-file", f"{VENV}/.installed", *wanted]
    env = {**os.environ, "GITINDEX_ADDRESS": ADDRESS}
    return subprocess.run(
        argv, cwd=repo.path, env=env, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )


def test_u18_a_release_is_built_checked_and_tagged(tmp_path: Path) -> None:
    made = Repo(tmp_path / "checkout")
    copy_checkout(made, "native/")
    made.commit("everything")
    done = make(made, "release", f"PLATFORMS={AARCH64}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"tagged v{__version__}; now: git push origin v{__version__}" in done.stdout
    dist = made.path / "dist"
    wheel, sdist = f"gitindex-{__version__}-py3-none-any.whl", f"gitindex-{__version__}.tar.gz"
    compiled = f"gitindex-{__version__}-cp311-abi3-{AARCH64}.whl"
    made_files = {wheel, compiled, sdist}
    assert {path.name for path in dist.iterdir()} == {*made_files, "NOTES.md", "SHA256SUMS"}
    sums = dict(line.split()[::-1] for line in (dist / "SHA256SUMS").read_text().splitlines())
    assert sums == {
        name: hashlib.sha256((dist / name).read_bytes()).hexdigest() for name in made_files
    }
    with zipfile.ZipFile(dist / wheel) as archive:
        metadata = archive.read(f"gitindex-{__version__}.dist-info/METADATA").decode()
        assert f"\nVersion: {__version__}\n" in metadata
        assert f"\nProject-URL: Source, {ADDRESS}\n" in metadata
        assert not [name for name in archive.namelist() if name.endswith(".so")]
    with zipfile.ZipFile(dist / compiled) as archive:
        (library,) = (name for name in archive.namelist() if name.endswith(".so"))
        assert archive.read(library)[:20].endswith(ELF_AARCH64)
    shown = subprocess.run(
        [VENV / "bin" / "auditwheel", "show", dist / compiled], capture_output=True, text=True
    )
    assert f'platform tag: "{AARCH64}"' in " ".join(shown.stdout.split()), shown
    with tarfile.open(dist / sdist) as sources:
        held = {name.partition("/")[2] for name in sources.getnames()}
    assert {"hatch_build.py", "hooks/event.sh", "gitindex/__main__.py", "LICENSE"} <= held

    notes = (dist / "NOTES.md").read_text()
    assert notes.startswith(f"## {__version__}\n")
    assert "## Unreleased" not in notes
    assert made.git("tag", "--list").split() == [f"v{__version__}"]
    told = made.git("for-each-ref", "--format=%(objecttype)%0a%(contents)", "refs/tags")
    assert told.split() == ["tag", *notes.split()]  # headings are not taken for comments

    assert f"v{__version__} is tagged already" in make(made, "tag").stdout
    made.git("tag", "--delete", f"v{__version__}")
    made.write("README.md", "edited\n")
    assert "not tagged: there are uncommitted changes" in make(made, "tag").stdout
    assert made.git("tag", "--list") == ""


def test_a_version_without_notes_is_not_released(tmp_path: Path) -> None:
    recipe = subprocess.run(
        ["make", "--dry-run", "dist", "VERSION=9.9.9", f"VENV={VENV}", "-o", f"{VENV}/.installed"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=True,
    ).stdout
    steps = "\n".join(line for line in recipe.splitlines() if line.startswith(("awk", "test -s")))
    (tmp_path / "dist").mkdir()
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 9.9.90\n\n- not this one\n")
    done = subprocess.run(
        ["sh", "-ec", steps], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "CHANGELOG.md has no section 9.9.9\n")
