"""Grep: the very lines ripgrep finds in the same files, whatever the engine, the names and the edits."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitindex.base.errors import CorruptStore, Exit, GitIndexError
from gitindex.base.vocabulary import GrepForm
from gitindex.query.grep import child
from gitindex.query.grep import engines as matching
from gitindex.query.grep.engines import find_ripgrep, portions, search_disk, search_texts
from gitindex.query.grep.grep import GrepQuery, grep
from gitindex.query.grep.pattern import GrepPattern, LineLimits, search_text, understand
from gitindex.store.connection import leave_log, open_reader
from gitindex.view.tree import open_tree
from tests.support import TIMEOUT, Repo, accept_changes, stop_runners

RG = find_ripgrep()
needs_rg = pytest.mark.skipif(RG is None, reason="ripgrep is not installed")
Line = tuple[bytes, int, bytes]

PATTERNS = [
    GrepPattern("parse_args"),
    GrepPattern("def parse"),
    GrepPattern("PARSE", ignore_case=True),
    GrepPattern(r"class \w+Error\b"),
    GrepPattern(r"^from \."),
    GrepPattern(r"[a-z]+_cache\b"),
    GrepPattern("self.", fixed=True),
    GrepPattern("in", word=True),
    GrepPattern(r"raise (Type|Value)Error"),
    GrepPattern("nosuchtextanywhere"),
    GrepPattern(r"\d{4}-\d\d"),
    GrepPattern("e$"),
    GrepPattern(""),
    GrepPattern("ſtring", ignore_case=True),
    GrepPattern(r"import (os|sys)?"),
    GrepPattern("-> ", fixed=True),
]


def _ripgrep(root: Path, paths: list[bytes], needle: GrepPattern) -> set[Line]:
    """What ripgrep itself finds in exactly these files."""
    flags = {"-i": needle.ignore_case, "-F": needle.fixed, "-w": needle.word}
    argv = [RG, "--no-config", "-a", "-0nH", "--no-heading", *(f for f, on in flags.items() if on)]
    names = [b"./" + path for path in paths]
    done = subprocess.run(
        [*argv, "-e", needle.text, "--", *names],  # type: ignore[list-item]
        cwd=root,
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    found = set()
    for record in done.stdout.split(b"\n./"):
        if record:
            path, _, rest = record.removeprefix(b"./").partition(b"\0")
            for line in rest.rstrip(b"\n").split(b"\n") if b"\n" not in path else ():
                number, _, text = line.partition(b":")
                found.add((path, int(number), text))
    return found


def _lines(answer: dict[str, Any]) -> set[Line]:
    return {(os.fsencode(r["path"]), r["line"], r["text"].encode()) for r in answer["results"]}


def _ask(repo: Repo, needle: GrepPattern, **more: Any) -> Any:
    with open_tree(repo.worktree, ".") as view:
        return grep(view, GrepQuery(needle, **more))


def _covered(repo: Repo) -> list[bytes]:
    """The files that the index covers."""
    rows = repo.mapping()
    skipped = {None, *repo.skipped_blobs()}
    return [row.path for row in rows if row.blob_id not in skipped]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    """A third-party package from this environment, committed and indexed."""
    spec = importlib.util.find_spec("hypothesis")
    assert spec is not None
    assert spec.origin is not None
    repo = Repo(tmp_path_factory.mktemp("grep") / "package")
    repo.init()
    shutil.copytree(
        Path(spec.origin).parent,
        repo.path / "pkg",
        ignore=shutil.ignore_patterns("__pycache__", "vendor"),
    )
    repo.commit()
    repo.index()
    yield repo
    stop_runners(repo.path.parent)


@needs_rg
@pytest.mark.parametrize("needle", PATTERNS, ids=lambda n: f"{n.text[:20]}-{n[1:]}")
def test_same_lines_as_ripgrep_over_the_same_files(package: Repo, needle: GrepPattern) -> None:
    expected = _ripgrep(package.path, _covered(package), needle)
    answer = _ask(package, needle)
    assert _lines(answer) == expected
    counts = _ask(package, needle, form=GrepForm.COUNTS)["results"]
    assert sum(row["count"] for row in counts) == len(expected)
    files = _ask(package, needle, form=GrepForm.FILES)["results"]
    assert {os.fsencode(row["path"]) for row in files} == {path for path, _, _ in expected}


@pytest.mark.parametrize("needle", PATTERNS, ids=lambda n: f"{n.text[:20]}-{n[1:]}")
def test_same_lines_without_ripgrep(
    package: Repo, needle: GrepPattern, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_it = _ask(package, needle)
    monkeypatch.setattr(matching, "find_ripgrep", lambda: None)
    without = _ask(package, needle)
    assert without["results"] == with_it["results"]


def test_a_selective_pattern_looks_at_few_files(package: Repo) -> None:
    covered = len(_covered(package))
    assert _ask(package, GrepPattern("nosuchtextanywhere"))["searchedFiles"] == 0
    assert 0 < _ask(package, GrepPattern(r"\bLark\b"))["searchedFiles"] < covered / 3
    everything = _ask(package, GrepPattern(r"\w\w"))
    assert (everything["searchedFiles"], everything["narrowed"]) == (covered, False)


def test_e16_a_text_index_that_cannot_be_read_hides_nothing(package: Repo) -> None:
    """Rows that are gone cost time, never a line; rows that were changed are damage, and no answer."""
    intact = _ask(package, GrepPattern("Lark"))
    database = Path(package.worktree.database)
    before = database.read_bytes()
    try:
        _by_hand(package, "DELETE FROM text_words")
        accept_changes(package.worktree.store)
        found = _ask(package, GrepPattern("Lark"))
        assert found["results"] == intact["results"]
        assert found["searchedFiles"] == len(_covered(package))
        _by_hand(package, "INSERT INTO text_words VALUES (1, 99, zeroblob(99))")
        with pytest.raises(CorruptStore, match="not what was written"):
            _ask(package, GrepPattern("Lark"))
    finally:
        database.write_bytes(before)
        accept_changes(package.worktree.store)


def _by_hand(repo: Repo, change: str) -> None:
    with closing(sqlite3.connect(repo.worktree.database)) as careless:
        careless.execute(change)
        careless.commit()
    leave_log(repo.worktree.database)


def test_the_limit_cuts_in_order_and_says_so(package: Repo) -> None:
    everything = _ask(package, GrepPattern("import"))
    some = _ask(package, GrepPattern("import"), limit=25)
    assert some["results"] == everything["results"][:25]
    assert (some["truncated"], everything["truncated"]) == (True, False)
    whole = _ask(package, GrepPattern("import"), limit=len(everything["results"]))
    assert not whole["truncated"]


def test_size_of_the_text_index(package: Repo) -> None:
    database = open_reader(package.worktree.database)
    assert database is not None
    size = database.row("SELECT sum(length(words)) FROM text_words")[0]
    database.close()
    text = sum(os.path.getsize(package.path / os.fsdecode(p)) for p in _covered(package))
    assert size <= 0.25 * text  # few small files: a Django has 0.11


NAMES = [
    "a*b.py",
    "[x].py",
    "-rf",
    "--pre=sh",
    "-",
    "sp ace.py",
    "new\nline.py",
    "quo'te\".py",
    "{a,b}.py",
    "ünï.py",
    "?.py",
    "!not.py",
    "#hash.py",
    "back\\slash.py",
]


@needs_rg
def test_e9_exactly_the_files_whatever_their_names(repo: Repo) -> None:
    for name in [*NAMES, "axb.py", "x.py"]:
        repo.write(name, "a needle_here\n" if name in NAMES else "hay\n")
    repo.commit()
    repo.index()
    names = sorted(map(os.fsencode, NAMES))
    for pattern in ("needle_here", r"needle_\w+"):
        found = _ask(repo, GrepPattern(pattern), form=GrepForm.FILES)["results"]
        assert len(found) == len(NAMES)
        plain = understand(GrepPattern(pattern))._replace(is_plain=False)
        by_ripgrep = search_disk(os.fspath(repo.path), names, plain, LineLimits())
        assert [hits.path for hits in by_ripgrep] == names


@needs_rg
def test_e10_a_pattern_is_never_an_option(quiet: Repo) -> None:
    patterns = ["-foo", "--files", "--pre=sh", "-e", "-"]
    quiet.write("options.txt", "".join(f"run {pattern} now\n" for pattern in patterns))
    for number, pattern in enumerate(patterns, 1):
        answer = _ask(quiet, GrepPattern(pattern), below=(b"options.txt",))
        assert number in [r["line"] for r in answer["results"]]
        plain = understand(GrepPattern(pattern))._replace(is_plain=False)
        by_ripgrep = list(search_disk(os.fspath(quiet.path), [b"options.txt"], plain, LineLimits()))
        assert [hit.line for hit in by_ripgrep[0].hits] == [r["line"] for r in answer["results"]]
    for extra in ([], ["-F"]):
        done = quiet.gitindex("grep", *extra, "--", "--pre=sh")
        assert done.stdout == "options.txt:3:run --pre=sh now\n", done.stderr


@needs_rg
def test_e11_ten_thousand_candidates(tmp_path: Path) -> None:
    root = os.fspath(tmp_path)
    folder = "folder_with_a_long_name/" * 5
    (tmp_path / folder).mkdir(parents=True)
    names = [f"{folder}{'x' * 60}{n:05}.py" for n in range(10_000)]
    for name in names:
        os.link(_one(tmp_path), tmp_path / name) if name != names[0] else None
    shutil.copyfile(_one(tmp_path), tmp_path / names[0])
    paths = [os.fsencode(name) for name in names]
    assert len(list(portions(root, paths, 0))) > 3
    for want in (LineLimits(), LineLimits(enough=20_000), LineLimits(lines=False)):
        found = list(search_disk(root, paths, understand(GrepPattern(r"one\w+")), want))
        assert [hits.path for hits in found] == paths
    few = search_disk(root, paths, understand(GrepPattern(r"one\w+")), LineLimits(enough=700))
    assert [next(few).path for _ in range(700)] == paths[:700]


def _one(folder: Path) -> Path:
    path = folder / "one"
    if not path.exists():
        path.write_text("one_line\n")
    return path


def test_an_edit_is_seen_at_once(quiet: Repo) -> None:
    assert _ask(quiet, GrepPattern("fresh_edit"))["results"] == []
    quiet.write("app.py", "import lib.util\nfresh_edit = 1\n")
    quiet.write("lib/new.py", "fresh_edit = 2\n")
    (quiet.path / "lib/util.py").unlink()
    answer = _ask(quiet, GrepPattern("fresh_edit"))
    assert [(r["path"], r["line"], r["source"]) for r in answer["results"]] == [
        ("app.py", 2, "worktree"),
        ("lib/new.py", 1, "worktree"),
    ]
    assert _ask(quiet, GrepPattern("helper"))["results"] == []
    quiet.git("add", "-A")
    quiet.git("commit", "-qm", "more", env={"GITINDEX": "0"})
    assert len(_ask(quiet, GrepPattern("fresh_edit"))["results"]) == 2


def test_other_trees_are_read_from_git(quiet: Repo) -> None:
    before = quiet.git("rev-parse", "HEAD").strip()
    quiet.write("app.py", "staged_words = 1\nstaged_wor = 2\n")
    quiet.git("add", "app.py")
    quiet.write("app.py", "on_disk_only = 1\n")
    for pattern in ("staged_words", r"staged_\w+s", r"(?<=x)y|staged_words"):
        staged = quiet.answer("grep", pattern, "--staged")
        assert [(r["path"], r["line"]) for r in staged["results"]] == [("app.py", 1)]
        assert quiet.gitindex("grep", pattern).returncode == 1
    assert quiet.gitindex("grep", "on_disk_only", "--staged").returncode == 1
    old = quiet.answer("grep", "lib.util.helper", "-F", "--at", before)
    assert [(r["path"], r["line"]) for r in old["results"]] == [("app.py", 5)]
    assert quiet.gitindex("grep", "x", "--at", "nonsense").returncode == 2


def test_what_the_policy_leaves_out_is_not_searched(quiet: Repo) -> None:
    found = ["gen.py", "linguist/x.py", "min.js", "ok.txt"]
    for name, text in {
        ".env": "TOKEN=covered_word\n",
        ".gitattributes": "linguist/* linguist-generated\n",
        "linguist/x.py": "covered_word\n",
        "gen.py": "# @generated\ncovered_word\n",
        "bin.dat": "\0covered_word\n",
        "min.js": "covered_word;" * 3000,
        "ok.txt": "covered_word\n",
    }.items():
        quiet.write(name, text)
    new = _ask(quiet, GrepPattern("covered_word"))
    assert [r["path"] for r in new["results"]] == found
    quiet.git("add", "-A")
    quiet.git("commit", "-qm", "skips", env={"GITINDEX": "0"})
    assert [r["path"] for r in _ask(quiet, GrepPattern("covered_word"))["results"]] == found
    quiet.index()
    answer = _ask(quiet, GrepPattern("covered_word"))
    assert [r["path"] for r in answer["results"]] == found
    assert answer["notSearched"] == {"secret": 1, "binary": 1}


def test_a_link_in_a_files_place_is_not_followed(quiet: Repo, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("def helper_of_nobody(): pass\n")
    quiet.git("update-index", "--assume-unchanged", "lib/util.py")
    (quiet.path / "lib/util.py").unlink()
    (quiet.path / "lib/util.py").symlink_to(secret)
    for pattern in ("helper", r"helper\w*"):
        found = _ask(quiet, GrepPattern(pattern))["results"]
        assert [r["path"] for r in found] == ["app.py"]


def test_bytes_of_every_kind(repo: Repo) -> None:
    repo.write("latin.txt", "caf\xe9 word_one\n".encode("latin-1"))
    repo.write("utf16.txt", "Größe word_one\nzwei\n".encode("utf-16"))
    repo.write("bom.txt", b"\xef\xbb\xbfword_one first\n")
    repo.write("late_nul.txt", b"x\n" * 5000 + b"word_one \0 after\n")
    repo.write("long.txt", "y" * 30_000 + " word_one\n" + "short\n" * 200)
    repo.write("crlf.txt", b"word_one\r\nword_one \r\n")
    repo.write("last.txt", "no line break word_one")
    repo.commit()
    repo.index()
    names = [
        "bom.txt",
        "crlf.txt",
        "last.txt",
        "latin.txt",
        "long.txt",
        "utf16.txt",
    ]
    for pattern in ("word_one", r"word_[o]ne"):
        assert [
            r["path"] for r in _ask(repo, GrepPattern(pattern), form=GrepForm.FILES)["results"]
        ] == names
    skipped = json.loads(repo.gitindex("status", "--skipped", "--json").stdout)["skipped"]
    assert [(s["path"], s["reason"]) for s in skipped] == [("late_nul.txt", "binary")]
    found = {r["path"]: r for r in _ask(repo, GrepPattern("word_one"))["results"]}
    assert found["utf16.txt"]["column"] == 9
    assert found["utf16.txt"]["columnUtf16"] == 7
    assert (found["bom.txt"]["line"], found["bom.txt"]["column"]) == (1, 1)
    assert found["long.txt"]["textTruncated"]
    assert [r["path"] for r in _ask(repo, GrepPattern("GRÖßE", ignore_case=True))["results"]] == [
        "utf16.txt"
    ]
    assert [r["path"] for r in _ask(repo, GrepPattern("caf\udce9", fixed=True))["results"]] == [
        "latin.txt"
    ]


def test_paths_narrow_and_exit_codes_tell(quiet: Repo) -> None:
    assert quiet.gitindex("grep", "helper").returncode == 0
    inside = quiet.gitindex("grep", "helper", "lib")
    assert inside.stdout == "lib/util.py:1:def helper():\n"
    below = quiet.gitindex("grep", "helper", "util.py", cwd=quiet.path / "lib")
    assert below.stdout == "util.py:1:def helper():\n"
    assert quiet.gitindex("grep", "-c", "helper").stdout == "app.py:1\nlib/util.py:1\n"
    assert quiet.gitindex("grep", "-l", "helper").stdout == "app.py\nlib/util.py\n"
    assert quiet.gitindex("grep", "-il", "HELPER", "app.py").stdout == "app.py\n"
    assert quiet.gitindex("grep", "helper", "li").returncode == 2
    assert quiet.gitindex("grep", "helper", "../..").returncode == 2
    assert quiet.gitindex("grep", "nosuchtext").returncode == 1
    seen = quiet.gitindex("grep", "helper", "app.py", env={"CLICOLOR_FORCE": "1"})
    assert "lib.util.\x1b[1;31mhelper\x1b[m()" in seen.stdout
    cut = quiet.gitindex("grep", "helper", "-m", "1")
    assert cut.stdout.count("\n") == 1
    assert "--limit 0" in cut.stderr


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        "a**",
        "[[:alpha:]]",
        "[a[b]]",
        "[a&&b]",
        "[a--b]",
        r"\<a",
        r"\b{start}",
        "a\nb",
        "x" * 5000,
        r"\p{L}",
        "a(?i)b",
        "(" * 3000 + ")" * 3000,
    ],
)
def test_a_pattern_with_two_meanings_is_refused(pattern: str) -> None:
    with pytest.raises(GitIndexError) as refused:
        understand(GrepPattern(pattern))
    assert refused.value.code is Exit.USAGE


@pytest.mark.parametrize(
    "pattern",
    ["a++b", "(?>a+)b", r"\Aab", r"ab\Z", "(?x) a b", "(?s)a.", "(?a)\\w", "(?:(?s:a)|b)"],
)
def test_what_only_python_knows_is_left_to_python(pattern: str) -> None:
    assert not understand(GrepPattern(pattern)).for_ripgrep


@needs_rg
def test_what_ripgrep_refuses_python_finds(quiet: Repo) -> None:
    text = (quiet.path / "app.py").read_text().split("\n")[:-1]
    for pattern in (r"(\w)\1\1", "(?<=de)f", r"hel{,1}per", r"(?#note)helper", r"\Z"):
        expected = [n for n, line in enumerate(text, 1) if re.search(pattern, line)]
        found = _ask(quiet, GrepPattern(pattern), below=(b"app.py",))["results"]
        assert [r["line"] for r in found] == expected


def test_a_pattern_that_never_ends_is_ended(quiet: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "find_ripgrep", lambda: None)
    monkeypatch.setattr(child, "SECONDS_PER_FILE", 1)
    quiet.write("slow.txt", "a" * 60 + "b\n")
    started = time.monotonic()
    with pytest.raises(GitIndexError, match=r"too long: slow\.txt"):
        _ask(quiet, GrepPattern(r"(a+)+$|(a|aa)+c"), below=(b"slow.txt",))
    assert time.monotonic() - started < TIMEOUT


WORDS = st.text("ab_ .\t-é", max_size=6)


@needs_rg
@settings(max_examples=40, deadline=None)
@example(lines=["_."], pattern="", flags=(False, False, True))  # ripgrep names no column there
@given(
    lines=st.lists(WORDS, max_size=6),
    pattern=st.sampled_from(
        [
            "a",
            "ab",
            "a.b",
            "^a",
            "b$",
            "a|b",
            "[ab]+",
            r"\ba",
            r"a\b",
            "a?b",
            ".",
            "^$",
            "",
            "é",
            "(a|b){2}",
            "a_",
            r"\S+\s",
            r"\.",
            "-",
        ]
    ),
    flags=st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
def test_both_engines_find_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[str],
    pattern: str,
    flags: tuple[bool, ...],
) -> None:
    folder = tmp_path_factory.mktemp("engines")
    data = "\n".join(lines).encode()
    (folder / "f").write_bytes(data)
    understood = understand(GrepPattern(pattern, *flags))
    slow = understood._replace(is_plain=False)
    by_ripgrep = list(search_disk(os.fspath(folder), [b"f"], slow, LineLimits()))
    regex = understood.pattern.compiled()
    by_lines = search_text(regex, data, LineLimits(), whole=False)
    found = [hit for hits in by_ripgrep for hit in hits.hits]
    assert [hit.line for hit in found] == [hit.line for hit in by_lines]
    if not understood.pattern.word:  # there ripgrep 13 may name a later column
        assert found == by_lines
    if understood.is_plain:
        assert search_text(regex, data, LineLimits(), whole=True) == by_lines


def test_a_child_answers_like_the_parent(tmp_path: Path) -> None:
    texts = [(b"a", b"one\ntwo caf\xe9\n"), (b"b", b""), (b"c", "Größe two".encode("utf-16"))]
    understood = understand(GrepPattern(r"tw[o]"))
    found = list(search_texts(texts, understood, LineLimits()))
    assert [(hits.path, hits.hits[0].text) for hits in found] == [
        (b"a", b"two caf\xe9"),
        (b"c", "Größe two".encode()),
    ]
    counted = list(search_texts(texts, understood, LineLimits(lines=False)))
    assert [(hits.path, hits.lines) for hits in counted] == [(b"a", 1), (b"c", 1)]


def test_ripgrep_is_found_where_a_wheel_puts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = tmp_path / "rg"
    beside.touch(0o755)
    monkeypatch.setattr("gitindex.git.command.FALLBACK_PATH", "/nowhere")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    assert find_ripgrep() == str(beside)


def test_hits_have_a_shape(quiet: Repo) -> None:
    answer = quiet.answer("grep", "helper", "lib")
    assert answer["results"] == [
        {
            "path": "lib/util.py",
            "source": f"index@{quiet.tree()}",
            "line": 1,
            "column": 5,
            "columnUtf16": 5,
            "text": "def helper():",
        }
    ]
    assert answer["freshness"]["state"] == "fresh"
    assert answer["receipt"]["treeId"] == quiet.tree()


@pytest.fixture
def poems(repo: Repo) -> Repo:
    repo.write("a.py", "".join(f"line {n}\n" for n in range(1, 10)) + "end\n")
    repo.write("src/b.py", "one\nline 5\nthree\n")
    repo.write("src/c.js", "line 5\n")
    repo.commit()
    repo.index()
    return repo


@pytest.mark.parametrize(
    "args",
    [
        ["-C", "1", "line 5"],
        ["-A", "2", "line [38]"],
        ["-B", "1", "line [12]", "a.py"],
        ["-e", "one", "-e", "end"],
        ["-F", "-e", "line 5", "-e", "(", "src"],
        ["-g", "*.js", "line"],
        ["-g", "!*.py", "line"],
        ["-t", "py", "line 5"],
        ["-v", "line"],
        ["-v", "-c", "line"],
        ["-l", "-g", "src/*", "line"],
    ],
)
def test_flags_mean_what_they_mean_to_ripgrep(poems: Repo, args: list[str]) -> None:
    assert RG is not None
    theirs = subprocess.run(
        [RG, "--no-heading", "--line-number", "--with-filename", "--sort=path", *args],
        cwd=poems.path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    ours = poems.gitindex("grep", *args)
    assert (ours.stdout, ours.returncode) == (theirs.stdout, theirs.returncode), ours.stderr


def test_flags_that_are_wrong_are_said(poems: Repo) -> None:
    assert poems.gitindex("grep").returncode == 2
    assert poems.gitindex("grep", "-t", "klingon", "x").stderr.startswith(
        "gitindex: no such type: klingon"
    )
