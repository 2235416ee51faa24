"""Search: any text is a query, results are of the published tree only, one generation per answer."""

from __future__ import annotations

import base64
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from gitindex.query.search.memory import SearchMemory
from gitindex.query.search.search import search
from gitindex.refresh.runner import RefreshRequest, Runner
from gitindex.view.tree import NOW, TreeChoice, open_tree
from tests.support import Repo

LONG = "a_very_long_identifier_name_with_exactly_sixty_characters_xyz"


def _find(repo: Repo, text: str, limit: int = 10, ask: TreeChoice = NOW) -> Any:
    """What `gitindex search --json` prints, without a process of its own."""
    with open_tree(repo.worktree, str(repo.path), ask) as view:
        return search(view, text, limit)


def _paths(repo: Repo, text: str) -> list[str]:
    return [row["path"] for row in _find(repo, text)["results"]]


def _fill_library(repo: Repo) -> Repo:
    repo.write("app.py", "import lib.util\n\n\ndef main():\n    return lib.util.helper()\n")
    repo.write("README.md", "# Title\n\nSome words.\n")
    repo.commit("first")
    repo.write("net/camel.py", "def parseHttpRequest(raw):\n    return raw\n")
    repo.write("net/snake.py", "def parse_http_request(raw):\n    return raw\n")
    repo.write("net/long.py", f"def {LONG}():\n    pass\n")
    repo.write("pkg/foo.py", "def foo(x):\n    return x\n")
    repo.write("pkg/uses.py", "import foo\n\nvalue = foo.foo(1)\n")
    repo.commit("library")
    return repo


def _fill_shelf(repo: Repo) -> Repo:
    repo.write("web/server.ts", "export class Server {\n  listen(port: number) {}\n}\n")
    repo.write("tests/test_server.py", "def test_server():\n    server.listen(1)\n")
    repo.write("docs/server.md", "# Server\n\nHow to listen, and  to\nwhom.\n")
    repo.write("py/server.py", "class Server:\n    def listen(self):\n        pass  # quietly\n")
    repo.commit("shelf")
    return repo


@pytest.fixture
def library(repo: Repo) -> Repo:
    """A small library to change."""
    _fill_library(repo).index()
    return repo


@pytest.fixture
def shelf(repo: Repo) -> Repo:
    """The same with a server in several languages, to change."""
    _fill_shelf(_fill_library(repo)).index()
    return repo


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """The whole shelf, only to be read."""
    repo = Repo(tmp_path_factory.mktemp("standing") / "repo")
    repo.init()
    _fill_shelf(_fill_library(repo)).index()
    return repo


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
def test_l1_any_text_is_a_query(standing: Repo, limit: int) -> None:
    for name, text in ODD.items():
        answer = _find(standing, text, limit)
        assert answer["status"] == "ok", name
        assert len(answer["results"]) <= limit, name
    assert _paths(standing, ODD["call"])[0] == "pkg/foo.py"
    assert _paths(standing, ODD["definition"])[0] == "pkg/foo.py"
    assert "pkg/foo.py" in _paths(standing, ODD["bad-bytes"])
    for name in ("empty", "blank", "punctuation", "nested", "sql"):
        assert _paths(standing, ODD[name]) == [], name


@pytest.mark.parametrize("text", ["foo(", "", '"unclosed', "AND", "\x1b]0;x\x07", "--", "\udcff"])
def test_l1_through_the_command(standing: Repo, text: str) -> None:
    done = standing.gitindex("search", "--", text)
    assert done.returncode in (0, 1), done.stderr
    assert done.stderr == ""
    assert all(c >= " " or c == "\n" for c in done.stdout)


@pytest.mark.parametrize(
    "text", ["Http", "http request", "parseHttpRequest", "parse_http_request", "HTTP"]
)
def test_l2_both_spellings_are_found(standing: Repo, text: str) -> None:
    assert {"net/camel.py", "net/snake.py"} <= set(_paths(standing, text))


def test_l2_the_exact_spelling_comes_first(standing: Repo) -> None:
    assert _paths(standing, "parseHttpRequest")[0] == "net/camel.py"
    assert _paths(standing, "parse_http_request")[0] == "net/snake.py"


def test_l3_a_long_identifier_is_found(standing: Repo) -> None:
    assert len(LONG) >= 60
    assert _paths(standing, LONG)[0] == "net/long.py"


@pytest.mark.parametrize("text", ["foo.py", "pkg/foo", "foo", "pkg/foo.py", "PKG/FOO.PY"])
def test_l4_a_path_is_found(standing: Repo, text: str) -> None:
    assert _paths(standing, text)[0] == "pkg/foo.py"


