"""Every tool of the server over real stdio, the life of an index, and its codebases' fates."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitindex.base.vocabulary import BuildKind
from gitindex.mcp.dispatch import MAX_BYTES, content_of
from gitindex.mcp.question_tools import BY_NAME, TOOLS
from tests.mcp_client import READERS, Agent, Inside, digests, job_running, make_quiet
from tests.states import publish
from tests.support import Repo, accept_changes, runner_pids, stop_runners, wait_for

OF_A_COMMIT = [name for name in READERS if "at" in [param.name for param in BY_NAME[name].params]]


@pytest.fixture
def quiet(repo: Repo) -> Repo:
    """As everywhere, but indexed in this process and without hooks: a second less."""
    return make_quiet(repo)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    """The repository that the server is started in."""
    made = make_quiet(Repo(tmp_path_factory.mktemp("home") / "repo"))
    yield made
    stop_runners(made.path)


@pytest.fixture(scope="module")
def agent(home: Repo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    with Agent(home.path, tmp_path_factory.mktemp("state")) as made:
        yield made


def test_search_finds_definitions_first(agent: Agent, home: Repo) -> None:
    answer = agent.ask("search_codebase", query="helper", limit=1)
    [found] = answer["results"]
    assert (found["path"], found["startLine"], found["name"]) == ("lib/util.py", 1, "helper")
    assert answer["untrusted"] is True
    assert (answer["truncated"], answer["continuation"]) == (True, {"offset": 1})
    [following] = agent.ask("search_codebase", query="helper", limit=1, offset=1)["results"]
    assert following["path"] == "app.py"
    assert answer["freshness"]["state"] == "fresh"
    assert answer["receipt"]["treeId"] == home.tree()


def test_an_edit_is_in_the_next_answer(agent: Agent, quiet: Repo) -> None:
    path = str(quiet.path)
    agent.manage("create", path)
    quiet.write("lib/util.py", "def renamed_helper():\n    return 42\n")
    quiet.write("brand_new.py", "def newborn():\n    pass\n")
    found = agent.ask("search_codebase", path=path, query="newborn")["results"]
    assert [r["path"] for r in found] == ["brand_new.py"]
    names = [s["name"] for s in agent.ask("file_outline", path=path, file="lib/util.py")["symbols"]]
    assert names == ["renamed_helper"]
    old = agent.ask("read_file", path=path, file="lib/util.py", at="HEAD")
    assert old["content"].startswith("def helper")
    assert agent.ask("read_file", path=path, file="lib/util.py")["source"] == "worktree"


def test_every_question_can_be_asked_of_a_commit(agent: Agent, quiet: Repo) -> None:
    path = str(quiet.path)
    agent.manage("create", path)
    before = {tool: agent.ask(tool, path=path, **READERS[tool]) for tool in OF_A_COMMIT}
    quiet.git("rm", "-q", "-r", "lib")
    assert agent.ask("search_codebase", path=path, query="helper kind:function")["results"] == []
    for tool in OF_A_COMMIT:
        answer = agent.ask(tool, path=path, at="HEAD", **READERS[tool])
        assert answer["freshness"]["mode"] == "at"
        own = ("freshness", "receipt")
        assert {k: v for k, v in answer.items() if k not in own} == {
            k: v for k, v in before[tool].items() if k not in own
        }


def test_file_outline(agent: Agent, home: Repo) -> None:
    absolute = str(home.path / "lib" / "util.py")
    for arguments in ({"file": "lib/util.py"}, {"file": absolute}):
        [symbol] = agent.ask("file_outline", **arguments)["symbols"]
        assert (symbol["name"], symbol["line"], symbol["kind"]) == ("helper", 1, "function")
    assert agent.ask("file_outline", file="none.py")["status"] == "not_found"


def test_read_file_in_pages(agent: Agent, home: Repo) -> None:
    first = agent.ask("read_file", file="app.py", limit=2)
    assert (first["content"], first["truncated"]) == ("import lib.util\n", True)
    rest = agent.ask("read_file", file="app.py", **first["continuation"])
    assert rest["content"].splitlines() == ["", "def main():", "    return lib.util.helper()"]
    assert not rest["truncated"]
    some = agent.ask("read_file", file="app.py", startLine=4, endLine=4)
    assert (some["content"], some["truncated"]) == ("def main():", False)
    assert agent.ask("read_file", file="app.py", startLine=5, endLine=4)["status"] == (
        "invalid_request"
    )


def test_slice(agent: Agent) -> None:
    answer = agent.ask("slice", file="app.py", line=5)
    assert [line["line"] for line in answer["lines"]] == [5]
    assert agent.ask("slice", file="README.md", line=1)["status"] == "unsupported"
    assert agent.ask("slice", file="absent.py", line=1)["status"] == "not_found"


def test_find_references_and_call_graph(agent: Agent) -> None:
    answer = agent.ask("find_references", symbol="helper")
    assert [(r["path"], r["line"], r["enclosing"]) for r in answer["references"]] == [
        ("app.py", 5, "main")
    ]
    assert answer["complete"] is True
    graph = agent.ask("call_graph", symbol="helper", direction="callers")
    assert [(e["from"], e["to"]) for e in graph["edges"]] == [("app.py#main", "lib/util.py#helper")]
    nothing = agent.ask("find_references", symbol="nowhere_at_all")
    assert (nothing["references"], nothing["complete"]) == ([], True)


def test_repo_map(agent: Agent) -> None:
    answer = agent.ask("repo_map")
    assert "lib/util.py" in answer["map"]
    assert "helper" in answer["map"]
    assert not answer["truncated"]
    assert agent.ask("repo_map", include="nonsense")["status"] == "invalid_request"


def test_check_mutation_gate(agent: Agent) -> None:
    assert agent.ask("check_mutation_gate", file="lib/util.py")["status"] == "ok"
    asked = agent.ask("check_mutation_gate", file="app.py", symbol="main")
    assert asked["status"] in ("ok", "needs_decision")
    assert agent.ask("check_mutation_gate", file="absent.py")["status"] == "not_found"


def test_list_codebases_holds_the_home_and_what_was_created(agent: Agent, home: Repo) -> None:
    roots = [c["root"] for c in agent.ask("list_codebases", limit=200)["codebases"]]
    assert os.path.realpath(home.path) in roots
    assert roots == sorted(roots)


def test_what_is_not_registered_cannot_be_read(agent: Agent, quiet: Repo) -> None:
    root = os.path.realpath(quiet.path)
    answer = agent.ask("read_file", path=root, file="app.py")
    assert (answer["status"], answer["codebaseRoot"]) == ("not_indexed", root)
    assert agent.ask("read_file", file=f"{root}/app.py")["status"] == "not_indexed"
    assert agent.manage("sync", root)["status"] == "not_indexed"
    assert agent.manage("reindex", root)["status"] == "not_indexed"
    assert agent.manage("clear", root)["status"] == "invalid_request"
    assert agent.manage("create", root)["outcome"] == "already_indexed"
    assert agent.ask("read_file", path=root, file="app.py")["status"] == "ok"


def test_create_returns_at_once_and_is_followed_by_its_id(agent: Agent, repo: Repo) -> None:
    for number in range(300):
        repo.write(f"pkg/m{number}.py", f"def f{number}():\n    return {number}\n" * 20)
    repo.commit()
    path = str(repo.path)
    started = agent.manage("create", path)
    assert (started["outcome"], started["status"]) == ("started", "ok")
    read = agent.ask("search_codebase", path=path, query="f7")
    assert read["status"] == "not_ready", "there is no moment without a visible job"
    again = agent.manage("create", path)
    assert again["outcome"] == "coalesced"
    told = agent.ask("manage_index", **started["hints"]["status"]["args"])
    assert told["operation"]["id"] == started["operationId"]
    wait_for(lambda: _operation(agent, started)["state"] == "ended", 300, repo.log)
    assert _operation(agent, started)["outcome"] == "created"
    assert agent.ask("search_codebase", path=path, query="f7")["results"]
    assert _operation(agent, {**started, "operationId": "x"})["state"] == "unknown"


def _operation(agent: Agent, started: dict[str, str]) -> dict[str, str]:
    told = agent.manage("status", started["codebaseRoot"], operationId=started["operationId"])
    operation = told["operation"]
    assert isinstance(operation, dict)
    return operation


def test_a_failed_create_says_why(agent: Agent, repo: Repo) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit()
    repo.write(".llmc", "a file of yours\n")
    answer = agent.manage("create", repo.path, waitSeconds=60)
    assert (answer["status"], answer["message"]) == ("error", ".llmc is not a folder")
    assert "move it away" in answer["hints"]["remedy"]


def test_sync_follows_head(agent: Agent, quiet: Repo) -> None:
    path = str(quiet.path)
    agent.manage("create", path)
    quiet.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", "same tree")
    assert agent.manage("sync", path)["outcome"] == "skipped_fresh"
    quiet.write("app.py", "def other(): pass\n")
    quiet.git("-c", "core.hooksPath=/dev/null", "commit", "-qam", "second")
    answer = agent.manage("sync", path)
    assert (answer["outcome"], answer["status"]) == ("synced", "ok")
    quiet.assert_published()
    Path(quiet.worktree.spool).write_text("post-commit\n")
    with job_running(quiet, BuildKind.REFRESH):
        os.rename(quiet.worktree.progress, quiet.worktree.progress + ".aside")
        assert agent.manage("sync", path, waitSeconds=0)["outcome"] == "coalesced"
        os.rename(quiet.worktree.progress + ".aside", quiet.worktree.progress)


def test_repair_adopts_a_proven_generation_and_deletes_nothing(agent: Agent, quiet: Repo) -> None:
    path = str(quiet.path)
    agent.manage("create", path)
    assert agent.manage("repair", path)["outcome"] == "already_proven"
    marker = quiet.marker()
    shutil.rmtree(quiet.worktree.llmc)
    before = digests(quiet.worktree.store)
    assert agent.ask("read_file", path=path, file="app.py")["status"] == "not_indexed"
    assert agent.manage("repair", path)["outcome"] == "adopted"
    after = digests(quiet.worktree.store)
    for note in ("published",):  # of the new marker
        path_of_note = os.path.join(quiet.worktree.store, note, quiet.worktree.id)
        assert after.pop(path_of_note) != before.pop(path_of_note)
    assert {k: v.split()[0] for k, v in after.items()} == {
        k: v.split()[0] for k, v in before.items()
    }
    again = quiet.marker()
    marker.pop("completedAt"), again.pop("completedAt")
    assert again == marker
    assert agent.ask("read_file", path=path, file="app.py")["freshness"]["state"] == "fresh"


def test_repair_refuses_what_is_not_proven(agent: Agent, quiet: Repo) -> None:
    path = str(quiet.path)
    agent.manage("create", path)
    os.unlink(quiet.worktree.marker)
    stamp = Path(quiet.worktree.stamp)
    head, runs = stamp.read_text().split("\n", 1)
    stamp.write_text(f"{head}\nx{runs}")
    answer = agent.manage("repair", path)
    assert (answer["status"], answer["outcome"]) == ("ok", "not_adoptable")
    assert answer["hints"]["create"]["args"]["action"] == "create"
    assert not os.path.exists(quiet.worktree.marker)


def test_clear_asks_for_the_exact_root_and_removes_only_ours(agent: Agent, quiet: Repo) -> None:
    root = os.path.realpath(quiet.path)
    agent.manage("create", root)
    theirs = [Path(quiet.worktree.store, "mine.txt"), Path(quiet.worktree.llmc, "notes.md")]
    for path in theirs:
        path.write_text("keep me\n")
    tracked = quiet.git("status", "--porcelain", "--ignored")
    link = quiet.path.parent / "link"
    link.symlink_to(quiet.path)
    spellings = (f"{root}/lib", str(link), os.path.dirname(root), "", ".", f"{root}/", f"{root}/.")
    for wrong in (*spellings, f"{root}/../{quiet.path.name}"):
        answer = agent.manage("clear", wrong)
        assert answer["status"] == "invalid_request", wrong
    assert quiet.marker()
    assert agent.manage("clear", root)["outcome"] == "cleared"
    assert [path.read_text() for path in theirs] == ["keep me\n"] * 2
    assert not os.path.exists(quiet.worktree.database)
    assert sorted(os.listdir(quiet.worktree.llmc)) == [".gitignore", "notes.md"]
    assert root not in [c["root"] for c in agent.ask("list_codebases", limit=200)["codebases"]]
    assert quiet.git("status", "--porcelain", "--ignored") == tracked


def test_clear_leaves_nothing_where_nothing_else_was(agent: Agent, repo: Repo) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit()
    before = sorted(os.listdir(repo.path / ".git"))
    agent.manage("create", repo.path, waitSeconds=60)
    assert agent.manage("clear", os.path.realpath(repo.path))["outcome"] == "cleared"
    assert sorted(os.listdir(repo.path / ".git")) == before
    assert not (repo.path / ".llmc").exists()


def test_clear_of_one_worktree_leaves_its_sibling(agent: Agent, quiet: Repo) -> None:
    other = Repo(quiet.path.parent / "linked")
    quiet.git("worktree", "add", "-q", str(other.path))
    quiet.wait_idle()
    root = os.path.realpath(other.path)
    assert agent.manage("create", root, waitSeconds=60)["outcome"] in ("created", "already_indexed")
    agent.manage("create", quiet.path)
    assert agent.manage("clear", root)["outcome"] == "cleared"
    assert agent.ask("read_file", path=str(quiet.path), file="app.py")["status"] == "ok"
    assert agent.ask("read_file", path=root, file="app.py")["status"] == "not_indexed"


def test_a_repository_inside_of_a_registered_one(agent: Agent, quiet: Repo) -> None:
    agent.manage("create", quiet.path)
    inner = Repo(quiet.path / "vendor" / "inner")
    inner.init()
    inner.write("deep.py", "def deep(): pass\n")
    inner.commit()
    path = str(inner.path)
    outer = agent.ask("read_file", path=path, file="vendor/inner/deep.py")
    assert (outer["status"], "content" in outer) == ("not_found", False)
    assert agent.manage("create", path, waitSeconds=60)["codebaseRoot"] == os.path.realpath(path)
    assert agent.ask("read_file", path=path, file="deep.py")["content"] == "def deep(): pass"
    assert agent.ask("read_file", path=str(quiet.path), file="app.py")["status"] == "ok"


def test_a_refresh_that_failed_is_not_called_synced(agent: Agent, quiet: Repo) -> None:
    path = str(quiet.path)
    agent.manage("create", path)
    quiet.write("app.py", "def other(): pass\n")
    quiet.git("commit", "-qam", "second")
    database = Path(quiet.worktree.lexical, "meta.json")
    kept = database.read_bytes()
    accept_changes(quiet.worktree.store)  # else the runner sees the damage, and mends it
    database.write_bytes(b"{")  # the lexical index cannot be opened
    answer = agent.manage("sync", path, waitSeconds=60)
    if answer["outcome"] == "failed":
        assert answer["error"]
        database.write_bytes(kept)
    else:  # the runner has mended what it found torn
        assert quiet.state() == "fresh"


def test_a_codebase_that_is_deleted_moved_or_replaced(agent: Agent, quiet: Repo) -> None:
    root = os.path.realpath(quiet.path)
    agent.manage("create", root)
    moved = f"{root}-moved"
    os.rename(root, moved)
    assert agent.ask("read_file", path=root, file="app.py")["status"] == "not_found"
    assert agent.manage("status", root)["status"] == "not_found"
    listed = {c["root"]: c["status"] for c in agent.ask("list_codebases", limit=200)["codebases"]}
    assert listed[root] == "not_found"
    assert agent.ask("read_file", path=moved, file="app.py")["status"] == "not_indexed"
    os.symlink(moved, root)
    assert agent.ask("read_file", path=root, file="app.py")["status"] == "not_indexed"
    os.unlink(root)
    other = Repo(Path(root))
    other.init()
    other.write("app.py", "replaced = 1\n")
    other.commit()
    assert agent.ask("read_file", path=root, file="app.py")["status"] == "not_indexed"
    assert agent.manage("create", root, waitSeconds=60)["outcome"] == "created"
    assert agent.ask("read_file", path=root, file="app.py")["content"] == "replaced = 1"
    assert agent.manage("create", moved, waitSeconds=60)["outcome"] == "created"
    shutil.rmtree(root)
    assert agent.manage("clear", root)["outcome"] == "cleared"


def test_a_store_that_is_replaced_under_a_live_server(agent: Agent, quiet: Repo) -> None:
    path = str(quiet.path)
    agent.manage("create", path)
    assert agent.ask("search_codebase", path=path, query="helper")["results"]
    aside = f"{quiet.worktree.store}-aside"
    os.rename(quiet.worktree.store, aside)
    assert agent.ask("search_codebase", path=path, query="helper")["status"] == "not_indexed"
    shutil.copytree(aside, quiet.worktree.store)
    assert agent.ask("search_codebase", path=path, query="helper")["status"] == "not_indexed"
    assert agent.manage("create", path, waitSeconds=60)["outcome"] == "created"
    assert agent.ask("search_codebase", path=path, query="helper")["results"]
    shutil.rmtree(quiet.worktree.store)
    os.rename(aside, quiet.worktree.store)
    status = agent.ask("search_codebase", path=path, query="helper")["status"]
    assert status in ("ok", "not_indexed")


def test_several_servers_and_runners_on_one_repository(
    agent: Agent, repo: Repo, tmp_path: Path
) -> None:
    for number in range(40):
        repo.write(f"m{number}.py", f"def f{number}(): pass\n")
    repo.commit()
    path = str(repo.path)
    with Agent(repo.path, tmp_path / "other-state") as second:
        outcomes = {a.manage("create", path)["outcome"] for a in (agent, second, agent)}
        assert outcomes <= {"started", "coalesced"}
        runners = [
            subprocess.Popen([sys.executable, "-m", "gitindex", "index"], cwd=path)
            for _ in range(2)
        ]
        assert [runner.wait(300) for runner in runners] == [0, 0]
        wait_for(lambda: not runner_pids(Path(repo.worktree.common_dir)), 300, repo.log)
        for asked in (agent, second):
            answer = asked.ask("search_codebase", path=path, query="f7")
            assert answer["results"][0]["path"] == "m7.py"
    repo.assert_published()


def test_an_answer_has_a_cap_and_goes_on(agent: Agent, repo: Repo) -> None:
    line = "x = '" + "é" * 1_000 + "'\n"
    repo.write("wide.py", line * 300)
    repo.write("many.py", "".join(f"def f{n}(argument_{'y' * 150}): pass\n" for n in range(900)))
    repo.commit()
    path = str(repo.path)
    agent.manage("create", path, waitSeconds=60)
    at, lines = 1, 0
    while True:
        page = agent.ask("read_file", path=path, file="wide.py", startLine=at)
        assert len(json.dumps(page)) <= MAX_BYTES
        lines += page["content"].count("\n") + 1
        if not page["truncated"]:
            break
        at = page["continuation"]["startLine"]
    assert lines == 300
    names: list[str] = []
    following: dict[str, int] = {}
    while True:
        page = agent.ask("file_outline", path=path, file="many.py", limit=200, **following)
        assert len(json.dumps(page)) <= MAX_BYTES
        names += [symbol["name"] for symbol in page["symbols"]]
        if not page["truncated"]:
            break
        following = page["continuation"]
    assert names == [f"f{n}" for n in range(900)]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_user_is_refused(agent: Agent, repo: Repo) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit()
    os.chown(repo.path, 12345, 12345)
    for action in ("create", "repair"):
        answer = agent.manage(action, repo.path)
        assert (answer["status"], "another user" in answer["message"]) == ("error", True)
    roots = [c["root"] for c in agent.ask("list_codebases", limit=200)["codebases"]]
    assert os.path.realpath(repo.path) not in roots
    assert not os.path.exists(repo.path / ".git" / "gitindex")


def test_i24_our_own_files_are_never_found(agent: Agent) -> None:
    for query in (
        "gitindex_completion_v1",
        "rag_index_status",
        "codebasePath",
        "path:.llmc marker",
    ):
        assert agent.ask("search_codebase", query=query)["results"] == [], query
    for file in (".llmc/completion_marker.json", ".git/gitindex/facts.db", ".git/config"):
        assert agent.ask("read_file", file=file)["status"] == "not_found"


def test_many_calls_at_once(agent: Agent) -> None:
    calls = [(tool, dict(arguments)) for tool, arguments in READERS.items()] * 4
    alone = [agent.ask(tool, **arguments) for tool, arguments in calls[: len(READERS)]]
    assert agent.ask_at_once(calls) == alone * 4


def test_a_folder_narrows_a_search_and_focuses_a_map(agent: Agent, repo: Repo) -> None:
    for folder in ("lib", "src/lib", "library", "web"):
        repo.write(f"{folder}/part.py", f"def helper():\n    return '{folder}'\n")
    (repo.path / "empty").mkdir()
    repo.commit()
    root = os.path.realpath(repo.path)
    agent.manage("create", root, waitSeconds=60)

    def found(below: str) -> list[str]:
        answer = agent.ask("search_codebase", path=f"{root}/{below}", query="helper")
        assert answer["codebaseRoot"] == root
        assert answer.get("within", "") == ("" if below == "empty" else below)
        return sorted(result["path"] for result in answer["results"])

    everywhere = [f"{folder}/part.py" for folder in ("lib", "library", "src/lib", "web")]
    assert found("") == found("empty") == everywhere
    assert found("lib") == found("lib/part.py") == ["lib/part.py"]
    assert found("src") == ["src/lib/part.py"]
    repo.write("lib/new.py", "def helper(): pass\n")
    assert found("lib") == ["lib/new.py", "lib/part.py"]
    told = agent.ask("repo_map", path=f"{root}/web", tokens=100)["map"]
    assert told.startswith("web/part.py")


def test_a_graph_that_is_cut_goes_on(agent: Agent, repo: Repo) -> None:
    calls = "".join(f"def f{n}():\n    return deep()\n" for n in range(12))
    repo.write("a.py", f"def deep():\n    pass\n{calls}")
    repo.commit()
    path = str(repo.path)
    agent.manage("create", path, waitSeconds=60)
    limit = {"limit": 4}
    while True:
        answer = agent.ask("call_graph", path=path, symbol="deep", **limit)
        if not answer["truncated"]:
            break
        limit = answer["continuation"]
    assert (limit["limit"], answer["nodeCount"], "continuation" in answer) == (16, 13, False)


def test_another_server_can_tell_what_became_of_an_operation(
    agent: Agent, quiet: Repo, tmp_path: Path
) -> None:
    path = str(quiet.path)
    agent.manage("create", path)
    started = agent.manage("reindex", path, waitSeconds=60)
    assert started["outcome"] == "reindexed"
    with Agent(quiet.path, tmp_path / "other-state") as second:
        told = second.manage("status", path, operationId=started["operationId"])["operation"]
        assert (told["state"], told["outcome"]) == ("ended", "reindexed")
        for unknown in ("reindex-000000000000", "install", "", "x"):
            answer = second.manage("status", path, operationId=unknown)
            assert answer.get("operation", {"state": "unknown"})["state"] == "unknown"


def test_status_can_wait_for_a_job_of_others(agent: Agent, quiet: Repo) -> None:
    agent.manage("create", quiet.path)
    with job_running(quiet, BuildKind.REFRESH):
        told = agent.manage("status", quiet.path, waitSeconds=1)
        assert told["freshness"]["mode"] == "skipped_indexing"
    assert agent.manage("status", quiet.path, waitSeconds=60)["freshness"]["mode"] == "served"


WRONG: dict[str, tuple[str, dict[str, Any]]] = {
    "unknown tool": ("nonsense", {}),
    "no arguments": ("search_codebase", {}),
    "unknown argument": ("list_codebases", {"x": 1}),
    "wrong type": ("search_codebase", {"query": 1}),
    "a boolean is no number": ("read_file", {"file": "app.py", "startLine": True}),
    "too long": ("search_codebase", {"query": "x" * 8_001}),
    "too many": ("search_codebase", {"query": "x", "limit": 201}),
    "NUL": ("read_file", {"file": "a\0b"}),
    "a lone surrogate": ("read_file", {"file": "\udfff"}),
    "not an action": ("manage_index", {"action": "prune"}),
    "empty": ("read_file", {"file": " "}),
    "no such commit": ("read_file", {"file": "app.py", "at": "--help"}),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_call_is_answered_in_words(
    home: Repo, tmp_path: Path, agent: Agent, case: str
) -> None:
    tool, arguments = WRONG[case]
    asked: Inside | Agent = agent
    if "surrogate" in case:
        asked = Inside(os.path.realpath(home.path), tmp_path)
    answer = asked.ask(tool, **arguments)
    assert answer["status"] == "invalid_request"
    assert answer["message"]


def test_the_tools_are_few_short_and_annotated(agent: Agent) -> None:
    tools = agent.tools()
    listed = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    text = json.dumps({"tools": listed}, separators=(",", ":"))
    assert len(text) <= 6_500, "characters of the whole list"
    assert [tool.name for tool in tools] == [tool.name for tool in TOOLS if tool.question.listed]
    assert len(tools) <= 12 < len(TOOLS), "the others answer too: `mcp --tools all` lists them"
    assert [tool.name for tool in tools if (tool.meta or {}).get("anthropic/alwaysLoad")] == [
        "explore"
    ]
    assert not {"strict", "debug"} & {n for tool in tools for n in tool.input_schema["properties"]}
    [manage] = [tool for tool in tools if tool.name == "manage_index"]
    actions = manage.input_schema["properties"]["action"]["enum"]
    assert set(actions) == {"create", "reindex", "sync", "clear", "status", "repair"}, "004-S6b"
    for tool in tools:
        assert tool.annotations.read_only_hint is (
            tool.name not in ("manage_index", "rename_symbol")
        )
        assert tool.annotations.open_world_hint is False
        assert tool.input_schema["additionalProperties"] is False


def test_explore_stays_within_its_budget(repo: Repo, tmp_path: Path) -> None:
    body = "".join(f"    total = total + value_{n} * {n}\n" for n in range(40))
    for number in range(12):
        repo.write(f"pkg/module_{number}.py", f"def total_{number}(total):\n{body}")
        uses = f"from pkg.module_{number} import total_{number}\n\n\ndef test_it():\n"
        repo.write(f"tests/test_{number}.py", uses + f"    total_{number}(1)\n" * 20)
        repo.write(f"pkg/use_{number}.py", uses + f"    total_{number}(1)\n" * 20)
    publish(repo)
    inside = Inside(os.path.realpath(repo.path), tmp_path)
    for tokens in (200, 400, 1_000, 4_000):
        answer = inside.ask("explore", query="total value", tokens=tokens)
        assert answer["places"]
        assert 0.5 * tokens < len(content_of(BY_NAME["explore"], answer)) / 4 <= tokens


def test_text_holds_the_code_and_json_leaves_out_defaults(home: Repo, tmp_path: Path) -> None:
    inside = Inside(os.path.realpath(home.path), tmp_path)

    def told(tool: str, **arguments: Any) -> str:
        return content_of(BY_NAME[tool], inside.ask(tool, **arguments))

    assert "return lib.util.helper()" in told("find_references", symbol="helper")
    assert "return lib.util.helper()" in told("call_graph", symbol="helper", direction="callers")
    assert "<- app.py:5 in main" in told("explore", query="helper")
    assert told("grep_codebase", pattern="return 4.", context=1).splitlines() == [
        "lib/util.py-1-def helper():",
        "lib/util.py:2:    return 42",
    ]
    assert told("find_symbols", name="help").startswith("lib/util.py:1  function")
    answer = inside.ask("find_references", symbol="helper")
    [row] = answer["references"]
    assert not {"source", "layer", "columnUtf16"} & row.keys()
    assert answer["defaults"] == {"source": f"index@{home.tree()}", "layer": "syntactic"}
    asked_for = inside.ask("find_references", symbol="helper", debug=True)["references"][0]
    assert {"source", "layer", "columnUtf16"} <= asked_for.keys()


def test_003_5_7_search_documents_takes_the_seeds_fields(home: Repo, tmp_path: Path) -> None:
    inside = Inside(os.path.realpath(home.path), tmp_path)
    home.write("notes.md", "---\ntags: [Jetson]\ndate: 2026-03-14\nsession_id: S-1\n---\nwords\n")
    try:
        for asked in (
            {"tags": ["#jetson"]},
            {"dateFrom": "2026-03-14", "dateTo": "2026-03-14"},
            {"fields": {"session_id": "s-1"}},
            {"date_from": "2026-03-14", "date_to": "2026-03-14"},
            {"session_id": "S-1", "query": None, "tags": None, "dateTo": None},
            {"query": r"w.rds$", "regex": True, "tags": ["jetson"]},
        ):
            answer = inside.ask("search_documents", **asked)
            assert [r["path"] for r in answer["results"]] == ["notes.md"], asked
            assert answer["results"][0]["source"] == "worktree"
        both = inside.ask("search_documents", session_id="S-1", fields={"session_id": "S-2"})
        assert (both["status"], both["results"]) == ("ok", [])
        told = inside.ask("search_documents", query=r"^w.rds$")
        assert (told["results"], "`regex: true`" in told["warnings"][0]) == ([], True)
        for wrong in ({}, {"query": ""}, {"dateFrom": "2026"}, {"query": "x" * 501}, {"tags": [1]}):
            assert inside.ask("search_documents", **wrong)["status"] == "invalid_request", wrong
    finally:
        os.unlink(home.path / "notes.md")


@pytest.mark.parametrize("tool", ["find_references", "call_graph", "rename_symbol"])
def test_a_target_that_cannot_be_is_a_wrong_request(home: Repo, tmp_path: Path, tool: str) -> None:
    inside = Inside(os.path.realpath(home.path), tmp_path)
    more = {"newName": "new"} if tool == "rename_symbol" else {}
    for symbol, said in (
        ("9x", "not a name: 9x"),
        ("none.py#helper", "not in the tree: none.py"),
        ("none.py:1", "not in the tree: none.py"),
        ("lib/util.py:999", "no line 999: "),
    ):
        answer = inside.ask(tool, symbol=symbol, **more)
        assert answer["status"] == "invalid_request", symbol
        assert answer["message"].startswith(said)
    assert inside.ask(tool, symbol="lib/util.py#nobody", **more)["status"] == "not_found"


def test_hints_of_refusals_are_tool_calls(home: Repo, tmp_path: Path) -> None:
    inside = Inside(os.path.realpath(home.path), tmp_path)
    for tool, asked in (
        ("file_outline", {"file": "none.py"}),
        ("read_file", {"file": "none.py"}),
        ("check_mutation_gate", {"file": "none.py"}),
        ("check_mutation_gate", {"file": "lib/util.py", "symbol": "nobody"}),
    ):
        answer = inside.ask(tool, **asked)
        assert answer["status"] == "not_found"
        assert answer["hints"]["remedy"]["tool"] in BY_NAME
