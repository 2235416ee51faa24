"""The one path from tool call to answer: check, ask, page, fit, render. No exception escapes."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from gitindex.base.errors import GitIndexError
from gitindex.base.escape import counted, safe_text
from gitindex.base.output import refusal, refused
from gitindex.base.vocabulary import ProofOutcome
from gitindex.freshness.gate import add_probe_hint
from gitindex.freshness.marker import CompletionProof
from gitindex.mcp.arguments import ToolField, check_arguments
from gitindex.mcp.compact import compact
from gitindex.mcp.hints import with_tool_calls
from gitindex.mcp.server_state import ServerState
from gitindex.questions.team import team_lines
from gitindex.store.lexical import trim_memory
from gitindex.view.snapshot import GateClosed

MAX_BYTES = 256 * 1024
_MARGIN = 512

Arguments = dict[str, Any]
Answer = dict[str, Any]


class McpTool(NamedTuple):
    """One tool: its name and schema for clients, and the use case behind it."""

    name: str
    about: str
    params: tuple[ToolField, ...]
    run: Callable[[ServerState, Arguments], Answer]
    text: Callable[[Answer, Arguments], Iterable[str]]
    pages: str = ""  # the list of its answer that `offset` and `limit` page through
    reach: int = 0  # maximum number of items to page through
    reads: bool = True  # read-only
    quotes: bool = True  # its answer contains text from a repository
    always_loaded: bool = False  # asks clients that defer tools to keep this one loaded
    listed: bool = False  # among the tools that are listed by default
    example: dict[str, Any] = {}  # noqa: RUF012 - the arguments of the documentation's call


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
        asked = check_arguments(tool.params, given)
        answer = _ask(server, tool, asked)
        if not asked.get("debug"):
            answer = compact(answer)
        return _shrink(_page(tool, asked, answer) if tool.pages in answer else answer, MAX_BYTES)
    except GitIndexError as error:
        told = with_tool_calls(refused(error), given)
        return told | ({"untrusted": True} if error.status == "error" else {})  # git's own message
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
    lines = [*tool.text(answer, given or {}), *team_lines(answer, {}), *_caveats(answer)]
    return "\n".join(safe_text(line, keep="\n\t") for line in lines) or "nothing"


def _caveats(answer: Answer) -> Iterator[str]:
    """Yield one last line: how fresh, what is left out, and how to go on."""
    told = []
    freshness = answer.get("freshness") or {}
    if freshness.get("state", "fresh") != "fresh":
        told.append(f"index {freshness['state']}")
    if freshness.get("leftOut"):
        told.append(f"{counted(freshness['leftOut'], 'files')} left out")
    more = answer.get("continuation")
    if more:
        told.append("more with " + ", ".join(f"{name}={value}" for name, value in more.items()))
    elif answer.get("truncated"):
        told.append("cut")
    if told:
        yield f"-- {'; '.join(told)}"


def render(value: object) -> str:
    """Return a value as ASCII-only JSON, which is valid in any encoding."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def _ask(server: ServerState, tool: McpTool, asked: Arguments) -> Answer:
    try:
        answer = tool.run(server, asked)
    except GateClosed as closed:
        return closed.envelope
    freshness = answer.get("freshness")
    if tool.quotes and freshness is not None:
        answer = {"status": answer["status"], "untrusted": True} | answer
    if isinstance(freshness, dict) and freshness.get("state") == "unknown":
        add_probe_hint(answer, CompletionProof(ProofOutcome.PROBE_FAILED))
    return answer


def _page(tool: McpTool, asked: Arguments, answer: Answer) -> Answer:
    """Return one page of an answer, within the cap, with the offset of the next one."""
    items, offset = answer[tool.pages], asked["offset"]
    rest = items[offset : offset + asked["limit"]]
    frame = _shrink(answer | {tool.pages: []}, MAX_BYTES // 2)
    room = MAX_BYTES - _MARGIN - len(render(frame))
    shown = 0
    while shown < len(rest) and (room := room - len(render(rest[shown])) - 1) >= 0:
        shown += 1
    after = offset + max(shown, 1)
    more = offset + shown < len(items) or bool(answer.get("truncated"))
    answer = frame | {tool.pages: rest[:shown], "truncated": more or bool(frame.get("truncated"))}
    if more and rest and after < tool.reach:
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
