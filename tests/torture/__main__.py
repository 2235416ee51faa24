"""`python -m tests.torture --seconds N --seed S` gives every suite its share and records what it did."""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests import conftest
from tests.pages import ROOT, TORTURE
from tests.torture import Clock
from tests.torture.suites import SHARES, SUITES


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--cases", type=int, help="of each suite, however long they take")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--only", choices=sorted(SUITES), action="append")
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else random.randrange(1 << 32)
    names = given.only or sorted(SUITES)
    whole = sum(SHARES[name] for name in names)
    done: dict[str, object] = {}
    failed = False
    for name in names:
        seconds = None if given.cases else given.seconds * SHARES[name] / whole
        clock = Clock(seconds, given.cases)
        begun = time.monotonic()
        print(f"{name}, seed {seed} …", flush=True)
        with tempfile.TemporaryDirectory(
            prefix="gitindex-torture-", dir=conftest.TEMP_HOME
        ) as folder:
            try:
                SUITES[name](clock, random.Random(f"{name} {seed}"), Path(folder))
            except Exception as error:
                failed = True
                clock.count("wrong")
                print(f"{name}, seed {seed}, after {dict(clock.counts)}: {error!r}", flush=True)
        done[name] = {
            "seconds": round(time.monotonic() - begun),
            "code": code_of(name),
            **clock.counts,
        }
        print(f"  {done[name]}", flush=True)
    record = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": _commit(),
        "seed": seed,
    }
    with TORTURE.open("a") as file:
        file.write(json.dumps(record | {"suites": done}) + "\n")
    return int(failed)


def code_of(name: str) -> str:
    """A short digest of what the suite's own file does: sums on the page start anew when it changes."""
    path = sys.modules[SUITES[name].__module__].__file__
    assert path is not None
    return digest_of(Path(path).read_bytes())


def digest_of(source: bytes) -> str:
    """A digest of statements: neither a comment nor a module that moved begins another suite."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [s for s in body if not _is_outside(s)]  # type: ignore[attr-defined]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:12]


def _is_outside(statement: ast.stmt) -> bool:
    """Is it an import, or a text that documents something?"""
    text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return text or isinstance(statement, ast.Import | ast.ImportFrom)


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
