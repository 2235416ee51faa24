"""`gitindex graph`, `call_graph`: the calls around a symbol, or the imports around a file."""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.ink import Aside, certificate, last_name, missing
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, Row, question

if TYPE_CHECKING:
    from typing import Any

    from gitindex.base.answers import CallGraphAnswer

MAX_NODES = 200
"""Of one call over MCP."""


def ask(here: Here, params: Params) -> CallGraphAnswer:
    """Return nodes, edges and notes around a symbol."""
    from gitindex.base.vocabulary import Direction
    from gitindex.query.callgraph.answer import GraphQuery, call_graph
    from gitindex.query.symbols import suggestions
    from gitindex.questions.here import add_lines

    query = GraphQuery(
        here.placed(params["symbol"]),
        Direction(params["direction"]),
        params["depth"],
        params["limit"],
        params["note_limit"],
    )
    with here.tree() as view, here.doing("following names"):
        answer = call_graph(view, query, here.memories.binding)
        if answer["status"] == "not_found":
            answer["near"] = suggestions(view, params["symbol"])
        if here.agent:
            add_lines(view, [edge["site"] for edge in answer["edges"]])
        return answer


def code(answer: CallGraphAnswer, _params: Params) -> int:
    """Return 1 for a symbol that is not there or not decided, and for one without edges."""
    return 0 if answer["status"] == "ok" and answer["edges"] else 1


def fit(answer: Answer, params: Params) -> Answer:
    """Say how to ask for more nodes."""
    more = min(2 * params["limit"], MAX_NODES)
    goes_on = answer.get("truncated") and more > params["limit"]
    return answer | ({"continuation": {"limit": more}} if goes_on else {})


def text(answer: Any, ink: Ink) -> Lines:
    """Yield the edges around the root, a summary of the notes, and the certificate of callers."""
    if answer["status"] != "ok":
        yield from _undecided(answer, ink)
        return
    form = ink.params.get("form", "text")
    if form not in ("text", "json"):
        from gitindex.query.callgraph.drawing import FORMATS

        yield FORMATS[form](answer)
        return
    root = answer["root"]
    known = {node["id"]: node for node in answer["nodes"]}
    yield f"{ink.paint('name', ink.node(root))}:{known[root]['line']}"
    for edge in answer["edges"]:
        yield from _edge(edge, root, ink)
    if not answer["edges"]:
        yield Aside("no calls" if ink.params.get("direction") == "callees" else "no edges")
    yield from _notes(answer, ink)
    yield from (ink.paint("dim", f"  {warning}") for warning in answer["warnings"])
    if ink.params.get("direction") != "callees" and "complete" in answer:
        yield from certificate(answer, ink, len(answer["edges"]), "edges")


def _edge(edge: Row, root: str, ink: Ink) -> Lines:
    outward = edge["from"] == root
    ends = f"-> {ink.node(edge['to'])}" if outward else f"<- {ink.node(edge['from'])}"
    if root not in (edge["from"], edge["to"]):
        ends = f"   {ink.node(edge['from'])} -> {ink.node(edge['to'])}"
    site = edge["site"]
    yield f"  {ends}  {ink.paint('path', ink.place(site))}  {edge['tier']} {edge['kind']}"
    if site.get("text"):
        yield f"      {ink.code(site['text'])}"


def _notes(answer: Any, ink: Ink) -> Lines:
    """Yield one line that counts the notes by type, or each with `--notes`."""
    if not answer["notes"]:
        return
    if ink.params.get("notes"):
        for note in answer["notes"]:
            at = f":{note['startLine']}" if note["startLine"] is not None else ""
            detail = f"{at}: {note['type']}: {note['detail']}"
            yield ink.paint("dim", f"  note {ink.path(note['file'])}{safe_text(detail)}")
        return
    counts: dict[str, int] = {}
    for note in answer["notes"]:
        counts[note["type"]] = counts.get(note["type"], 0) + 1
    summary = ", ".join(f"{many} {kind}" for kind, many in sorted(counts.items()))
    how = " (--notes lists them)" if ink.width else ""
    yield ink.paint("dim", f"  notes: {summary}{how}")


def _undecided(answer: Any, ink: Ink) -> Lines:
    if answer["status"] == "not_found":
        yield missing(ink.params.get("symbol", "of that name"), answer.get("near", []))
    else:
        yield answer["message"]
    for node in answer["candidates"]:
        yield f"  {ink.paint('name', ink.node(node['id']))}  {node['kind']}"


def _team(_answer: Any, params: Params) -> tuple[str, list[str]]:
    return "references", [last_name(params["symbol"])]


TABLE = """
Explore: graph | tool=call_graph listed
  The calls around a symbol, or the imports around a file.
  > Who calls a symbol and what it calls, with the calling code and how sure each edge is.
    symbol
    --direction | direction =both both/callers/callees | both, callers or callees. | :
    depth
    nodes
    note_limit
    notes
    --format -f | form =text text/json/dot/mermaid/svg | text, json, dot, mermaid or svg.
    at
"""
QUESTION = question(
    TABLE,
    ask,
    text,
    code=code,
    team=_team,
    fit=fit,
    example={"symbol": "helper", "direction": "callers"},
)
