"""Files made to hurt: the first index completes, each is skipped or partial, and memory stays bounded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gitindex.base.vocabulary import FactsStatus
from gitindex.extract import worker
from gitindex.extract.frames import WorkRequest
from gitindex.extract.pool import Extractor, Task
from gitindex.languages.facts import FactsKey, decode_facts
from tests.support import TIMEOUT, Repo

PEAK_KILOBYTES = 400 << 10
"""Most that any one process of a first index may hold."""


def wrapped(text: bytes, width: int = 80) -> bytes:
    """Cut into lines, so that the file does not look minified."""
    return b"\n".join(text[at : at + width] for at in range(0, len(text), width)) + b"\n"


BOMBS = {
    "brackets.py": wrapped(b"(" * 100_000),
    "brackets-line.py": b"[" * 100_000,
    "closed.js": wrapped(b"x = " + b"[" * 100_000 + b"]" * 100_000),
    "quotes.js": b'"' * (1 << 20),
    "quotes-lines.js": wrapped(b'"' * 300_000),
    "minified.js": b"function a(b){return b+1};" * 200_000,
    "huge.py": b"value = 1\n" * 5_000_000,
    "large.py": b"value = call(other)\n" * 190_000,
    "deep.json": wrapped(b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
    "names.py": b"".join(b"name_%d = other_%d\n" % (n, n) for n in range(30_000)),
    "nul.py": b"x = 1\n\0" * 1000,
    "good.py": b"def good(): pass\n",
}


SMALL_PARENT = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""Linux counts what a process held before its exec: a child of this one has the peak of pytest."""


def peak_of(repo: Repo, *command: str) -> int:
    """Kilobytes of the largest process that a command needs."""
    argv = [sys.executable, "-c", SMALL_PARENT, sys.executable, "-m", "gitindex", *command]
    done = subprocess.run(argv, cwd=repo.path, capture_output=True, timeout=5 * TIMEOUT, check=True)
    return int(done.stdout)


def test_the_peak_is_not_that_of_who_asks(repo: Repo) -> None:
    ballast = b"x" * (200 << 20)
    assert peak_of(repo, "--help") << 10 < len(ballast)


def test_r11_memory_of_a_first_index_is_bounded(repo: Repo) -> None:
    for name, data in BOMBS.items():
        repo.write(name, data)
    repo.commit()
    assert peak_of(repo, "index") < PEAK_KILOBYTES
    repo.assert_published()
    assert repo.answer("symbols", "good", "--json")["symbols"][0]["path"] == "good.py"


@pytest.mark.parametrize("workers", [1, 2])
def test_a_death_among_many_blobs_costs_one(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(worker.FAULT_VARIABLE, "crash:killer")
    texts = [b"def f%d(): pass\n" % n + b"#" * 20_000 for n in range(90)]
    texts[40] += b"\n# killer\n"
    tasks = [Task(FactsKey(str(n), ""), WorkRequest("python", t)) for n, t in enumerate(texts)]
    extractor = Extractor(workers)
    replies = {
        task.key.oid: decode_facts(reply.payload) for task, reply in extractor.extract(tasks)
    }
    extractor.close()
    assert len(replies) == len(tasks)
    statuses = {oid: facts.status for oid, facts in replies.items() if facts is not None}
    assert {oid for oid, s in statuses.items() if s is not FactsStatus.PARSED} == {"40"}
    assert statuses["40"] is FactsStatus.QUARANTINED
