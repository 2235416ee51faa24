"""Fetches pinned third-party packages from pip and npm: `python -m tests.syntax.corpus FOLDER`."""

from __future__ import annotations

import glob
import os
import subprocess
import sys
import tarfile
import zipfile

WHEELS = ("Django==5.0", "requests==2.32.3")
PACKAGES = (
    "lodash@4.17.21",
    "express@4.19.2",
    "preact@10.22.1",
    "rxjs@7.8.1",
    "zod@3.23.8",
    "expo-modules-core@1.12.19",
    "react-native@0.74.3",
)


def fetch(folder: str) -> None:
    """Downloads the packages and unpacks each into a folder of its own."""
    os.makedirs(folder, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*pip, "-d", folder, *WHEELS], check=True, timeout=600)
    subprocess.run(["npm", "pack", "-s", *PACKAGES], cwd=folder, check=True, timeout=600)
    for path in glob.glob(os.path.join(folder, "*.whl")):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(path.removesuffix(".whl"))
    for path in glob.glob(os.path.join(folder, "*.tgz")):
        with tarfile.open(path) as archive:
            archive.extractall(path.removesuffix(".tgz"), filter="data")


if __name__ == "__main__":
    fetch(sys.argv[1])
