"""Setting agents up: `gitindex mcp install`, `gitindex agents-md`, the extra, and the documentation."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gitindex import __version__
from gitindex.base.extras import install_hint
from gitindex.cli.verbs.agents import SECTION
from gitindex.install.mcp_clients import CLIENTS, snippet
from gitindex.mcp.dispatch import content_of
from gitindex.mcp.question_tools import BY_NAME, TOOLS
from tests.mcp_client import Agent, Inside, make_quiet
from tests.mcp_docs import parameter_table
from tests.support import Repo

DOCS = Path(__file__).parents[3] / "docs"
PROJECT_CLIENTS = {
    "claude": "mcpServers",
    "cursor": "mcpServers",
    "vscode": "servers",
    "gemini": "mcpServers",
    "zed": "context_servers",
}
FILLED_IN = ["--repo", "${workspaceFolder}"]
ARGS = {
    "claude": ["mcp", "--text-only"],
    "cursor": ["mcp", *FILLED_IN],
    "vscode": ["mcp", *FILLED_IN],
    "gemini": ["mcp"],
    "zed": ["mcp"],
}
TEMPLATES = DOCS.parent / "templates"


def install(repo: Repo, client: str, *options: str, home: Path | None = None) -> str:
    env = {"HOME": str(home)} if home else {}
    done = repo.gitindex("mcp", "install", "--client", client, *options, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("client", PROJECT_CLIENTS)
def test_install_writes_merges_and_keeps_what_was(repo: Repo, client: str) -> None:
    path = repo.path / CLIENTS[client].file
    section = PROJECT_CLIENTS[client]
    assert "would write" in install(repo, client, "--dry-run")
    assert not path.exists()
    install(repo, client)
    entry = json.loads(path.read_text())[section]["gitindex"]
    assert entry["args"][-len(ARGS[client]) :] == ARGS[client]
    assert entry.get("type") == ("stdio" if client == "vscode" else None)
    theirs = {"other": 1, section: {"mine": {"command": "é"}, "gitindex": {"command": "old"}}}
    path.write_text(json.dumps(theirs, ensure_ascii=False))
    path.chmod(0o600)
    before = path.read_bytes()
    said = install(repo, client)
    merged = json.loads(path.read_text())
    assert (merged["other"], merged[section]["mine"]) == (1, {"command": "é"})
    assert merged[section]["gitindex"] == entry
    backup = path.with_name(path.name + ".before-gitindex")
    assert backup.read_bytes() == before
    assert backup.name in said
    assert {stat.S_IMODE(p.stat().st_mode) for p in (path, backup)} == {0o600}
    assert "unchanged" in install(repo, client)
    assert len(list(path.parent.glob("*before-gitindex*"))) == 1


def test_install_appends_to_codex_and_rewrites_nothing(repo: Repo, tmp_path: Path) -> None:
    path = tmp_path / ".codex" / "config.toml"
    path.parent.mkdir()
    theirs = "# mine\nmodel = 'x'\n\n[mcp_servers.other]\ncommand = \"y\"  # keep"
    path.write_text(theirs)
    install(repo, "codex", home=tmp_path)
    assert path.read_text().startswith(theirs)
    servers = tomllib.loads(path.read_text())["mcp_servers"]
    assert set(servers) == {"other", "gitindex"}
    assert "unchanged" in install(repo, "codex", home=tmp_path)
    path.write_text("[mcp_servers.gitindex]\ncommand = 'mine'\n")
    done = repo.gitindex("mcp", "install", "--client", "codex", env={"HOME": str(tmp_path)})
    assert (done.returncode, "--client print" in done.stderr) == (4, True)
    assert "mine" in path.read_text()
    done = repo.gitindex("mcp", "install", "--client", "codex", env={"CODEX_HOME": str(tmp_path)})
    assert (done.returncode, (tmp_path / "config.toml").exists()) == (0, True)


def test_without_a_command_on_the_path_our_own_python_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    for client in CLIENTS.values():
        told = snippet(client).decode()
        assert json.dumps(sys.executable) in told
        assert '"-m", "gitindex", "mcp"' in told


def test_an_editor_starts_the_server_anywhere_and_names_the_folder(tmp_path: Path) -> None:
    repo = make_quiet(Repo(tmp_path / "repo"))
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    with Agent(folder, tmp_path, "--repo", str(repo.path)) as agent:
        assert agent.ask("search_codebase", query="helper")["results"]
    with Agent(folder, tmp_path, *FILLED_IN) as agent:
        answer = agent.ask("search_codebase", query="helper")
        assert (answer["status"], "which codebase" in answer["message"]) == (
            "invalid_request",
            True,
        )


def test_clients_that_hide_the_text_are_given_nothing_else(tmp_path: Path) -> None:
    """Claude Code and Codex hand a model `structuredContent` in place of the text beside it."""
    repo = make_quiet(Repo(tmp_path / "repo"))
    for client in ("claude", "codex"):
        assert '"mcp", "--text-only"]' in snippet(CLIENTS[client]).decode()
    plugin = json.loads((TEMPLATES / "plugins/claude-code/.mcp.json").read_text())
    assert plugin["mcpServers"]["gitindex"]["args"] == ["mcp", "--text-only"]
    with Agent(repo.path, tmp_path, "--text-only") as agent:
        found = agent.call("find_symbols", name="helper")
        assert found.structured_content is None
        assert found.content[0].text == "lib/util.py:1  function def helper()"
        refused = agent.call("read_file", file="lib/nope.py")
        assert refused.structured_content is None
        remedy = {"tool": "search_codebase", "args": {"query": "nope.py"}}
        assert json.loads(refused.content[0].text)["hints"]["remedy"] == remedy


@pytest.mark.parametrize(
    "data", [b"{ // comment\n}", b"[]", b'{"mcpServers": []}', b"\xff", b"[" * 99_999]
)
def test_install_refuses_what_it_does_not_understand(repo: Repo, data: bytes) -> None:
    repo.write(".mcp.json", data)
    done = repo.gitindex("mcp", "install", "--client", "claude")
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
    assert (repo.path / ".mcp.json").read_bytes() == data
    assert os.listdir(repo.path) == [".git", ".mcp.json"] or len(os.listdir(repo.path)) == 2


def test_install_prints_all_snippets_and_knows_its_clients(repo: Repo) -> None:
    said = install(repo, "print")
    assert all(f"# {name}" in said for name in CLIENTS)
    done = repo.gitindex("mcp", "install", "--client", "emacs")
    assert (done.returncode, "claude" in done.stderr) == (2, True)


def test_it_needs_no_library_but_over_http(repo: Repo) -> None:
    code = (
        "import sys; gone = ('mcp', 'mcp_types', 'anyio', 'pydantic', 'starlette', 'uvicorn')\n"
        "sys.modules.update(dict.fromkeys(gone)); sys.argv = ['gitindex', 'mcp', *sys.argv[1:]]\n"
        "from gitindex.__main__ import main; sys.exit(main())"
    )

    def served(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code, *args],
            cwd=repo.path,
            input='{"jsonrpc":"2.0","id":1,"method":"ping"}\nno JSON\n',
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    done = served()
    assert (done.returncode, done.stderr) == (0, "")
    pong, *_ = done.stdout.splitlines()
    assert json.loads(pong) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    done = served("--http")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "gitindex: MCP over HTTP needs the extra `mcp`",
        f"  hint: {install_hint('mcp')}",
    ]


def test_agents_md_names_real_tools_and_is_in_the_docs(repo: Repo) -> None:
    said = repo.gitindex("agents-md").stdout
    assert said.strip() == SECTION.strip()
    named = set(re.findall(r"`([a-z]+_[a-z_]+)`", SECTION)) - {"not_ready", "not_indexed"}
    assert named <= BY_NAME.keys()
    assert SECTION.strip() in (DOCS / "agents.md").read_text()
    assert len(SECTION) < 1_200


def documented() -> dict[str, str]:
    """The section of each tool in docs/mcp.md."""
    text = (DOCS / "mcp.md").read_text()
    parts = re.split(r"^### `(\w+)`$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_documentation_has_the_live_schemas() -> None:
    sections = documented()
    assert list(sections) == [tool.name for tool in TOOLS]
    for tool in TOOLS:
        assert tool.question.tells in sections[tool.name], tool.name
        assert parameter_table(tool) in sections[tool.name], tool.name


def test_the_examples_of_the_documentation_work(tmp_path: Path) -> None:
    """Each request is sent as it stands; its answer has the fields that the page shows."""
    repo = make_quiet(Repo(tmp_path / "repo"))
    inside = Inside(os.path.realpath(repo.path), tmp_path)
    for name, section in documented().items():
        blocks = re.findall(r"^```json\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
        assert len(blocks) == 2, name
        request, shown = map(json.loads, blocks)
        answer = inside.ask(name, **request)
        [told] = re.findall(r"^```text\n(.*?)\n```$", section, re.MULTILINE | re.DOTALL)
        if name not in ("list_codebases", "manage_index"):  # they name this very folder
            assert content_of(BY_NAME[name], answer, BY_NAME[name].question.example) == told, name
        if name != "search_codebase":  # shown once
            answer.pop("freshness", None)
            answer.pop("receipt", None)
        assert fields_of(answer) == fields_of(shown), name


def fields_of(value: Any) -> Any:
    """The shape of an answer: names of fields, of a list its first item's."""
    if isinstance(value, dict):
        return {key: fields_of(item) for key, item in value.items()}
    if isinstance(value, list):
        return [fields_of(item) for item in value[:1]]
    return None


