"""`gitindex refs`, `find_references`: where a symbol is used, and whether that is all."""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.certificate import certificate, last_name
from gitindex.questions.ink import missing, signature
from gitindex.questions.symbols import BELOW
from gitindex.questions.table import AT, Question, Wire, argument, limit, option

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitindex.base.answers import ReferencesAnswer
    from gitindex.questions.here import Here
    from gitindex.questions.ink import Ink
    from gitindex.questions.table import Params


def ask(here: Here, asked: Params) -> ReferencesAnswer:
    """Return every occurrence of the name, each in one class."""
    from gitindex.query.references import ReferenceQuery, find_references
    from gitindex.query.symbols import suggestions
    from gitindex.questions.here import add_lines

    wanted = ReferenceQuery(
        here.placed(asked["symbol"]),
        asked["role"],
        here.folder(asked["below"]),
        asked["limit"],
        asked["mentions"],
        asked["everything"],
    )
    with here.tree() as view, here.doing("following names"):
        answer = find_references(view, wanted, here.memories.binding)
        if not (answer["definitions"] or answer["references"] or answer["possible"]):
            answer["near"] = suggestions(view, asked["symbol"])
        if here.agent:
            add_lines(view, answer["references"])  # type: ignore[arg-type]
        return answer


def code(answer: ReferencesAnswer, _asked: Params) -> int:
    """Return 1 if there is no place, not even a possible one."""
    return 0 if answer["references"] or answer["possible"] else 1


def text(answer: dict[str, Any], ink: Ink) -> Iterator[str]:
    """Yield the definitions, the references with their code, then the certificate."""
    if "near" in answer:
        yield missing(answer["name"], answer["near"])
        if not answer["accounted"]["total"]:
            return
    for row in answer["definitions"]:
        shown = signature(row["signature"] or row["name"], row["kind"])
        yield f"{ink.paint('path', ink.place(row))}  {ink.paint('kind', row['kind'])} {shown}"
    for relation, told in (("implements", "implements"), ("implementedBy", "implemented by")):
        for row in answer.get(relation, ()):
            place = ink.paint("path", ink.place(row))
            yield f"  {told} {place}  {safe_text(row['qualifiedName'])}"
    for row in answer["references"]:
        around = f" in {row['enclosing']}" if "enclosing" in row else ""
        kinds = " ".join(dict.fromkeys((row["tier"], row["use"])))  # no word twice
        how = ink.paint("dim", f"[{kinds}{safe_text(around)}]")
        place = f"{ink.place(row)}:{row['column']}" if ink.width else ink.place(row)
        yield f"  {ink.paint('path', place)}  {ink.code(row['text'], answer.get('name', ''))}  {how}"
    yield from certificate(answer, ink, len(answer["references"]), "references")


def _team(answer: Any, _asked: Params) -> tuple[str, list[str]]:
    return "references", [last_name(answer["name"])]


QUESTION = Question(
    "refs",
    "Where a symbol is used, and whether that is all.",
    (
        argument(
            "symbol",
            "A name, or a place of it.",
            complete="names",
            metavar="NAME|FILE:LINE:COL",
            most=512,
            wire=Wire(help="NAME, CLASS.NAME, FILE#NAME or FILE:LINE:COLUMN"),
        ),
        option(
            "--role",
            "role",
            "Only reference or import.",
            choices=("reference", "import"),
            wire=Wire(help=""),
        ),
        BELOW._replace(wire=Wire("within", "file or folder")),
        limit("References", 100, 1_000, 50),
        option("--mentions", "mentions", "List comments, strings and documents, too.", "flag"),
        option("--all", "everything", "List members of the name on other types, too.", "flag"),
        AT,
    ),
    ask,
    text,
    code=code,
    team=_team,
    tool="find_references",
    tells="Uses of a symbol with their code, surest first; says whether any may be missing.",
    listed=True,
    pages="references",
    reach=1_000,
    example={"symbol": "helper"},
)
