"""Programs of ordinary practice: no use of a name is missing from the answer about it.

All programs of a language are folders of one repository, so that it is indexed once; each in a
repository of its own, and each proven by running it: tests/torture/programs.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gitindex.query.names.memory import Memory
from gitindex.view.tree import TreeView, open_tree
from tests import ordinary
from tests.exclusion import Judgement, judge
from tests.ordinary import LANGUAGES, Program
from tests.support import Repo

PROGRAMS = ordinary.load()
QUICK = ("python", "javascript", "ruby", "php")
"""Languages whose programs start at once."""


def test_there_are_hundreds_of_programs_in_ten_languages() -> None:
    assert len(PROGRAMS) >= 300
    assert {program.language for program in PROGRAMS} == set(LANGUAGES)
    assert len({(program.language, program.title) for program in PROGRAMS}) == len(PROGRAMS)
    for program in PROGRAMS:
        assert program.uses or program.unspelled, program.title
        for path, line, column in (program.target, *program.uses, *program.family):
            text = program.files[path].encode().split(b"\n")[line - 1]
            assert text[column - 1 :].startswith(program.name.encode()), (program.title, path)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_use_is_excluded(repo: Repo, language: str) -> None:
    programs = {f"p{n}": p for n, p in enumerate(PROGRAMS) if p.language == language}
    repo.index_files(
        {
            f"{folder}/{path}": text
            for folder, p in programs.items()
            for path, text in p.files.items()
        }
    )
    memory, wrong, excused = Memory(), list[str](), list[str]()
    with open_tree(repo.worktree, ".") as view:
        for folder, program in programs.items():
            judgement = _judge(view, program, folder, memory)
            line = f"{program.title}: {judgement}"
            wrong += [line] if judgement.wrong else []
            excused += [line] if judgement.excused else []
    print("\n".join(excused))
    assert not wrong, "\n".join(wrong)
    assert len(excused) <= max(1, len(programs) // 20), excused  # 5 %


def _judge(view: TreeView, program: Program, folder: str, memory: Memory) -> Judgement:
    answer = ordinary.ask(view, program, folder, memory)
    uses = [(f"{folder}/{path}", line, column) for path, line, column in program.uses]
    return judge(answer, uses, program.unspelled)


@pytest.mark.parametrize("language", QUICK)
def test_programs_print_what_they_say(tmp_path: Path, language: str) -> None:
    """Every fifth; without a tool of its own a program is not run."""
    ran = 0
    for number, program in enumerate(p for p in PROGRAMS if p.language == language and p.run):
        if number % 5 == 0 and program.tools_exist:
            ordinary.write(program, tmp_path / str(number))
            printed = ordinary.execute(program, tmp_path / str(number))
            assert printed == program.output, program.title
            ran += 1
    assert ran or language not in ("python", "javascript")


def _answer(**fields: Any) -> dict[str, Any]:
    counts = dict.fromkeys(("definitions", "references", "possible", "unlikely", "prose"), 0)
    answer = {"definitions": [], "references": [], "possible": [], "absent": False, "assumes": []}
    answer |= {"complete": False, "accounted": {**counts, "elsewhere": 2, "total": 2}}
    return answer | fields


def test_the_check_notices_what_is_wrong() -> None:
    use, row = ("a.py", 3, 5), {"path": "a.py", "line": 3, "column": 5}
    assert judge(_answer(references=[row]), [use]) == Judgement([], [], [])
    assert not judge(_answer(unlikely=[row]), [use]).wrong
    assert judge(_answer(), [use]).excluded == [use]
    assert judge(_answer(), [use]).wrong
    assert judge(_answer(assumes=[{"assumption": "eval"}]), [use]).excused
    assert judge(_answer(absent=True), [], unspelled=True).wrong
    assert judge(_answer(complete=True, possible=[row]), [use]).wrong
    assert judge(
        _answer(references=[row], accounted=_answer()["accounted"] | {"total": 3}), [use]
    ).wrong
