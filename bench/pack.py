"""Packs against a first index: `python -m bench.pack REPO…`, CPU seconds of every process."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


def main(repos: list[str]) -> int:
    """Measure each repository, given by path; one JSON line each."""
    for repo in repos:
        with tempfile.TemporaryDirectory(prefix="gitindex-pack-") as folder:
            print(json.dumps(measure(Path(repo), Path(folder))), flush=True)
    return 0


def measure(repo: Path, folder: Path) -> dict[str, Any]:
    """A first index, a pack of it, and a second clone that adopts the pack."""
    home = _home(folder)
    first, second = folder / "first", folder / "second"
    for target in (first, second):
        subprocess.run(["git", "clone", "-q", str(repo), str(target)], check=True)
    told: dict[str, Any] = {"repo": repo.name}
    told["firstIndex"] = _cpu(first, home, "index")
    dest = folder / "dest"
    dest.mkdir()
    # The first one also derives the scopes that an idle runner would have derived by then.
    told["createWithScopes"] = _cpu(first, home, "pack", "create", "-o", str(dest))
    told["create"] = _cpu(first, home, "pack", "create", "-o", str(dest))
    pack = next(dest.glob("*.gixp"))
    told["packBytes"] = pack.stat().st_size
    told["textBytes"] = _text_bytes(first)
    told["adopt"] = _cpu(second, home, "pack", "pull", "--from", str(dest))
    hub = folder / "hub.git"
    subprocess.run(["git", "init", "-q", "--bare", str(hub)], check=True)
    told["files"] = len(subprocess.check_output(["git", "-C", str(first), "ls-files"]).split(b"\n"))
    jobs = json.loads(_output(second, home, "jobs", "--json"))["jobs"]
    told["extracted"] = sum(job["extracted"] for job in jobs)
    told["state"] = _output(second, home, "status", "--short").strip()
    shutil.rmtree(hub)
    return told


def _home(folder: Path) -> Path:
    """A configuration whose signer is known; verification in the background is kept out of the way."""
    home = folder / "home"
    home.mkdir()
    key = folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    allowed = folder / "allowed"
    allowed.write_text(f"bench@example.com {key.with_suffix('.pub').read_text()}")
    text = f'[gitindex "pack"]\n\tkey = {key}\n\tsigners = {allowed}\n'
    (home / ".gitconfig").write_text(text)
    return home


def _cpu(repo: Path, home: Path, *args: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _output(repo, home, *args)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return round(used, 2)


def _output(repo: Path, home: Path, *args: str) -> str:
    command = [sys.executable, "-m", "gitindex", *args]
    env = {**os.environ, "HOME": str(home)}
    return subprocess.run(
        command, cwd=repo, env=env, check=True, capture_output=True, text=True
    ).stdout


def _text_bytes(repo: Path) -> int:
    listed = subprocess.check_output(["git", "-C", str(repo), "ls-files", "-z"]).split(b"\0")
    paths = (repo / os.fsdecode(name) for name in listed if name)
    return sum(path.stat().st_size for path in paths if path.is_file() and not path.is_symlink())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
