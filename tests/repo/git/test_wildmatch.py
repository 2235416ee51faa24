"""Our pattern matcher against git's own word: `check-ignore` and `check-attr` in a real repository."""

from __future__ import annotations

import itertools
import random
import subprocess
import time
from pathlib import Path

import pytest

from gitindex.base.vocabulary import SkipReason
from gitindex.extract.policy import Policy, of_tree
from gitindex.git.interface import Entry
from gitindex.git.wildmatch import ignores, make_rule, parse_ignore, rule_matches
from tests.support import TIMEOUT, Repo

NAMES = (
    b"a",
    b"b",
    b"ab",
    b"a.c",
    b"foo",
    b"foobar",
    b".x",
    b"[a]",
    b"a b",
    b"!a",
    b"#a",
    b"a\\b",
    b"A",
    b"-",
    b"]",
    b"\xc3\xa9",
    b"a*",
)
PATHS = sorted(
    {*NAMES}
    | {b"/".join(p) for p in itertools.product((b"d", b"foo", b"a", b"x.y"), NAMES[:10])}
    | {b"/".join(p) for p in itertools.product((b"d", b"e"), (b"foo", b"d", b"a"), NAMES[:9])}
    | {b"d/e/foo/b/a", b"foo/e/d/ab", b"e/e/e/e/a"}
)
FILES = [p for p in PATHS if not any(q.startswith(p + b"/") for q in PATHS)]

WRITTEN = [
    b"a",
    b"/a",
    b"a/",
    b"/a/",
    b"*",
    b"/*",
    b"**",
    b"/**",
    b"**/",
    b"*.c",
    b"*.*",
    b"a*",
    b"*a*",
    b"?",
    b"??",
    b"d/",
    b"d/*",
    b"d/**",
    b"d/**/",
    b"**/a",
    b"**/foo/a",
    b"d/**/a",
    b"/d/**/a",
    b"d/*/a",
    b"**/*",
    b"**/**/a",
    b"**a",
    b"a**",
    b"d**/a",
    b"d/**a",
    b"d/a**",
    b"***",
    b"d/***",
    b"***/a",
    b"*/a",
    b"*/*/a",
    b"[ab]",
    b"[!a]",
    b"[^a]",
    b"[a-c]",
    b"[]]",
    b"[]a]",
    b"[!]]",
    b"[!]a]",
    b"[a",
    b"[",
    b"a[",
    b"[]",
    b"[!]",
    b"[[]a]",
    b"\\[a\\]",
    b"[[:alpha:]]",
    b"[[:digit:][:upper:]]",
    b"[![:lower:]]",
    b"[[:bogus:]]",
    b"[[:alpha:]",
    b"[a-]",
    b"[-a]",
    b"[\\]]",
    b"[\\]a]",
    b"[a\\-c]",
    b"[\\a]",
    b"[z-a]",
    b"[a/b]",
    b"d[/]a",
    b"d?a",
    b"[*]",
    b"a[*]",
    b"\\a",
    b"\\!a",
    b"!a",
    b"\\#a",
    b"#a",
    b"a\\",
    b"a\\\\b",
    b"a\\b",
    b"\\*",
    b"a\\*",
    b"\\?",
    b"a ",
    b"a\\ ",
    b"a\\ b",
    b"a b",
    b" a",
    b"a\t",
    b"a\r",
    b"a b ",
    b"a b\\ ",
    b"\\ ",
    b"a  ",
    b"a\\  ",
    b"//a",
    b"a//b",
    b"d//",
    b"/",
    b"//",
    b"./a",
    b"../a",
    b"d/./a",
    b"d/../a",
    b".x",
    b".*",
    b"A",
    b"[A-Z]",
    b"\xc3\xa9",
    b"\xef\xbb\xbfa",
    b"foo/*\n!foo/a",
    b"foo/\n!foo/a",
    b"*\n!a",
    b"*\n!*/\n!a",
    b"!*\na",
    b"a\n!a\na",
    b"/*\n!/d\n/d/*\n!/d/a",
    b"d\n!d/foo\n",
    b"**/foo\n!d/foo",
    b"a\r\nb\r\n",
    b"a\n\n \n#x\nb",
    b"!",
    b"!!a",
    b"-",
    b"*b*",
    b"f*o*b*r",
    b"*/foo*",
    b"/foo*/",
    b"d/[fe]*/a",
    b"d/e/**/foo/**/a",
    b"a\x0cb",
    b"a\x0b",
    b"a\rb",
    b"foo\\/a",
    b"d\\/a",
    b"\\d/a",
    b"d/\\a",
    b"[d]/a",
    b"*\\",
    b"\\\\",
    b"a/**/b",
    b"[a-c-e]",
    b"[--a]",
    b"[!-a]",
    b"[[:space:]]",
    b"[[:punct:]]",
    b"a[[:blank:]]b",
    b"[\\",
    b"[a\\",
    b"[[:",
    b"[[:alpha",
    b"[a-\\c]",
    b"[\\a-c]",
    b"**\\/a",
    b"d/**\\/a",
    b"d**\\/a",
    b"**\\/**\\/a",
    b"[::]",
    b"[:]",
    b"[[:]",
    b"[[::]]",
    b"*a*b",
    b"*o*o*",
    b"?*?*?",
    b"*[ao]*[bo]*",
    b"**/*o*/*a",
    b"**/d/**/a",
    b"**/e/**/e/**/a",
    b"**/[de]/**",
    b"/**/d/**/foo/**",
]


