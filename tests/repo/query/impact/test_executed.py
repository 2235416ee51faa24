"""Affected tests by what really ran: databases of coverage.py with a context per test, and hostile ones."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gitindex.store.coverage_data import MAX_BYTES
from tests.support import TIMEOUT, Repo

CORE = """\
HANDLERS = {}


def handles(name):
    def keep(function):
        HANDLERS[name] = function
        return function

    return keep


@handles("open")
def on_open(value):
    if value:
        return "opened"
    return "nothing"


@handles("close")
def on_close(value):
    return value


def run(name, value):
    return HANDLERS[name](value)
"""
FILES = {
    "pkg/__init__.py": "",
    "pkg/core.py": CORE,
    "tests/test_open.py": "from pkg.core import run\n\n\ndef test_full():\n    assert run('open', 1)\n\n\n"
    "class TestMore:\n    def test_empty(self):\n        assert run('open', 0)\n",
    "tests/test_close.py": "from pkg.core import run\n\n\ndef test_close():\n    assert run('close', 1)\n",
    "tests/test_other.py": "import pkg.core\n\n\ndef test_other():\n    assert pkg.core.handles('x')\n",
}


@pytest.fixture
def project(repo: Repo) -> Repo:
    for name, text in FILES.items():
        repo.write(name, text)
    repo.write(".gitignore", ".coverage\n__pycache__/\n")
    repo.commit()
    repo.index()
    return repo


def run_tests(repo: Repo, *options: str) -> None:
    """The project's own tests under coverage.py, as its developers run them."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
        cwd=repo.path,
        env={**os.environ, "PYTHONPATH": str(repo.path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (repo.path / ".coverage").exists()


def edit(repo: Repo, old: str, new: str) -> None:
    text = (repo.path / "pkg/core.py").read_text()
    assert old in text
    repo.write("pkg/core.py", text.replace(old, new))
    repo.git("add", "-A")


def ranked(repo: Repo) -> list[tuple[str, str, int, list[str]]]:
    found = repo.answer("impact", "--staged", "--tests")["ranked"]
    return [(one["path"], one["route"], one["distance"], one["nodes"]) for one in found]


FULL = "tests/test_open.py::test_full"
EMPTY = "tests/test_open.py::TestMore::test_empty"
CONTEXTS = ("--cov=pkg", "--cov-report=", "--cov-context=test")


@pytest.mark.parametrize("options", [CONTEXTS, (*CONTEXTS, "--cov-branch")])
def test_the_tests_that_ran_the_change_come_first(project: Repo, options: tuple[str, ...]) -> None:
    """No call leads to a handler by name: without the record imports would name all three files."""
    edit(project, '"opened"', '"open"')
    assert {path for path, *_ in ranked(project)} == {f for f in FILES if "test_" in f}
    project.git("reset", "-q", "--hard")
    run_tests(project, *options)
    edit(project, '"opened"', '"open"')
    assert ranked(project) == [("tests/test_open.py", "executed", 0, [FULL, EMPTY])]
    done = project.gitindex("impact", "--staged", "--tests", "--nodes")
    assert done.stdout.splitlines() == [FULL, EMPTY], "the one that ran the line itself first"
    ran = project.gitindex("gate", "run", "--", "echo")
    assert ran.stdout == f"{FULL} {EMPTY}\n"


def test_contexts_that_coverage_names_by_function(project: Repo) -> None:
    project.write(".coveragerc", "[run]\ndynamic_context = test_function\n")
    run_tests(project, "--cov=pkg", "--cov-report=")
    edit(project, "    return value", "    return bool(value)")
    node = "tests/test_close.py::test_close"
    assert ranked(project) == [("tests/test_close.py", "executed", 0, [node])]


def test_a_run_of_the_edited_file_counts_for_the_edited_file(project: Repo) -> None:
    """Edit, run the tests, commit: the lines are those of the staged blob."""
    edit(
        project, '    if value:\n        return "opened"', '    if value:\n\n        return "open"'
    )
    run_tests(project, *CONTEXTS)
    assert ranked(project) == [("tests/test_open.py", "executed", 0, [FULL, EMPTY])]


def test_a_record_of_other_bytes_does_not_count(project: Repo) -> None:
    """Lines of a blob that is neither side of the change say nothing about it."""
    run_tests(project, *CONTEXTS)
    project.write("pkg/core.py", '"""A docstring."""\n\n' + CORE)
    project.commit("two lines more")
    project.index()
    edit(project, '"opened"', '"open"')
    assert {route for _, route, *_ in ranked(project)} == {"imports"}


def test_a_test_that_is_not_in_the_record_is_named_for_its_imports(project: Repo) -> None:
    """A record of some tests, or one older than a test, says nothing about the others."""
    run_tests(project, *CONTEXTS, "tests/test_open.py", "tests/test_close.py")
    edit(project, "    return value", "    return bool(value)")
    assert [(path, route) for path, route, *_ in ranked(project)] == [
        ("tests/test_close.py", "executed"),
        ("tests/test_other.py", "imports"),
    ]
    os.utime(project.path / "tests/test_open.py")
    assert ("tests/test_open.py", "imports") in [(p, route) for p, route, *_ in ranked(project)]


def test_a_record_in_the_folder_of_a_project(repo: Repo) -> None:
    """A repository of several projects: names start where the tests were run."""
    for name, text in FILES.items():
        repo.write(f"part/{name}", text)
    repo.write(".gitignore", ".coverage\n__pycache__/\n")
    repo.commit()
    repo.index()
    part = Repo(repo.path / "part")
    run_tests(part, *CONTEXTS)
    edit(part, "    return value", "    return bool(value)")
    node = "part/tests/test_close.py::test_close"
    assert ranked(repo) == [("part/tests/test_close.py", "executed", 0, [node])]


def record(repo: Repo, *statements: str) -> None:
    (repo.path / ".coverage").unlink(missing_ok=True)
    with sqlite3.connect(repo.path / ".coverage") as database:
        for statement in statements:
            database.execute(statement)
    database.close()


TABLES = (
    "CREATE TABLE file (id integer primary key, path text)",
    "CREATE TABLE context (id integer primary key, context text)",
    "CREATE TABLE line_bits (file_id integer, context_id integer, numbits blob)",
    "CREATE TABLE arc (file_id integer, context_id integer, fromno integer, tono integer)",
)
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n) SELECT"
HOSTILE: dict[str, tuple[str, ...]] = {
    "a view that never ends": (
        *TABLES[:2],
        *TABLES[3:],
        f"CREATE VIEW line_bits AS {ENDLESS} x AS file_id, x AS context_id, x AS numbits FROM n",
    ),
    "a computed column": (
        *TABLES[:2],
        *TABLES[3:],
        "CREATE TABLE line_bits (file_id integer, context_id integer,"
        " numbits AS (zeroblob(900000000)))",
        "INSERT INTO line_bits VALUES (1, 1)",
    ),
    "tests outside of the repository": (
        *TABLES,
        "INSERT INTO file VALUES (1, 'pkg/core.py')",
        "INSERT INTO context VALUES (1, '../../tests/test_evil.py::test_evil|run'),"
        " (2, '-x::test_full|run'), (3, '/etc/tests/test_passwd.py::test_x'), (4, 'test_full')",
        "INSERT INTO line_bits SELECT 1, id, x'00c00100' FROM context",
    ),
    "values of other types": (
        *TABLES,
        "INSERT INTO file VALUES (1, 'pkg/core.py'), (2, NULL), (3, x'ff')",
        "INSERT INTO context VALUES (1, 'tests/test_open.py::test_full|run'), (2, 7)",
        "INSERT INTO line_bits VALUES (1, 1, 'text'), (1, 2, NULL), (1, 'x', 3.5)",
        "INSERT INTO arc VALUES (1, 1, 'a', NULL), (1, 1, 99999999999999, -1)",
    ),
    "no contexts": (*TABLES, "INSERT INTO context VALUES (1, '')"),
    "no tables": ("CREATE TABLE meta (key text)",),
}


@pytest.mark.parametrize("which", HOSTILE)
def test_a_hostile_record_says_nothing(project: Repo, which: str) -> None:
    edit(project, '"opened"', '"open"')
    plain = ranked(project)
    record(project, *HOSTILE[which])
    assert ranked(project) == plain


def test_what_is_no_database_says_nothing(project: Repo, tmp_path: Path) -> None:
    run_tests(project, *CONTEXTS)
    edit(project, '"opened"', '"open"')
    here = project.path / ".coverage"
    good = here.read_bytes()
    assert [route for _, route, *_ in ranked(project)] == ["executed"]
    wrong: dict[str, Any] = {
        "empty": lambda: here.write_bytes(b""),
        "not SQLite": lambda: here.write_bytes(b"!coverage.py: old format" * 99),
        "torn": lambda: here.write_bytes(good[: len(good) // 2]),
        "damaged": lambda: here.write_bytes(good[:4096] + b"\xff" * (len(good) - 4096)),
        "too large": lambda: os.truncate(here, MAX_BYTES + 1),
        "a link": lambda: here.symlink_to(_outside(tmp_path, good)),
        "a folder": lambda: here.mkdir(),
        "a pipe": lambda: os.mkfifo(here),
    }
    for name, make in wrong.items():
        if name != "too large":
            here.unlink(missing_ok=True)
        make()
        assert {route for _, route, *_ in ranked(project)} == {"imports"}, name
        if name == "a folder":
            here.rmdir()
        elif name == "damaged":
            here.write_bytes(good)


def _outside(folder: Path, data: bytes) -> Path:
    (folder / "elsewhere").write_bytes(data)
    return folder / "elsewhere"


def test_reading_leaves_no_file_behind(project: Repo) -> None:
    run_tests(project, *CONTEXTS)
    edit(project, '"opened"', '"open"')
    before = (project.path / ".coverage").read_bytes()
    ranked(project)
    assert (project.path / ".coverage").read_bytes() == before
    assert [name for name in os.listdir(project.path) if name.startswith(".coverage")] == [
        ".coverage"
    ]


GO = {
    "go.mod": "module example.org/m\n\ngo 1.21\n",
    "core.go": 'package m\n\nfunc Open(v int) string {\n\tif v > 0 {\n\t\treturn "opened"\n\t}\n'
    '\treturn "nothing"\n}\n\nfunc Close(v int) int {\n\treturn v\n}\n',
    "open_test.go": 'package m\n\nimport "testing"\n\nfunc TestOpen(t *testing.T) {\n\tOpen(1)\n}\n',
    "close_test.go": 'package m\n\nimport "testing"\n\nfunc TestClose(t *testing.T) {\n\tClose(1)\n}\n',
}


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")
def test_profiles_of_go_test_by_test(repo: Repo) -> None:
    """`go test -run NAME -coverprofile=coverage/NAME.out`: only what ran the change is named."""
    for name, text in GO.items():
        repo.write(name, text)
    repo.commit()
    repo.index()
    (repo.path / "coverage").mkdir()
    for name in ("TestOpen", "TestClose"):
        command = ["go", "test", "-run", f"^{name}$", f"-coverprofile=coverage/{name}.out"]
        env = {**os.environ, "GOFLAGS": "-mod=mod", "GOCACHE": str(repo.path.parent / "gocache")}
        subprocess.run(command, cwd=repo.path, env=env, check=True, timeout=TIMEOUT)
    repo.write("core.go", GO["core.go"].replace("return v", "return -v"))
    repo.git("add", "core.go")
    assert ranked(repo) == [("close_test.go", "executed", 1, [])]  # blocks are known by their ends


LCOV = "TN:{0}\nSF:lib/core.js\nDA:{1},1\nDA:{2},0\nend_of_record\n"


@pytest.mark.parametrize("named", ["by its place", "by TN"])
def test_lcov_test_by_test(repo: Repo, named: str) -> None:
    """The file of a test, or `TN:`, says whose lines these are; one file of all tests says nothing."""
    repo.write(
        "lib/core.js", "exports.a = () => {\n  return 1\n}\nexports.b = () => {\n  return 2\n}\n"
    )
    for name in "ab":
        repo.write(
            f"test/{name}.js",
            f"const core = require('../lib/core')\nit('x', () => core.{name}())\n",
        )
    repo.write("package.json", '{"scripts": {"test": "mocha"}}\n')
    repo.commit()
    repo.index()
    plain = LCOV.format("", 2, 5) + LCOV.format("", 5, 2)
    repo.write("coverage/lcov.info", plain)
    repo.write(
        "lib/core.js", "exports.a = () => {\n  return 1\n}\nexports.b = () => {\n  return 3\n}\n"
    )
    repo.git("add", "lib")
    assert "executed" not in {route for _, route, _, _ in ranked(repo)}
    if named == "by TN":
        text = LCOV.format("test/a.js", 2, 5) + LCOV.format("test/b.js", 5, 2)
        repo.write("coverage/lcov.info", text)
    else:
        repo.write("coverage/test/a.js/lcov.info", LCOV.format("", 2, 5))
        repo.write("coverage/test/b.js.info", LCOV.format("", 5, 2))
    assert ranked(repo) == [("test/b.js", "executed", 0, [])]


def test_hostile_profiles_say_nothing(repo: Repo) -> None:
    """Links, bytes, and numbers that are none: the answer is as without them."""
    for name, text in FILES.items():
        repo.write(name, text)
    repo.commit()
    repo.index()
    edit(repo, '"opened"', '"open"')
    plain = ranked(repo)
    text = "TN:../../etc/passwd\nSF:pkg/core.py\nDA:99999999999999,1\nDA:-1,x\nDA:\nSF:\nDA:1,1\n"
    repo.write("coverage/a.info", text)
    repo.write("coverage/b.out", "mode: set\nexample.org/m/pkg/core.go:9.9,x 1 1\n")
    (repo.path / "coverage/c.info").write_bytes(b"\xff\x00TN:\nSF:\xfe\nDA:1,1\n")
    (repo.path / "coverage/loop").symlink_to(repo.path)
    (repo.path / "coverage/d.info").symlink_to("/etc/passwd")
    assert ranked(repo) == plain
