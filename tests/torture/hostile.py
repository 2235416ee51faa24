"""Hostile repositories of 23 kinds: indexing ends, nothing in them runs, nothing outside them is read.

Some kinds change files before the commit, others git's own files after it.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

from gitindex.base.vocabulary import IndexState, SkipReason
from tests.support import TIMEOUT, Repo
from tests.torture import Clock

CANARY = "canary-that-must-not-be-read"
GOOD = b"def good_function():\n    return 1\n"


def _links(repo: Repo, rng: random.Random) -> None:
    for target in ("/etc/passwd", "/dev/zero", "..", ".", "loop", f"{repo.path.parent}/outside"):
        name = f"link{rng.random()}.py"
        (repo.path / name).symlink_to(target if target != "loop" else name)


def _executes(repo: Repo, rng: random.Random) -> None:
    """Keys that name programs; `_arm` sets them, for git would run some of them to make the commit."""
    repo.write(".gitattributes", "*.py filter=x diff=x merge=x\n*.md filter=y text eol=crlf\n")


def _arm(repo: Repo, rng: random.Random) -> None:
    """Now the configuration names programs, and a look at the work tree has files to compare."""
    ran = f"touch {repo.path.parent}/executed"
    for key in (
        "core.fsmonitor",
        "core.editor",
        "core.pager",
        "core.sshCommand",
        "core.askPass",
        "diff.external",
        "credential.helper",
        "gpg.program",
        "uploadpack.packObjectsHook",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "filter.y.clean",
        "filter.y.process",
        "diff.x.command",
        "diff.x.textconv",
        "merge.x.driver",
    ):
        if rng.random() < 0.5:
            repo.git("config", key, ran)
    repo.git("config", "filter.x.required", rng.choice(["true", "false"]))
    for name in ("good.py", "new.py"):
        repo.write(name, f"def good_function():\n    return {rng.random()}\n")


def _bare_inside(repo: Repo, rng: random.Random) -> None:
    for name in ("HEAD", "config", "refs/heads/x", "objects/x"):
        repo.write(f"inner/{name}", f"[core]\n\tfsmonitor = touch {repo.path.parent}/executed\n")
    repo.write("inner/HEAD", "ref: refs/heads/main\n")


def _names(repo: Repo, rng: random.Random) -> None:
    for number in range(20):
        name = bytes(
            rng.choice(b"a\xff\n\t'\"\\ -*?[\x1b\x07:%") for _ in range(rng.randint(1, 40))
        )
        (repo.path / f"n{number}").mkdir()
        path = os.fsencode(repo.path / f"n{number}") + b"/" + name
        with open(path, "wb") as file:
            file.write(b"def odd(): pass\n")


def _garbage(repo: Repo, rng: random.Random) -> None:
    for number in range(12):
        suffix = rng.choice(
            ["py", "js", "ts", "go", "rs", "c", "cpp", "md", "json", "yaml", "toml"]
        )
        repo.write(f"g{number}.{suffix}", rng.randbytes(rng.randint(0, 20_000)))


def _nested(repo: Repo, rng: random.Random) -> None:
    depth = rng.choice([1_000] * 6 + [20_000] * 3 + [100_000])  # a deep one costs seconds
    for suffix in rng.sample(["py", "js", "json", "md", "c"], 2):
        repo.write(f"deep.{suffix}", rng.choice("([{<>") * depth)
    repo.write("quotes.js", '"' * rng.choice([1_000, 10_000]))
    repo.write("line.py", "x = [" + "1, " * rng.choice([1_000, 100_000]) + "]\n")


def _ours(repo: Repo, rng: random.Random) -> None:
    kind = rng.randrange(3)
    if kind == 0:
        (repo.path / ".llmc").symlink_to(repo.path.parent)
    elif kind == 1:
        repo.write(".llmc/rag_index_status.json", '{"index_state": "fresh"}')
        repo.write(".llmc/completion_marker.json", "{}")
    else:
        repo.write(".gitindexignore", "*\n" * rng.randint(1, 9_999))


def _front_matter(repo: Repo, rng: random.Random) -> None:
    for number in range(10):
        body = rng.choice(
            ["tags: &a [*a]", "a: " + "[" * 5_000, "date: 9999-99-99", "\x00", "? : -"]
        )
        repo.write(f"d{number}.md", f"---\n{body}\n---\n# x\n")


def _gitlinks(repo: Repo, rng: random.Random) -> None:
    """Submodules that are nowhere, and a file that tells git how to get them."""
    oid = f"{rng.getrandbits(160):040x}"
    for number in range(3):
        repo.git("update-index", "--add", "--cacheinfo", f"160000,{oid},sub{number}")
    run = f"touch {repo.path.parent}/executed"
    path = rng.choice(["../outside", ".git/hooks", "sub0", "/etc"])
    told = f'[submodule "x"]\n\tpath = {path}\n\turl = --upload-pack={run}\n\tupdate = !{run}\n'
    repo.write(".gitmodules", told)


def _alike(repo: Repo, rng: random.Random) -> None:
    """Names that some file systems take for one."""
    for name in ("Same", "same", "SAME", "caf\u00e9", "cafe\u0301", "good.py .", "good.py"):
        repo.write(f"{name}.py", f"def same_{rng.randrange(10**6)}(): pass\n")


def _attributes(repo: Repo, rng: random.Random) -> None:
    words = ["text", "-text", "eol=crlf", "working-tree-encoding=UTF-16", "ident", "binary"]
    lines = [
        f"{rng.choice(['*', '*.py', 'good.*', '[a-z]*', '**/x'])} {' '.join(rng.sample(words, 2))}"
        for _ in range(rng.choice([3, 3_000]))
    ]
    repo.write(".gitattributes", "\n".join([*lines, "[attr]a b", "*.py a" * 50, ""]))
    repo.write("crlf.py", "def crlf():\r\n    pass\r\n# $Id$\r\n")


def _patterns(repo: Repo, rng: random.Random) -> None:
    bombs = ["**/" * 300 + "x", "*a" * 200, "[" * 500, "!" * 50, "\\" * 99, "a{,,,}" * 99]
    for name in (".gitignore", ".gitindexignore", ".rgignore"):
        repo.write(name, f"{rng.choice(bombs)}\n" * rng.choice([1, 500]) + "!*.py\n")
    repo.write("a" * 200 + ".py", "def long_name(): pass\n")


def _heavy(repo: Repo, rng: random.Random) -> None:
    """Files that are small in git and large when they are read."""
    size = rng.choice([3_000_000, 30_000_000])
    repo.write(rng.choice(["zeros.py", "zeros.bin", "zeros.md"]), bytes(size))
    repo.write("one_line.js", "good_function(" * 60_000)


def _programs(repo: Repo, rng: random.Random) -> None:
    """Texts at the edges of lexers."""
    texts = ["'" * 3, "<<EOF\n", "r#" * 999 + '"', "/*" * 9_999, "`${" * 999, "\\\n" * 9_999]
    for suffix in rng.sample(["py", "rb", "rs", "c", "ts", "cpp", "sh", "php", "java", "go"], 5):
        repo.write(f"edge.{suffix}", rng.choice(texts) + "def good_function(): pass\n")


def _trees(repo: Repo, rng: random.Random) -> None:
    """Trees that git would not make: names of folders, of git and twice; modes of nothing."""
    raw = bytes.fromhex(_store(repo, "blob", GOOD))
    names = [b"..", b".", b".git", b"a/b", b"", b"x" * 4_000, b".llmc", b"good.py", b"\xff\n"]
    modes = [b"100644", b"100755", b"120000", b"160000", b"40000", b"0", b"777777", b"140000"]
    rows = [rng.choice(modes) + b" " + name + b"\0" + raw for name in rng.sample(names, 5)]
    made = _store(repo, "tree", b"".join([*rows, b"100644 zgood.py\0" + raw]))
    _move_head(repo, repo.git("commit-tree", made, "-m", "x", "-p", "HEAD").strip())


def _tree_bomb(repo: Repo, rng: random.Random) -> None:
    """Ten thousand paths in a few hundred bytes, seldom a million, which no mapping holds whole."""
    oid = _store(repo, "blob", GOOD)
    kind, mode = "blob", "100644"
    for _ in range(rng.choice([4] * 19 + [6])):
        rows = "".join(f"{mode} {kind} {oid}\tn{n}\n" for n in range(10)).encode()
        oid, kind, mode = _store(repo, "mktree", rows), "tree", "040000"
    _move_head(repo, repo.git("commit-tree", oid, "-m", "bomb").strip())


def _commits(repo: Repo, rng: random.Random) -> None:
    """A commit without what a commit has."""
    tree = repo.git("rev-parse", "HEAD^{tree}").strip()
    lines = [
        f"parent {tree}",
        "author",
        "author \x1b[31m <> 99999999999999999999 +9999",
        "committer x <x> -1 +0000",
        "encoding utf-7",
        "gpgsig " + "x" * 9_999,
    ]
    text = "\n".join([f"tree {tree}", *rng.sample(lines, 3), "", "\udc80\0" * 99])
    _move_head(repo, _store(repo, "commit", text.encode("utf-8", "surrogateescape")))


def _refs(repo: Repo, rng: random.Random) -> None:
    kind = rng.randrange(5)
    head = repo.git("rev-parse", "HEAD").strip()
    git = repo.path / ".git"
    if kind == 0:
        (git / "HEAD").write_text("ref: refs/heads/loop\n")
        (git / "refs/heads/loop").write_text("ref: refs/heads/loop\n")
    elif kind == 1:
        (git / "packed-refs").write_text(f"{head} refs/heads/x\n" * 5_000 + "garbage\n")
    elif kind == 2:
        (git / "HEAD").write_text(rng.choice(["", "\0" * 40, "f" * 40, "ref: ../../outside\n"]))
    elif kind == 3:
        other = repo.git("commit-tree", _store(repo, "mktree", b""), "-m", "y").strip()
        repo.git("replace", "-f", head, other)
    else:
        (git / "refs/heads/main.lock").write_text("")
        repo.git("tag", "-a", "-m", "\x1b]0;x\x07", "tag\u202e")


def _objects(repo: Repo, rng: random.Random) -> None:
    """Objects that are gone or damaged, and others' objects."""
    folder = repo.path / ".git/objects"
    others = rng.choice([str(folder), "/proc/self/fd", "../" * 50, "\0\n" * 99])
    (folder / "info").mkdir(exist_ok=True)
    (folder / "info/alternates").write_text(others + "\n")
    loose = sorted(path for path in folder.glob("??/*") if path.is_file())
    for path in rng.sample(loose, min(len(loose), 2)):
        path.chmod(0o600)
        if rng.random() < 0.5:
            path.unlink()
        else:
            path.write_bytes(path.read_bytes()[: rng.randint(0, 20)])


