"""`gitindex search`: asks and prints. Imports nothing it does not need: a cold start is what people feel."""

from __future__ import annotations

import json
import sys
from typing import Any

from gitindex.answer import Gated, serve
from gitindex.errors import Exit
from gitindex.paths import find_worktree, safe_text
from gitindex.search import search


def find(
    query: str, path: str = ".", limit: int = 10, as_json: bool = False, strict: bool = False
) -> int:
    """Search the index."""
    worktree = find_worktree(path)
    try:
        with serve(worktree, path, strict) as served:
            answer = search(served, query, limit)
    except Gated as closed:
        return say_gated(closed, as_json)
    if as_json:
        say(json.dumps(answer, ensure_ascii=True))
    else:
        _say_results(answer)
    return int(Exit.OK if answer["results"] else Exit.NO)


def say_gated(closed: Gated, as_json: bool) -> int:
    """Print a closed gate's answer: data on stdout, or a line and a hint on stderr."""
    if as_json:
        say(json.dumps(closed.envelope, ensure_ascii=True))
    else:
        sys.stderr.write(f"gitindex: {closed.envelope['message']}\n  hint: run `gitindex index`\n")
    return int(Exit.GATED)


def _say_results(answer: dict[str, Any]) -> None:
    results = answer["results"]
    assert isinstance(results, list)
    for result in results:
        name = f"  {result['kind']} {result['name']}" if "name" in result else ""
        say(safe_text(f"{result['path']}:{result['startLine']}{name}"))
        for line in result["snippet"].splitlines():
            say("    " + safe_text(line.replace("\t", "    ")))
    freshness, receipt = answer["freshness"], answer["receipt"]
    assert isinstance(freshness, dict)
    assert isinstance(receipt, dict)
    pending = f", {freshness['pendingPaths']} paths pending" if freshness["pendingPaths"] else ""
    tree = f"tree {str(receipt['treeId'])[:12]}, generation {receipt['generation']}"
    say(f"-- {freshness['state']}{pending}; {tree}")


def say(text: str) -> None:
    """Print one line."""
    sys.stdout.write(f"{text}\n")
