"""`gitindex refs`, `find_references`: where a symbol is used, and whether that is all."""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.ink import certificate, last_name, missing, signature
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, question

if TYPE_CHECKING:
    from typing import Any

    from gitindex.base.answers import ReferencesAnswer


def ask(here: Here, params: Params) -> ReferencesAnswer:
    """Return every occurrence of the name, each in one class."""
    from gitindex.query.references import ReferenceQuery, find_references
    from gitindex.query.symbols import suggestions
    from gitindex.questions.here import add_lines, in_tree

    query = ReferenceQuery(
        here.placed(params["symbol"]),
        params["role"],
        here.folder(params["below"]),
        params["limit"],
        params["mentions"],
        params["everything"],
    )
    with here.tree() as view, here.doing("following names"):
        in_tree(view, query.path)
        answer = find_references(view, query, here.memories.binding)
        if not (answer["definitions"] or answer["references"] or answer["possible"]):
            answer["near"] = suggestions(view, params["symbol"])
        if here.agent:
            add_lines(view, answer["references"])  # type: ignore[arg-type]
        return answer


def text(answer: Answer, ink: Ink) -> Lines:
    """Yield the definitions, the references with their code, then the certificate."""
    if "near" in answer:
        yield missing(answer["name"], answer["near"])
        if not answer["accounted"]["total"]:
            return
    for row in answer["definitions"]:
        shown = signature(row["signature"] or row["name"], row["kind"])
        yield f"{ink.paint('path', ink.place(row))}  {ink.paint('kind', row['kind'])} {shown}"
    for relation, words in (("implements", "implements"), ("implementedBy", "implemented by")):
        for row in answer.get(relation, ()):
            place = ink.paint("path", ink.place(row))
            yield f"  {words} {place}  {safe_text(row['qualifiedName'])}"
    for row in answer["references"]:
        around = f" in {row['enclosing']}" if "enclosing" in row else ""
        kinds = " ".join(dict.fromkeys((row["tier"], row["use"])))  # no word twice
        how = ink.paint("dim", f"[{kinds}{safe_text(around)}]")
        place = f"{ink.place(row)}:{row['column']}" if ink.width else ink.place(row)
        yield f"  {ink.paint('path', place)}  {ink.code(row['text'], answer.get('name', ''))}  {how}"
    yield from certificate(answer, ink, len(answer["references"]), "references")


def _team(answer: Any, _params: Params) -> tuple[str, list[str]]:
    return "references", [last_name(answer["name"])]


TABLE = """
Explore: refs | found=references,possible tool=find_references listed pages=references reach=1000
  Where a symbol is used, and whether that is all.
  > Uses of a symbol with their code, surest first; says whether any may be missing.
    * | symbol ..512 <NAME|FILE:LINE:COL> @names | A name, or a place of it. | : NAME, CLASS.NAME,
      + FILE#NAME or FILE:LINE:COLUMN
    --role | role reference/import | Only reference or import. | :
    within
    --limit -m -n | limit integer =100 1..1000 | References at most. | =50 1..200:
    --mentions | mentions flag | List comments, strings and documents, too.
    --all | everything flag | List members of the name on other types, too.
    at
"""
QUESTION = question(TABLE, ask, text, team=_team, example={"symbol": "helper"})