def _packs(repo: Repo, rng: random.Random) -> None:
    """Everything in a pack, which is damaged, or its index, or what leads to it."""
    repo.try_git("-c", "core.fsmonitor=false", "repack", "-qad")
    if rng.random() < 0.5:
        repo.try_git("multi-pack-index", "write")
    found = sorted((repo.path / ".git/objects/pack").iterdir())
    for path in rng.sample(found, min(len(found), rng.choice([1, 1, 2]))):
        path.chmod(0o600)
        data = bytearray(path.read_bytes())
        at, size = rng.randrange(len(data)), rng.choice([1, 4, 20, 512])
        kind = rng.randrange(3)
        if kind == 0:
            del data[at:]
        elif kind == 1:
            data[at] ^= 1 << rng.randrange(8)
        else:
            data[at : at + size] = rng.randbytes(len(data[at : at + size]))
        if len(data) > 20 and rng.random() < 0.3:
            data[-20:] = hashlib.sha1(data[:-20]).digest()
        path.write_bytes(data)


def _index_file(repo: Repo, rng: random.Random) -> None:
    path = repo.path / ".git/index"
    data = bytearray(path.read_bytes())
    kind = rng.randrange(4)
    if kind == 0:
        del data[rng.randrange(len(data)) :]
    elif kind == 1:
        for _ in range(3):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind == 2:
        data[8:12] = b"\xff\xff\xff\xff"
    else:
        repo.try_git("-c", "core.fsmonitor=false", "update-index", "--split-index")
        for shared in (repo.path / ".git").glob("sharedindex.*"):
            shared.unlink()
        return
    path.write_bytes(data)


