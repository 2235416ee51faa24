"""`gitindex rename`, `rename_symbol`: a patch with the proof of every place; or its application."""

from __future__ import annotations

from gitindex.base.escape import counted, safe_text
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, question

MAY_WRITE = "gitindex.mcp.write"
"""Only a user whose own configuration allows it lets an agent write."""


def ask(here: Here, params: Params) -> Answer:
    """Return the patch with its proof; with `apply`, write it if nothing blocks it."""
    from gitindex.edit.rename import RenameRequest, apply_plan, plan_rename

    included = tuple(map(here.placed, params["include"])), params["include_possible"]
    request = RenameRequest(here.placed(params["symbol"]), params["new"], *included)
    with here.tree() as view:
        with here.doing("following names"):
            plan = plan_rename(view, request, here.memories.binding)
        if not params["apply"]:
            return plan.answer
        if here.agent:
            from gitindex.git.settings import user_allows

            if not user_allows(view.worktree, MAY_WRITE):
                why = f"the user has not set {MAY_WRITE}=true in their own git configuration"
                return plan.answer | {"applies": False, "blocked": [*plan.blocked, why]}
        return apply_plan(view, plan)


def code(answer: Answer, _params: Params) -> int:
    """Return 1 if anything blocks it."""
    return 1 if answer["blocked"] else 0


def text(answer: Answer, ink: Ink) -> Lines:
    """Yield the patch, what blocks it, and the command that accepts that."""
    yield from map(safe_text, answer["patch"].split("\n")[:-1])
    for reason in answer["blocked"]:
        yield ink.paint("dim", safe_text(f"? {reason}"))
    for one in answer["assumes"]:
        assumption = f"! assumes no {one['assumption'].replace('_', ' ')}"
        places = counted(one["places"], "files")
        yield ink.paint("dim", safe_text(f"{assumption}: {places}, first {one['first']}"))
    places = counted(answer["changes"], "places")
    files = counted(len(answer["files"]), "files")
    yield ink.paint("dim", f"-- {places} in {files}{_left(answer)}; {_done(answer, ink)}")
    if answer["accept"]:
        yield safe_text(answer["accept"]) if ink.width else "includePossible: true"


def _left(answer: Answer) -> str:
    """Return what is not changed."""
    mentions = [f"{count} in {kind}" for kind, count in answer["mentions"].items()]
    left = f"; not changed: mentions {', '.join(mentions)}" if mentions else ""
    others = answer["accounted"]["unlikely"]
    if others:
        left += f"; {others} on other types {'is' if others == 1 else 'are'} left alone"
    return left


def _done(answer: Answer, ink: Ink) -> str:
    if answer["applied"]:
        return "renamed"
    if answer["accept"]:
        return "not applied; to accept the places above:"
    if answer["blocked"]:
        return "not applied"
    return "add --apply to write this" if ink.width else "apply writes this"


TABLE = """
Change: rename | tool=rename_symbol writes
  Rename a symbol or a module: a patch with the proof of every place.
  > Patch that renames a symbol or a FILE's module, with the proof of each place.
    * | symbol ..512 @names | CLASS.NAME, FILE#NAME, FILE:LINE:COL, or FILE for a module. | : NAME,
      + CLASS.NAME, FILE#NAME or FILE:LINE:COLUMN
    * | new ..256 | The new name. | newName:
    --apply | apply flag | Write the files, if nothing blocks it. | :
    --include | include texts <FILE:LINE> | Rename this possible place, too.
    --include-possible | include_possible flag | Rename all possible places, too. | includePossible
"""
QUESTION = question(TABLE, ask, text, code=code, example={"symbol": "helper", "newName": "assist"})
