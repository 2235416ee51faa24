"""Ranking: golden queries on third-party packages, and the same answer whatever the limit is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import fmean

import pytest

from gitindex.base.worktree import find_worktree
from gitindex.query.search.candidates import BY_TEXT
from gitindex.query.search.definitions import (
    MAX_ROWS,
    DefinitionMemory,
    innermost,
    matching_definitions,
)
from gitindex.query.search.features import Atom
from gitindex.query.search.memory import SearchMemory
from gitindex.query.search.query_text import parse_query
from gitindex.query.search.ranking import Rarity
from gitindex.query.search.search import POOL, RankingPass, search
from gitindex.view.tree import open_tree
from tests.golden import HELD_OUT, TUNED, GoldenSet, copy_packages, ndcg, plain_bm25, usable
from tests.support import Repo


@pytest.fixture(scope="module", params=["tuned", "held-out"])
def golden(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Repo, GoldenSet]:
    chosen = TUNED if request.param == "tuned" else HELD_OUT
    repo = Repo(tmp_path_factory.mktemp(request.param) / "repo")
    repo.init()
    copy_packages(chosen, repo.path)
    repo.commit("packages")
    subprocess.run(
        [sys.executable, "-m", "gitindex", "index"],
        cwd=repo.path,
        check=True,
        timeout=300,
        capture_output=True,
    )
    return repo, chosen


def test_golden_queries_find_their_files(golden: tuple[Repo, GoldenSet]) -> None:
    repo, chosen = golden
    cases = usable(chosen, Path(repo.path))
    assert len(cases) >= 30, "the packages have changed: write new cases"
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        ours = {c: [r["path"] for r in search(view, c.query, 20)["results"]] for c in cases}
        plain = plain_bm25(view)
        baseline = fmean(ndcg(case, plain(case.query)) for case in cases)
    mean = fmean(ndcg(case, found) for case, found in ours.items())
    lost = [case.query for case, found in ours.items() if not ndcg(case, found)]
    assert mean > 0.8, (mean, lost)
    assert mean > baseline * 1.2, (mean, baseline)
    assert len(lost) <= 2, lost


def test_golden_queries_find_their_definitions(golden: tuple[Repo, GoldenSet]) -> None:
    repo, chosen = golden
    cases = [case for case in usable(chosen, Path(repo.path)) if case.symbol]
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        found = [
            case.symbol in [r.get("name") for r in search(view, case.query, 10)["results"]]
            for case in cases
        ]
    assert fmean(found) > 0.8, [c.query for c, ok in zip(cases, found, strict=True) if not ok]


def test_the_limit_cuts_and_changes_nothing_else(golden: tuple[Repo, GoldenSet]) -> None:
    repo, chosen = golden
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        for case in usable(chosen, Path(repo.path))[:12]:
            whole = search(view, case.query, 60)["results"]
            for limit in (1, 3, 10):
                assert search(view, case.query, limit)["results"] == whole[:limit], case.query


def test_every_result_explains_its_score(golden: tuple[Repo, GoldenSet]) -> None:
    repo, chosen = golden
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        found = search(view, chosen.cases[0].query, 5, explain=True)["results"]
    assert found
    for row in found:
        assert sum(f["adds"] for f in row["features"].values()) == pytest.approx(
            row["score"], abs=0.11
        )


def test_answers_do_not_depend_on_the_folder_of_the_clone(tmp_path: Path) -> None:
    """The repository's name is what its files say, also for an edit of them."""
    found, repos = [], []
    for name in ("gadget", "somewhere-else"):
        repo = Repo(tmp_path / name)
        repo.init()
        repo.write("README.md", "https://github.com/people/gadget\n" * 2)
        repo.commit()
        repo.gitindex("index")
        found.append(_words(repo))
        repos.append(repo)
    assert found == [{"gadget"}] * 2
    repos[1].write("README.md", "https://github.com/people/other\n" * 2)
    assert _words(repos[1]) == {"other"}


def _words(repo: Repo) -> frozenset[str]:
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        return SearchMemory().repository_words(view)


