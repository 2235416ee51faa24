"""What a cold command loads before it looks at anything: start-up is what people wait for most."""

from __future__ import annotations

import subprocess
import sys

import pytest

COUNTED = """
import re, sys
compiled, real = [], re.compile
def compile(*given):
    compiled.append(sys._getframe(1).f_globals["__name__"])
    return real(*given)
re.compile = compile
import {module}
print(*[name for name in compiled if name.startswith("gitindex")], sep=",")
print(*sys.modules, sep=",")
"""
HEAVY = (
    "json tempfile random shutil heapq string fnmatch hashlib signal subprocess dataclasses inspect"
)


ENGINES = {
    "search": "query.search.search",
    "grep": "query.grep.grep",
    "symbols": "query.symbols",
    "outline": "query.symbols",
    "read": "query.read",
}
"""What a cold question imports, beside the door."""


@pytest.mark.parametrize("verb", ENGINES)
def test_a_question_compiles_no_pattern_and_loads_no_heavy_module(verb: str) -> None:
    modules = f"gitindex.cli.door, gitindex.questions.{verb}, gitindex.{ENGINES[verb]}"
    code = COUNTED.format(module=modules)
    told = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    compiled, loaded = (line.split(",") for line in told.splitlines())
    assert compiled == [""]
    assert set(HEAVY.split()) & set(loaded) == set()


def test_the_table_loads_no_engine() -> None:
    code = (
        "import sys\nfrom gitindex.cli.commands import all_commands\n"
        "assert len([*all_commands()]) > 60\n"
        "print([m for m in sys.modules if m.startswith(('gitindex.query', 'gitindex.store'))"
        " or m in ('typer', 'sqlite3', 'json', 'dataclasses', 'inspect')])"
    )
    told = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert told == "[]\n"
