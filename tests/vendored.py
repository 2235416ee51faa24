"""`python -m tests.vendored` fetches the page's JavaScript from npm by package name, and checks every sum.

`gitindex/web/static/vendor/lock.json` names packages, versions, tarball sums and the files that are
kept, each with its sum. `--update` writes the sums of what was fetched; review that like any change.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "gitindex" / "web" / "static" / "vendor"
LOCK = FOLDER / "lock.json"


def read_lock() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(LOCK.read_text())
    return found


def checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def fetch(package: dict[str, Any], update: bool) -> None:
    """Unpack the kept files of one package, after its tarball's sum was checked."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = f"{package['name']}@{package['version']}"
        command = ["npm", "pack", "--silent", "--pack-destination", folder, wanted]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=300)
        [tarball] = Path(folder).glob("*.tgz")
        found = checksum(tarball.read_bytes())
        if update:
            package["sha256"] = found
        if found != package["sha256"]:
            raise SystemExit(f"{wanted}: the tarball is {found}, expected {package['sha256']}")
        with tarfile.open(tarball) as opened:
            for file in package["files"]:
                member = opened.extractfile(f"package/{file['from']}")
                assert member is not None, file
                data = member.read()
                if update:
                    file["sha256"] = checksum(data)
                if checksum(data) != file["sha256"]:
                    raise SystemExit(f"{file['name']}: not the file of the lock")
                (FOLDER / file["name"]).write_bytes(data)
    print(f"{wanted}: {len(package['files'])} files")


def main(args: list[str]) -> int:
    update = "--update" in args
    packages = read_lock()
    for package in packages:
        fetch(package, update)
    if update:
        LOCK.write_text(json.dumps(packages, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
