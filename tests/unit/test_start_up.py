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


@pytest.mark.parametrize("verb", ["search", "grep", "questions", "graph"])
def test_a_question_compiles_no_pattern_and_loads_no_heavy_module(verb: str) -> None:
    code = COUNTED.format(module=f"gitindex.cli.verbs.{verb}")
    told = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    compiled, loaded = (line.split(",") for line in told.splitlines())
    assert compiled == [""]
    if verb != "graph":  # it asks a child process that parses
        assert set(HEAVY.split()) & set(loaded) == set()
