"""Slices: hand-written expectations for every language, and programs that must still run the same."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitindex.base.errors import GitIndexError
from gitindex.languages.slicing.analysis import Analysis
from gitindex.languages.slicing.grammar import TABLES, grammar_of
from gitindex.languages.slicing.question import find_line, scopes_of, slice_text
from gitindex.languages.slicing.wire import SliceQuestion
from gitindex.languages.syntax.parser import _grammar, parse_tree
from gitindex.query.slice import SlicePoint, slice_file
from tests.support import Repo

FIXTURES = Path(__file__).parents[2] / "fixtures" / "slicing"
LANGUAGES = {
    "cases.py": "python",
    "cases.js": "javascript",
    "cases.ts": "typescript",
    "cases.tsx": "tsx",
    "cases.go": "go",
    "cases.java": "java",
}


class Case(NamedTuple):
    """One expected slice; see the first lines of tests/fixtures/slicing/cases.py."""

    file: str
    name: str
    question: SliceQuestion
    lines: list[int]


def _cases() -> Iterator[Case]:
    for file in LANGUAGES:
        asked: dict[str, SliceQuestion] = {}
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
                    asked[name] = SliceQuestion(number, column, arrow == ">>")
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


@pytest.mark.parametrize("language", sorted(TABLES))
def test_a_table_names_only_node_types_of_its_grammars(language: str) -> None:
    table = grammar_of(language)
    kinds = table.names | table.skipped | table.transparent | table.raising | table.functions
    kinds |= table.named | table.classes | table.hoisted
    kinds |= table.members.keys() | table.visit.keys() | table.statements.keys()
    for rule in table.statements.values():
        kinds |= rule.cases | rule.defaults | rule.falls
    sharing = [_grammar(name) for name in TABLES if TABLES[name] == TABLES[language]]
    assert [
        kind for kind in kinds if not any(g and g.id_for_node_kind(kind, True) for g in sharing)
    ] == []


def lines(answer: dict[str, Any]) -> list[int]:
    return [line["line"] for line in answer["lines"]]


def ask(text: str | bytes, language: str, line: int, column: int | None = None) -> dict[str, Any]:
    data = text.encode() if isinstance(text, str) else text
    return slice_text(data, language, SliceQuestion(line, column))


def places(answer: dict[str, Any], field: str) -> list[tuple[str, int, int]]:
    return [(place["name"], place["line"], place["column"]) for place in answer[field]]


FLOW = """\
def f(a, b):
    x = a
    if b:
        x = b
    x += 1
    box = [x]
    box[0] = b
    return x, box
