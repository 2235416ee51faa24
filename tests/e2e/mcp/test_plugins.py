"""Plugins and the registry's entry, as real clients install and start them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import ROOT
from tests.support import TIMEOUT, Repo

CLIENTS = os.environ.get("GITINDEX_CLIENTS", "")
"""Folder of the clients' commands, as `npm install` leaves them in `node_modules/.bin` (700 MB):
`npm install @anthropic-ai/claude-code @openai/codex @google/gemini-cli`."""
OURS = Path(sys.executable).parent
"""Where the plugins' command is: clients start the server by its name."""


def run(home: Path, client: str, *args: str) -> str:
    """Run a client with a home folder of its own, and return what it says."""
    found = shutil.which(client, path=f"{CLIENTS}:{os.environ['PATH']}")
    if found is None:
        pytest.skip(f"{client} is not installed; npm has it: set GITINDEX_CLIENTS")
    done = subprocess.run(
        [found, *args],
        cwd=ROOT,
        env={**os.environ, "HOME": str(home), "PATH": f"{OURS}{os.pathsep}{os.environ['PATH']}"},
        input="y\n" * 4,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_claude_code_installs_the_plugin_from_this_checkout(tmp_path: Path) -> None:
    assert "Validation passed" in run(tmp_path, "claude", "plugin", "validate", ".")
    run(tmp_path, "claude", "plugin", "marketplace", "add", str(ROOT))
    run(tmp_path, "claude", "plugin", "install", "gitindex@gitindex")
    assert "enabled" in run(tmp_path, "claude", "plugin", "list")
    assert "Connected" in run(tmp_path, "claude", "mcp", "list")


def test_codex_installs_the_same_plugin_and_lists_its_server(tmp_path: Path) -> None:
    run(tmp_path, "codex", "plugin", "marketplace", "add", str(ROOT))
    run(tmp_path, "codex", "plugin", "add", "gitindex@gitindex")
    listed = run(tmp_path, "codex", "mcp", "list")
    assert "mcp --text-only" in " ".join(listed.split())


def test_gemini_installs_the_extension(tmp_path: Path) -> None:
    folder = str(ROOT / "templates/plugins/gemini-cli")
    assert "validated" in run(tmp_path, "gemini", "extensions", "validate", folder)
    run(tmp_path, "gemini", "extensions", "install", "--consent", folder)
    assert "gitindex" in run(tmp_path, "gemini", "extensions", "list")


@pytest.mark.network
def test_the_registry_entry_starts_a_server_from_a_wheel(repo: Repo, tmp_path: Path) -> None:
    """`uvx` has what the server needs by the entry's own arguments."""
    build = ("-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path))
    env = {**os.environ, "GITINDEX_PURE": "1"}
    subprocess.run([sys.executable, *build, str(ROOT)], env=env, check=True, timeout=TIMEOUT)
    [wheel] = tmp_path.glob("*.whl")
    [package] = json.loads((ROOT / "templates/mcp/server.json").read_text())["packages"]
    options = [part for one in package["runtimeArguments"] for part in (one["name"], one["value"])]
    words = [one["value"] for one in package["packageArguments"]]
    uvx = Path(sys.executable).with_name(package["runtimeHint"])
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    process = subprocess.Popen(
        [uvx, *options, "--from", wheel, package["identifier"], *words],
        cwd=repo.path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        process.stdin.close()
    assert answer["result"]["serverInfo"]["name"] == "gitindex"
