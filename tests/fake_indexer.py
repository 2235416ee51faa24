"""A stand-in for scip-python: indexes `def` and `class` by regular expression, and fails on request.

Installed as an executable; what it does is in `plan.json` beside it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from gitindex.semantic.scip.schema import messages

HERE = Path(__file__).resolve().parent
DEFINITION = re.compile(r"\b(def|class) (\w+)")
WORD = re.compile(r"\w+")
UNITS = {1: "utf-8", 2: "utf-16-le", 3: "utf-32-le"}
WIDTH = {1: 1, 2: 2, 3: 4}


def main(argv: list[str]) -> int:
    plan = json.loads((HERE / "plan.json").read_text())
    if "--version" in argv:
        print(plan.get("version", "1.0"))
        return 0
    root = Path(argv[argv.index("--cwd") + 1])
    output = Path(argv[argv.index("--output") + 1])
    (HERE / "runs").open("a").write(f"{os.getpid()}\n")
    mode = plan.get("mode", "ok")
    if mode == "crash":
        sys.stderr.write("boom: it broke\n")
        return 3
    if mode == "hang":
        child = subprocess.Popen(["sleep", "600"])
        (HERE / "pids").write_text(f"{os.getpid()} {child.pid}")
        time.sleep(600)
    if mode == "slow":  # reads first, as a real one does, and is told when to go on
        data = index(root, plan)
        (HERE / "started").touch()
        while not (HERE / "go").exists():
            time.sleep(0.02)
        output.write_bytes(data)
        return 0
    if mode == "replay":
        output.write_bytes((HERE / "index.scip").read_bytes())
        return 0
    data = index(root, plan)
    if mode == "litter":
        (root / "litter.txt").write_text("left behind\n")
    if mode == "silent":
        return 0
    output.write_bytes(
        {"empty": b"", "garbage": os.urandom(500), "truncated": data[: len(data) * 2 // 3]}.get(
            mode, data
        )
    )
    return 0


def index(root: Path, plan: dict[str, object]) -> bytes:
    """The whole output: every word that is defined somewhere is a reference elsewhere."""
    types = messages()
    found = types["Index"]()
    found.metadata.tool_info.name = "scip-python"
    found.metadata.tool_info.version = str(plan.get("version", "1.0"))
    found.metadata.project_root = (Path(str(plan["root"])) if "root" in plan else root).as_uri()
    files = {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        for path in sorted(root.rglob("*.py"))
    }
    homes = {m[2]: (name, m[1]) for name, text in files.items() for m in DEFINITION.finditer(text)}
    for name, text in files.items():
        if name == plan.get("drop"):
            continue
        document = found.documents.add(relative_path=name)
        document.position_encoding = int(str(plan.get("encoding", 0)))
        for number, line in enumerate(text.split("\n")):
            occurrences(document, number, line, homes, name, plan)
        if plan.get("outside") == name:
            document.occurrences.add(range=[9999, 0, 3], symbol="local 7")
    return bytes(found.SerializeToString())


def occurrences(
    document: object,
    number: int,
    line: str,
    homes: dict[str, tuple[str, str]],
    name: str,
    plan: dict[str, object],
) -> None:
    defined = {m.start(2) for m in DEFINITION.finditer(line)}
    for word in WORD.finditer(line):
        if word[0] not in homes and word[0] not in ("print", "tmp"):
            continue
        encoding = int(str(plan.get("encoding", 0))) or 2
        start, end = units(line[: word.start()], encoding), units(line[: word.end()], encoding)
        span = [number, start, end] if number % 2 else [number, start, number, end]
        added = document.occurrences.add(range=span)  # type: ignore[attr-defined]
        if word[0] == "tmp":
            added.symbol, added.symbol_roles = "local 1", int(line.strip().startswith("tmp ="))
            continue
        home, kind = homes.get(word[0], ("", "def"))
        module = home.removesuffix(".py").replace("/", ".")
        package = "fake" if home else "python-stdlib"
        version = plan.get("package_version", "1.0")
        marks = "#" if kind == "class" else "()."
        added.symbol = f"scip-python python {package} {version} `{module}`/{word[0]}{marks}"
        if home == name and word.start() in defined:
            added.symbol_roles = 1
            info = document.symbols.add(symbol=added.symbol)  # type: ignore[attr-defined]
            info.documentation.append(f"```python\n{line.strip()}\n```")
            added.enclosing_range.extend([number, 0, number + 2, 0])


def units(text: str, encoding: int) -> int:
    return len(text.encode(UNITS[encoding])) // WIDTH[encoding]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
