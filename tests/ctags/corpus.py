"""Third-party sources per language, from npm and Debian. `python -m tests.ctags.corpus FOLDER` gets all."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

SECONDS = 240


class Source(NamedTuple):
    """Packages that carry sources of one language."""

    npm: tuple[str, ...] = ()
    debian: tuple[str, ...] = ()  # of the machine's own release: their versions vary


SOURCES = {
    "javascript": Source(npm=("lodash@4.17.21", "express@4.19.2", "preact@10.22.1")),
    "typescript": Source(npm=("rxjs@7.8.1", "zod@3.23.8", "expo-modules-core@1.12.19")),
    "typescript_compiler": Source(npm=("typescript@5.6.3",)),
    "go": Source(debian=("golang-github-gin-gonic-gin-dev",)),
    "rust": Source(debian=("librust-serde-dev", "librust-syn-dev")),
    "java": Source(npm=("react-native-svg@13.14.0", "react-native-reanimated@3.10.1")),
    "c": Source(npm=("usb@2.14.0",)),
    "cpp": Source(npm=("react-native-reanimated@3.10.1",), debian=("libfmt-dev",)),
    "csharp": Source(npm=("edge-js@23.1.1",)),
    "ruby": Source(debian=("ruby-activerecord", "ruby-activesupport", "ruby-rack")),
    "php": Source(debian=("php-guzzlehttp-guzzle", "php-guzzlehttp-psr7")),
    "kotlin": Source(npm=("expo-modules-core@1.12.19", "react-native-gesture-handler@2.16.2")),
    "bash": Source(debian=("bats", "live-build", "testssl.sh")),
    "lua": Source(debian=("lua-penlight",)),
}


def fetched(language: str) -> str | None:
    """The folder with a language's sources, fetched once per machine; None where they cannot be had."""
    source = SOURCES.get(language)
    if source is None:
        return None
    home = Path(tempfile.gettempdir(), f"gitindex-corpus-{os.getuid()}")
    home.mkdir(mode=0o700, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one worker fetches, the others wait
        folder = home / language
        done = folder / "done"
        if not done.exists() or done.read_text() != str(source):
            shutil.rmtree(folder, ignore_errors=True)
            try:
                fetch(source, folder)
            except (OSError, subprocess.SubprocessError):
                return None
            done.write_text(str(source))
    return str(folder)


def fetch(source: Source, folder: Path) -> None:
    """Downloads the packages and unpacks each into a folder of its own."""
    folder.mkdir(parents=True)
    if source.npm:
        _run(["npm", "pack", "-s", *source.npm], folder)
    if source.debian:
        _download(list(source.debian), folder)
    for path in folder.glob("*.tgz"):
        with tarfile.open(path) as archive:
            archive.extractall(folder / path.stem, filter="data")
    for path in folder.glob("*.deb"):
        _run(["dpkg", "-x", path.name, path.stem], folder)


def _download(packages: list[str], folder: Path) -> None:
    try:
        _run(["apt-get", "download", "-qq", *packages], folder)
    except subprocess.CalledProcessError:  # a new machine has no lists yet
        _run(["apt-get", "update", "-qq"], folder)
        _run(["apt-get", "download", "-qq", *packages], folder)


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=SECONDS)


if __name__ == "__main__":
    for name, wanted in SOURCES.items():
        fetch(wanted, Path(sys.argv[1], name))
