"""Commands for agents: the MCP server and its set-up."""

from __future__ import annotations

from typing import Annotated

from gitindex.cli.app import Path, among, app, leave
from gitindex.cli.declare import get_current_context, option


@app.group("mcp", short_help="The MCP server, for agents.", invoke_without_command=True)
def mcp(
    path: Path = ".",
    http: Annotated[
        bool, option("--http", help="Serve many clients over HTTP on loopback, with a token.")
    ] = False,
    port: Annotated[
        int, option("--port", min=0, max=65535, help="With --http; 0 for any free one.")
    ] = 0,
    text_only: Annotated[
        bool,
        option("--text-only", help="For clients that show a model the JSON in place of the text."),
    ] = False,
) -> None:
    """Serve agents over stdin and stdout (MCP), or over HTTP on loopback."""
    if get_current_context().invoked_subcommand is None:
        from gitindex.cli.verbs import agents as commands

        commands.check_extra()
        if http:
            from gitindex.mcp.http_server import serve_http

            leave(serve_http(path, port, text_only))
        commands.greet_people()
        from gitindex.mcp.server import serve_stdio

        leave(serve_stdio(path, text_only))


@mcp.command("install")
def install_client(
    client: Annotated[
        str,
        option(
            "--client",
            help="claude, codex, cursor, vscode, gemini, zed, opencode, copilot, or print.",
            complete=among(
                "claude",
                "codex",
                "cursor",
                "vscode",
                "gemini",
                "zed",
                "opencode",
                "copilot",
                "print",
            ),
        ),
    ],
    path: Path = ".",
    dry_run: Annotated[
        bool, option("--dry-run", help="Show what would be written, and write nothing.")
    ] = False,
) -> None:
    """Add the server to a client's configuration; the file as it was is kept beside it."""
    from gitindex.cli.verbs import agents as commands

    leave(commands.install_client(client, path, dry_run))


@app.command()
def lsp() -> None:
    """The language server, for editors."""
    from gitindex.cli.verbs import agents as commands

    leave(commands.serve_editor())


@app.command("agents-md")
def agents_md() -> None:
    """Print a short section for AGENTS.md or CLAUDE.md."""
    from gitindex.cli.verbs import agents as commands

    leave(commands.agents_md())