def test_what_defines_the_only_word_is_looked_at_whatever_else_speaks_of_it(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.init()
    for number in range(POOL + 4):
        repo.write(f"lib/use_gadget_of_{number}.py", "gadget()\n" * 9)
    repo.write("lib/a/b/c/d/core.py", "class Gadget:\n    pass\n")
    repo.commit()
    repo.gitindex("index")
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        ranked = RankingPass(view, parse_query("Gadget"), SearchMemory(), []).ranked()
    looked = {row.candidate.name for row in ranked if row.text.data}
    assert "lib/a/b/c/d/core.py" in looked
    assert len(looked) == POOL + 1 < len(ranked)


def test_a_long_file_is_a_candidate_beside_many_short_ones(tmp_path: Path) -> None:
    """BM25 of a whole file prefers short ones: a long one that holds the words has to be looked at."""
    repo = Repo(tmp_path / "repo")
    repo.init()
    others = [f"other_{number} = {number}\n" for number in range(600)]
    for number in range(BY_TEXT + 20):
        text = "".join(others[:100])
        repo.write(f"lib/m{number:03}.py", f"x = {number}  # a gadget is closed\n{text}")
    repo.write("lib/z.py", "".join(others) + "# a gadget is closed\n" * 4)
    repo.commit("all")
    repo.gitindex("index")
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        first = RankingPass(view, parse_query("gadget closed"), SearchMemory(), []).first()
    assert "lib/z.py" in {row.candidate.name for row in first}
    assert len(first) == BY_TEXT


def test_a_generated_header_is_not_scored_definition_by_definition(tmp_path: Path) -> None:
    """The definitions that one query scores are bounded, however many match."""
    repo = Repo(tmp_path / "repo")
    repo.init()
    lines = (f"#define GADGET_REGISTER_{number} {number}\n" for number in range(3_000))
    repo.write("gadget.h", "".join(lines))
    repo.write("gadget.c", "int gadget_register(void) { return 0; }\n")
    repo.commit()
    repo.gitindex("index")
    atoms = [Atom("gadget", 0.5), Atom("register", 0.5)]
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        ids = [i for (i,) in view.rows("SELECT id FROM {blobs}")]
        files = DefinitionMemory().files(view, [(number, "an id") for number in ids])
    assert sum(len(file.listed) for file in files.values()) > 3_000
    found = matching_definitions(files, atoms, (), ids)
    assert sum(map(len, found.values())) == MAX_ROWS
    assert "gadget_register" in {named.name for listed in found.values() for named in listed}


def test_definitions_with_a_word_of_the_query(tmp_path: Path) -> None:
    """Names in any case, two words of a comment, kinds; the memory returns what the store has."""
    repo = Repo(tmp_path / "repo")
    repo.init()
    repo.write(
        "a.py",
        'class Gadget:\n    """Opens a SOCKET for a gadget."""\n\n    def open_it(self): ...\n',
    )
    repo.write(
        "b.py", "def OpenGadget(): ...\n\n\ndef gadget_socket_opener(): ...\n\n\nother = 1\n"
    )
    repo.write("c.py", 'def other():\n    """Open the socket, ÄÖ."""\n')
    repo.commit()
    repo.gitindex("index")
    names = {"Gadget", "open_it", "OpenGadget", "gadget_socket_opener"}
    expected = {
        "open gadget socket": names | {"other"},
        "kind:function gadget": {"OpenGadget", "gadget_socket_opener"},
        "kind:class": {"Gadget"},
        "Socket": {"gadget_socket_opener"},
    }
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        blobs = [(number, "an id") for (number,) in view.rows("SELECT id FROM {blobs}")]
        memory = DefinitionMemory()
        files = memory.files(view, blobs)
        assert memory.files(view, blobs) == files
    ids = [number for number, _ in blobs]
    for text, named in expected.items():
        query = parse_query(text)
        atoms = Rarity(query, {}, 10).atoms(query)
        found = matching_definitions(files, atoms, query.filters.kinds, ids)
        assert {d.name for listed in found.values() for d in listed} == named, text
    [gadget] = [file.listed for file in files.values() if file.listed[0].name == "Gadget"]
    assert [d and d.name for d in (innermost(gadget, 0), innermost(gadget, 3))] == [
        "Gadget",
        "open_it",
    ]
    assert innermost(gadget, 9) is None


def test_a_bare_name_goes_to_its_definition(tmp_path: Path) -> None:
    """A folder that is called like the repository, and a file called like the name, come after it."""
    repo = Repo(tmp_path / "repo")
    repo.init()
    repo.write("README.md", "https://github.com/x/gadget and https://github.com/x/gadget\n" * 3)
    repo.write("gadget/core/connect.py", "connect = 1\n" * 3 + "# connect, connect\n" * 50)
    repo.write("gadget/core/use.py", "from tools.deep.inner.net import connect\n\nconnect()\n" * 9)
    repo.write("tools/deep/inner/net.py", "x = 1\n\n\ndef connect():\n    return x\n")
    repo.commit()
    repo.gitindex("index")
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        results = search(view, "connect", 5)["results"]
    assert (results[0]["path"], results[0]["name"]) == ("tools/deep/inner/net.py", "connect")