"""


def test_the_definitions_that_reach_one_use() -> None:
    answer = ask(FLOW, "python", 5, 5)
    assert answer["variable"]["role"] == "update"
    assert places(answer, "definitions") == [("x", 2, 5), ("x", 4, 9)]
    assert places(answer, "uses") == [("x", 6, 12), ("x", 8, 12)]


def test_the_uses_of_one_definition() -> None:
    answer = ask(FLOW, "python", 4, 9)
    assert answer["variable"]["role"] == "definition"
    assert places(answer, "definitions") == [("x", 4, 9)]
    assert places(answer, "uses") == [("x", 5, 5)]
    assert places(ask(FLOW, "python", 1, 10), "uses") == [("b", 3, 8), ("b", 4, 13), ("b", 7, 14)]


def test_a_store_into_a_part_is_weak_and_a_use() -> None:
    answer = ask(FLOW, "python", 8, 15)
    assert [(d["line"], d["weak"]) for d in answer["definitions"]] == [(6, False), (7, True)]
    assert places(answer, "uses") == [("box", 7, 5), ("box", 8, 15)]


def test_a_line_names_its_function_and_what_it_reads_and_feeds() -> None:
    answer = ask(FLOW, "python", 6)
    assert answer["function"] == {"name": "f", "kind": "function", "line": 1, "endLine": 8}
    assert places(answer, "definitions") == [("x", 5, 5)]
    assert places(answer, "uses") == [("box", 7, 5), ("box", 8, 15)]
    assert "variable" not in answer


def test_a_captured_name_is_asked_where_it_has_its_value() -> None:
    text = "function f(limit, items) {\n  return items.filter((x) => x > limit);\n}\n"
    answer = ask(text, "javascript", 2, text.split("\n")[1].index("limit") + 1)
    assert answer["function"]["name"] == "f"
    assert places(answer, "definitions") == [("limit", 1, 12)]
    assert ask(text, "javascript", 2, 30)["function"]["name"] == "f.<anonymous>"


SCOPES = [
    (
        "javascript",
        "function f(a) {\n  if (a) {\n    function g() { return a; }\n  }\n  return g;\n}\n",
        5,
    ),
    ("python", "def f(x):\n    x = 1\n    y = [x for x in x]\n    return y\n", 4),
    (
        "python",
        "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n    return x\n",
        6,
    ),
    (
        "go",
        "package p\nfunc f(x int) int {\n\ty := x\n\tif x := y; x > 1 {\n\t\tx = 3\n\t}\n\treturn x\n}\n",
        7,
    ),
    (
        "java",
        "class A { int f(int x) {\n  Runnable r = () -> { int y = x; };\n  int y = 2;\n  return y;\n} }\n",
        4,
    ),
]
WANTED = [[1, 2, 3, 5], [2, 3, 4], [2, 3, 4, 5, 6], [2, 7], [3, 4]]


@pytest.mark.parametrize(("case", "wanted"), list(zip(SCOPES, WANTED, strict=True)))
def test_a_name_is_the_variable_that_the_scopes_of_the_file_say(
    case: tuple[str, str, int], wanted: list[int]
) -> None:
    language, text, line = case
    assert lines(ask(text, language, line)) == wanted


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_columns_are_bytes_and_utf16_beside_them(end: str) -> None:
    text = end.join(["def f(größe):", '    s = "😀é"; x = größe', "    return x", ""])
    answer = ask(text, "python", 3, 12)
    assert answer["definitions"] == [
        {"name": "x", "line": 2, "column": 19, "columnUtf16": 16, "endColumn": 20, "weak": False}
    ]
    assert [line["text"] for line in answer["lines"]] == text.split(end)[:3]
    used = ask(text, "python", 2, 23)
    assert used["variable"]["name"] == "größe"
    assert places(used, "definitions") == [("größe", 1, 7)]


def test_other_encodings_are_read() -> None:
    text = "def f(a):\n    b = a\n    return b\n"
    for data in (text.encode("utf-16"), b"\xef\xbb\xbf" + text.encode(), text.encode()[:-1]):
        assert lines(ask(data, "python", 3)) == [1, 2, 3]
    latin = b"def f(a):\n    b = '\xe9' + a\n    return b\n"
    assert lines(ask(latin, "python", 3)) == [1, 2, 3]


@pytest.mark.parametrize(
    ("line", "column", "status", "message"),
    [
        (0, None, "invalid_request", "no line 0: the file has 4"),
        (5, None, "invalid_request", "no line 5: the file has 4"),
        (2, None, "not_found", "line 2 is blank"),
        (3, None, "not_found", "no statement of a function or of the file on line 3"),
        (1, 9, "not_found", "no variable of a function or of the file on line 1, column 9"),
        (4, 99, "invalid_request", "no column 99 on line 4"),
    ],
)
def test_a_bad_place_is_told_in_one_line(
    line: int, column: int | None, status: str, message: str
) -> None:
    text = "def f(a):\n\n    # a comment\n    return a\n"
    assert ask(text, "python", line, column) == {"status": status, "message": message}


def test_only_some_languages_have_slices() -> None:
    assert ask("fn main() {}\n", "rust", 1)["status"] == "unsupported"
    assert ask("", "python", 1)["status"] == "invalid_request"


def test_broken_code_is_sliced_as_far_as_it_is_understood() -> None:
    answer = ask("def f(a):\n    x = a\n    y = = 3\n    return x\n", "python", 4)
    assert answer["partial"]
    assert {1, 2, 4} <= set(lines(answer))


BOMBS = {
    "deep blocks": (
        "python",
        "".join(f"{' ' * n}if a:\n" for n in range(900)) + " " * 900 + "b = a\n",
    ),
    "deep braces": ("javascript", "{" * 10_000 + "x = 1" + "}" * 10_000 + "\n"),
    "deep brackets": ("python", "x = " + "(" * 10_000 + "a" + ")" * 10_000 + "\n"),
    "deep lambdas": ("python", "f = " + "lambda a: " * 1_000 + "a\n"),
    "long sum": ("java", "class A { int f(int a) { return " + "a + " * 10_000 + "a; } }\n"),
    "many elifs": ("python", "if a: x = 1\n" + "elif a: x = 2\n" * 1_000),
    "many else ifs": (
        "go",
        "package p\nfunc f(a int) {\n" + "if a > 1 { } else " * 900 + "{ }\n}\n",
    ),
    "many statements": ("python", "x = 1\n" + "x = x + 1\n" * 2_000),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_answered(name: str) -> None:
    language, text = BOMBS[name]
    line = text.count("\n")
    for asked in (1, line):
        answer = ask(text, language, asked)
        assert answer["status"] in ("ok", "not_found"), answer


def test_finally_in_finally_ends() -> None:
    text = "def f(a):\n"
    for depth in range(1, 18):
        pad = "    " * depth
        text += f"{pad}try:\n{pad}    if a: return 1\n{pad}    if a: return 2\n{pad}finally:\n"
    text += "    " * 18 + "pass\n"
    answer = ask(text, "python", 3)
    assert answer["status"] == "error"
    assert answer["message"] == "the function on line 3 is too large to slice"


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(LANGUAGES)), st.data())
def test_damaged_code_never_fails(file: str, data: st.DataObject) -> None:
    whole = (FIXTURES / file).read_bytes()
    start = data.draw(st.integers(0, len(whole) - 1))
    hole = data.draw(st.binary(max_size=4))
    damaged = whole[start // 2 : start] + hole + whole[start + len(hole) + 7 :][:1500]
    count = damaged.count(b"\n") + 1
    line = data.draw(st.integers(1, count))
    column = data.draw(st.none() | st.integers(1, 40))
    question = SliceQuestion(line, column, data.draw(st.booleans()))
    answer = slice_text(damaged, LANGUAGES[file], question)
    assert answer["status"] in ("ok", "not_found", "invalid_request")


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
    st.builds(
        lambda v, e: Line(f"{v} = sum([{v} + n for n in range(2) if n < {e}]) % 97"),
        _names,
        _values,
    ),
    st.builds(lambda v: Line(f"return 'RETURN', {v}"), _names),
)
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
            _names,
            body,
            body,
        ),
        st.builds(lambda b, c: Line("try:", (("", b), ("except ValueError:", c))), body, body),
        st.builds(lambda b, c: Line("try:", (("", b), ("finally:", c))), body, body),
    )


_programs = st.lists(st.recursive(_plain, _blocks, max_leaves=8), min_size=2, max_size=6).map(tuple)


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
    max_examples=80,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def kept(text: str, line: int) -> set[int]:
    answer = slice_text(text.encode(), "python", SliceQuestion(line))
    assert answer["status"] == "ok", (answer, text)
    return set(lines(answer))


@_settings
@given(_programs)
def test_the_slice_of_a_return_comes_to_it_with_the_same_values(program: tuple[Line, ...]) -> None:
    _check_slices(program)


@pytest.mark.torture
@settings(parent=_settings, max_examples=2_000)
@given(_programs)
def test_the_slices_of_many_programs(program: tuple[Line, ...]) -> None:
    _check_slices(program)


def _check_slices(program: tuple[Line, ...]) -> None:
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


@settings(parent=_settings, max_examples=40)
@given(_programs)
def test_what_a_statement_influences_is_what_depends_on_it(program: tuple[Line, ...]) -> None:
    text = Rendered((*program, Line("return 'RETURN', a"))).text()
    root = parse_tree(text.encode(), "python")
    assert root is not None
    asked = find_line(root, grammar_of("python"), scopes_of(root, text.encode(), "python"), 0)
    assert asked is not None
    analysis = Analysis(asked.unit)
    forward = {(one, two) for one in analysis.statements for two in analysis.forward([one])}
    backward = {(one, two) for two in analysis.statements for one in analysis.backward([two])}
    assert forward == backward, text


@pytest.fixture
def code(repo: Repo) -> Repo:
    repo.write("src/flow.py", FLOW)
    repo.write("notes.txt", "words\n")
    repo.commit()
    return repo


def test_the_command_marks_the_asked_line(code: Repo) -> None:
    done = code.gitindex("slice", "src/flow.py:5")
    assert done.returncode == 0
    assert done.stdout.split("\n") == [
        "src/flow.py: f (worktree)",
        "      1  def f(a, b):",
        "      2      x = a",
        "      3      if b:",
        "      4          x = b",
        ">     5      x += 1",
        "",
    ]
    below = code.gitindex("slice", "flow.py:6", "--forward", cwd=code.path / "src")
    assert [line[:7] for line in below.stdout.split("\n")[1:-1]] == [
        ">     6",
        "      7",
        "      8",
    ]


def test_json_says_what_was_asked_and_where_the_text_is_from(code: Repo) -> None:
    answer = code.answer("slice", "src/flow.py:8:12")
    assert {k: answer[k] for k in ("status", "path", "line", "column", "direction", "source")} == {
        "status": "ok",
        "path": "src/flow.py",
        "line": 8,
        "column": 12,
        "direction": "backward",
        "source": "worktree",
    }
    assert "freshness" not in answer
    code.index()
    answer = code.answer("slice", "src/flow.py:8:12")
    assert answer["source"] == f"index@{code.tree()}"
    assert answer["receipt"]["treeId"] == code.tree()
    assert answer["freshness"]["state"] == "fresh"
    code.write("src/flow.py", FLOW.replace("x += 1", "x += 2"))
    answer = code.answer("slice", "src/flow.py:8:12")
    assert answer["source"] == "worktree"
    assert "    x += 2" in [line["text"] for line in answer["lines"]]


SLICED = "go, java, javascript, python, tsx, typescript"


@pytest.mark.parametrize(
    ("place", "code_", "message"),
    [
        ("src/flow.py", 2, "not FILE:LINE[:COL]: src/flow.py"),
        ("src/flow.py:x", 2, "not FILE:LINE[:COL]: src/flow.py:x"),
        ("src/flow.py:99", 2, "no line 99: the file has 8"),
        ("src/none.py:1", 2, "no such file, or a link: src/none.py"),
        ("src/flow.py/x.py:1", 2, "no such file, or a link: src/flow.py/x.py"),
        ("src:1", 2, "no such file, or a link: src"),
        ("../outside.py:1", 2, "outside the repository: ../outside.py"),
        ("link.py:1", 2, "no such file, or a link: link.py"),
        ("linked/flow.py:1", 2, "no such file, or a link: linked/flow.py"),
        ("notes.txt:1", 2, f"no slices for text files, only for {SLICED}"),
        ("src/flow.py:1:4", 1, "no variable of a function or of the file on line 1, column 4"),
        ("large.py:1", 4, "larger than 1048576 bytes: large.py"),
    ],
)
def test_bad_input_is_one_line_and_its_exit_code(
    code: Repo, place: str, code_: int, message: str
) -> None:
    (code.path.parent / "outside.py").write_text("x = 1\n")
    (code.path / "link.py").symlink_to("src/flow.py")
    (code.path / "linked").symlink_to("src")
    (code.path / "large.py").write_text("x = 1\n" * 200_000)
    done = code.gitindex("slice", place)
    assert (done.returncode, done.stdout) == (code_, "")
    assert done.stderr == f"gitindex: {message}\n"


def test_a_refusal_is_also_json(code: Repo) -> None:
    done = code.gitindex("slice", "notes.txt:1", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["status"] == "unsupported"


def test_a_parser_that_dies_or_hangs_is_an_error(
    code: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = SlicePoint("src/flow.py", 5, None)
    monkeypatch.setenv("GITINDEX_TEST_FAULT", "crash:x += 1")
    with pytest.raises(GitIndexError, match="cannot parse the file: crashed") as caught:
        slice_file(place, str(code.path))
    assert caught.value.code == 4
    monkeypatch.setenv("GITINDEX_TEST_FAULT", "hang:x += 1")
    with pytest.raises(GitIndexError, match="cannot parse the file: timed out") as caught:
        slice_file(place, str(code.path), seconds=1.0)
    assert caught.value.code == 4


def test_the_command_does_not_load_the_parser_itself() -> None:
    program = "import sys, gitindex.query.slice; sys.exit('tree_sitter' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], timeout=300, check=False)
    assert done.returncode == 0
