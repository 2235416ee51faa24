"""The VS Code extension: compiled, and asked through the protocol library of VS Code's own client."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import TIMEOUT, Repo

EXTENSION = Path(__file__).parents[3] / "editors" / "vscode"
OPTIONS = ("--no-audit", "--no-fund", "--loglevel=error")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("needs node and npm")
    folder = tmp_path_factory.mktemp("vscode") / "extension"
    kept = shutil.ignore_patterns("node_modules", "out")
    shutil.copytree(EXTENSION, folder, ignore=kept)
    done = subprocess.run(
        [npm, "install", *OPTIONS], cwd=folder, capture_output=True, timeout=TIMEOUT, check=False
    )
    if done.returncode:
        pytest.skip("npm's registry is not reached")
    compiled = subprocess.run(
        ["node_modules/.bin/tsc", "-p", "."], cwd=folder, capture_output=True, text=True
    )
    assert compiled.returncode == 0, compiled.stdout
    return folder


@pytest.mark.network
def test_the_extension_asks_the_real_server(built: Path, repo: Repo) -> None:
    repo.write("lib/__init__.py", "")
    repo.write("lib/util.py", "class Box:\n    pass\n\n\n\ndef helper():\n    return 42\n")
    repo.write("app.py", "from lib.util import helper\n\nhelper()\n")
    repo.commit()
    repo.index()
    done = subprocess.run(
        ["node", "test_client.js", sys.executable, str(repo.path)],
        cwd=built,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {"gitindex.ask", "gitindex.status"} <= set(found["commands"])
    assert found["status"]["text"] == "$(check) fresh"
    assert found["search"][0]["path"] == "lib/util.py"
    assert found["references"]["title"] == "2 references; all 3 occurrences accounted for"
    places = [row["description"] for row in found["references"]["items"]]
    assert places == ["app.py:1", "app.py:3"]
    assert found["absent"] == "nobody uses it: all 7 occurrences accounted for"


def test_every_command_of_the_manifest_is_registered() -> None:
    manifest = json.loads((EXTENSION / "package.json").read_text())
    source = (EXTENSION / "src" / "extension.ts").read_text()
    for command in manifest["contributes"]["commands"]:
        assert f'registerCommand("{command["command"]}"' in source
