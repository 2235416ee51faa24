"""An answer as text, for a model to read: what the command line prints, without colours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from gitindex.base.escape import counted, safe_text
from gitindex.filestate.gate_text import gate_lines

Answer = dict[str, Any]
Lines = Iterator[str]


def render_text(tool: str, answer: Answer) -> str:
    """Return the text of an answer; its last line has the caveats."""
    lines = [*_WRITERS[tool](answer), *_team(answer), *_footer(answer)]
    return "\n".join(safe_text(line, keep="\n\t") for line in lines) or "nothing"


def _team(answer: Answer) -> Lines:
    for hit in answer.get("team", {}).get("hits", ()):
        place = f"{hit['repo']}@{hit['ref']}:{hit['path']}:{hit['line']}"
        yield f"{place}  {hit['kind']} {hit['qualifiedName'] or hit['name']}  [{hit['tier']}]"


def _footer(answer: Answer) -> Lines:
    told = []
    freshness = answer.get("freshness") or {}
    if freshness.get("state", "fresh") != "fresh":
        told.append(f"index {freshness['state']}")
    if freshness.get("leftOut"):
        told.append(f"{freshness['leftOut']} changed files left out")
    more = answer.get("continuation")
    if more:
        told.append("more with " + ", ".join(f"{name}={value}" for name, value in more.items()))
    elif answer.get("truncated"):
        told.append("cut")
    if told:
        yield f"-- {'; '.join(told)}"


def _search(answer: Answer) -> Lines:
    for row in answer["results"]:
        named = f"  {row['kind']} {row['name']}" if "name" in row else ""
        yield f"{row['path']}:{row.get('line', row['startLine'])}{named}"
        yield from _indented(row["snippet"])
    if not answer["results"]:
        yield "nothing found"


def _symbols(answer: Answer) -> Lines:
    for row in answer["symbols"]:
        yield f"{row['path']}:{row['line']}  {_declared(row)}"
    if not answer["symbols"]:
        yield "no definition"
        if answer.get("suggestions"):
            yield f"near: {', '.join(answer['suggestions'])}"


def _outline(answer: Answer) -> Lines:
    rows = answer["symbols"]
    yield f"{rows[0]['path'] if rows else 'file'}: {len(rows)} definitions"
    for row in rows:
        depth = "  " * row["qualifiedName"].count(".")
        span = f"{row['line']}-{row['endLine']}"
        yield f"{span:>9} {depth}{_declared(row)}"


def _read(answer: Answer) -> Lines:
    for number, line in enumerate(answer["content"].split("\n"), answer["startLine"]):
        yield f"{number}\t{line}"
    yield f"-- {answer['path']}: {counted(answer['totalLines'], 'lines')}"


def _slice(answer: Answer) -> Lines:
    yield f"{answer['path']}: {answer['function']['name']}"
    for row in answer["lines"]:
        mark = ">" if row["line"] == answer["line"] else " "
        yield f"{mark}{row['line']}\t{row['text']}"


def _references(answer: Answer) -> Lines:
    for row in answer["definitions"]:
        yield f"{row['path']}:{row['line']}  {_declared(row)}"
    for row in answer["references"]:
        around = f" in {row['enclosing']}" if "enclosing" in row else ""
        yield f"  {row['path']}:{row['line']}  {row['tier']} {row['use']}{around}{_code(row)}"
    shown, total = len(answer["references"]), answer.get("totalReferences", 0)
    told = f"{shown} of {total} references" if total > shown else counted(shown, "references")
    yield from _certificate(answer, told)


def _declared(row: Answer) -> str:
    """Return kind and signature; a signature that starts with its kind says it already."""
    text: str = row["signature"] or row["qualifiedName"]
    return text if text.startswith(f"{row['kind']} ") else f"{row['kind']} {text}"


def _code(row: Answer) -> str:
    return f"\n      {row['text'].strip()}" if row.get("text") else ""


def _certificate(answer: Answer, counted: str) -> Lines:
    left = Counter(
        f"? {row['path']}:{row['line']}  {row.get('why') or row.get('reason')}: {row['text'][:120]}"
        for row in answer.get("unexplained", ())
    )
    for line, times in left.items():
        yield line + (f"  ({times} ×)" if times > 1 else "")
    if "complete" in answer:
        sure = "complete in code" if answer["complete"] else "perhaps not complete"
        mentions = answer.get("mentions") or {}
        kinds = ", ".join(f"{count} in {kind}" for kind, count in mentions.items())
        if handed := answer.get("handedOver"):
            sure += f"; handed over {handed} ×, called from there by other names"
        yield f"-- {counted}; {sure}" + (f"; mentions: {kinds}" if kinds else "")


def _graph(answer: Answer) -> Lines:
    root = answer["root"]
    yield root
    for edge in answer["edges"]:
        inward = edge["to"] == root
        other = f"<- {edge['from']}" if inward else f"-> {edge['to']}"
        if root not in (edge["from"], edge["to"]):
            other = f"{edge['from']} -> {edge['to']}"
        site = edge["site"]
        yield f"  {other}  {site['path']}:{site['line']}  {edge['tier']} {edge['kind']}{_code(site)}"
    notes: dict[str, list[str]] = {}
    for note in answer["notes"]:
        at = f":{note['startLine']}" if note["startLine"] is not None else ""
        notes.setdefault(note["file"] + at, []).append(note["type"])
    for place, types in notes.items():
        yield f"  note {place}: {', '.join(types)}"
    yield from (f"  {warning}" for warning in answer["warnings"])
    yield from _certificate(answer, counted(len(answer["edges"]), "edges"))


def _impact(answer: Answer) -> Lines:
    for row in answer["changedSymbols"]:
        yield f"{row['change']:<9} {row['path']}:{row['line']}  {row['qualifiedName']}"
    for row in answer["reached"]:
        step = f"{'  ' * row['distance']}-> {row['qualifiedName']}"
        yield f"{step}  {row['path']}:{row['line']}  {row['tier']}"
    yield from (f"test      {name}" for name in answer["tests"])
    counts = (
        f"{counted(len(answer['changedFiles']), 'files')} changed, {len(answer['files'])} reached"
    )
    yield f"-- {counts}, {len(answer['tests'])} of the tests"


def _grep(answer: Answer) -> Lines:
    for row in answer["results"]:
        first = row["line"] - len(row.get("before", ()))
        for number, line in enumerate(row.get("before", ()), first):
            yield f"{row['path']}-{number}-{line}"
        yield f"{row['path']}:{row['line']}:{row['text']}"
        for number, line in enumerate(row.get("after", ()), row["line"] + 1):
            yield f"{row['path']}-{number}-{line}"
    if not answer["results"]:
        yield f"no line matches in {counted(answer['searchedFiles'], 'files')}"


def _documents(answer: Answer) -> Lines:
    for row in answer["results"]:
        day = f"  {row['createdAt'][:10]}" if row["createdAt"] else ""
        topics = f"  [{', '.join(row['topics'])}]" if row["topics"] else ""
        yield f"{row['path']}:{row['startLine']}{day}{topics}"
        yield from _indented(
            row["snippet"] if row["matched"] or not row["summary"] else row["summary"]
        )
    if not answer["results"]:
        yield "no document"


def _explore(answer: Answer) -> Lines:
    for place in answer["places"]:
        named = f"  {place['kind']} {place['name']}" if "name" in place else ""
        yield f"## {place['path']}:{place['startLine']}-{place['endLine']}{named}"
        yield place["code"]
        for row in place.get("callers", ()):
            around = f" in {row['enclosing']}" if "enclosing" in row else ""
            yield f"<- {row['path']}:{row['line']}{around}  {row['tier']}  {row['text'].strip()}"
        if place.get("moreCallers"):
            yield f"<- {place['moreCallers']} more uses: find_references {place['path']}#{place['name']}"
        if place.get("tests"):
            yield f"tests: {', '.join(place['tests'])}"
        if place.get("uncertain"):
            yield f"uncertain: {counted(place['uncertain'], 'possible uses')} not explained"
    if not answer["places"]:
        yield "nothing found"
    for row in answer["also"]:
        yield f"also {row['path']}:{row['line']}" + (f"  {row['name']}" if "name" in row else "")


def _map(answer: Answer) -> Lines:
    yield answer["map"].rstrip("\n")


def _gate(answer: Answer) -> Lines:
    for row in answer["targets"]:
        yield from gate_lines(row)


def _rename(answer: Answer) -> Lines:
    yield answer["patch"].rstrip("\n") or "nothing to rename"
    yield from (f"blocked: {why}" for why in answer.get("blocked", ()))
    done = "renamed in " if answer.get("applied") else ""
    yield from _certificate(answer, done + counted(len(answer.get("files", ())), "files"))


def _codebases(answer: Answer) -> Lines:
    for row in answer["codebases"]:
        files = f"  {counted(row['indexedFiles'], 'files')}" if "indexedFiles" in row else ""
        yield f"{row['status']:<12} {row['root']}{files}"


def _manage(answer: Answer) -> Lines:
    if "state" in answer:
        yield f"{answer['state']}: {answer['why']}"
    if "outcome" in answer:
        yield f"{answer['outcome']}: {answer['message']}"
    if "operationId" in answer:
        yield f"operationId {answer['operationId']}"
    for name in ("warning", "error"):
        if name in answer:
            yield f"{name}: {answer[name]}"
    told = answer.get("operation")
    if told:
        yield f"operation {told['id']}: {told['state']} {told.get('outcome', '')}".rstrip()
    running = answer.get("indexing") or {}
    if running.get("phase"):
        yield f"{running['phase']} {running['progressPct'] or 0:.0f} %"


def _indented(text: str) -> Lines:
    return (f"    {line}" for line in text.splitlines())


_WRITERS: dict[str, Callable[[Answer], Lines]] = {
    "explore": _explore,
    "search_codebase": _search,
    "find_symbols": _symbols,
    "grep_codebase": _grep,
    "file_outline": _outline,
    "read_file": _read,
    "slice": _slice,
    "find_references": _references,
    "call_graph": _graph,
    "impact": _impact,
    "search_documents": _documents,
    "repo_map": _map,
    "check_mutation_gate": _gate,
    "rename_symbol": _rename,
    "list_codebases": _codebases,
    "manage_index": _manage,
}