def test_a_result_says_where_what_and_from_which_tree(standing: Repo) -> None:
    answer = _find(standing, "parseHttpRequest")
    first = answer["results"][0]
    assert (first["path"], first["startLine"], first["endLine"]) == ("net/camel.py", 1, 2)
    assert (first["name"], first["kind"]) == ("parseHttpRequest", "function")
    assert first["snippet"].startswith("def parseHttpRequest")
    assert first["source"] == f"index@{standing.tree()}"
    assert answer["receipt"]["treeId"] == standing.tree()
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
    assert answer["results"] == []
    assert answer["freshness"]["state"] == "stale"
    assert answer["freshness"]["pendingPaths"] == 5


def test_an_edit_is_in_the_next_answer(library: Repo) -> None:
    library.write("pkg/foo.py", "def bar(x):\n    return walrus(x)\n")
    library.write("pkg/new.py", "def walrus(x):\n    return x\n")
    (library.path / "net/long.py").unlink()
    answer = _find(library, "walrus")
    assert [(r["path"], r["source"]) for r in answer["results"]] == [
        ("pkg/new.py", "worktree"),
        ("pkg/foo.py", "worktree"),
    ]
    first = answer["results"][0]
    assert (first["name"], first["kind"], first["startLine"]) == ("walrus", "function", 1)
    assert first["matched"] == ["walrus"]
    assert answer["freshness"]["overlayPaths"] == 3
    assert answer["receipt"]["overlayDigest"]
    assert _paths(library, LONG) == []
    assert "pkg/uses.py" in _paths(library, "foo")


def test_an_edit_doubles_nothing_of_the_other_files(library: Repo) -> None:
    before = _find(library, "foo")["results"]
    library.write("new.py", "x = 1\n")
    assert _find(library, "foo")["results"] == before


def test_an_edited_file_stays_where_its_text_belongs(library: Repo) -> None:
    """The score of a text that no index holds is what it would be with one."""
    for number in range(6):
        library.write(f"many/m{number}.py", "import os\n\n\ndef work(a):\n    return tapir(a)\n")
    library.write("zoo/tapir.py", "def tapir(a):\n    return a\n\n\ndef other():\n    pass\n")
    before = _find(library, "tapir")["results"]
    library.git("add", "-A")
    library.git("commit", "-qm", "zoo", env={"GITINDEX": "0"})
    assert library.gitindex("run").returncode == 0
    after = _find(library, "tapir")["results"]
    assert before[0]["path"] == after[0]["path"] == "zoo/tapir.py"
    assert {r["path"] for r in before} == {r["path"] for r in after}
    assert {r["source"] for r in before} == {"worktree"}


def test_an_edited_definition_comes_before_many_edited_mentions(library: Repo) -> None:
    for number in range(30):
        library.write(f"many/m{number:02}.py", "okapi okapi okapi okapi okapi okapi\n")
    library.write("zoo/far/away.py", "import os\n\n\ndef okapi(a):\n    return a\n" * 3)
    assert _find(library, "okapi", 3)["results"][0]["path"] == "zoo/far/away.py"


def test_a_reader_that_is_kept_sees_what_is_published_later(library: Repo) -> None:
    memory = SearchMemory()
    for name in ("bison", "heron", "lemur"):
        library.write(f"zoo/{name}.py", f"def {name}():\n    pass\n")
        library.git("add", "-A")
        library.git("commit", "-qm", name)
        library.index()
        with open_tree(library.worktree, ".") as view:
            found = search(view, name, 5, memory=memory)["results"]
        assert [(r["path"], r["source"]) for r in found] == [
            (f"zoo/{name}.py", f"index@{library.tree()}")
        ]


def test_other_trees_are_searched_without_a_checkout(library: Repo) -> None:
    assert _find(library, "parseHttpRequest", ask=TreeChoice(at="HEAD~1"))["results"] == []
    found = _find(library, "parseHttpRequest", ask=TreeChoice(at="HEAD"))
    assert found["results"][0]["path"] == "net/camel.py"
    library.write("net/staged.py", "def ocelot():\n    pass\n")
    library.git("add", "net/staged.py")
    library.write("net/staged.py", "def lynx():\n    pass\n")
    assert [
        r["path"] for r in _find(library, "ocelot", ask=TreeChoice(staged=True))["results"]
    ] == ["net/staged.py"]
    assert _find(library, "lynx", ask=TreeChoice(staged=True))["results"] == []
    assert _paths(library, "lynx") == ["net/staged.py"]


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("server lang:ts", {"web/server.ts"}),
        ("server path:py", {"py/server.py", "tests/test_server.py"}),
        ("server path:py/*", {"py/server.py"}),
        ("server -path:server.md -path:tests lang:py", {"py/server.py"}),
        ("server in:tests", {"tests/test_server.py"}),
        ("server in:docs", {"docs/server.md"}),
        ("server in:code", {"web/server.ts", "py/server.py"}),
        ("server must:quietly", {"py/server.py"}),
        ("server exclude:class in:code", set()),
        ("server kind:class", {"web/server.ts", "py/server.py"}),
        ("kind:section", {"docs/server.md"}),
        ("lang:ts", {"web/server.ts"}),
        ('"how to listen, and to whom"', {"docs/server.md"}),
        ('"to listen" server', {"docs/server.md"}),
        ("must:nosuchword server", set()),
    ],
)
def test_filters_and_phrases(standing: Repo, text: str, paths: set[str]) -> None:
    found = set(_paths(standing, text))
    assert found - {"README.md"} == paths