def generated(seed: int, count: int) -> list[bytes]:
    """Random ignore files of one to four patterns, from pieces that mean something."""
    dice = random.Random(seed)
    pieces = [
        b"a",
        b"b",
        b"d",
        b"e",
        b"foo",
        b"*",
        b"**",
        b"?",
        b"/",
        b"/",
        b"[ab]",
        b"[!a]",
        b".",
        b"\\a",
        b"[a-f]",
        b"[]a]",
        b"o",
        b"\\*",
        b"[[:alpha:]]",
        b" ",
    ]
    made = []
    for _ in range(count):
        lines = []
        for _ in range(dice.randint(1, 4)):
            line = b"".join(dice.choices(pieces, k=dice.randint(1, 6)))
            lines.append(dice.choice([b"", b"", b"!", b"/"]) + line + dice.choice([b"", b"", b"/"]))
        made.append(b"\n".join(lines))
    return made


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    repo = Repo(tmp_path_factory.mktemp("patterns") / "repo")
    repo.init()
    for path in FILES:
        target = Path(str(repo.path), path.decode())
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"")
    return repo


@pytest.fixture
def tree(scratch: Repo) -> Repo:
    """A work tree with all the files and no policy file."""
    for name in (".gitignore", ".gitattributes"):
        (scratch.path / name).unlink(missing_ok=True)
    return scratch


def git(repo: Repo, *args: str) -> bytes:
    done = subprocess.run(
        ["git", "-C", str(repo.path), *args],
        input=b"\0".join(FILES) + b"\0",
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def differences(repo: Repo, text: bytes) -> set[bytes]:
    """Paths about which git and we disagree."""
    (repo.path / ".gitignore").write_bytes(text)
    theirs = set(git(repo, "check-ignore", "--no-index", "-z", "--stdin").split(b"\0")) - {b""}
    rules = parse_ignore(text)
    return theirs ^ {path for path in FILES if ignores(rules, path)}


def test_written_patterns_mean_what_git_means(tree: Repo) -> None:
    wrong = {text: found for text in WRITTEN if (found := differences(tree, text))}
    assert wrong == {}


def test_generated_patterns_mean_what_git_means(tree: Repo) -> None:
    texts = generated(seed=1, count=600)
    assert len(texts) == 600
    wrong = {text: found for text in texts if (found := differences(tree, text))}
    assert wrong == {}


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (b"*a" * 240, b"a" * 4000),
        (b"*a" * 100 + b"b", b"a" * 4000),
        (b"x/" + b"*a*a*a*a*a*a*a*a*b", b"x/" + b"a" * 255),
        (b"**/a/" * 80 + b"b", b"a/" * 2000 + b"c"),
        (b"**\\/" * 80 + b"b", b"a/" * 2000 + b"c"),
        (b"**/*a*a*a/" * 20 + b"b", b"aaaaaaaaaaaaaa/" * 260 + b"c"),
    ],
    ids=["many stars", "no match", "in a folder", "many folders", "quoted slashes", "both"],
)
def test_i35_no_pattern_takes_long(pattern: bytes, path: bytes) -> None:
    rule = make_rule(pattern)
    assert rule is not None
    started = time.process_time()
    rule_matches(rule, path)
    assert time.process_time() - started < 2


