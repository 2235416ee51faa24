"""Answers are typed for the checker; at run time nobody pays for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import gitindex

PACKAGE = Path(gitindex.__file__).parent


def test_answers_are_imported_under_type_checking_only() -> None:
    for file in PACKAGE.rglob("*.py"):
        for line in file.read_text().splitlines():
            if "gitindex.base.answers import" in line:
                assert line.startswith("    "), f"{file}: {line}"


def test_doors_run_without_the_types() -> None:
    code = (
        "import sys, gitindex.cli.door, gitindex.mcp.question_tools, gitindex.coordinator\n"
        "print('gitindex.base.answers' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "False\n"