def test_a_phrase_that_no_file_holds_is_said_and_its_words_are_searched(standing: Repo) -> None:
    answer = _find(standing, '"listen to"')
    assert answer["results"]
    assert answer["warnings"] == ["no file holds the phrase: these hold its words"]
    assert "warnings" not in _find(standing, '"to listen" server')


def test_a_phrase_in_a_longer_text_is_a_boost(standing: Repo) -> None:
    text = 'the server fails with "no such phrase anywhere" when clients connect quietly'
    assert _find(standing, text)["results"]


def test_a_long_text_is_asked_as_title_and_body(standing: Repo) -> None:
    trace = "".join(f'  File "/srv/py/server.py", line {n}, in serve\n' for n in range(90))
    answer = _find(standing, f"server does not answer\n\nTraceback:\n{trace}")
    assert answer["results"][0]["path"] == "py/server.py"
    answer = _find(standing, "server " + "word " * 3_000)
    assert "only the first 8000 characters of the query were used" in answer["warnings"]


def test_filters_hold_for_edits_too(shelf: Repo) -> None:
    shelf.write("py/server.py", "class Server:\n    def listen(self):\n        pass  # loudly\n")
    shelf.write("web/more.ts", "export class Server {}  // loudly\n")
    assert set(_paths(shelf, "server must:loudly")) == {"py/server.py", "web/more.ts"}
    assert _paths(shelf, "server must:loudly lang:py") == ["py/server.py"]
    assert _paths(shelf, "server must:quietly") == []
    assert set(_paths(shelf, "kind:class exclude:loudly server")) == {"web/server.ts"}
    assert _paths(shelf, '"pass # loudly"') == ["py/server.py"]


def test_code_comes_before_tests_unless_asked_for(standing: Repo) -> None:
    ranked = _paths(standing, "server listen")
    assert ranked.index("tests/test_server.py") > ranked.index("py/server.py")
    assert _paths(standing, "test_server")[0] == "tests/test_server.py"


def test_recently_changed_first(shelf: Repo) -> None:
    later = {"GIT_COMMITTER_DATE": "1700009999 +0000", "GITINDEX": "0"}
    shelf.write("docs/server.md", "# Server\n\nHow to listen again.\n")
    shelf.git("commit", "-qam", "later", env=later)
    assert shelf.gitindex("run").returncode == 0
    with open_tree(shelf.worktree, ".") as view:
        ranked = [r["path"] for r in search(view, "server", 10, recent=True)["results"]]
    assert ranked[0] == "docs/server.md"
    shelf.write("web/server.ts", "export class Server {}\n")
    with open_tree(shelf.worktree, ".") as view:
        ranked = [r["path"] for r in search(view, "server", 10, recent=True)["results"]]
    assert ranked[:2] == ["web/server.ts", "docs/server.md"]


def test_a_path_that_is_not_utf8_has_its_bytes_beside_it(quiet: Repo) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    quiet.write(name, "def espresso():\n    pass\n")
    quiet.git("add", "-A")
    quiet.git("commit", "-qm", "latin", env={"GITINDEX": "0"})
    assert quiet.gitindex("run").returncode == 0
    first = _find(quiet, "espresso")["results"][0]
    assert first["path"] == "caf\\xe9.py"
    assert base64.b64decode(first["pathBytes"]) == b"caf\xe9.py"
    assert "pathBytes" not in _find(quiet, "helper")["results"][0]


def test_a_place_inside_a_function_says_which(library: Repo) -> None:
    library.write("pkg/deep.py", "x = 1\n\n\ndef outer():\n    y = 2\n    return gnu(y)\n")
    first = _find(library, "gnu")["results"][0]
    assert (first["name"], first["startLine"], first["endLine"]) == ("outer", 4, 6)
    assert first["line"] == 6
    assert first["snippet"].strip() == "return gnu(y)"


