"""A file system without flock (NFS without locks, some FUSE): one clear line, and nothing is damaged."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from gitindex.maintenance.verify import verify
from tests.support import TIMEOUT, Repo

COMPILER = shutil.which("cc")
SHIM = """#include <errno.h>
#include <stdlib.h>
int flock(int fd, int operation) {
    const char *mode = getenv("FAULT_FLOCK");
    (void)fd, (void)operation;
    if (!mode || *mode == '3') return 0;
    errno = *mode == '1' ? ENOLCK : EOPNOTSUPP;
    return -1;
}
"""


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("mode", ["1", "2", "3"], ids=["ENOLCK", "EOPNOTSUPP", "always granted"])
def test_a14_without_flock_one_clear_line(repo: Repo, tmp_path: Path, mode: str) -> None:
    assert COMPILER is not None
    source, shim = tmp_path / "shim.c", tmp_path / "shim.so"
    source.write_text(SHIM)
    command = [COMPILER, "-shared", "-fPIC", "-o", str(shim), str(source)]
    subprocess.run(command, timeout=TIMEOUT, check=True)
    repo.write("a.py", "def alpha(): pass\n")
    repo.commit()
    env = {"FAULT_FLOCK": mode, "LD_PRELOAD": str(shim)}
    done = repo.gitindex("index", env=env)
    assert done.returncode == 4
    lines = done.stderr.splitlines()
    assert lines[0] == "gitindex: the file system of .git/gitindex does not lock files (flock)"
    assert lines[1:] == [
        "  hint: move the repository to a local disk, or mount this one with locks"
    ]
    assert repo.gitindex("grep", "alpha", env=env).returncode in (0, 3, 4)
    repo.index()
    assert verify(repo.worktree, ".", full=True)["verified"]
