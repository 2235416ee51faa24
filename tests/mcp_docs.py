"""Writes the tools' part of docs/mcp.md from the live table and live answers: `python -m tests.mcp_docs`."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from gitindex.mcp.arguments import input_schema
from gitindex.mcp.dispatch import McpTool, content_of
from gitindex.mcp.question_tools import TOOLS
from tests.pages import with_generated

PAGE = Path(__file__).parents[1] / "docs" / "mcp.md"
SHOWN_ROOT = "/work/shop"


def parameter_table(tool: McpTool) -> str:
    """The tool's arguments as the page has them."""
    lines = ["| argument | type | default | |", "|---|---|---|---|"]
    shown = input_schema(tool.params)["properties"]
    for param in tool.params:
        if param.name not in shown:
            continue
        kind = " \\| ".join(param.choices) if param.choices else shown[param.name]["type"]
        if param.kind == "integer":
            kind += f" {param.least}–{param.most}"
        elif not param.choices and kind == "string":
            kind += f" ≤ {param.most}"
        default = "required" if param.default is None else param.default or ""
        lines.append(f"| `{param.name}` | {kind} | {default} | {param.help} |")
    return "\n".join(lines)


def section(tool: McpTool, request: dict[str, Any], answer: dict[str, Any], root: str) -> str:
    """What the page says of one tool."""
    text = content_of(tool, answer, tool.question.example).replace(root, SHOWN_ROOT)
    shown = {k: v for k, v in answer.items() if k not in ("freshness", "receipt")}
    body = json.dumps(
        _short(answer if tool.name == "search_codebase" else shown, root),
        indent=1,
        ensure_ascii=False,
    )
    body = re.sub(r"\{\s*([^{}\[\]]{0,100}?)\s*\}", _one_line, body)
    blocks = (
        f"```json\n{json.dumps(request)}\n```\n\n```text\n{text}\n```\n\n```json\n{body}\n```\n"
    )
    return f"### `{tool.name}`\n\n{tool.question.tells}\n\n{parameter_table(tool)}\n\n{blocks}"


def main() -> None:
    """Ask every tool its example and write the page."""
    import tests.conftest  # noqa: F401 - a home of its own
    from tests.mcp_client import Inside, make_quiet
    from tests.support import Repo

    folder = Path(tempfile.mkdtemp())
    repo = make_quiet(Repo(folder / "repo"))
    root = os.path.realpath(repo.path)
    inside = Inside(root, folder)
    sections = [
        section(tool, given, inside.ask(tool.name, **given), root)
        for tool in TOOLS
        for given in [tool.question.example]
    ]
    PAGE.write_text(with_generated(PAGE.read_text(), "\n".join(sections)))


def _short(value: Any, root: str) -> Any:
    if isinstance(value, str):
        value = re.sub(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "2026-01-31T09:00:00Z", value)
        return re.sub(r"\b([0-9a-f]{12})[0-9a-f]{28}\b", r"\1", value.replace(root, SHOWN_ROOT))
    if isinstance(value, dict):
        return {name: _short(item, root) for name, item in value.items()}
    return [_short(item, root) for item in value[:2]] if isinstance(value, list) else value


def _one_line(found: re.Match[str]) -> str:
    return "{" + re.sub(r"\s*\n\s*", " ", found[1]) + "}"


if __name__ == "__main__":
    main()