def test_a_server_started_by_hand_says_so_and_ends_at_once(tmp_path: Path) -> None:
    """Ctrl-C, and clients that send SIGINT first: nobody waits for another line of stdin."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "gitindex", "mcp"],
        cwd=tmp_path,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(theirs)
    assert process.stderr is not None
    assert "serving MCP" in process.stderr.readline()
    assert process.stdout is not None
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    os.write(ours, json.dumps(ping).encode() + b"\n")
    assert process.stdout.readline()  # it serves: whatever it says, its handlers are in place
    process.send_signal(signal.SIGINT)
    assert process.wait(300) == -signal.SIGINT
    os.close(ours)
    process.stdout.close()
    process.stderr.close()


def test_install_for_opencode_and_copilot(repo: Repo, tmp_path: Path) -> None:
    install(repo, "opencode")
    entry = json.loads((repo.path / "opencode.json").read_text())["mcp"]["gitindex"]
    assert (entry["type"], entry["command"][-1]) == ("local", "mcp")
    install(repo, "copilot", home=tmp_path)
    text = (tmp_path / ".copilot" / "mcp-config.json").read_text()
    entry = json.loads(text)["mcpServers"]["gitindex"]
    assert (entry["args"][-1], entry["tools"]) == ("mcp", ["*"])


def test_plugins_and_the_registry_entry_have_our_version_and_tools() -> None:
    registry = json.loads((TEMPLATES / "mcp" / "server.json").read_text())
    assert registry["version"] == registry["packages"][0]["version"] == __version__
    plugins = TEMPLATES / "plugins"
    for name in (
        "claude-code/.claude-plugin/plugin.json",
        "gemini-cli/gemini-extension.json",
    ):
        assert json.loads((plugins / name).read_text())["version"] == __version__, name
    skills = [*plugins.rglob("SKILL.md"), *plugins.rglob("GEMINI.md")]
    assert len(skills) == 2
    for skill in skills:
        named = set(re.findall(r"`([a-z]+_[a-z_]+)`", skill.read_text()))
        assert named <= BY_NAME.keys()
        assert "`explore`" in skill.read_text()
    for hooks in plugins.rglob("hooks.json"):
        [[command]] = [h["hooks"] for h in json.loads(hooks.read_text())["hooks"]["SessionStart"]]
        assert command["command"] == "gitindex agents-md 2>/dev/null || true"
