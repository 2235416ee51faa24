"""Files made to hurt: the first index completes, each is skipped or partial, and memory stays bounded."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gitindex.extract import worker
from gitindex.extract.frames import Request
from gitindex.extract.pool import Extractor, Task
from gitindex.facts import FactsKey, decode_facts
from gitindex.words import FactsStatus
from tests.support import Repo

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


def test_r11_memory_of_a_first_index_is_bounded(repo: Repo) -> None:
    for name, data in BOMBS.items():
        repo.write(name, data)
    repo.commit()
    process = subprocess.Popen([sys.executable, "-m", "gitindex", "index"], cwd=repo.path)
    _, status, used = os.wait4(process.pid, 0)  # of all its processes, the largest
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert used.ru_maxrss < PEAK_KILOBYTES
    repo.assert_published()
    assert repo.answer("symbols", "good", "--json")["symbols"][0]["path"] == "good.py"


@pytest.mark.parametrize("workers", [1, 2])
def test_a_death_among_many_blobs_costs_one(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(worker.FAULT_VARIABLE, "crash:killer")
    texts = [b"def f%d(): pass\n" % n + b"#" * 20_000 for n in range(90)]
    texts[40] += b"\n# killer\n"
    tasks = [Task(FactsKey(str(n), ""), Request("python", t)) for n, t in enumerate(texts)]
    extractor = Extractor(workers)
    replies = {
        task.key.oid: decode_facts(reply.payload) for task, reply in extractor.extract(tasks)
    }
    extractor.close()
    assert len(replies) == len(tasks)
    statuses = {oid: facts.status for oid, facts in replies.items() if facts is not None}
    assert {oid for oid, s in statuses.items() if s is not FactsStatus.PARSED} == {"40"}
    assert statuses["40"] is FactsStatus.QUARANTINED
