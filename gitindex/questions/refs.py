"""`gitindex refs`, `find_references`: where a symbol is used, and whether that is all."""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.ink import certificate, last_name, missing, signature
from gitindex.questions.symbols import BELOW
from gitindex.questions.table import AT, BARE, SYMBOL, Question, Wire, choice, limit, option

if TYPE_CHECKING:
    from typing import Any

    from gitindex.base.answers import ReferencesAnswer
    from gitindex.questions.table import Answer, Here, Ink, Lines, Params


def ask(here: Here, params: Params) -> ReferencesAnswer:
    """Return every occurrence of the name, each in one class."""
    from gitindex.query.references import ReferenceQuery, find_references
    from gitindex.query.symbols import suggestions
    from gitindex.questions.here import add_lines

    query = ReferenceQuery(
        here.placed(params["symbol"]),
        params["role"],
        here.folder(params["below"]),
        params["limit"],
        params["mentions"],
        params["everything"],
    )
    with here.tree() as view, here.doing("following names"):
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


QUESTION = Question(
    "refs",
    "Where a symbol is used, and whether that is all.",
    (
        SYMBOL._replace(help="A name, or a place of it.", metavar="NAME|FILE:LINE:COL"),
        choice("--role", "role", "reference import", "Only reference or import.", "", wire=BARE),
        BELOW._replace(wire=Wire("within", "file or folder")),
        limit("References", 100, 1_000, 50),
        option("--mentions", "mentions", "List comments, strings and documents, too.", "flag"),
        option("--all", "everything", "List members of the name on other types, too.", "flag"),
        AT,
    ),
    ask,
    text,
    found="references possible",
    team=_team,
    tool="find_references",
    tells="Uses of a symbol with their code, surest first; says whether any may be missing.",
    listed=True,
    pages="references",
    reach=1_000,
    example={"symbol": "helper"},
)
