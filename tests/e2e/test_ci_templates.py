"""What the GitHub Action and the GitLab job run, on a branch that breaks when it is merged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support import TIMEOUT, Repo

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def pull_request(repo: Repo) -> Repo:
    """HEAD is a branch that calls what main has renamed since, and removes an exported name."""
    repo.write("core.py", "def build():\n    return 1\n\n\ndef spare():\n    return 2\n")
    repo.write("use.py", "import core\n")
    repo.write("tests/test_use.py", "import use\n\n\ndef test_use():\n    assert use\n")
    repo.commit("base")
    repo.git("tag", "v1")
    repo.git("switch", "-qc", "topic")
    repo.write("use.py", "import core\n\nX = core.build()\n")
    repo.write("core.py", "def build():\n    return 1\n")
    repo.commit("call it")
    repo.git("switch", "-q", "main")
    repo.write("core.py", "def make():\n    return 1\n\n\ndef spare():\n    return 2\n")
    repo.commit("rename")
    repo.git("switch", "-q", "topic")
    return repo


@pytest.mark.parametrize(("fail_on", "code"), [("merge", 1), ("", 0), ("api", 1)])
def test_check(pull_request: Repo, tmp_path: Path, fail_on: str, code: int) -> None:
    out = tmp_path / "out"
    done = subprocess.run(
        ["sh", ROOT / "templates/ci/check.sh", Path(sys.executable).parent / "gitindex", out],
        cwd=pull_request.path,
        env={**os.environ, "CI": "true", "BASE": "main", "FAIL_ON": fail_on or "none"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "use.py:3: `build` is gone from core.py on their side" in done.stdout
    assert "! removed spare" in done.stdout
    rules = {}
    for name in ("merge", "api"):
        log = json.loads((out / f"{name}.sarif").read_text())
        rules[name] = {result["ruleId"] for result in log["runs"][0]["results"]}
    assert rules == {"merge": {"merge-break"}, "api": {"api-removed", "api-added"}}
    assert (out / "affected.txt").read_text() == "tests/test_use.py\n"


def test_the_files_are_what_their_readers_expect() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    assert all("uses" in step or "run" in step for step in action["runs"]["steps"])
    job = yaml.safe_load((ROOT / "templates/ci/gitlab.yml").read_text())["gitindex"]
    assert all(isinstance(line, str) for line in job["script"])