def test_flags_through_the_command(standing: Repo) -> None:
    done = standing.gitindex("search", "server", "--lang", "ts", "--kind", "class", "-n", "3")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("web/server.ts:1  class Server\n")
    assert standing.gitindex("search", "server", "--lang", "klingon").returncode == 2
    assert standing.gitindex("search", "server", "--at", "nosuchrev").returncode == 2
    assert standing.gitindex("search", "server", "--at", "HEAD~9").returncode == 2
    assert standing.gitindex("search", "nosuchword").returncode == 1
    assert standing.gitindex("search", "nosuch", "atall", "--json").returncode == 1


@pytest.mark.promise("I-22")
def test_l8_one_answer_is_of_one_tree_while_publishes_happen(quiet: Repo) -> None:
    """Two trees alternate; each names itself in every file. No answer mixes them."""
    for color in ("crimson", "azure"):
        for number in range(8):
            quiet.write(f"f{number}.py", f"shared = '{color}', {number}\n")
        quiet.git("add", "-A")
        quiet.git("commit", "-qm", color, env={"GITINDEX": "0"})
    assert quiet.gitindex("run").returncode == 0
    new, old = (quiet.git("rev-parse", rev).strip() for rev in ("HEAD", "HEAD~1"))
    over = threading.Event()
    publisher = threading.Thread(target=_alternate, args=(quiet, over))
    publisher.start()
    generations = set()
    try:
        while not over.is_set():
            for ask, color in (
                (TreeChoice(at=old), "crimson"),
                (TreeChoice(at=new), "azure"),
                (NOW, "azure"),
            ):
                answer = _find(quiet, "shared", 20, ask)
                assert len(answer["results"]) == 8
                assert {row["snippet"].split("'")[1] for row in answer["results"]} == {color}
                tree = answer["receipt"]["treeId"]
                assert {row["source"] for row in answer["results"]} <= {f"index@{tree}", "worktree"}
                generations.add(answer["receipt"]["generation"])
    finally:
        over.set()
        publisher.join()
    assert len(generations) > 1


def _alternate(repo: Repo, over: threading.Event) -> None:
    """Publish one tree and the other; the files on disk stay."""
    try:
        for number in range(12):
            repo.git("reset", "-q", "--soft", "HEAD~1" if number % 2 == 0 else "ORIG_HEAD")
            assert Runner(repo.worktree).serve(RefreshRequest(repo.worktree, "test"))
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


def test_a_result_shows_the_definition_or_the_span_with_most_words(repo: Repo) -> None:
    filler = "".join(f"value_{n} = {n}\n" for n in range(120))
    repo.write(
        "net/pool.py",
        "from sockets import socket, close\n\n"
        f"{filler}\ndef release(pool):\n    for one in pool:\n        one.socket.close()\n",
    )
    repo.write(
        "net/sockets.py", f"import os\n\n{filler}\n\ndef close_socket(one):\n    os.close(one)\n"
    )
    repo.commit("sockets")
    repo.index()
    rows = {row["path"]: row for row in _find(repo, "close socket")["results"]}
    assert rows["net/sockets.py"]["name"] == "close_socket"
    assert "def close_socket" in rows["net/sockets.py"]["snippet"]
    assert "one.socket.close()" in rows["net/pool.py"]["snippet"]  # not the import at the top


def test_an_edited_file_is_ranked_by_the_same_formula(library: Repo) -> None:
    library.write("zoo/okapi_keeper.py", "def feed_okapi():\n    return 1\n")
    library.write("zoo/other.py", "def feed():\n    return 'okapi'\n")
    edited = _find(library, "feed okapi")["results"]
    library.commit("zoo")
    library.index()
    indexed = _find(library, "feed okapi")["results"]
    assert [r["path"] for r in edited] == [r["path"] for r in indexed]
    assert {r["source"] for r in edited} == {"worktree"}
    with open_tree(library.worktree, ".") as view:
        told = search(view, "feed okapi", 5, explain=True)["results"]
    library.write("zoo/okapi_keeper.py", "def feed_okapi():\n    return 2\n")
    with open_tree(library.worktree, ".") as view:
        again = search(view, "feed okapi", 5, explain=True)["results"]
    same = ("stem_precision", "chunk", "exact", "definition", "phrase", "held", "subjects")
    for name in same:
        assert told[0]["features"].get(name) == again[0]["features"].get(name), name


def test_what_a_tool_wrote_is_found_below_what_people_wrote(repo: Repo) -> None:
    text = "def encode_frame(frame):\n    return bytes(frame)\n"
    repo.write("a_written.py", "# Code generated by frames. DO NOT EDIT.\n" + text)
    repo.write("b_written.py", "# The frames of the wire, by hand and with care.\n" + text)
    repo.commit()
    repo.index()
    found = repo.answer("search", "encode_frame")["results"]
    assert [row["path"] for row in found] == ["b_written.py", "a_written.py"]
