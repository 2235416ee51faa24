"""Seeded faults: one wrong line in the product for each of some promises, which its own tests must notice.

    python -m tests.torture.seeded

Prints the promises whose tests pass in spite of the fault; the exit code is 1 if there are any.
"""

from __future__ import annotations

import ast
import sys
from typing import NamedTuple

from tests.torture.mutants import ROOT, import_the_rest, passes


class SeededFault(NamedTuple):
    """A line of a module, what takes its place, and the test that holds the promise."""

    module: str
    line: str
    wrong: str
    test: str


QUEUE, GATE = "tests/unit/refresh/test_queue.py", "tests/unit/freshness/test_gate.py"
ATOMIC = "tests/unit/base/test_atomic_file.py"
FAULTS = {
    "I-05": SeededFault(
        "gitindex.refresh.queue",
        "a.files + b.files, a.packages",
        "a.files, a.packages",
        "tests/repo/refresh/test_scope.py::test_i05_merge_selects_the_union",
    ),
    "I-08": SeededFault(
        "gitindex.freshness.verdict",
        "served = seen.searchable and ",
        "served = seen.searchable or ",
        f"{GATE}::test_i20_gate",
    ),
    "I-11": SeededFault(
        "gitindex.refresh.queue",
        "FROM refresh_jobs WHERE worktree_id=? AND {where}",
        "FROM refresh_jobs WHERE ? AND {where}",
        f"{QUEUE}::test_i11_contexts_and_worktrees_do_not_meet",
    ),
    "I-13": SeededFault(
        "gitindex.refresh.queue",
        "if job.attempts < MAX_ATTEMPTS:",
        "if job.attempts <= MAX_ATTEMPTS:",
        f"{QUEUE}::test_q12_orphans_are_taken_over_and_given_up_in_the_end",
    ),
    "I-18": SeededFault(
        "gitindex.store.connection",
        'f"mode=ro{options}"',
        '"mode=rwc"',
        "tests/unit/store/test_store.py::test_i18_reader_creates_and_changes_nothing",
    ),
    "I-19": SeededFault(
        "gitindex.freshness.verdict",
        "seen.proof.outcome is not ProofOutcome.STALE_LOCAL",
        "seen.proof.outcome is ProofOutcome.VALID",
        f"{GATE}::test_i19_failed_probe_answers_like_a_valid_proof_where_local_is_searchable",
    ),
    "I-20": SeededFault(
        "gitindex.freshness.verdict",
        "return GateStatus.NOT_READY if ends else GateStatus.REQUIRES_REINDEX",
        "return GateStatus.NOT_READY if ends else GateStatus.NOT_INDEXED",
        f"{GATE}::test_i20_gate",
    ),
    "I-25": SeededFault(
        "gitindex.freshness.status_file",
        "except (ValueError, RecursionError, StopIteration, SystemError):",
        "except ValueError:",
        "tests/unit/freshness/test_status_file.py::test_f11_no_damage_raises_or_is_taken_for_a_status",
    ),
    "I-28": SeededFault(
        "gitindex.base.atomic_file",
        "                _discard(temp, here)\n",
        "                pass\n",
        f"{ATOMIC}::test_failed_replace_keeps_the_old_and_leaves_no_temporary_file",
    ),
    "I-30": SeededFault(
        "gitindex.refresh.queue",
        "or (since is not None and _is_after(changed_at(path), since))",
        "or _is_after(changed_at(path), since or 0)",
        "tests/repo/refresh/test_scope.py::test_the_clock_is_asked_only_if_a_time_is_given",
    ),
    "I-36": SeededFault(
        "gitindex.base.atomic_file",
        "os.O_TMPFILE | os.O_CLOEXEC, 0o600, ",
        "os.O_TMPFILE | os.O_CLOEXEC, 0o644, ",
        f"{ATOMIC}::test_file_is_private_and_new_under_any_umask",
    ),
    "I-37": SeededFault(
        "gitindex.extract.policy",
        'folder, _, name = path.rpartition(b"/")',
        'name, _, folder = path.partition(b"/")',
        "tests/repo/extract/test_policy.py::test_i37_secret_names_are_secret_anywhere",
    ),
    "I-38": SeededFault(
        "gitindex.base.escape",
        "if bare.isascii() and bare.isprintable():",
        "if bare.isascii():",
        "tests/repo/git/test_paths.py::test_i38_control_characters_are_escaped",
    ),
}


def unnoticed(faults: dict[str, SeededFault]) -> list[str]:
    """The promises whose tests pass in spite of their fault."""
    import_the_rest([fault.test for fault in faults.values()])
    return [id_ for id_, fault in faults.items() if not _is_noticed(fault)]


def _is_noticed(fault: SeededFault) -> bool:
    text = (ROOT / (fault.module.replace(".", "/") + ".py")).read_text()
    assert text.count(fault.line) == 1, fault
    wrong = ast.parse(text.replace(fault.line, fault.wrong))
    return not passes(fault.module, wrong, [fault.test])


def main() -> int:
    left = unnoticed(FAULTS)
    print(f"{len(FAULTS) - len(left)} of {len(FAULTS)} seeded faults noticed", *left)
    return int(bool(left))


if __name__ == "__main__":
    sys.exit(main())
