"""Damaged stores: a flipped, cut or zeroed file gives a refusal or the right answer, never a wrong one."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

from tests.mcp_client import make_quiet
from tests.support import Repo
from tests.torture import Clock
from tests.torture.power import restore

WORDS = ("helper", "main", "Title")


def _expected(repo: Repo) -> dict[str, set[tuple[str, int]]]:
    found: dict[str, set[tuple[str, int]]] = {word: set() for word in WORDS}
    for name in ("app.py", "lib/util.py", "README.md"):
        for number, line in enumerate((repo.path / name).read_text().split("\n"), 1):
            for word in WORDS:
                if word in line:
                    found[word].add((name, number))
    return found


ASK = """
import contextlib, io, json, sys
from gitindex.base.errors import GitIndexError
from gitindex.cli.args import run_cli
for args in json.loads(sys.argv[1]):
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            code = run_cli([*args, "--json"])
    except GitIndexError as error:
        code = int(error.code)
    print(json.dumps([code, said.getvalue()]))
"""


def _ask(repo: Repo, questions: list[list[str]]) -> list[tuple[int, str]]:
    """Answers of a process of its own: damage may kill it, which is no answer at all."""
    done = subprocess.run(
        [sys.executable, "-c", ASK, json.dumps(questions)],
        cwd=repo.path,
        capture_output=True,
        check=False,
        text=True,
        timeout=300,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert "panicked" not in done.stderr, done.stderr
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


def harm(rng: random.Random, path: Path) -> str:
    """Flip a bit, cut the end off, or zero a stretch; the inode stays."""
    size = path.stat().st_size
    at = rng.randrange(max(1, size))
    with path.open("r+b") as file:
        kind = rng.choice(["flip", "flip", "flip", "cut", "zero"])
        if kind == "cut":
            file.truncate(at)
        elif kind == "flip" and size:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ (1 << rng.randrange(8))]))
        elif size:
            file.seek(at)
            file.write(bytes(min(rng.choice([1, 64, 4096]), size - at)))
    return f"{kind} {path.name} at {at}"


def damaged_stores(clock: Clock, rng: random.Random, folder: Path) -> None:
    """One wound to SQLite or Tantivy at a time; grep, symbols and search are compared with the disk."""
    repo = make_quiet(Repo(folder / "repo"))
    expected = _expected(repo)
    store, saved = Path(repo.worktree.store), folder / "saved"
    shutil.copytree(store, saved)
    questions = [["grep", word] for word in WORDS] + [["symbols", "helper"], ["search", "helper"]]
    while clock.goes_on():
        restore(saved, store)
        database = [path for path in store.glob("facts.db*") if not path.name.endswith("-shm")]
        lexical = [path for path in (store / "lexical").iterdir() if path.is_file()]
        of_lexical = rng.random() < 0.2
        target = rng.choice(lexical if of_lexical else [p for p in database if p.stat().st_size])
        what = harm(rng, target)
        for question, (code, text) in zip(questions, _ask(repo, questions), strict=False):
            if code in (0, 1) and text:
                _compare(question, json.loads(text), expected, what)
        clock.count("lexical" if of_lexical else "database")
        clock.count()


def _compare(
    question: list[str],
    answer: dict[str, object],
    expected: dict[str, set[tuple[str, int]]],
    what: str,
) -> None:
    rows = answer.get("symbols" if question[0] == "symbols" else "results")
    if answer.get("status") != "ok" or not isinstance(rows, list):
        return
    if question[0] == "grep":
        found = {(row["path"], row["line"]) for row in rows}
        assert found == expected[question[1]], (what, question, found)
    elif question[0] == "symbols":
        assert [(row["path"], row["line"]) for row in rows] == [("lib/util.py", 1)], (what, rows)
    else:
        assert {"app.py", "lib/util.py"} <= {row["path"] for row in rows}, (what, rows)
