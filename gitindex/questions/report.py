"""`gitindex report`: what a change reaches and breaks, as one text for a pull request."""

from __future__ import annotations

import os
import re

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import counted, path_fields, safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.api import (
    api_rows,
    excused_changes,
    sarif_of_api,
    unchecked_fields,
)
from gitindex.questions.sarif import SarifResult, render_sarif
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, Row, question

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitindex.query.impact.change import TreeChange

MARK = "<!-- gitindex report -->"
"""The first line of the text, by which CI finds the comment that it replaces."""
MAX_ROWS = 25
MAX_COMMAND = 2_000


def ask(here: Here, params: Params) -> Answer:
    """Return what a change reaches, what it breaks, what it changes for callers, and the tests to run."""
    from gitindex.query.impact.change import branch_range, comparing, parse_range

    between = params["between"] or branch_range(here.worktree)
    if not between:
        raise GitIndexError("there is no commit before HEAD", "give a range: A..B", Exit.USAGE)
    pair = parse_range(between, False)
    with here.doing("comparing"), comparing(here.worktree, here.path, pair) as change:
        return _answer(change, between, params)


def _answer(change: TreeChange, between: str, params: Params) -> Row:
    from gitindex.query.impact.dangling import find_dangling
    from gitindex.query.impact.reach import affected_tests, impact, runners_of
    from gitindex.query.impact.surface import find_surface

    dangling = find_dangling(change)
    surface = find_surface(change)
    excused = excused_changes(params, change, surface)
    tests = affected_tests(change)
    reached = impact(change, 2)
    commands = runners_of(change).commands({one.path: one.nodes for one in tests.tests})
    blocking = any(one.incompatible and one not in excused for one in surface)
    return change.after.view.envelope(
        between=between,
        changedFiles=reached["changedFiles"],
        changedSymbols=len(reached["changedSymbols"]),
        reached=reached["reached"],
        files=reached["files"],
        dangling=[one.fields() for one in dangling.sure],
        possible=[one.fields() for one in dangling.possible],
        api=api_rows(change, surface, excused),
        acceptable=not blocking,
        tests=[path_fields(os.fsencode(one.path))["path"] for one in tests.tests],
        commands=[one._asdict() for one in commands],
        unchecked=unchecked_fields(change),
        truncated=dangling.truncated
        or dangling.more > 0
        or tests.truncated
        or reached["truncated"],
    )


def code(answer: Answer, params: Params) -> int:
    """Return 1 with `check` if the change breaks something that nothing announces."""
    return int(params["check"] and bool(answer["dangling"] or not answer["acceptable"]))


def text(answer: Answer, ink: Ink) -> Lines:
    """Yield Markdown, or SARIF."""
    if ink.params.get("form") == "sarif":
        yield render_sarif([*_sarif(answer)])
        return
    yield MARK
    between = re.sub(r"\b([0-9a-f]{10})[0-9a-f]{30,}\b", r"\1", answer["between"])
    yield f"### gitindex: {_span(between)}"
    yield ""
    yield _summary(answer)
    yield from _dangling_lines(answer)
    yield from _api_lines(answer)
    yield from _reached_lines(answer)
    yield from _test_lines(answer)
    if answer["unchecked"]:
        rows = [f"{_span(row['path'])} {row['why']}" for row in answer["unchecked"][:MAX_ROWS]]
        yield from ("", "#### Not checked", "", *(f"- {row}" for row in rows))
    if answer["truncated"]:
        yield from ("", "A limit left something of this change out.")


def _summary(answer: Answer) -> str:
    broken = sum(row["incompatible"] and not row["announced"] for row in answer["api"])
    parts = [
        f"{counted(len(answer['changedFiles']), 'files')} changed",
        f"{counted(len(answer['dangling']), 'references')} left dangling",
        f"{counted(broken, 'incompatible API changes')} not announced",
        f"{counted(len(answer['tests']), 'test files')} to run",
    ]
    return ", ".join(parts) + "."


def _dangling_lines(answer: Answer) -> Lines:
    for title, key in (("What it breaks", "dangling"), ("What it may break", "possible")):
        places: dict[tuple[str, str, str], list[int]] = {}
        for row in answer[key]:
            places.setdefault((row["name"], row["missingFrom"], row["path"]), []).append(
                row["line"]
            )
        if places:
            yield from (
                "",
                f"#### {title}",
                "",
                "| gone | from | used in | lines |",
                "|---|---|---|---|",
            )
        for (name, missing, path), lines in list(places.items())[:MAX_ROWS]:
            listed = ", ".join(map(str, dict.fromkeys(lines[:8]))) + (
                " …" if len(lines) > 8 else ""
            )
            yield f"| {_span(name)} | {_span(missing)} | {_span(path)} | {listed} |"
        yield from _more([*places])


