"""`gitindex merge-check`, `api`, and `gate`, which hook managers run."""

from __future__ import annotations

from typing import Annotated

from typer import BadParameter

from gitindex.cli.app import Json, Path, among, app, leave
from gitindex.cli.declare import argument, option

FORMS = ("text", "json", "sarif")
Form = Annotated[
    str,
    option(
        "--format",
        help="text, json or sarif.",
        complete=among(*FORMS),
    ),
]


def _form(form: str, as_json: bool) -> str:
    if form not in FORMS:
        raise BadParameter(f"one of {', '.join(FORMS)}", param_hint="--format")
    return "json" if as_json else form


@app.command(hidden=True, context_settings={"ignore_unknown_options": True})
def gate(
    name: Annotated[str, argument(help="dangling, tests, …: see docs/install.md.")],
    args: Annotated[list[str] | None, argument(help="Options of the command.")] = None,
) -> None:
    """Run a check as a hook manager does: exit 1 is its no; a failure of its own never blocks."""
    from gitindex.cli.verbs.gates import run_gate

    leave(run_gate(name, args or []))


@app.command("merge-check")
def merge_check(
    branch: Annotated[
        str, argument(help="What to merge with HEAD; its upstream if left out.")
    ] = "",
    path: Path = ".",
    merging: Annotated[
        bool, option("--merging", help="Check the staged result of the merge under way.")
    ] = False,
    form: Form = "text",
    as_json: Json = False,
) -> None:
    """What a textually clean merge would break, in both directions. Exit 1 if anything."""
    from gitindex.cli.verbs import merges as commands

    leave(commands.merge_check(branch, path, merging, _form(form, as_json)))


@app.command("api")
def api(
    between: Annotated[
        str,
        argument(metavar="[A..B]", help="Two commits; the last tag and HEAD if left out."),
    ] = "",
    path: Path = ".",
    staged: Annotated[bool, option("--staged", help="Of what is staged, against HEAD.")] = False,
    check: Annotated[
        bool,
        option("--check", help="Exit 1 for an incompatible change that nothing announces."),
    ] = False,
    require: Annotated[
        str,
        option("--require", help="What announces one: version, changelog, or any of both."),
    ] = "any",
    version_file: Annotated[
        str, option("--version-file", help="The file that holds the version.")
    ] = "",
    changelog: Annotated[
        str, option("--changelog", help="The changelog; any that is called so if left out.")
    ] = "",
    form: Form = "text",
    as_json: Json = False,
) -> None:
    """What changed in the exported surface: added, removed, signature changed."""
    from gitindex.cli.verbs import surface as commands

    if require not in commands.REQUIRED:
        raise BadParameter(f"one of {', '.join(commands.REQUIRED)}", param_hint="--require")
    asked = commands.SurfaceRequest(
        between, staged, check, require, version_file, changelog, _form(form, as_json)
    )
    leave(commands.api(asked, path))
