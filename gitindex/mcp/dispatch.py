"""The one path from tool call to answer: check, ask, page, fit, render. No exception escapes."""

from __future__ import annotations

import gc
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from gitindex.base.errors import GitIndexError
from gitindex.base.escape import counted, refusal, refused, safe_text
from gitindex.base.vocabulary import Layer, ProofOutcome
from gitindex.freshness.marker import CompletionProof
from gitindex.freshness.verdict import add_probe_hint
from gitindex.mcp.arguments import check_arguments
from gitindex.mcp.server_state import ServerState
from gitindex.questions.ink import Ink, team_lines
from gitindex.questions.linked import linked_lines
from gitindex.questions.table import Param, Question
from gitindex.store.lexical import trim_memory
from gitindex.view.snapshot import GateClosed

MAX_BYTES = 256 * 1024
_MARGIN = 512

Arguments = dict[str, Any]
Answer = dict[str, Any]


class McpTool(NamedTuple):
    """A question as a tool: its arguments as they are over MCP, and what answers it."""

    question: Question
    params: tuple[Param, ...]
    run: Callable[[Any, Arguments], Answer]

    @property
    def name(self) -> str:
        """Its name for clients."""
        return self.question.tool


LONG_SECONDS = 0.2
"""After a call of so much CPU, what it left in the heap goes back: a map of Django leaves 30 MB."""


def call(server: ServerState, tool: McpTool, given: object) -> Answer:
    """Answer one call; always returns an envelope, never raises."""
    began = time.thread_time()
    try:
        return _answer_of(server, tool, given)
    finally:
        if time.thread_time() - began > LONG_SECONDS:
            gc.collect()
            trim_memory()


def _answer_of(server: ServerState, tool: McpTool, given: object) -> Answer:
    try:
        values = check_arguments(tool.params, given)
        answer = _ask(server, tool, values)
        if not values.get("debug"):
            answer = compact(answer)
        paged = tool.question.pages in answer
        return _shrink(_page(tool, values, answer) if paged else answer, MAX_BYTES)
    except GitIndexError as error:
        envelope = with_tool_calls(refused(error), given)
        quoted = {"untrusted": True} if error.status == "error" else {}  # git's own message
        return envelope | quoted
    except OSError as error:
        return refusal("error", error.strerror or "input/output error", "try again")
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 — the door: a panic in Rust is no Exception
        return refusal(
            "error", f"internal error ({type(error).__name__})", "ask again, or report it"
        )


def content_of(tool: McpTool | None, answer: Answer, given: Arguments | None = None) -> str:
    """Return the text of `content[0].text`: plain text for an answer, JSON for a refusal."""
    if tool is None or (answer.get("status") != "ok" and "targets" not in answer):
        return render(answer)
    named = {p.name: (given or {}).get(p.wire_name) for p in tool.question.params if p.wire}
    ink = Ink(params={name: value for name, value in named.items() if value})
    lines = [*tool.question.text(answer, ink), *linked_lines(tool.question, answer, ink)]
    lines += [*team_lines(answer, {}), *_caveats(answer)]
    return "\n".join(safe_text(line, keep="\n\t") for line in lines) or "nothing"


def _caveats(answer: Answer) -> Iterator[str]:
    """Yield one last line: how fresh, what is left out, and how to go on."""
    caveats = []
    freshness = answer.get("freshness") or {}
    if freshness.get("state", "fresh") != "fresh":
        caveats.append(f"index {freshness['state']}")
    if freshness.get("leftOut"):
        caveats.append(f"{counted(freshness['leftOut'], 'files')} left out")
    more = answer.get("continuation")
    if more:
        caveats.append("more with " + ", ".join(f"{name}={value}" for name, value in more.items()))
    elif answer.get("truncated"):
        caveats.append("cut")
    if caveats:
        yield f"-- {'; '.join(caveats)}"