def _api_lines(answer: Answer) -> Lines:
    rows = sorted(answer["api"], key=lambda row: not row["incompatible"])
    if rows:
        yield from ("", "#### Exported names", "")
    for row in rows[:MAX_ROWS]:
        why = f": {_plain(row['why'])}" if row.get("why") and row["change"] != "removed" else ""
        mark = "**breaks callers**, " if row["incompatible"] and not row["announced"] else ""
        announced = ", announced" if row.get("announced") else ""
        place = _span(f"{row['path']}:{row['line']}")
        yield f"- {mark}{row['change']} {_span(row['qualifiedName'])}{why}{announced} ({place})"
        yield from _witness(row)
    yield from _more(rows)


def _witness(row: Row) -> Lines:
    if row.get("witness"):
        yield f"  - no longer works: {_span('; '.join(row['witness'].splitlines()))}"
    for caller in row.get("callers", ())[:3]:
        place = _span(f"{caller['path']}:{caller['line']}")
        yield f"  - used at {place}: {_span(caller['text'][:160])}"
    if row.get("callersTotal", 0) > 3:
        yield f"  - and {row['callersTotal'] - 3} more uses"


def _reached_lines(answer: Answer) -> Lines:
    rows = answer["reached"]
    if not rows and not answer["files"]:
        return
    symbols, files = counted(len(rows), "symbols"), counted(len(answer["files"]), "files")
    yield from (
        "",
        "#### What it reaches",
        "",
        f"{symbols} through calls, {files} through imports.",
    )
    if rows:
        yield from ("", "<details><summary>Symbols, the nearest first</summary>", "")
        for row in rows[:MAX_ROWS]:
            yield f"- {_span(row['qualifiedName'])} ({_span(row['path'] + ':' + str(row['line']))})"
        yield from (*_more(rows), "", "</details>")


def _test_lines(answer: Answer) -> Lines:
    yield from ("", "#### Tests to run", "")
    if not answer["tests"]:
        yield "No test reaches the change."
    elif not answer["commands"]:
        yield from (f"- {_span(path)}" for path in answer["tests"][:MAX_ROWS])
        yield from _more(answer["tests"])
    for one in answer["commands"]:
        where = f"cd {safe_text(one['root'])} && " if one["root"] else ""
        shown = (where + safe_text(one["command"])).replace("`", "'")
        cut = " …" if len(shown) > MAX_COMMAND else ""
        yield from ("```sh", shown[:MAX_COMMAND] + cut, "```")


def _more(rows: list[Any]) -> Lines:
    if len(rows) > MAX_ROWS:
        yield from ("", f"… and {len(rows) - MAX_ROWS} more.")


def _span(value: str) -> str:
    """Return text as code: whatever a repository has in names, nothing in it is read as Markdown."""
    shown = re.sub(r"\s+", " ", safe_text(value)).strip().replace("|", "\\|")
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    return f"{fence} {shown} {fence}" if "`" in shown else f"{fence}{shown}{fence}"


def _plain(value: str) -> str:
    """Return a sentence of ours, which has names in backticks, without other marks."""
    return re.sub(r"[<>|@\[\]\n]", " ", safe_text(value))


def _sarif(answer: Answer) -> Iterator[SarifResult]:
    for level, key in (("error", "dangling"), ("note", "possible")):
        for row in answer[key]:
            gone = f"{row['name']} is gone from {row['missingFrom']}"
            yield SarifResult("dangling-reference", level, gone, row["path"], row["line"])
    yield from map(sarif_of_api, answer["api"])


TABLE = """
Change: report
  What a change reaches and breaks, as one text for a pull request. References left dangling, exported
    + names with a use that breaks, and the tests to run.
    * | between = ..512 <[A..B]> | Two commits; what this branch changes if left out.
    --format | form =markdown markdown/json/sarif | markdown, json or sarif.
    --check | check flag | Exit 1 if it breaks something that nothing announces.
    --require | require =any any/version/changelog | What announces an incompatible change: version,
      + changelog, or any of both.
    version_file
    changelog
"""
QUESTION = question(TABLE, ask, text, code=code)