def _config(repo: Repo, rng: random.Random) -> None:
    outside = f"{repo.path.parent}/outside"
    lines = [
        "[core]\n\tworktree = /etc",
        f"[core]\n\thooksPath = {outside}",
        f"[include]\n\tpath = {outside}/secret.py",
        "[include]\n\tpath = config",
        "[core]\n\tbare = true",
        "[core]\n\trepositoryformatversion = 9",
        "[extensions]\n\tunknown = 1",
        "[extensions]\n\tpartialClone = origin",
        "[alias]\n\tstatus = !touch executed",
        "[gitindex]\n\tsemantic = true\n\tindexer = touch executed",
        "[core]\n\tcompression = 99\n[status]\n\tshowUntrackedFiles = no",
        "[gitindex",
    ]
    with open(repo.path / ".git/config", "a") as file:
        file.write("\n".join(["", *rng.sample(lines, rng.randint(1, 3)), ""]))


def _not_files(repo: Repo, rng: random.Random) -> None:
    """Pipes, sockets and folders where files were."""
    for name in [path.name for path in sorted(repo.path.glob("*.py"))][:3]:
        path = repo.path / name
        if path.is_file():
            path.unlink()
            kind = rng.randrange(3)
            if kind == 0:
                os.mkfifo(path)
            elif kind == 1:
                path.mkdir()
            else:
                with socket.socket(socket.AF_UNIX) as line:
                    here = os.open(repo.path, os.O_RDONLY)
                    line.bind(f"/proc/self/fd/{here}/s")
                    os.close(here)
                (repo.path / "s").rename(path)


