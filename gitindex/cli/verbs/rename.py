"""`gitindex rename`: preview or apply. A plain function that returns an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitindex.base.errors import Exit
from gitindex.base.escape import counted, safe_text
from gitindex.cli.printing import in_tree, print_answer
from gitindex.cli.progress import patience
from gitindex.cli.shown_path import named_place
from gitindex.cli.terminal import paint, say
from gitindex.view.tree import NOW, TreeView

if TYPE_CHECKING:
    from gitindex.edit.rename import RenameRequest


def rename(wanted: RenameRequest, path: str, apply: bool, as_json: bool) -> int:
    """Print the patch of a rename with its proof; with `apply`, write it if nothing blocks it."""
    from gitindex.edit.apply import apply_plan
    from gitindex.edit.rename import plan_rename

    wanted = wanted._replace(symbol=named_place(path, wanted.symbol))

    def question(view: TreeView) -> dict[str, Any]:
        with patience("following names"):
            plan = plan_rename(view, wanted)
        return apply_plan(view, plan) if apply else plan.answer

    def code(answer: dict[str, Any]) -> int:
        return int(Exit.NO if answer["blocked"] else Exit.OK)

    return print_answer(in_tree(path, NOW, question), as_json, _say, code)


def _say(answer: dict[str, Any]) -> None:
    for line in answer["patch"].splitlines():
        say(safe_text(line))
    for reason in answer["blocked"]:
        say(paint("dim", safe_text(f"? {reason}")))
    told = [f"{count} in {kind}" for kind, count in answer["mentions"].items()]
    apart = f"; not changed: mentions {', '.join(told)}" if told else ""
    places = counted(len(answer["places"]), "places")
    files = counted(len(answer["files"]), "files")
    if answer["applied"]:
        done = "renamed"
    else:
        done = "cannot be applied" if answer["blocked"] else "add --apply to write this"
    say(paint("dim", f"-- {places} in {files}; {done}{apart}"))
