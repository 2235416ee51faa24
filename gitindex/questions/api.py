"""`gitindex api`: what changed in the exported surface between two commits."""

from __future__ import annotations

import os

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import counted, path_fields, safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.ink import Note
from gitindex.questions.sarif import SarifResult, render_sarif
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, Row, question

if TYPE_CHECKING:
    from gitindex.base.worktree import Worktree
    from gitindex.query.impact.change import TreeChange
    from gitindex.query.impact.surface import SurfaceChange


def unchecked_fields(change: TreeChange) -> list[Row]:
    """Return the changed files that were not examined, each with the reason."""
    return [
        {**path_fields(os.fsencode(path)), "why": why}
        for path, why in sorted(change.unread.items())
    ]


def unchecked_lines(answer: Answer, ink: Ink) -> Lines:
    """Yield one line that names what was not examined; nothing if all was."""
    rows = answer.get("unchecked", ())
    if rows:
        shown = [f"{ink.path(row['path'])} {row['why']}" for row in rows[:5]]
        more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
        yield Note(f"not checked: {', '.join(shown)}{more}")


def ask(here: Here, params: Params) -> Answer:
    """Return every change of an exported name; `acceptable`: each incompatible one is announced."""
    from gitindex.query.impact.change import comparing, parse_range
    from gitindex.query.impact.surface import find_surface

    between = params["between"] or (f"{params['since']}..HEAD" if params["since"] else "")
    if not between and not params["staged"]:
        between = f"{last_tag(here.worktree)}..HEAD"
    pair = parse_range(between, params["staged"])
    with here.doing("comparing"), comparing(here.worktree, here.path, pair) as change:
        changes = find_surface(change)
        excused = excused_changes(params, change, changes)
        rows = api_rows(change, changes, excused)
        blocking = any(one.incompatible and one not in excused for one in changes)
        return change.after.view.envelope(
            between=between or "staged",
            api=rows,
            acceptable=not blocking,
            unchecked=unchecked_fields(change),
        )


def api_rows(
    change: TreeChange, changes: list[SurfaceChange], excused: set[SurfaceChange]
) -> list[Row]:
    """Return the JSON fields of each change, with a witness for those that are incompatible."""
    from gitindex.query.impact.surface import MAX_WITNESSES, witness_of

    rows, searched = [], 0
    for one in changes:
        row = _fields(one, one in excused)
        if one.incompatible:
            searched += 1
            witness = witness_of(change, one, searched <= MAX_WITNESSES)
            row["witness"] = witness.code
            row["callers"] = [
                {**path_fields(os.fsencode(c.path)), "line": c.line, "text": c.text}
                for c in witness.callers
            ]
            row["callersTotal"] = witness.total
        rows.append(row)
    return rows


def last_tag(worktree: Worktree) -> str:
    """Return the last release tag before HEAD."""
    from gitindex.git.command import try_git

    result = try_git(worktree.root, "describe", "--tags", "--abbrev=0", "HEAD")
    if result.returncode:
        raise GitIndexError("no tag to compare with", "give a range: A..B", Exit.USAGE)
    return os.fsdecode(result.output.strip())


def excused_changes(
    params: Params, change: TreeChange, changes: list[SurfaceChange]
) -> set[SurfaceChange]:
    """Return the incompatible changes that a version or a changelog announces."""
    from gitindex.query.impact.surface import added_news, allows_breaks, is_announced

    broken = [one for one in changes if one.incompatible]
    if not broken:
        return set()
    if params["require"] != "changelog" and allows_breaks(change, params["version_file"]):
        return set(broken)
    if params["require"] == "version":
        return set()
    news = added_news(change, params["changelog"])
    return {one for one in broken if is_announced(one, news)}


def _fields(one: SurfaceChange, excused: bool) -> Row:
    definition = one.definition
    return {
        "change": str(one.kind),
        "name": definition.name,
        "qualifiedName": definition.qualified,
        "kind": definition.kind,
        "language": one.language,
        **path_fields(os.fsencode(definition.path)),
        "line": definition.line + 1,
        "signature": definition.signature,
        **({"before": one.before} if one.before else {}),
        "incompatible": one.incompatible,
        **({"why": one.why} if one.why else {}),
        **({"announced": excused} if one.incompatible else {}),
    }


def code(answer: Answer, params: Params) -> int:
    """Return 1 with `check` for an incompatible change that nothing announces."""
    return 1 if params["check"] and not answer["acceptable"] else 0


def text(answer: Answer, ink: Ink) -> Lines:
    """Yield a line for each change, `!` before those that break callers."""
    rows = answer["api"]
    if ink.params.get("form") == "sarif":
        yield render_sarif([sarif_of_api(row) for row in rows])
        return
    for row in rows:
        yield from _row_lines(row, ink)
    count = sum(row["incompatible"] for row in rows)
    many = counted(len(rows), "exported names")
    yield ink.paint("dim", f"-- {many} changed, {count} incompatibly")
    if ink.params.get("check") and not answer["acceptable"]:
        yield "raise the version's first number (0.y: the second), or name what breaks in a changelog"
    yield from unchecked_lines(answer, ink)


def _row_lines(row: Row, ink: Ink) -> Lines:
    mark = "!" if row["incompatible"] else " "
    why = f": {row['why']}" if row.get("why") and row["change"] != "removed" else ""
    announced = ", announced" if row.get("announced") else ""
    place = ink.paint("path", ink.place(row))
    name = safe_text(row["qualifiedName"])
    yield f"{mark} {row['change']:<7} {name}{safe_text(why)}{announced}  {place}"
    if row["incompatible"] and not row["announced"]:
        yield from _witness_lines(row, ink)


def _witness_lines(row: Row, ink: Ink) -> Lines:
    """Yield a use that no longer works: from the tree if there is one, else the generated one."""
    for caller in row["callers"][:1]:
        more = f" and {row['callersTotal'] - 1} more" if row["callersTotal"] > 1 else ""
        code = ink.code(caller["text"], safe_text(row["name"]))
        yield f"          breaks {ink.place(caller)}: {code}{ink.paint('dim', more)}"
    if not row["callers"]:
        yield f"          breaks {safe_text('; '.join(row['witness'].splitlines()))}"


def sarif_of_api(row: Row) -> SarifResult:
    if row["change"] == "removed":
        rule = "api-removed"
    else:
        rule = "api-incompatible" if row["incompatible"] else f"api-{row['change']}"
    quiet = not row["incompatible"] or row.get("announced")
    message = f"{row['qualifiedName']}: {row.get('why') or row['change']}"
    if row.get("witness"):
        message += f"; breaks `{'; '.join(row['witness'].splitlines())}`"
    line = 1 if row["change"] == "removed" else row["line"]
    return SarifResult(rule, "note" if quiet else "error", message, row["path"], line)


TABLE = """
Change: api
  What changed in the exported surface: added, removed, signature changed.
    * | between = ..512 <[A..B]> | Two commits; the last tag and HEAD if left out.
    change
    --since | since <TAG> | A release: compare it with HEAD.
    --check | check flag | Exit 1 for an incompatible change that nothing announces.
    --require | require =any any/version/changelog | What announces one: version, changelog, or any of both.
    version_file
    changelog
    sarif
"""
QUESTION = question(TABLE, ask, text, code=code)
