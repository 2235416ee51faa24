"""`gitindex dead`, `find_dead_code`: definitions that nobody uses, with proof."""

from __future__ import annotations

import os

from gitindex.base.escape import counted, path_fields, safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.ink import Note
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, Row, question

if TYPE_CHECKING:
    from gitindex.query.dead import Dead


def ask(here: Here, params: Params) -> Answer:
    """Return the definitions that are proven to be unused, and the patch that removes them."""
    from gitindex.query.dead import DeadQuery, RemovalPatch, find_dead
    from gitindex.query.names.finder import Finder
    from gitindex.questions.here import in_tree

    with here.tree() as view, here.doing("following names"):
        below = in_tree(view, here.folder(params["below"]))
        query = DeadQuery(below, params["public"], params["sure"])
        finder = Finder(view)
        findings = find_dead(view, query, finder)
        shown = findings.found[: params["limit"]]
        fields: Row = {
            "dead": [_fields(one) for one in shown],
            "examined": findings.examined,
            "truncated": findings.truncated or len(findings.found) > len(shown),
            "total": len(findings.found),
        }
        if params["patch"]:
            patch = RemovalPatch(finder.project, [one.definition for one in shown])
            fields["patch"] = patch.text
            fields["notRemoved"] = [f"{safe_text(d.path)}#{d.qualified}" for d in patch.left]
        return view.envelope(**fields)


def _fields(one: Dead) -> Row:

    definition, proof = one.definition, one.proof
    fields: Row = {
        "name": definition.name,
        "qualifiedName": definition.qualified,
        "kind": definition.kind,
        **path_fields(os.fsencode(definition.path)),
        "line": definition.line + 1,
        "endLine": definition.end_line + 1,
        "accounted": proof.counts,
        "assumes": [assumed.fields() for assumed in proof.assumes],
    }
    return fields | ({"group": one.group} if one.group else {})


def text(answer: Answer, ink: Ink) -> Lines:
    """Yield each definition with its proof, or the patch; then how much was examined."""
    if "patch" in answer:
        yield from answer["patch"].split("\n")[:-1]
        for name in answer["notRemoved"]:
            yield Note(f"not in the patch: {name}")
        return
    for row in answer["dead"]:
        total = counted(row["accounted"]["total"], "occurrences")
        group = f", group {row['group']}" if "group" in row else ""
        kind = ink.paint("kind", row["kind"])
        proof = ink.paint("dim", f"all {total} accounted for{group}")
        yield f"{ink.paint('path', ink.place(row))}  {kind} {safe_text(row['qualifiedName'])}  {proof}"
    shown = f"{answer['total']} of {counted(answer['examined'], 'definitions')} examined: unused"
    broken = {
        one["assumption"].replace("_", " ") for row in answer["dead"] for one in row["assumes"]
    }
    assumes = f"; assumes no {' and '.join(sorted(broken))}" if broken else ""
    yield ink.paint("dim", f"-- {shown}{assumes}")


TABLE = """
Change: dead | found=dead tool=find_dead_code
  Definitions that nobody uses, each with its proof. Exit 0 if there are any, 1 if none.
  .
  Tests, entry points and what others may import are left out; --public reports exported
  definitions, too. --patch prints the removal as a diff and applies nothing.
  > Definitions that nobody uses, only where that is proven.
    within
    --public | public flag | Report exported definitions, too. | same
    --patch | patch flag | Print the removal as a diff for `git apply`.
    --assume-nothing | sure flag | A broken assumption is a doubt: leave those out.
    --limit -m -n | limit integer =200 1..4000 | Definitions at most. | =50 1..200:
    at
"""
QUESTION = question(TABLE, ask, text)
