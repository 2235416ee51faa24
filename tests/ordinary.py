"""Programs of ordinary practice: the places that use a target, and how running the program proves them.

`tests/fixtures/ordinary_programs.jsonl` has one program a row: `files`, the `target`'s definition and its
`uses` as `[path, line, column]` (1-based, columns in bytes), the commands that `run` it and their `output`.
`family` are definitions that have to be renamed with the target: overrides, members used through one call.
`unspelled` says that something also uses the target without spelling its name.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from gitindex.base.errors import GitIndexError
from gitindex.query.names.memory import Memory
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import TreeView

FIXTURE = Path(__file__).parent / "fixtures" / "ordinary_programs.jsonl"
LANGUAGES = (
    "python",
    "javascript",
    "typescript",
    "go",
    "java",
    "ruby",
    "php",
    "csharp",
    "kotlin",
    "rust",
    "c",
    "cpp",
)
RENAMED = "Zz9"
"""What a renamed target gets behind its name."""

Place = tuple[str, int, int]  # path, line, column, as answers have them


class Program(NamedTuple):
    """One row of the fixture."""

    language: str
    title: str
    name: str
    target: Place
    uses: list[Place]
    family: list[Place]
    files: dict[str, str]
    run: list[list[str]]
    output: str
    unspelled: bool

    @property
    def tools_exist(self) -> bool:
        """Return whether this machine can run the program."""
        return all(_command(argv) for argv in self.run if not argv[0].startswith("./"))


class Proof(NamedTuple):
    """What running a program showed."""

    output: str
    renamed: str  # the output after the target and all its uses were renamed
    needed: list[Place]  # uses without which a renamed program fails or prints something else


def load() -> list[Program]:
    """Return every program of the fixture."""
    return [_program(json.loads(line)) for line in FIXTURE.read_text("utf-8").splitlines()]


def ask(view: TreeView, program: Program, folder: str, memory: Memory) -> dict[str, Any]:
    """Return the references to the target of a program, whose files are below `folder`.

    A language without a grammar has no definition at the place; then the name is asked for.
    """
    path, line, column = program.target
    place = f"{folder}/{path}:{line}:{column}".removeprefix("/")
    try:
        return dict(find_references(view, ReferenceQuery(place, **_ALL), memory))
    except GitIndexError:
        return dict(find_references(view, ReferenceQuery(program.name, **_ALL), memory))


_ALL: dict[str, Any] = {"limit": 1_000, "everything": True}


def _program(row: dict[str, Any]) -> Program:
    return Program(
        row["language"],
        row["title"],
        row["name"],
        _places([row["target"]])[0],
        _places(row["uses"]),
        _places(row.get("family", [])),
        row["files"],
        row.get("run", []),
        row.get("output", ""),
        row.get("unspelled", False),
    )


def _places(rows: list[list[Any]]) -> list[Place]:
    return [(str(path), int(line), int(column)) for path, line, column in rows]


def write(program: Program, folder: Path, renamed: Iterable[Place] = ()) -> None:
    """Write the files of a program, with the name changed at some places."""
    changed = set(renamed)
    for path, text in program.files.items():
        lines = text.encode().split(b"\n")
        for place in sorted((p for p in changed if p[0] == path), reverse=True):
            row, end = place[1] - 1, place[2] - 1 + len(program.name.encode())
            lines[row] = lines[row][:end] + RENAMED.encode() + lines[row][end:]
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"\n".join(lines))


def execute(program: Program, folder: Path) -> str | None:
    """Return what the program's last command prints, None where one fails."""
    env = {**os.environ, "GOFLAGS": "-mod=mod", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": "."}
    env["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    printed = ""
    for argv in program.run:
        known = argv[0] if argv[0].startswith("./") else _command(argv)
        done = subprocess.run(
            [known, *argv[1:]],
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode:
            return None
        printed = done.stdout
    return _without_times(printed)


def prove(program: Program, folder: Path) -> Proof:
    """Run a program as it is, renamed at every use, and renamed at all uses but one."""
    everything = {program.target, *program.uses, *program.family}
    output, renamed = (_run_in(program, folder / str(n), p) for n, p in enumerate(((), everything)))
    needed = [
        use
        for number, use in enumerate(program.uses)
        if _run_in(program, folder / f"without{number}", everything - {use}) != renamed
    ]
    return Proof(
        output or "", (renamed or "").replace(program.name + RENAMED, program.name), needed
    )


def _run_in(program: Program, folder: Path, renamed: Iterable[Place]) -> str | None:
    write(program, folder, renamed)
    return execute(program, folder)


def _command(argv: list[str]) -> str:
    return sys.executable if argv[0] == "python3" else shutil.which(argv[0]) or ""


def _without_times(text: str) -> str:
    """Return the output of test runners without how long they took."""
    words = ("passed in", "ok  \t", "Ran ")
    return "".join(line for line in text.splitlines(True) if not any(w in line for w in words))
