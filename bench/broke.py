"""`python -m bench.broke REPOSITORY [CASES]`: plant broken names and calls in a history, and ask for them.

Each case is a commit on top of the clone's history that renames a definition, or gives a function one more
required parameter, without its uses; the next commit takes it back. `history broke` must name that commit
first. Prints how many are right, and the CPU of a question.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from gitindex.base.worktree import find_worktree
from gitindex.query.history import broken_uses

DEPTH = 300
"""Real commits below the planted ones."""


def main() -> int:
    """Print the share of right answers."""
    source, cases = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    with TemporaryDirectory() as folder:
        root = Path(folder, "clone")
        clone = ["git", "clone", "-q", "--depth", str(DEPTH), f"file://{source}", str(root)]
        subprocess.run(clone, check=True)
        planted = _plant(root, cases)
        for command in ("index", "history index"):
            args = [sys.executable, "-m", "gitindex", *command.split()]
            subprocess.run(args, cwd=root, check=True, capture_output=True)
        worktree = find_worktree(str(root))
        right, costs = 0, []
        for name, kind, commit in planted:
            started = time.process_time()
            answer = broken_uses(worktree, str(root), name)
            costs.append(time.process_time() - started)
            commits = [row["commit"] for row in answer["commits"]]
            if commits[:1] == [commit]:
                right += 1
            else:
                print(
                    f"  {kind} {name}: planted {commit[:10]}, said {[c[:10] for c in commits[:3]]}"
                )
        costs.sort()
        print(
            f"{right} of {len(planted)} right; CPU median {costs[len(costs) // 2]:.2f} s, max {costs[-1]:.2f}"
        )
    return 0


def _plant(root: Path, cases: int) -> list[tuple[str, str, str]]:
    rng = random.Random(3)
    files = {path: path.read_text() for path in sorted(root.rglob("*.py")) if path.is_file()}
    whole = "\n".join(files.values())
    found = []
    for path, text in files.items():
        if "test" in path.as_posix().removeprefix(root.as_posix()) or "examples" in path.parts:
            continue
        for match in re.finditer(r"^def ([a-z]\w{3,})\(([^)]*)\)", text, re.MULTILINE):
            name = match[1]
            calls = re.findall(rf"(?<!def )(?<![\w.]){name}\((?!\*)", whole)
            if len(re.findall(rf"\b(?:def|class) {name}\b", whole)) == 1 and calls:
                found.append((path, name, not re.search(r"[=*]", match[2])))
    rng.shuffle(found)
    planted = []
    for number in range(cases):
        path, name, takes_exactly = found[number % len(found)]
        odd = (number // len(found) + number) % 2
        kind = "a parameter" if odd and takes_exactly else "renamed"  # else calls may still fit
        old = files[path]
        if kind == "renamed":
            new = re.sub(rf"^def {name}\(", f"def {name}_moved(", old, flags=re.MULTILINE)
        else:
            new = re.sub(rf"^def {name}\(", f"def {name}(planted, ", old, flags=re.MULTILINE)
        path.write_text(new)
        commit = _commit(root, f"plant {name}")
        path.write_text(old)
        _commit(root, f"take {name} back")
        planted.append((name, kind, commit))
    return list({name: (name, kind, commit) for name, kind, commit in planted}.values())


def _commit(root: Path, message: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.hooksPath=/dev/null"]
    subprocess.run(["git", *who, "commit", "-qam", message], cwd=root, check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True)
    return head.stdout.decode().strip()


if __name__ == "__main__":
    raise SystemExit(main())
