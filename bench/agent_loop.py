"""An agent at work on a real repository: edit, gate, edit, search, rename, break, mend.

`python -m bench.agent_loop REPOSITORY [STEPS [FIRST]]` on a clean, indexed checkout, which it leaves as it
was. Ctrl-C ends it early; it says how many steps it did.
The gate is wrong if it blocks the agent for the agent's own edits, of this file or of others, or if it
says ok of a file that does not parse; an answer is wrong if it misses or misplaces what was written a
moment ago. A rename may be refused where a place may be a use: each is printed with its
reason.
"""

from __future__ import annotations

import io
import json
import sys
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from gitindex.base.path_kind import is_test
from gitindex.cli.door import run_cli

STEPS = 200


class AgentLoop:
    """One agent in one folder; `wrong` says what it was told that is not so."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.done = 0
        self.wrong: list[str] = []
        self.renamed = 0
        self.refused: list[str] = []  # renames, with the reason that was told
        self.verdicts: Counter[str] = Counter()

    def ask(self, *words: str) -> dict[str, Any]:
        """The answer of a command as JSON."""
        told = io.StringIO()
        with redirect_stdout(told):
            run_cli([*words, "-C", str(self._folder), "--json"])
        if not told.getvalue():
            raise KeyboardInterrupt  # the command took it
        answer: dict[str, Any] = json.loads(told.getvalue())
        return answer

    def run(self, steps: int, first: int = 0) -> None:
        """Do that many steps on the functions of the repository, in turn."""
        names = self._functions()
        for step in range(first, first + steps):
            path, name = names[(step * 7) % len(names)]
            file = self._folder / path
            before = file.read_bytes()
            try:
                self._step(step, path, name, before)
            finally:
                if step % 5 == 4:  # edits pile up between
                    file.write_bytes(before)
            self.done += 1

    def restore(self, texts: dict[Path, bytes]) -> None:
        """Put files back."""
        for file, data in texts.items():
            file.write_bytes(data)

    def _functions(self) -> list[tuple[str, str]]:
        rows = self.ask("symbols", "--kind", "function", "-n", "1000")["symbols"]
        return [
            (row["path"], row["qualifiedName"])
            for row in rows
            if row["path"].endswith(".py") and not is_test(row["path"])
        ]

    def _step(self, step: int, path: str, name: str, before: bytes) -> None:
        file = self._folder / path
        asked = self._gate(path, name)
        if asked["status"] == "blocked":  # other files only gained functions that nobody names
            self.wrong.append(f"{step}: {path}:{name} is blocked for edits of other files")
        made = f"agent_step_{step}"
        text = before.rstrip(b"\n") + f"\n\n\ndef {made}():\n    return {step}\n".encode()
        file.write_bytes(text)
        told = self._gate(path, name)
        if told["status"] == "blocked" or (told["status"], asked["status"]) == (
            "needs_decision",
            "ok",
        ):
            self.wrong.append(f"{step}: {path}:{name} was {asked['status']}, is {told['status']}")
        if told.get("basis") != "worktree":
            self.wrong.append(f"{step}: {path} is judged by {told.get('basis')}")
        self._look(step, path, made, text)
        if step % 4 == 1:
            self._break(step, path, name, text)
        if step % 4 == 3:
            self._rename(step, path, made)

    def _gate(self, path: str, name: str) -> dict[str, Any]:
        [told] = self.ask("state", "--gate", str(self._folder / path) + f":{name}")["targets"]
        self.verdicts[told["status"]] += 1
        found: dict[str, Any] = told
        return found

    def _look(self, step: int, path: str, made: str, text: bytes) -> None:
        """What was written is found, at its line."""
        line = text[: text.index(f"def {made}(".encode())].count(b"\n") + 1
        found = self.ask("search", made)["results"]
        if not any((row["path"], row["line"]) == (path, line) for row in found):
            self.wrong.append(f"{step}: search does not find {path}:{line} {made}")

    def _break(self, step: int, path: str, name: str, text: bytes) -> None:
        """A file that does not parse is not sure, and is mended again."""
        file = self._folder / path
        file.write_bytes(text + b"def broken(:\n    ][\n")
        if self._gate(path, name)["status"] == "ok":
            self.wrong.append(f"{step}: {path}:{name} is ok in a file that does not parse")
        file.write_bytes(text)

    def _rename(self, step: int, path: str, made: str) -> None:
        place = f"{self._folder / path}#{made}"
        told = self.ask("rename", place, f"{made}_new", "--apply")
        if f"def {made}_new(" in (self._folder / path).read_text():
            self.renamed += 1
        elif told.get("accept"):
            self.refused.append(f"{step}: {path}: {'; '.join(told['blocked'])}")
        else:
            self.wrong.append(f"{step}: {made} in {path} was not renamed: {told.get('blocked')}")


def main(args: list[str]) -> int:
    folder = Path(args[0]).resolve()
    agent = AgentLoop(folder)
    texts = {file: file.read_bytes() for file in folder.rglob("*.py")}
    try:
        agent.run(int(args[1]) if len(args) > 1 else STEPS, int(args[2]) if len(args) > 2 else 0)
    except KeyboardInterrupt:
        print("interrupted")
    finally:
        agent.restore(texts)
    print(f"{agent.done} steps; verdicts {dict(agent.verdicts)}; wrong: {len(agent.wrong)}")
    print(f"{agent.renamed} renamed; refused: {len(agent.refused)}")
    print("\n".join(agent.wrong + agent.refused))
    return 1 if agent.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
