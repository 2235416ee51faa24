"""What the GitHub Action and the GitLab job run, on a branch that breaks when it is merged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.packs import SIGNER, Team
from tests.support import TIMEOUT, Repo, stop_runners

ROOT = Path(__file__).resolve().parents[3]


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
    report = (out / "report.md").read_text()
    assert report.startswith("<!-- gitindex report -->\n")
    assert "no longer works: `from core import spare`" in report
    assert "pytest tests/test_use.py" in report
    assert json.loads((out / "report.json").read_text())["acceptable"] is False
    assert (out / "affected.txt").read_text() == "tests/test_use.py\n"


GH = """#!/bin/sh
echo "$@" >>"$LOG"
case "$*" in *--paginate*) [ -z "$FOUND" ] || echo "$FOUND" ;; esac
exit $CODE
"""


@pytest.mark.parametrize(
    ("found", "code", "call", "said"),
    [
        ("", 0, "-X POST repos/o/r/issues/7/comments", "the report is on pull request 7"),
        ("12", 0, "-X PATCH repos/o/r/issues/comments/12", "the report is on pull request 7"),
        ("", 1, "--paginate", "no comment was posted"),
    ],
)
def test_one_comment(tmp_path: Path, found: str, code: int, call: str, said: str) -> None:
    gh, report, log = tmp_path / "bin/gh", tmp_path / "report.md", tmp_path / "log"
    gh.parent.mkdir()
    gh.write_text(GH)
    gh.chmod(0o755)
    report.write_text("<!-- gitindex report -->\n")
    told = {"GITHUB_REF": "refs/pull/7/merge", "GITHUB_REPOSITORY": "o/r", "LOG": str(log)}
    done = subprocess.run(
        ["sh", ROOT / "templates/ci/comment.sh", report],
        env={
            **os.environ,
            **told,
            "FOUND": found,
            "CODE": str(code),
            "PATH": f"{gh.parent}:{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert (done.returncode, said in done.stdout) == (0, True), done
    assert done.stdout.count("\n") == 1
    assert call in log.read_text()


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    made = Team(tmp_path)
    made.make()
    yield made
    stop_runners(tmp_path)


def _home(folder: Path, text: str) -> dict[str, str]:
    """The environment of a user who has nothing of gitindex configured but this."""
    folder.mkdir()
    (folder / ".gitconfig").write_text(
        f"{Path(os.environ['HOME'], '.gitconfig').read_text()}{text}"
    )
    return {**os.environ, "HOME": str(folder)}


def _signers(team: Team) -> str:
    return f"{SIGNER} {team.key.with_suffix('.pub').read_text()}".strip()


def test_a_job_starts_from_a_pack_and_pushes_the_next(team: Team, tmp_path: Path) -> None:
    dest = tmp_path / "packs"
    team.pack(dest)
    job = team.clone("job")
    job.write("pkg/later.py", "from pkg.base import lonely\n\nlonely()\n")
    job.commit("later")
    env = _home(tmp_path / "ci", f'[gitindex "pack"]\n\tkey = {team.key}\n')
    env |= {"CI": "true", "SEED": str(dest), "SIGNERS": _signers(team), "PUSH_PACK": "true"}
    program = Path(sys.executable).parent / "gitindex"
    done = subprocess.run(
        ["sh", ROOT / "templates/ci/check.sh", program, tmp_path / "out"],
        cwd=job.path,
        env=env,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert job.extracted() == 1, "the pack of the commit before leaves only the difference"
    assert len(list(dest.glob("*.gixp"))) == 2


def test_a_container_starts_from_a_pack(team: Team, tmp_path: Path) -> None:
    """The feature's own script, with another prefix, the user's configuration, and without pip."""
    dest, prefix = tmp_path / "packs", tmp_path / "usr"
    team.pack(dest)
    for name in ("share/gitindex", "bin"):
        (prefix / name).mkdir(parents=True)
    lines = (ROOT / "templates/devcontainer/gitindex/install.sh").read_text().splitlines()
    kept = [line for line in lines if "/venv" not in line]
    assert len(lines) - len(kept) == 3
    script = tmp_path / "install.sh"
    moved = "\n".join(kept).replace("/usr/local", str(prefix))
    script.write_text(moved.replace("git config --system", "git config --global"))
    (prefix / "bin/gitindex").symlink_to(Path(sys.executable).parent / "gitindex")
    env = _home(tmp_path / "user", "")
    env |= {"SEED": str(dest), "SIGNERS": _signers(team), "PATH": f"{prefix}/bin:{env['PATH']}"}
    clone = team.clone("container")
    for step in (script, prefix / "share/gitindex/seed.sh"):
        subprocess.run(["sh", step], cwd=clone.path, env=env, check=True, timeout=TIMEOUT)
    assert clone.state() == "fresh"
    assert clone.extracted() == 0


def test_the_files_are_what_their_readers_expect() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    assert all("uses" in step or "run" in step for step in action["runs"]["steps"])
    job = yaml.safe_load((ROOT / "templates/ci/gitlab.yml").read_text())["gitindex"]
    assert all(isinstance(line, str) for line in job["script"])
    told = next(step["env"] for step in action["runs"]["steps"] if step.get("id") == "check")
    assert {"SEED", "SIGNERS", "PUSH_PACK"} <= told.keys()
    feature = ROOT / "templates/devcontainer/gitindex/devcontainer-feature.json"
    assert {"seed", "signers"} <= json.loads(feature.read_text())["options"].keys()
