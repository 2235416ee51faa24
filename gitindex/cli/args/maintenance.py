"""Commands that prove and tidy: verify, audit, gc."""

from __future__ import annotations

from typing import Annotated

from gitindex.cli.app import Json, Path, app, leave
from gitindex.cli.declare import argument, option


@app.command()
def verify(
    receipt: Annotated[
        str, argument(help="An answer's JSON, or its `receipt`; - to read it.")
    ] = "",
    path: Path = ".",
    full: Annotated[bool, option("--full", help="Extract every blob again, not a sample.")] = False,
    as_json: Json = False,
) -> None:
    """Derive the index again from git alone. Exit 0 if all of it holds, 1 if anything differs."""
    from gitindex.cli.verbs import maintenance as prove

    leave(prove.verify(path, receipt, full, as_json))


@app.command()
def audit(path: Path = ".", as_json: Json = False) -> None:
    """Index the published tree anew, elsewhere, and compare. Exit 0 if equal, 1 if not."""
    from gitindex.cli.verbs import maintenance as prove

    leave(prove.audit(path, as_json))


@app.command()
def gc(
    path: Path = ".",
    dry_run: Annotated[
        bool, option("--dry-run", help="Say what would go; change nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Remove facts that no worktree and no local branch needs. Forget worktrees that are gone."""
    from gitindex.cli.verbs import maintenance as prove

    leave(prove.gc(path, dry_run, as_json))