def _store(repo: Repo, kind: str, data: bytes) -> str:
    """Write an object that nobody checks, or a tree from rows."""
    raw = ["hash-object", "-t", kind, "-w", "--stdin", "--literally"]
    command = ["git", "-C", str(repo.path), *(["mktree"] if kind == "mktree" else raw)]
    done = subprocess.run(command, input=data, capture_output=True, timeout=TIMEOUT, check=True)
    return done.stdout.decode().strip()


def _move_head(repo: Repo, commit: str) -> None:
    (repo.path / ".git/refs/heads/main").write_text(commit + "\n")


Kind = Callable[[Repo, random.Random], None]
BEFORE: tuple[Kind, ...] = (
    _links,
    _executes,
    _bare_inside,
    _names,
    _garbage,
    _nested,
    _ours,
    _front_matter,
    _gitlinks,
    _alike,
    _attributes,
    _patterns,
    _heavy,
    _programs,
)
AFTER: tuple[Kind, ...] = (
    _trees,
    _tree_bomb,
    _commits,
    _refs,
    _packs,
    _objects,
    _index_file,
    _config,
    _not_files,
)
QUESTIONS = (["grep", CANARY], ["search", CANARY], ["refs", "good_function"], ["read", "good.py"])


def hostile_repositories(clock: Clock, rng: random.Random, folder: Path) -> None:
    """One to three kinds of hostility at once; then index, and ask from inside."""
    outside = folder / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text(f"{CANARY} = 1\n")
    while clock.goes_on():
        repo = Repo(folder / f"r{clock.counts['cases']}")
        kinds = rng.sample((*BEFORE, *AFTER), rng.randint(1, 3))
        _make(repo, rng, kinds)
        try:
            _ask(repo, rng, folder / "executed")
        except AssertionError as error:
            names = [kind.__name__ for kind in kinds]
            raise AssertionError(f"{names}: {error}") from error
        shutil.rmtree(repo.path, ignore_errors=True)
        clock.count()


def _make(repo: Repo, rng: random.Random, kinds: list[Kind]) -> None:
    repo.init()
    repo.write("good.py", GOOD)
    repo.commit()  # the next one may fail
    for kind in kinds:
        if kind in BEFORE:
            kind(repo, rng)
    repo.git("-c", "core.fsmonitor=false", "add", "-A", check=False)
    repo.git("-c", "core.fsmonitor=false", "commit", "-qm", "x", check=False)
    if _executes in kinds:
        _arm(repo, rng)
    for kind in AFTER:
        if kind in kinds:
            kind(repo, rng)


def _ask(repo: Repo, rng: random.Random, executed: Path) -> None:
    """Index and ask; what says fresh holds the tree that git names."""
    assert not executed.exists()
    for question in (["index"], rng.choice(QUESTIONS), ["status"]):
        done = repo.gitindex(*question)  # TimeoutExpired, if it does not end
        tell = (repo.path, question, done.returncode, done.stdout[-500:], done.stderr[-900:])
        assert done.returncode in (0, 1, 2, 3, 4), tell
        assert "Traceback" not in done.stderr, tell
        assert "panicked" not in done.stderr, tell
        assert "secret.py" not in done.stdout, tell
        assert not executed.exists(), tell
        assert not (repo.path / "executed").exists(), tell
    if done.returncode == 0:
        assert done.stdout.startswith(IndexState.FRESH), tell
        _assert_published(repo)


def _assert_published(repo: Repo) -> None:
    """The mapping is git's tree; a folder that was left out for its size stands for what is below it."""
    rows = repo.mapping()
    if all(row.mode != 0o40000 and row.skip != SkipReason.MISSING_BLOB for row in rows):
        repo.assert_published()
        return
    published = {row.path for row in rows}
    for path in repo.ls_tree():
        parts = path.split(b"/")
        assert any(b"/".join(parts[:n]) in published for n in range(1, len(parts) + 1)), path
