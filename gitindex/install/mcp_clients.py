"""Registers `gitindex mcp` with MCP clients: merges an entry into their config, with a backup."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tomllib
from typing import Any, NamedTuple

from gitindex.base.atomic_file import FileAccess, read_small, write_atomic
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.locations import shipped_folder

NAME = "gitindex"


class Client(NamedTuple):
    """Where a client keeps its list of servers, and the snippet to add."""

    file: str  # below the work tree, or below the home folder if it starts with `~`
    snippet: str  # in templates/mcp
    variable: str = ""  # environment variable that names the folder of the file instead


CLIENTS = {
    "claude": Client(".mcp.json", "mcp.json"),
    "cursor": Client(".cursor/mcp.json", "cursor-mcp.json"),
    "vscode": Client(".vscode/mcp.json", "vscode-mcp.json"),
    "codex": Client("~/.codex/config.toml", "codex-config.toml", "CODEX_HOME"),
    "gemini": Client(".gemini/settings.json", "gemini-settings.json"),
    "zed": Client(".zed/settings.json", "zed-settings.json"),
    "opencode": Client("opencode.json", "opencode.json"),
    "copilot": Client("~/.copilot/mcp-config.json", "copilot-mcp-config.json"),
}
"""Claude Code and Codex start a server in the user's folder; editors start it anywhere and replace
`${workspaceFolder}` by the open folder."""


class ConfigChange(NamedTuple):
    """The change to one configuration file; `before` is None if there is no file yet."""

    path: str
    before: bytes | None
    after: bytes

    @property
    def is_needed(self) -> bool:
        return self.before != self.after


def snippet(client: Client) -> bytes:
    """Return the shipped snippet, with a command that works if `gitindex` is not on PATH."""
    data = read_small(os.path.join(shipped_folder("templates"), "mcp", client.snippet)) or b""
    if shutil.which(NAME):
        return data
    python = json.dumps(sys.executable).encode()
    data = data.replace(b'["gitindex", "mcp"', b"[" + python + b', "mcp"')
    data = data.replace(b'"command": "gitindex"', b'"command": ' + python)
    data = data.replace(b'command = "gitindex"', b"command = " + python)
    data = data.replace(b'["mcp"', b'["-m", "gitindex", "mcp"')
    return data.replace(python + b', "mcp"', python + b', "-m", "gitindex", "mcp"')


def plan_change(client: Client, root: str) -> ConfigChange:
    """Return what to write, without writing it. Refuses a file that it does not understand."""
    file = os.path.expanduser(client.file)
    if folder := os.environ.get(client.variable, ""):
        file = os.path.join(folder, os.path.basename(file))
    path = os.path.realpath(os.path.join(root, file))
    try:
        before = read_small(path)
    except OSError as error:
        raise GitIndexError(f"cannot read {safe_text(path)}: {error.strerror}") from error
    merge = _merge_toml if path.endswith(".toml") else _merge_json
    try:
        after = merge(before or b"", snippet(client))
    except (ValueError, RecursionError) as error:
        raise GitIndexError(
            f"{safe_text(path)} was left alone: {safe_text(str(error))}",
            "add the entry by hand: `gitindex mcp install --client print`",
        ) from error
    return ConfigChange(path, before, after)


def apply_change(change: ConfigChange) -> str:
    """Write the file; return the backup's path, or an empty string if there was no file before."""
    os.makedirs(os.path.dirname(change.path), exist_ok=True)
    backup, mode = "", 0o644
    if change.before is not None:
        backup, mode = _free(f"{change.path}.before-gitindex"), os.stat(change.path).st_mode & 0o777
        write_atomic(backup, change.before, access=FileAccess(mode))
    write_atomic(change.path, change.after, access=FileAccess(mode))
    return backup


def _free(path: str) -> str:
    name, count = path, 1
    while os.path.lexists(name):
        count += 1
        name = f"{path}.{count}"
    return name


def _merge_json(before: bytes, ours: bytes) -> bytes:
    entry: dict[str, Any] = json.loads(ours)
    [section] = entry
    known = json.loads(before) if before.strip() else {}
    if not isinstance(known, dict) or not isinstance(known.get(section, {}), dict):
        raise ValueError(f"no object with `{section}`")
    servers = known.setdefault(section, {})
    if servers.get(NAME) == entry[section][NAME]:
        return before
    servers[NAME] = entry[section][NAME]
    return json.dumps(known, indent=2, ensure_ascii=False).encode() + b"\n"


def _merge_toml(before: bytes, ours: bytes) -> bytes:
    """Append our table: nothing of a hand-edited file is rewritten."""
    known = tomllib.loads(before.decode())
    expected = tomllib.loads(ours.decode())["mcp_servers"][NAME]
    there = known.get("mcp_servers", {}).get(NAME)
    if there == expected:
        return before
    if there is not None:
        raise ValueError(f"has another [mcp_servers.{NAME}]")
    gap = b"" if not before else b"\n" if before.endswith(b"\n") else b"\n\n"
    after = before + gap + ours
    tomllib.loads(after.decode())
    return after


def find_client(name: str) -> Client:
    """Return a client by its name."""
    if name not in CLIENTS:
        raise GitIndexError(
            f"unknown client: {safe_text(name)}", f"one of {', '.join(CLIENTS)}, print", Exit.USAGE
        )
    return CLIENTS[name]