def render(value: object) -> str:
    """Return a value as ASCII-only JSON, which is valid in any encoding."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def _ask(server: ServerState, tool: McpTool, values: Arguments) -> Answer:
    try:
        answer = tool.run(server, values)
    except GateClosed as closed:
        return closed.envelope
    freshness = answer.get("freshness")
    if freshness is not None:  # it has text from a repository
        answer = {"status": answer["status"], "untrusted": True} | answer
    if isinstance(freshness, dict) and freshness.get("state") == "unknown":
        add_probe_hint(answer, CompletionProof(ProofOutcome.PROBE_FAILED))
    return answer


def _page(tool: McpTool, values: Arguments, answer: Answer) -> Answer:
    """Return one page of an answer, within the cap, with the offset of the next one."""
    pages, offset = tool.question.pages, values["offset"]
    items = answer[pages]
    rest = items[offset : offset + values["limit"]]
    frame = _shrink(answer | {pages: []}, MAX_BYTES // 2)
    room = MAX_BYTES - _MARGIN - len(render(frame))
    shown = 0
    while shown < len(rest) and (room := room - len(render(rest[shown])) - 1) >= 0:
        shown += 1
    after = offset + max(shown, 1)
    more = offset + shown < len(items) or bool(answer.get("truncated"))
    answer = frame | {pages: rest[:shown], "truncated": more or bool(frame.get("truncated"))}
    if more and rest and after < tool.question.reach:
        answer["continuation"] = {"offset": after}
    return answer


def _shrink(answer: Answer, most: int) -> Answer:
    """Halve the largest value until the answer is within the cap: the last resort."""
    while len(render(answer)) > most:
        cuttable = [name for name, value in answer.items() if isinstance(value, list | str)]
        largest = max(cuttable, key=lambda name: len(render(answer[name])))
        if not answer[largest]:
            return refusal("error", "the answer is too large", "ask for less")
        half = answer[largest][: len(answer[largest]) // 2]
        answer = answer | {largest: half, "truncated": True}
    return answer


_UTF16 = (("columnUtf16", "column"), ("endColumnUtf16", "endColumn"))


def compact(answer: dict[str, Any]) -> dict[str, Any]:
    """Drop source, layer and UTF-16 columns from rows where they equal the default."""
    receipt = answer.get("receipt")
    if answer.get("status") != "ok" or not isinstance(receipt, dict):
        return answer
    defaults = {"source": f"index@{receipt.get('treeId')}", "layer": str(Layer.SYNTACTIC)}
    rows = {name: _rows(value, defaults) for name, value in answer.items()}
    return rows | {"defaults": defaults} if rows != answer else answer


def _rows(value: Any, defaults: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_row(item, defaults) if isinstance(item, dict) else item for item in value]
    return value


def _row(row: dict[str, Any], defaults: dict[str, str]) -> dict[str, Any]:
    same = {name for name, default in defaults.items() if row.get(name) == default}
    same |= {wide for wide, plain in _UTF16 if wide in row and row[wide] == row.get(plain)}
    return {n: _rows(value, defaults) for n, value in row.items() if n not in same}


_CALLS: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("-F looks", "grep_codebase", {"literal": True}, "pattern"),
    ("`gitindex index --force", "manage_index", {"action": "reindex"}, ""),
    ("`gitindex index", "manage_index", {"action": "create"}, ""),
    ("`gitindex wait", "manage_index", {"action": "sync"}, ""),
    ("`gitindex outline", "file_outline", {}, "file"),
    ("`gitindex symbols --path", "repo_map", {}, "focus=file"),
    ("`gitindex symbols", "find_symbols", {}, "name=symbol"),
    ("`gitindex state", "check_mutation_gate", {}, "file"),
    ("`git ls-files", "search_codebase", {}, ""),
    ("list_codebases", "list_codebases", {}, ""),
    ("`gitindex ", "manage_index", {"action": "status"}, ""),
)
"""Text in a hint and the equivalent tool call, with what it takes from the refused one; the first counts."""


def with_tool_calls(envelope: dict[str, Any], values: object) -> dict[str, Any]:
    """Replace a shell command in `hints.remedy` by the equivalent tool call."""
    hints = envelope.get("hints", {})
    remedy = hints.get("remedy", "")
    for words, tool, args, kept in _CALLS:
        if words in remedy:
            given = values if isinstance(values, dict) else {}
            known = {name: one for name, one in given.items() if one and type(one) is str}
            taken = _taken(tool, kept, known, envelope.get("message", "").rpartition(": ")[2])
            return envelope | {"hints": hints | {"remedy": {"tool": tool, "args": args | taken}}}
    return envelope


def _taken(tool: str, kept: str, known: dict[str, str], lost: str) -> dict[str, str]:
    """Return the arguments of a refused call that its remedy takes over; `lost` is what is not there."""
    path = {"path": known["path"]} if "path" in known else {}
    if tool == "list_codebases":
        return {}
    if tool == "search_codebase":
        query = {"query": os.path.basename(lost) or "."}
        return query if path.get("path", "").endswith(lost) else path | query
    name, _, source = kept.partition("=")
    value = known.get(source or name)
    if not value:
        return path
    return path | {name: re.split(r"[#.:]+", value)[-1] if name == "name" else value}