def test_patterns_belong_to_the_folder_of_their_file() -> None:
    made = [make_rule(pattern, b"sub/") for pattern in (b"a", b"/b", b"c/d")]
    rules = [rule for rule in made if rule is not None]
    hit = [b"sub/a", b"sub/x/a", b"sub/b", b"sub/c/d", b"sub/a/deep"]
    miss = [b"a", b"other/a", b"sub/x/b", b"sub/x/c/d", b"subs/a", b"c/d"]
    assert [ignores(rules, path) for path in hit + miss] == [True] * 5 + [False] * 6


def test_absurd_files_are_bounded() -> None:
    assert make_rule(b"a" * 501) is None
    assert make_rule(b"") is None
    assert make_rule(b"/") is None
    assert len(parse_ignore(b"a\n" * 5000)) == 2000
    assert parse_ignore(b"") == []
    assert not ignores([], b"a")


ATTRIBUTE_LINES = [
    b"*.c linguist-generated",
    b"*.c linguist-generated=true",
    b"*.c linguist-generated=false",
    b"*.c -linguist-generated",
    b"*.c !linguist-generated",
    b"foo linguist-vendored",
    b"foo/ linguist-vendored",
    b"foo/* linguist-vendored",
    b"foo/** linguist-vendored",
    b"/a linguist-generated",
    b"d/**/a linguist-generated",
    b"* linguist-generated\na -linguist-generated",
    b"* linguist-generated\na !linguist-generated",
    b"a linguist-generated -linguist-generated",
    b"a -linguist-generated linguist-generated",
    b"a\tlinguist-generated",
    b"  a linguist-generated",
    b'"a b" linguist-generated',
    b"a b linguist-generated",
    b'"\\303\\251" linguist-generated',
    b"# a linguist-generated",
    b"!a linguist-generated",
    b"\\!a linguist-generated",
    b"[ab] linguist-vendored",
    b"a linguist-vendored linguist-generated",
    b"a text linguist-generated=yes",
    b"a linguist-generated=",
    b"a linguist-generated\r\nb linguist-vendored\r\n",
    b"a binary",
    b"a -binary",
    b"* binary\na -binary",
    b"a",
    b"",
    b"** linguist-generated",
    b"a linguist-generatedx",
    b"a xlinguist-generated",
    b'"a linguist-generated',
    b"\xef\xbb\xbfa linguist-generated",
    b"a linguist-generated # x",
    b"d/a -linguist-generated\na linguist-generated",
]


def policy_of(files: dict[bytes, bytes]) -> Policy:
    entries = [Entry(path, 0o100644, str(n)) for n, path in enumerate(files)]
    contents = list(files.values())
    return of_tree(entries, lambda oids: {oid: contents[int(oid)] for oid in oids})


def told_by_git(repo: Repo) -> dict[bytes, SkipReason | None]:
    """What the attributes mean by git's word: generated goes before vendored before binary."""
    names = ("linguist-generated", "linguist-vendored", "binary")
    words = git(repo, "check-attr", "-z", "--stdin", *names).split(b"\0")
    told: dict[bytes, SkipReason | None] = dict.fromkeys(FILES)
    reasons = dict(
        zip(names, (SkipReason.GENERATED, SkipReason.VENDORED, SkipReason.BINARY), strict=True)
    )
    for path, name, value in zip(words[0::3], words[1::3], words[2::3], strict=False):
        if value not in (b"unspecified", b"unset", b"false", b"0") and told[path] is None:
            told[path] = reasons[name.decode()]
    return told


@pytest.mark.parametrize("text", ATTRIBUTE_LINES, ids=ascii)
def test_attributes_mean_what_git_means(tree: Repo, text: bytes) -> None:
    (tree.path / ".gitattributes").write_bytes(text)
    policy = policy_of({b".gitattributes": text})
    ours = {path: policy.skip_path(Entry(path, 0o100644, "0")) for path in FILES}
    assert ours == told_by_git(tree)


def test_deeper_attributes_win(tree: Repo) -> None:
    files = {
        b"d/e/.gitattributes": b"a -linguist-generated\n",
        b".gitattributes": b"a linguist-generated\nd/foo/* linguist-vendored\n",
        b"d/.gitattributes": b"foo/a linguist-generated=false\n/ab linguist-vendored\n",
        b"e/.gitattributes": b"* linguist-generated\n",
        b"e/d/.gitattributes": b"* !linguist-generated\n",
    }
    for path, data in files.items():
        tree.write(path.decode(), data)
    policy = policy_of(files)
    ours = {path: policy.skip_path(Entry(path, 0o100644, "0")) for path in FILES}
    theirs = told_by_git(tree)
    for path in files:
        (tree.path / path.decode()).unlink()
    assert ours == theirs
    assert len(set(ours.values())) == 3
