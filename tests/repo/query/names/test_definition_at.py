"""The definition of the name at a place: forty cases and more in each of five languages."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from gitindex.base.errors import GitIndexError
from gitindex.query.names.memory import Memory
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import open_tree
from tests.support import Repo

CASES = Path(__file__).parents[3] / "fixtures" / "places" / "places.txt"
SUFFIXES = {"python": "py", "javascript": "js", "typescript": "ts", "go": "go", "java": "java"}
LEAST = 0.9
_MARKS = re.compile("[‹›→]")


class PlaceCase(NamedTuple):
    """A text, the place that is asked for, and where its definition stands."""

    language: str
    path: str
    text: str
    asked: tuple[int, int]  # line and column, from 1
    expected: str  # path:line[:column]


def read_cases() -> tuple[dict[str, str], list[PlaceCase]]:
    """The files that cases import, and the cases."""
    files: dict[str, str] = {}
    cases: list[PlaceCase] = []
    for part in CASES.read_text().split("### ")[1:]:
        head, _, body = part.partition("\n")
        language, _, name = head.partition(" ")
        if name:
            files[f"{language}/{name}"] = body
            continue
        for number, text in enumerate(body.split("---\n")):
            cases.append(_case(language, number, text))
    return files, cases


def _case(language: str, number: int, marked: str) -> PlaceCase:
    lines = marked.splitlines()
    expected = ""
    if lines[-1].startswith("="):
        expected = f"{language}/{lines.pop()[1:]}"
    # Packages share names: each case of Go and Java has a folder of its own, with the shared file in it.
    folder = f"{language}/c{number}" if language in ("go", "java") else language
    path = f"{folder}/{'Q' if language == 'java' else f'case{number}'}.{SUFFIXES[language]}"
    head = {"go": ["package p"], "java": ["package p;"]}.get(language, [])
    lines = head + lines
    if expected:
        expected = expected.replace(f"{language}/", f"{folder}/", 1)
    asked = (0, 0)
    for at, line in enumerate(lines, 1):
        if "→" in line:
            asked = (at, len(_MARKS.sub("", line[: line.index("→")]).encode()) + 1)
        if "‹" in line:
            column = len(_MARKS.sub("", line[: line.index("‹")]).encode()) + 1
            expected = f"{path}:{at}:{column}"
    text = _MARKS.sub("", "\n".join(lines) + "\n")
    return PlaceCase(language, path, text, asked, expected)


def test_the_definition_of_the_name_at_a_place(tmp_path: Path) -> None:
    files, cases = read_cases()
    repo = Repo(tmp_path / "repo")
    repo.init()
    for case in cases:
        repo.write(case.path, case.text)
        if case.language in ("go", "java"):
            for name, text in files.items():
                if name.startswith(f"{case.language}/"):
                    repo.write(f"{Path(case.path).parent}/{Path(name).name}", text)
    repo.index_files(files)
    wrong: dict[str, list[str]] = defaultdict(list)
    memory = Memory()
    with open_tree(repo.worktree, ".") as view:
        for case in cases:
            query = ReferenceQuery(f"{case.path}:{case.asked[0]}:{case.asked[1]}")
            try:
                found = find_references(view, query, memory)["definitions"]
            except GitIndexError as error:
                wrong[case.language].append(f"{case.text}  {error}")
                continue
            told = [f"{d['path']}:{d['line']}:{d['column']}" for d in found]
            if len(told) != 1 or not f"{told[0]}:".startswith(f"{case.expected}:"):
                wrong[case.language].append(f"{case.text}  wanted {case.expected}, got {told}")
    for language in SUFFIXES:
        asked = [case for case in cases if case.language == language]
        assert len(asked) >= 40, language
        right = 1 - len(wrong[language]) / len(asked)
        print(f"{language}: {right:.3f} of {len(asked)}")
    for language in SUFFIXES:
        asked = [case for case in cases if case.language == language]
        bad = wrong[language]
        assert len(bad) <= (1 - LEAST) * len(asked), "\n".join(bad)
