"""Bad input: one clear line, a hint, the right exit code, no traceback, and nothing is lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitindex.base.vocabulary import BuildKind
from gitindex.refresh.public_files import create_store
from tests.mcp_client import job_running
from tests.support import TIMEOUT, Repo

READERS = (["status"], ["check"], ["search", "x"], ["jobs"], ["log"], ["doctor"])
COMMAND = [sys.executable, "-m", "gitindex"]
WRITERS = (["install"], ["index"], ["run"], ["wait", "--timeout", "1"], ["uninstall"])


def _assert_clear(done: subprocess.CompletedProcess[str], *codes: int) -> None:
    """An error speaks once: a line, perhaps a hint; never a traceback."""
    said = f"{done.args}\n{done.stdout}\n{done.stderr}"
    assert done.returncode in codes, said
    assert "Traceback" not in said
    assert "internal error" not in said
    if done.returncode in (2, 4) and done.stderr:
        lines = done.stderr.splitlines()
        assert len([line for line in lines if line.startswith("gitindex: ")]) == 1, said
        assert len(lines) <= 2, said


@pytest.mark.parametrize("command", [*READERS, *WRITERS], ids=lambda c: c[0])
def test_not_a_repository(tmp_path: Path, command: list[str]) -> None:
    done = Repo(tmp_path).gitindex(*command)
    _assert_clear(done, 4)
    assert "not inside a git repository" in done.stderr
    assert "hint:" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [*READERS, *WRITERS], ids=lambda c: c[0])
def test_q21_bare_repository(tmp_path: Path, command: list[str]) -> None:
    repo = Repo(tmp_path / "bare.git")
    repo.init("--bare")
    before = {path: path.stat().st_mtime_ns for path in repo.path.rglob("*")}
    done = repo.gitindex(*command)
    _assert_clear(done, 4)
    assert "bare repository" in done.stderr
    assert {path: path.stat().st_mtime_ns for path in repo.path.rglob("*")} == before


@pytest.mark.parametrize("command", [*READERS, *WRITERS], ids=lambda c: c[0])
def test_q21_unborn_head_without_an_index(repo: Repo, command: list[str]) -> None:
    _assert_clear(repo.gitindex(*command), 0, 1, 3, 4)


@pytest.mark.parametrize(
    "arguments",
    [
        ["nosuchcommand"],
        ["status", "--nosuchoption"],
        ["search"],
        ["search", "x", "--limit", "0"],
        ["search", "x", "--limit", "many"],
        ["search", "x", "--limit", "201"],
        ["wait", "--timeout", "-1"],
        ["wait", "--timeout", "soon"],
        ["status", "extra"],
        ["wait", "--timeout", "nan"],
        ["symbols", "--kind", "klass"],
    ],
    ids=" ".join,
)
def test_usage_errors_end_with_two(quiet: Repo, arguments: list[str]) -> None:
    done = quiet.gitindex(*arguments)
    _assert_clear(done, 2)
    assert "hint:" in done.stderr
    assert "env var" not in done.stderr
    assert done.stdout == ""


REFUSED = {
    "not_found": ["refs", "no.such"],
    "invalid_request": ["docs", "--from", "soon"],
    "unsupported": ["semantic", "run"],
}


@pytest.mark.parametrize("status", REFUSED)
def test_who_asks_for_json_gets_json_also_of_a_refusal(quiet: Repo, status: str) -> None:
    done = quiet.gitindex(*REFUSED[status], "--json")
    answer = json.loads(done.stdout)
    assert (answer["status"], done.returncode) == (status, REFUSAL_CODES[status])
    assert f"gitindex: {answer['message']}\n" in done.stderr


REFUSAL_CODES = {"not_found": 1, "invalid_request": 2, "unsupported": 3}


def test_without_an_index_json_says_not_indexed(repo: Repo) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit()
    for command in (["jobs"], ["gc"], ["decide", "list"], ["symbols", "x"], ["map"]):
        done = repo.gitindex(*command, "--json")
        answer = json.loads(done.stdout)
        assert (answer["status"], answer["reason"], done.returncode) == ("not_indexed",) * 2 + (3,)


def test_outside_of_a_repository_json_says_error(tmp_path: Path) -> None:
    done = Repo(tmp_path).gitindex("search", "x", "--json")
    assert (json.loads(done.stdout)["status"], done.returncode) == ("error", 4)


def test_while_the_first_index_is_built_the_hint_is_to_wait(repo: Repo) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit()
    create_store(repo.worktree)
    with job_running(repo, BuildKind.CREATE):
        done = repo.gitindex("symbols", "x")
    assert (done.returncode, "`gitindex wait`" in done.stderr) == (3, True)


def test_an_export_that_cannot_be_written_names_the_file(quiet: Repo, tmp_path: Path) -> None:
    output = str(tmp_path / "none" / "tags")
    done = quiet.gitindex("export", "--format", "ctags", "-o", output)
    _assert_clear(done, 4)
    assert f"cannot write {output}:" in done.stderr


QUIET_SHELL = """cd "$1"; shift
"$@" status >&- || exit 11
"$@" outline lib/util.py >&- 2>&- || exit 12
"$@" symbols - <&- || exit 13
"$@" help grep | true
exit ${PIPESTATUS[0]}
"""


def test_closed_streams_are_as_good_as_dev_null(quiet: Repo) -> None:
    """Without a stream its number would be given to a file of the index."""
    line = ["bash", "-c", QUIET_SHELL, "bash", str(quiet.path), *COMMAND]
    done = subprocess.run(line, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert (done.returncode, "internal error" in done.stderr) == (0, False), done


@pytest.mark.parametrize("env", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "ascii"}])
def test_names_are_printed_and_understood_in_every_locale(repo: Repo, env: dict[str, str]) -> None:
    repo.index_files({"ü.py": "def ünï():\n    return 1\n\n\nünï()\n"})
    for words in (["refs", "ünï"], ["outline", "ü.py"], ["frö"], ["grep", "ünï"]):
        line = [*COMMAND, *words]
        done = subprocess.run(
            line, cwd=repo.path, env={**os.environ, **env}, capture_output=True, check=False
        )
        said = done.stdout + done.stderr
        assert done.returncode == (2 if words == ["frö"] else 0), said
        assert "ü".encode() in said or b"\\xfc" in said or "ö".encode() in said or b"\\xf6" in said


def test_a_broken_git_file(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nonexistent\n")
    for command in (["status"], ["search", "x"], ["index"]):
        _assert_clear(Repo(tmp_path).gitindex(*command), 4)
    (tmp_path / ".git").write_bytes(b"\xff\0garbage")
    _assert_clear(Repo(tmp_path).gitindex("status"), 4)


def test_a_head_that_names_nothing(quiet: Repo) -> None:
    (quiet.path / ".git" / "HEAD").write_text(f"{'0' * 39}1\n")
    for command in (["status"], ["search", "helper"], ["run"], ["wait", "--timeout", "1"]):
        _assert_clear(quiet.gitindex(*command), 4)
    (quiet.path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert quiet.gitindex("run").returncode == 0
    assert quiet.state() == "fresh"


def _garbage(repo: Repo) -> None:
    Path(repo.worktree.database).write_bytes(b"this is no database" * 1000)


def _zero_bytes(repo: Repo) -> None:
    Path(repo.worktree.database).write_bytes(b"")


def _half(repo: Repo) -> None:
    database = Path(repo.worktree.database)
    database.write_bytes(database.read_bytes()[: database.stat().st_size // 2])


def _flipped(repo: Repo) -> None:
    database = Path(repo.worktree.database)
    data = bytearray(database.read_bytes())
    data[4096:] = bytes(byte ^ 0x5A for byte in data[4096:])
    database.write_bytes(data)


DAMAGED_FACTS: dict[str, Callable[[Repo], None]] = {
    "garbage": _garbage,
    "zero-bytes": _zero_bytes,
    "half": _half,
    "flipped": _flipped,
}


@pytest.mark.parametrize("damage", DAMAGED_FACTS.values(), ids=DAMAGED_FACTS.keys())
def test_damaged_facts_are_told_and_rebuilt(quiet: Repo, damage: Callable[[Repo], None]) -> None:
    damage(quiet)
    for command in (["search", "helper", "--strict"], ["jobs"], ["status", "--skipped"]):
        done = quiet.gitindex(*command)
        _assert_clear(done, 3, 4)
        assert "hint:" in done.stderr
    _assert_clear(quiet.gitindex("run"), 0, 4)
    forced = quiet.gitindex("index", "--force")
    assert forced.returncode == 0, forced.stderr
    assert quiet.state() == "fresh"
    quiet.assert_published()
    assert quiet.answer("search", "helper")["results"]


@pytest.mark.parametrize("damage", [_garbage, _zero_bytes, _half])
def test_damaged_facts_are_not_fresh(quiet: Repo, damage: Callable[[Repo], None]) -> None:
    damage(quiet)
    assert quiet.state() != "fresh"


def _truncate_segments(repo: Repo) -> None:
    for path in Path(repo.worktree.lexical).iterdir():
        if path.suffix not in (".json", ".lock"):
            os.truncate(path, path.stat().st_size // 2)


def _drop_meta(repo: Repo) -> None:
    Path(repo.worktree.lexical, "meta.json").unlink()


def _garble_meta(repo: Repo) -> None:
    Path(repo.worktree.lexical, "meta.json").write_text("{")


def _drop_folder(repo: Repo) -> None:
    shutil.rmtree(repo.worktree.lexical)


DAMAGED_LEXICAL: dict[str, Callable[[Repo], None]] = {
    "truncated": _truncate_segments,
    "no-meta": _drop_meta,
    "bad-meta": _garble_meta,
    "gone": _drop_folder,
}


@pytest.mark.parametrize("damage", DAMAGED_LEXICAL.values(), ids=DAMAGED_LEXICAL.keys())
def test_a_damaged_lexical_index_is_told_and_rebuilt(
    quiet: Repo, damage: Callable[[Repo], None]
) -> None:
    damage(quiet)
    done = quiet.gitindex("search", "helper", "--strict")
    _assert_clear(done, 3, 4)
    assert "hint:" in done.stderr
    forced = quiet.gitindex("index", "--force")
    assert forced.returncode == 0, forced.stderr
    assert quiet.state() == "fresh"
    quiet.assert_published()
    assert quiet.answer("search", "helper")["results"]


@pytest.fixture
def read_only(quiet: Repo) -> Iterator[Repo]:
    """The whole work tree on a read-only mount."""
    path = str(quiet.path)
    for options in (["--bind", path, path], ["-o", "remount,ro,bind", path]):
        done = subprocess.run(
            ["mount", *options], capture_output=True, timeout=TIMEOUT, check=False
        )
        if done.returncode:
            subprocess.run(["umount", path], capture_output=True, timeout=TIMEOUT, check=False)
            pytest.skip("may not make a read-only mount here")
    yield quiet
    subprocess.run(["umount", "-l", path], capture_output=True, timeout=TIMEOUT, check=False)


def test_a_read_only_disk(read_only: Repo) -> None:
    assert read_only.state() == "fresh"
    for command in (["search", "helper"], ["doctor"], ["log"]):
        _assert_clear(read_only.gitindex(*command), 0, 4)
    for command in (["index"], ["index", "--force"], ["run"], ["install"]):
        done = read_only.gitindex(*command)
        _assert_clear(done, 4)
        assert done.stderr
    assert read_only.state() == "fresh"


def test_a_store_of_a_newer_version_is_left_alone(quiet: Repo) -> None:
    import sqlite3

    connection = sqlite3.connect(quiet.worktree.database)
    connection.execute("PRAGMA user_version=999")
    connection.close()
    before = Path(quiet.worktree.database).read_bytes()
    for command in (["search", "x", "--strict"], ["run"], ["index"], ["index", "--force"]):
        done = quiet.gitindex(*command)
        _assert_clear(done, 4)
        assert "upgrade gitindex" in done.stderr
    assert Path(quiet.worktree.database).read_bytes() == before


def test_a_folder_that_is_gone_while_one_is_in_it(repo: Repo) -> None:
    command = f"mkdir gone && cd gone && rmdir ../gone && {sys.executable} -m gitindex status"
    done = subprocess.run(
        ["sh", "-c", command], cwd=repo.path, capture_output=True, text=True, timeout=TIMEOUT
    )
    _assert_clear(done, 4)
    assert "the current folder was deleted" in done.stderr
    assert "hint: `cd` to another one" in done.stderr


def test_a_tracked_face_is_refused(repo: Repo) -> None:
    repo.write(".llmc/rag_index_status.json", '{"index_state": "fresh"}')
    repo.git("add", "--force", ".llmc")
    repo.git("commit", "-qm", "hostile")
    done = repo.gitindex("index")
    _assert_clear(done, 4)
    assert "tracked" in done.stderr
    assert repo.git("status", "--porcelain") == ""
    assert repo.state() != "fresh"


def test_a_linked_face_is_refused(repo: Repo, tmp_path: Path) -> None:
    repo.write("a.py", "a = 1\n")
    repo.commit()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (repo.path / ".llmc").symlink_to(elsewhere)
    done = repo.gitindex("index")
    _assert_clear(done, 4)
    assert list(elsewhere.iterdir()) == []
