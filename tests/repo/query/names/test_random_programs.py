"""Random programs, run by their own language: an answer that says complete knows every call that happened."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from gitindex.base.vocabulary import Direction
from gitindex.query.callgraph.answer import GraphQuery, call_graph
from gitindex.query.names.finder import Finder
from gitindex.query.names.memory import Memory
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import open_tree
from tests.programs import (
    Files,
    go_programs,
    hits_of,
    java_programs,
    python_programs,
    typescript_programs,
)
from tests.support import Repo

COUNT = int(os.environ.get("GITINDEX_PROGRAMS", "250"))
SEED = int(os.environ.get("GITINDEX_PROGRAMS_SEED", "1"))
MAKERS = {
    "python": python_programs,
    "typescript": typescript_programs,
    "go": go_programs,
    "java": java_programs,
}
TOOLS = {"python": "python3", "typescript": "node", "go": "go", "java": "javac"}


def run(language: str, folder: Path) -> str:
    """The output of all programs, by the language's own implementation."""
    if language == "python":
        return _output([sys.executable, "main.py"], folder)
    if language == "typescript":
        return _output(["node", "main.mjs"], folder)
    if language == "go":
        return _output(["go", "run", "."], folder)
    sources = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*.java"))]
    _output(
        ["javac", "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-g", "-d", "out", *sources],
        folder,
    )
    return _output(["java", "-cp", "out", "t.Main"], folder)


def _output(command: list[str], folder: Path) -> str:
    env = {**os.environ, "GOFLAGS": "-mod=mod", "GO111MODULE": "on", "PYTHONPATH": "."}
    env["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # half the CPU
    env["GOGC"] = "off"
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=600, check=False, env=env
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def write(folder: Path, language: str, files: Files) -> None:
    """The programs as they are run: TypeScript without its types."""
    for name, text in files.items():
        if language == "typescript":
            text = re.sub("«.*?»", "", text).replace(".ts'", ".mjs'")
            name = name.replace(".ts", ".mjs")
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize("language", MAKERS)
def test_no_certificate_is_false(tmp_path: Path, language: str) -> None:
    """A thousand programs; references of every function, callers of each third."""
    check(tmp_path, language, COUNT, SEED, callers=3)


def check(
    tmp_path: Path, language: str, count: int, seed: int, callers: int = 1
) -> tuple[int, int]:
    """Index and run programs, then ask for the references and callers of every function in them.

    Returns how many were asked about, and how many answers had nothing open but strings: each program
    has the names of its functions in strings. Ten thousand: tests/torture.
    """
    if shutil.which(TOOLS[language]) is None:
        pytest.skip(
            f"{TOOLS[language]} is not installed: apt-get install golang-go default-jdk nodejs"
        )
    files = MAKERS[language](count, seed)
    write(tmp_path / "run", language, files)
    output = run(language, tmp_path / "run")
    repo = Repo(tmp_path / "repo")
    repo.init()
    for name, text in files.items():
        repo.write(name, text.replace("«", "").replace("»", "").replace(".ts'", "'"))
    repo.commit()
    repo.index()
    calls: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for target, path, line in hits_of(output):
        calls[target].add((path.replace(".mjs", ".ts").removeprefix("./"), line))
    targets = sorted(
        {found for text in files.values() for found in re.findall(r"[\w/]+\.\w+#[\w.]+", text)}
    )
    assert calls
    false, complete = [], 0
    memory = Memory()
    with open_tree(repo.worktree, ".") as view:
        project = Finder(view, memory).project
        project.load(files)
        project.load_scopes(files)  # one batch instead of one for each question
        for number, target in enumerate(targets):
            name = target.rpartition("#")[2].rpartition(".")[2]
            named = re.compile(rf"\b(?:al_)?{name}\b")
            truth = {
                (path, line)
                for path, line in calls[target]
                if path in files and named.search(files[path].splitlines()[line - 1])
            }
            asked = ReferenceQuery(target, limit=1000, everything=True)
            refs = find_references(view, asked, memory)
            rows = [*refs["references"], *refs["possible"], *refs["unlikely"]]
            listed = {(r["path"], r["line"]) for r in rows}
            assert refs["accountedFor"], target
            complete += not refs["unlikely"] and all(r["why"] == "string" for r in refs["possible"])
            if truth - listed:
                false.append(("refs", target, sorted(truth - listed)))
            if number % callers:
                continue
            query = GraphQuery(target, direction=Direction.CALLERS, limit=1000)
            graph = call_graph(view, query, memory)
            called = {(e["site"]["path"], e["site"]["line"]) for e in graph["edges"]}
            called |= {(r["path"], r["line"]) for r in (*graph["possible"], *refs["unlikely"])}
            if truth - called:
                false.append(("callers", target, sorted(truth - called)))
    print(f"{language}: {len(targets)} answers, {complete} complete, {len(false)} false")
    assert not false, false[:10]
    assert complete >= len(targets) // 10
    return len(targets), complete
