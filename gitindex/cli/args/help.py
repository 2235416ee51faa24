"""`gitindex help` and `gitindex completion`."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from gitindex.cli.app import among, app, leave
from gitindex.cli.declare import UsageError, VerbGroup, argument, get_current_context, option

SHELLS = ("bash", "zsh", "fish")


@app.command("help")
def help_(
    command: Annotated[list[str] | None, argument(help="A command; all if left out.")] = None,
    man: Annotated[bool, option("--man", help="As a manual page.")] = False,
) -> None:
    """Explain a command."""
    if man:
        from gitindex.cli.manual import show_page

        leave(show_page(command or []))
    context = get_current_context()
    here = context.parent
    assert here is not None
    found = here.command
    for name in command or []:
        inner = found.get_command(here, name) if isinstance(found, VerbGroup) else None
        if inner is None:
            raise UsageError(f"no such command: {name}", here)
        here, found = typer.Context(inner, info_name=name, parent=here), inner
    typer.echo(found.get_help(here))


@app.command()
def completion(
    shell: Annotated[str, argument(help="bash, zsh or fish.", complete=among(*SHELLS))],
) -> None:
    """Print what a shell needs to complete commands, options, symbols and paths.

    \b
    bash, in ~/.bashrc:  source <(gitindex completion bash)
    zsh, in ~/.zshrc:    source <(gitindex completion zsh)   # after compinit
    fish:                gitindex completion fish > ~/.config/fish/completions/gitindex.fish
    """
    from gitindex.base.shipped import shipped_folder

    if shell not in SHELLS:
        raise typer.BadParameter(f"one of {', '.join(SHELLS)}", param_hint="SHELL")
    script = os.path.join(shipped_folder("templates"), "completion", f"gitindex.{shell}")
    with open(script, encoding="utf-8") as file:
        typer.echo(file.read(), nl=False)
