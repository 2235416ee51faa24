"""Slices: hand-written expectations for every language, and programs that must still run the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitindex.slicing.question import slice_text
from gitindex.slicing.wire import Question

FIXTURES = Path(__file__).parent / "fixtures" / "slicing"
LANGUAGES = {
    "cases.py": "python", "cases.js": "javascript", "cases.ts": "typescript",
    "cases.tsx": "tsx", "cases.go": "go", "cases.java": "java",
}  # fmt: skip


class Case(NamedTuple):
    """One expected slice; see the first lines of tests/fixtures/slicing/cases.py."""

    file: str
    name: str
    question: Question
    lines: list[int]


def _cases() -> Iterator[Case]:
    for file in LANGUAGES:
        asked: dict[str, Question] = {}
        members: dict[str, list[int]] = {}
        for number, line in enumerate((FIXTURES / file).read_text().split("\n"), 1):
            _, mark, words = line.rpartition(" #" if file.endswith(".py") else " //")
            for word in words.split() if mark else ():
                found = re.fullmatch(r"(>{0,2})(\w+)(?::(.+))?", word)
                assert found, (file, number, word)
                arrow, name, variable = found.groups()
                members.setdefault(name, []).append(number)
                if arrow:
                    column = _column(line, variable) if variable else None
                    assert name not in asked, name
                    asked[name] = Question(number, column, arrow == ">>")
        assert asked.keys() == members.keys(), asked.keys() ^ members.keys()
        yield from (Case(file, name, asked[name], members[name]) for name in asked)


def _column(line: str, variable: str) -> int:
    found = re.search(rf"(?<!\w){re.escape(variable)}(?!\w)", line)
    assert found, (line, variable)
    return len(line[: found.start()].encode()) + 1


@pytest.mark.parametrize("case", list(_cases()), ids=lambda case: f"{case.file}-{case.name}")
def test_a_slice_is_exactly_the_lines_marked_in_the_fixture(case: Case) -> None:
    data = (FIXTURES / case.file).read_bytes()
    answer = slice_text(data, LANGUAGES[case.file], case.question)
    assert answer["status"] == "ok", answer
    assert lines(answer) == case.lines


def lines(answer: dict[str, Any]) -> list[int]:
    return [line["line"] for line in answer["lines"]]


class Line(NamedTuple):
    """A line of a made-up program, or the head of a block."""

    text: str
    blocks: tuple[tuple[str, tuple[Any, ...]], ...] = ()  # (else-word or "", lines)


VARIABLES = "abc"
_names = st.sampled_from(VARIABLES)
_values = st.one_of(st.integers(0, 3).map(str), _names)
_sums = st.builds("({} {} {}) % 97".format, _values, st.sampled_from("+-*"), _values)
_tests = st.builds("{} {} {}".format, _names, st.sampled_from(["<", "==", ">"]), _values)
_plain = st.one_of(
    st.builds(lambda v, e: Line(f"{v} = {e}"), _names, st.one_of(_sums, _values)),
    st.builds(lambda v, e: Line(f"{v} += {e}"), _names, _values),
    st.builds(lambda v, w, e: Line(f"{v}, {w} = {w}, {e}"), _names, _names, _values),
    st.builds(lambda v, e: Line(f"{v} = sum([{v} + n for n in range(2) if n < {e}]) % 97"), _names, _values),
    st.builds(lambda v: Line(f"return 'RETURN', {v}"), _names),
)  # fmt: skip
_jumps = st.sampled_from(["break", "continue", "raise ValueError"]).map(Line)


def _blocks(inner: st.SearchStrategy[Line]) -> st.SearchStrategy[Line]:
    body = st.lists(st.one_of(inner, _jumps), min_size=1, max_size=4).map(tuple)
    return st.one_of(
        st.builds(lambda t, b: Line(f"if {t}:", (("", b),)), _tests, body),
        st.builds(lambda t, b, c: Line(f"if {t}:", (("", b), ("else:", c))), _tests, body, body),
        st.builds(
            lambda t, b: Line(f"while LEFT and {t}:", (("", (Line("STEP"), *b)),)), _tests, body
        ),
        st.builds(
            lambda v, b, c: Line(f"for {v} in range(3):", (("", b), ("else:", c))),
            _names, body, body,
        ),
        st.builds(
            lambda b, c: Line("try:", (("", b), ("except ValueError:", c))), body, body
        ),
        st.builds(lambda b, c: Line("try:", (("", b), ("finally:", c))), body, body),
    )  # fmt: skip


_programs = st.lists(
    st.recursive(_plain, _blocks, max_leaves=8), min_size=2, max_size=6
).map(tuple)  # fmt: skip


class Rendered:
    """The text of a program, with or without the lines that are not kept."""

    def __init__(self, program: tuple[Line, ...]) -> None:
        self.returns: list[int] = []
        self._rows: list[tuple[int, int, str]] = [(1, 0, "def f(a, b, c):")]
        self._loops = 0
        self._add(program, 1, in_loop=False)

    def _row(self, depth: int, text: str) -> int:
        number = len(self._rows) + 1
        self._rows.append((number, depth, text))
        return number

    def _add(self, block: tuple[Line, ...], depth: int, in_loop: bool) -> None:
        for line in block:
            text = line.text
            if text in ("break", "continue") and not in_loop:
                text = "a = 1"
            if text.startswith("return"):
                self.returns.append(len(self._rows) + 1)
                text = f"return SEEN({self.returns[-1]}, {text[-1]})"
            counter = ""
            if text.startswith("while"):
                self._loops += 1
                counter = f"k{self._loops}"
                self._row(depth, f"{counter} = 3")
                text = text.replace("LEFT", counter)
            self._row(depth, text)
            for word, inner in line.blocks:
                if word:
                    self._row(depth, word)
                looping = in_loop or (text.startswith(("while", "for")) and not word)
                if counter:
                    self._row(depth + 1, f"{counter} -= 1")
                    inner = inner[1:]
                self._add(inner, depth + 1, looping)

    def text(self, keep: set[int] | None = None) -> str:
        """All rows, or those kept and the words that hold them together."""
        wanted = {number for number, _, _ in self._rows} if keep is None else self._frame(keep)
        out = []
        for at, (number, depth, text) in enumerate(self._rows):
            if number not in wanted:
                continue
            out.append("    " * depth + text)
            below = [n for n, _, _ in self._below(at) if n in wanted]
            if text.endswith(":") and not below:
                out.append("    " * (depth + 1) + "pass")
        return "\n".join(out) + "\n"

    def _below(self, at: int) -> Iterator[tuple[int, int, str]]:
        depth = self._rows[at][1]
        for row in self._rows[at + 1 :]:
            if row[1] <= depth:
                return
            yield row

    def _frame(self, keep: set[int]) -> set[int]:
        """`else`, `try` and the like decide nothing: they are there when something needs them."""
        wanted = {1} | keep
        heads: list[list[int]] = []  # rows of one compound statement
        for at, (_, depth, text) in enumerate(self._rows[1:], 1):
            if text.startswith(("else", "except", "finally")):
                next(h for h in reversed(heads) if self._rows[h[0]][1] == depth).append(at)
            elif text.endswith(":"):
                heads.append([at])
        for rows in heads:
            inside = {n for at in rows for n, _, _ in self._below(at)}
            numbers = {self._rows[at][0] for at in rows}
            if (inside | numbers) & wanted:
                wanted |= numbers
        return wanted


Seen = list[tuple[int, int]]


def run(text: str, arguments: tuple[int, int, int]) -> Seen:
    """Every return the program came to, with the value it saw there, in order."""
    seen: Seen = []
    names: dict[str, Any] = {"SEEN": lambda line, value: seen.append((line, value))}
    exec(compile(text, "program", "exec"), names)
    with suppress(ValueError):
        names["f"](*arguments)
    return seen


ARGUMENTS = [(0, 1, 2), (3, 0, 1), (1, 1, 1)]
_settings = settings(
    max_examples=300, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)  # fmt: skip


def kept(text: str, line: int) -> set[int]:
    answer = slice_text(text.encode(), "python", Question(line))
    assert answer["status"] == "ok", (answer, text)
    return set(lines(answer))


@_settings
@given(_programs)
def test_the_slice_of_a_return_comes_to_it_with_the_same_values(program: tuple[Line, ...]) -> None:
    made = Rendered((*program, Line("return 'RETURN', a")))
    whole = made.text()
    slices = {line: kept(whole, line) for line in made.returns}
    for arguments in ARGUMENTS:
        expected = run(whole, arguments)
        for line, keep in slices.items():
            reduced = made.text(keep)
            found = [seen for seen in run(reduced, arguments) if seen[0] == line]
            wanted = [seen for seen in expected if seen[0] == line]
            assert found == wanted, f"{whole}\n--- {line}, {arguments}\n{reduced}"
        together = made.text(set().union(*slices.values()))
        assert run(together, arguments) == expected, f"{whole}\n--- {arguments}\n{together}"
