"""Commands that share facts between clones."""

from __future__ import annotations

from typing import Annotated

from gitindex.cli.app import Json, Path, app, leave
from gitindex.cli.declare import VerbGroup, argument, option

packs = VerbGroup("pack", help="Signed packs of facts, for other clones.")
app.add_command(packs)

Rev = Annotated[str, option("--at", help="The commit whose facts are packed.")]
Key = Annotated[str, option("--sign", help="An SSH key; else gitindex.pack.key.")]
To = Annotated[str, option("--to", help="DEST; else gitindex.pack.dest of your own config.")]
From = Annotated[str, option("--from", help="DEST; else gitindex.pack.dest of your own config.")]


@packs.command("create")
def create(
    path: Path = ".",
    at: Rev = "HEAD",
    output: Annotated[str, option("-o", "--output", help="A file or a folder.")] = ".",
    key: Key = "",
    as_json: Json = False,
) -> None:
    """Write a pack of one commit: only what its tree needs, and nothing of other branches."""
    from gitindex.cli.verbs import packs as commands

    leave(commands.create(path, at, output, key, as_json))


@packs.command("push")
def push(
    path: Path = ".", at: Rev = "HEAD", to: To = "", key: Key = "", as_json: Json = False
) -> None:
    """Make the pack of a commit and put it at DEST: a folder or a git remote."""
    from gitindex.cli.verbs import packs as commands

    leave(commands.push(path, at, to, key, as_json))


@packs.command("pull")
def pull(path: Path = ".", source: From = "", as_json: Json = False) -> None:
    """Adopt the nearest pack of DEST and refresh. Exit 1: there is none of an ancestor."""
    from gitindex.cli.verbs import packs as commands

    leave(commands.pull(path, source, as_json))


@packs.command("list")
def list_(path: Path = ".", source: From = "", as_json: Json = False) -> None:
    """The packs at DEST, nearest to HEAD first. Exit 1: none."""
    from gitindex.cli.verbs import packs as commands

    leave(commands.list_packs(path, source, as_json))


@packs.command("verify")
def verify(
    file: Annotated[str, argument(help="A .gixp file.")],
    path: Path = ".",
    as_json: Json = False,
) -> None:
    """Check a pack's signature, members, schema and Merkle root; adopts nothing. Exit 4: refused."""
    from gitindex.cli.verbs import packs as commands

    leave(commands.verify(path, file, as_json))


@packs.command("check")
def check(path: Path = ".", as_json: Json = False) -> None:
    """Derive all facts that came with packs again now. Exit 1: some cannot be derived here."""
    from gitindex.cli.verbs import packs as commands

    leave(commands.check(path, as_json))
