"""The walk of a commit, a search, `refs` and an MCP call: modules of the product whose code is entered."""

from __future__ import annotations

import subprocess
import sys

from bench.harness import Row
from bench.scratch import Bench, Repo

MOST = {"commit → fresh": 50, "search": 40, "refs": 50, "an MCP call": 40}
"""Goals of the layout: a reader of one walk opens no more files than these."""

_COUNT = """
import sys, threading
sys.dont_write_bytecode = True
entered = set()
def note(frame, event, _argument):
    if event == "call" and frame.f_code.co_name != "<module>":  # importing is no walk
        name = frame.f_globals.get("__name__", "")
        if name.partition(".")[0] == "gitindex":
            entered.add(name)
def count(function):
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        function()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
    sys.stderr.write(f"\\nwalked {len(entered)}\\n")
"""
_COMMAND = """
from gitindex.__main__ import main
sys.argv[0] = "gitindex"
count(main)
"""
_CALL = """
from gitindex.mcp.dispatch import call
from gitindex.mcp.server import open_state
from gitindex.mcp.question_tools import make_tools
state = open_state(".")
tool = next(tool for tool in make_tools() if tool.name == "search_codebase")
call(state, tool, {"query": "first"})  # what a server does once
count(lambda: call(state, tool, {"query": "function two"}))
"""


def measure(bench: Bench) -> list[Row]:
    repo = Repo(bench.folder("walks") / "repo").init()
    repo.write("one.py", "def one():\n    return two()\n\n\ndef two():\n    return 2\n")
    repo.commit()
    repo.gitindex("index")
    repo.write("three.py", "from one import two\n\nprint(two())\n")
    repo.commit()
    walks = {
        "commit → fresh": _walk(repo, _COMMAND, "index"),
        "search": _walk(repo, _COMMAND, "search", "function two"),
        "refs": _walk(repo, _COMMAND, "refs", "two"),
        "an MCP call": _walk(repo, _CALL),
    }
    return [Row(f"modules of {name}", n, "modules", most=MOST[name]) for name, n in walks.items()]


def _walk(repo: Repo, code: str, *arguments: str) -> int:
    argv = [sys.executable, "-P", "-c", _COUNT + code, *arguments]
    done = subprocess.run(argv, cwd=repo.path, capture_output=True, text=True, check=False)
    words = [line for line in done.stderr.splitlines() if line.startswith("walked ")]
    if not words:
        raise RuntimeError(done.stderr[-500:])
    return int(words[-1].split()[1])
