"""Search: any text is a query, results are of the published tree only, one generation per answer."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from gitindex.answer import serve
from gitindex.runner import Request, Runner
from gitindex.search import search
from tests.support import Repo

LONG = "a_very_long_identifier_name_with_exactly_sixty_characters_xyz"


def _find(repo: Repo, text: str, limit: int = 10) -> dict[str, Any]:
    """What `gitindex search --json` prints, without a process of its own."""
    with serve(repo.worktree, str(repo.path)) as served:
        return search(served, text, limit)


def _paths(repo: Repo, text: str) -> list[str]:
    return [row["path"] for row in _find(repo, text)["results"]]


@pytest.fixture
def library(quiet: Repo) -> Repo:
    quiet.write("net/camel.py", "def parseHttpRequest(raw):\n    return raw\n")
    quiet.write("net/snake.py", "def parse_http_request(raw):\n    return raw\n")
    quiet.write("net/long.py", f"def {LONG}():\n    pass\n")
    quiet.write("pkg/foo.py", "def foo(x):\n    return x\n")
    quiet.write("pkg/uses.py", "import foo\n\nvalue = foo.foo(1)\n")
    quiet.git("add", "-A")
    quiet.git("commit", "-qm", "library", env={"GITINDEX": "0"})
    assert quiet.gitindex("run").returncode == 0
    return quiet


ODD = {
    "call": "foo(",
    "colon": "a:b",
    "definition": "def foo(x):",
    "unclosed": '"unclosed',
    "and": "AND",
    "or-not": "OR NOT foo",
    "empty": "",
    "blank": "   \t ",
    "ten-kilobytes": "foo " * 2500,
    "one-long-word": "x" * 10_000,
    "punctuation": "!@#$%^&*()[]{}<>?/\\|~`'\";:,.",
    "nul": "foo\0bar",
    "newline": "foo\nbar",
    "escape": "\x1b[31mfoo",
    "nested": "(" * 12_000,
    "regex": "(foo|bar)+[a-z]*",
    "wildcard": "fo* f?o",
    "field": "body:foo names:foo key:foo",
    "range": "[a TO z] ^2 ~1",
    "unicode": "ſtraße Ωmega 漢字 🎉",
    "combining": "e\u0301\u202e",
    "bad-bytes": os.fsdecode(b"foo \xff\xfe"),
    "lone-bad-byte": os.fsdecode(b"\xff"),
    "percent": "%_%",
    "sql": "'; DROP TABLE files; --",
    "path-traversal": "../../etc/passwd",
}


@pytest.mark.parametrize("limit", [1, 200])
def test_l1_any_text_is_a_query(library: Repo, limit: int) -> None:
    for name, text in ODD.items():
        answer = _find(library, text, limit)
        assert answer["status"] == "ok", name
        assert len(answer["results"]) <= limit, name
    assert _paths(library, ODD["call"])[0] == "pkg/foo.py"
    assert _paths(library, ODD["definition"])[0] == "pkg/foo.py"
    assert "pkg/foo.py" in _paths(library, ODD["bad-bytes"])
    for name in ("empty", "blank", "punctuation", "nested", "sql"):
        assert _paths(library, ODD[name]) == [], name


@pytest.mark.parametrize("text", ["foo(", "", '"unclosed', "AND", "\x1b]0;x\x07", "--", "\udcff"])
def test_l1_through_the_command(library: Repo, text: str) -> None:
    done = library.gitindex("search", "--", text)
    assert done.returncode in (0, 1), done.stderr
    assert done.stderr == ""
    assert all(c >= " " or c == "\n" for c in done.stdout)


@pytest.mark.parametrize(
    "text", ["Http", "http request", "parseHttpRequest", "parse_http_request", "HTTP"]
)
def test_l2_both_spellings_are_found(library: Repo, text: str) -> None:
    assert {"net/camel.py", "net/snake.py"} <= set(_paths(library, text))


def test_l2_the_exact_spelling_comes_first(library: Repo) -> None:
    assert _paths(library, "parseHttpRequest")[0] == "net/camel.py"
    assert _paths(library, "parse_http_request")[0] == "net/snake.py"


def test_l3_a_long_identifier_is_found(library: Repo) -> None:
    assert len(LONG) >= 60
    assert _paths(library, LONG)[0] == "net/long.py"


@pytest.mark.parametrize("text", ["foo.py", "pkg/foo", "foo", "pkg/foo.py", "PKG/FOO.PY"])
def test_l4_a_path_is_found(library: Repo, text: str) -> None:
    assert _paths(library, text)[0] == "pkg/foo.py"


def test_a_result_says_where_what_and_from_which_tree(library: Repo) -> None:
    answer = _find(library, "parseHttpRequest")
    first = answer["results"][0]
    assert (first["path"], first["startLine"], first["endLine"]) == ("net/camel.py", 1, 2)
    assert (first["name"], first["kind"]) == ("parseHttpRequest", "function")
    assert first["snippet"].startswith("def parseHttpRequest")
    assert first["source"] == f"index@{library.tree()}"
    assert answer["receipt"]["treeId"] == library.tree()
    assert answer["freshness"]["state"] == "fresh"


def test_a_blob_of_another_branch_never_shows(library: Repo) -> None:
    unseen = {"GITINDEX": "0"}
    library.git("switch", "-qc", "side", env=unseen)
    library.write("secret_feature.py", "def zebrafish():\n    pass\n")
    library.git("add", "-A")
    library.git("commit", "-qm", "side", env=unseen)
    library.gitindex("run")
    assert _paths(library, "zebrafish") == ["secret_feature.py"]
    library.git("switch", "-q", "main", env=unseen)
    library.gitindex("run")
    assert _paths(library, "zebrafish") == []
    library.git("reset", "-q", "--hard", "side")
    library.gitindex("run")
    assert _paths(library, "zebrafish") == ["secret_feature.py"]


def test_q24_text_that_is_gone_is_not_called_current(library: Repo) -> None:
    library.git("reset", "-q", "--hard", "HEAD~1")
    answer = _find(library, "parseHttpRequest")
    assert answer["freshness"]["state"] == "stale"
    assert answer["freshness"]["pendingPaths"] == 5


def test_l8_one_answer_is_of_one_generation_while_publishes_happen(quiet: Repo) -> None:
    """Two trees alternate; each names itself in every file. No answer mixes them."""
    for color in ("crimson", "azure"):
        for number in range(8):
            quiet.write(f"f{number}.py", f"{color} = {number}\nshared = 1\n")
        quiet.git("add", "-A")
        quiet.git("commit", "-qm", color, env={"GITINDEX": "0"})
    trees = {quiet.git("rev-parse", f"{rev}^{{tree}}").strip() for rev in ("HEAD", "HEAD~1")}
    over = threading.Event()
    publisher = threading.Thread(target=_alternate, args=(quiet, over))
    assert quiet.gitindex("run").returncode == 0
    publisher.start()
    seen = set()
    try:
        while not over.is_set():
            answer = _find(quiet, "shared", 20)
            tree = answer["receipt"]["treeId"]
            colors = {row["snippet"].partition(" ")[0] for row in answer["results"]}
            assert len(answer["results"]) == 8
            assert len(colors) == 1
            assert {row["source"] for row in answer["results"]} == {f"index@{tree}"}
            if answer["freshness"]["state"] == "fresh":
                assert tree == answer["receipt"]["treeId"]
            seen.add((tree, *colors))
    finally:
        over.set()
        publisher.join()
    assert {tree for tree, _ in seen} == trees
    assert len(seen) == 2, "a tree has one color"


def _alternate(repo: Repo, over: threading.Event) -> None:
    try:
        for number in range(12):
            repo.git("reset", "-q", "--hard", "HEAD~1" if number % 2 == 0 else "ORIG_HEAD")
            assert Runner(repo.worktree).serve(Request(repo.worktree, "test"))
    finally:
        over.set()


def test_i37_a_secret_has_no_content_in_any_store(quiet: Repo) -> None:
    canary = "canary5up3rs3cr3tvalue"
    names = (".env", ".env.local", "id_rsa", "server.pem", "deep/private.key", "credentials.json")
    for name in names:
        quiet.write(name, f"def {canary}():\n    token = '{canary}'\n")
    quiet.write("open.py", "def not_a_secret():\n    pass\n")
    quiet.git("add", "--force", "open.py", *names)
    quiet.git("commit", "-qm", "secrets", env={"GITINDEX": "0"})
    assert quiet.gitindex("run").returncode == 0
    assert quiet.gitindex("index", "--force").returncode == 0
    assert _paths(quiet, canary) == []
    for folder in (quiet.worktree.store, quiet.worktree.llmc):
        for path in Path(folder).rglob("*"):
            if path.is_file():
                assert canary.encode() not in path.read_bytes().lower(), path
    listed = quiet.answer("status", "--skipped")["skipped"]
    assert {row["path"] for row in listed if row["reason"] == "secret"} == set(names)
