"""One contract for both git backends, over every kind of repository; git's own word is the truth."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from gitindex.base.errors import GitIndexError, ObjectMissing
from gitindex.base.vocabulary import IndexState
from gitindex.git.backend import open_repository
from gitindex.git.command import clean_env, read_blobs
from gitindex.git.git_objects import GitCommandRepository
from gitindex.git.interface import Entry, Head, Repository
from gitindex.git.libgit2 import Pygit2Repository
from tests.gits import GitUnavailable, newer_git
from tests.support import TIMEOUT, Repo, stop_runners, wait_for

GITLINK = 0o160000
ODD_NAMES = (b"caf\xe9.py", b"two\nlines.py", b'quo"te\t.py', "naïve ☃.py".encode(), b"-dash.py")

Change = tuple[bytes, Entry | None]
Open = Callable[[Repo], Repository]


class Kind(NamedTuple):
    """A kind of repository: how it is made of the base, and who can read it."""

    make: Callable[[Repo, Path], Repo]
    libgit2: bool = True
    newer: bool = False  # needs a git that knows reftable


def _copy(base: Repo, to: Path) -> Repo:
    shutil.copytree(base.path, to, symlinks=True)
    return Repo(to)


def _with(*commands: str) -> Callable[[Repo, Path], Repo]:
    """The base after some git commands."""

    def make(base: Repo, to: Path) -> Repo:
        repo = _copy(base, to)
        for command in commands:
            repo.git(*command.split())
        return repo

    return make


def _clone(*options: str) -> Callable[[Repo, Path], Repo]:
    def make(base: Repo, to: Path) -> Repo:
        base.git("config", "uploadpack.allowFilter", "true")
        base.git("clone", "-q", *options, base.path.as_uri(), str(to))
        return Repo(to)

    return make


def _init(*options: str) -> Callable[[Repo, Path], Repo]:
    """The base's history made anew in another format."""

    def make(_: Repo, to: Path) -> Repo:
        repo = Repo(to)
        repo.init(*options)
        write_history(repo)
        return repo

    return make


def _alternates(base: Repo, to: Path) -> Repo:
    base.git("clone", "-q", "--shared", str(base.path), str(to))
    return Repo(to)


def _linked(base: Repo, to: Path) -> Repo:
    main = _copy(base, to.with_name("main"))
    main.git("worktree", "add", "-q", "-b", "side", str(to), "c2")
    return Repo(to)


def _superproject(base: Repo, to: Path) -> Repo:
    repo = Repo(to)
    repo.init()
    repo.write("top.py", "def top():\n    return 1\n")
    repo.git("submodule", "--quiet", "add", str(base.path), "vendor/sub")
    repo.commit("with a submodule")
    return repo


def _submodule(base: Repo, to: Path) -> Repo:
    return Repo(_superproject(base, to).path / "vendor/sub")


def _absent_submodule(base: Repo, to: Path) -> Repo:
    """Cloned without it: the folder is empty, the gitlink is in the tree."""
    source = _superproject(base, to.with_name("source"))
    source.git("clone", "-q", str(source.path), str(to))
    return Repo(to)


def _separate(base: Repo, to: Path) -> Repo:
    repo = _copy(base, to)
    repo.git("init", "-q", "--separate-git-dir", str(to.with_name("elsewhere.git")))
    return repo


def _odd_path(base: Repo, to: Path) -> Repo:
    return _copy(base, to.with_name(os.fsdecode(b"re\npo \xff'\"$")))


def _unborn(_: Repo, to: Path) -> Repo:
    repo = Repo(to)
    repo.init()
    return repo


def _replaced(base: Repo, to: Path) -> Repo:
    repo = _copy(base, to)
    repo.git("replace", "c3:app.py", "c1:app.py")
    repo.git("replace", "c3", "c1")
    return repo


KINDS = {
    "plain": Kind(_copy),
    "packed": Kind(
        _with("repack -adfq", "pack-refs --all", "commit-graph write", "multi-pack-index write")
    ),
    "linked worktree": Kind(_linked),
    "superproject": Kind(_superproject),
    "submodule": Kind(_submodule),
    "absent submodule": Kind(_absent_submodule),
    "shallow": Kind(_clone("--depth=1")),
    "partial clone": Kind(_clone("--filter=blob:none")),
    "treeless clone": Kind(_clone("--filter=tree:0")),
    "sparse checkout": Kind(_with("sparse-checkout set --cone lib")),
    "sparse index": Kind(_with("sparse-checkout set --cone --sparse-index lib")),
    "split index": Kind(_with("update-index --split-index")),
    "index v4": Kind(_with("update-index --index-version=4")),
    "separate git dir": Kind(_separate),
    "alternates": Kind(_alternates),
    "odd path": Kind(_odd_path),
    "unborn": Kind(_unborn),
    "detached": Kind(_with("checkout -q --detach c2")),
    "replaced objects": Kind(_replaced),
    "sha256": Kind(_init("--object-format=sha256"), libgit2=False),
    "reftable": Kind(_init("--ref-format=reftable"), libgit2=False, newer=True),
    "reftable sha256": Kind(
        _init("--ref-format=reftable", "--object-format=sha256"), libgit2=False, newer=True
    ),
}
BACKENDS: dict[str, Open] = {
    "pygit2": lambda repo: Pygit2Repository(repo.worktree),
    "git": lambda repo: GitCommandRepository(repo.worktree),
}


def write_history(repo: Repo) -> None:
    """Three commits in which files, folders, links and modes turn into each other."""
    repo.write("app.py", "import lib.util\n\n\ndef main():\n    return lib.util.helper()\n")
    repo.write("lib/util.py", "def helper():\n    return 42\n")
    repo.write("lib/deep/er/leaf.py", "LEAF = 1\n")
    repo.write("thing", "a file that becomes a folder\n")
    repo.write("tool.sh", "#!/bin/sh\necho tool\n")
    for name in ODD_NAMES:
        repo.write(os.fsdecode(name), b"ODD = %r\n" % name)
    (repo.path / "link").symlink_to("app.py")
    repo.commit("one")
    repo.git("tag", "c1")
    (repo.path / "thing").unlink()
    repo.write("thing/inside.py", "INSIDE = 2\n")
    repo.write("app.py", "import lib.util\n\n\ndef main():\n    return lib.util.helper() + 1\n")
    (repo.path / "tool.sh").chmod(0o755)
    (repo.path / "link").unlink()
    repo.write("link", "no longer a link\n")
    repo.write("empty.py", "")
    repo.commit("two")
    repo.git("tag", "c2")
    shutil.rmtree(repo.path / "lib/deep")
    repo.write("lib/deep", "a folder that became a file\n")
    repo.git("mv", "app.py", "App.py")
    repo.write("app.py", "def second():\n    return 'the other spelling'\n")
    (repo.path / os.fsdecode(ODD_NAMES[0])).unlink()
    repo.commit("three")
    repo.git("tag", "c3")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    repo = Repo(tmp_path_factory.mktemp("base") / "repo")
    repo.init()
    write_history(repo)
    return repo


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A git that knows reftable comes first on PATH."""
    try:
        git = newer_git()
    except GitUnavailable as reason:
        pytest.skip(f"no newer git: {reason}")
    monkeypatch.setenv("PATH", git.path)


@pytest.fixture(params=["machine's git", "newer git"])
def any_git(request: pytest.FixtureRequest) -> str:
    """Once with the machine's git and once with a newer one."""
    if request.param == "newer git":
        request.getfixturevalue("newer")
    return str(request.param)


@pytest.fixture
def made(request: pytest.FixtureRequest, base: Repo, tmp_path: Path) -> Iterator[Repo]:
    """A repository of the kind the test is parametrised with."""
    kind = KINDS[request.param]
    if kind.newer:
        request.getfixturevalue("newer")
    yield kind.make(base, tmp_path / "repo")
    stop_runners(tmp_path)


def git_bytes(repo: Repo, *args: str) -> bytes:
    """What git prints, without replaced objects and without fetching."""
    env = os.environ | {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_ALLOW_PROTOCOL": ""}
    done = subprocess.run(
        ["git", "-C", str(repo.path), *args],
        env=env,
        capture_output=True,
        timeout=TIMEOUT,
        stdin=subprocess.DEVNULL,
        check=True,
    )
    return done.stdout


def git_word(repo: Repo, *args: str) -> str:
    return git_bytes(repo, *args).decode().strip()


def git_entries(repo: Repo, tree: str) -> list[Entry]:
    found = []
    for record in git_bytes(repo, "ls-tree", "-r", "-z", tree).split(b"\0")[:-1]:
        meta, path = record.split(b"\t", 1)
        mode, _, oid = meta.decode().split(" ")
        found.append(Entry(path, int(mode, 8), oid))
    return sorted(found)


def git_changes(repo: Repo, old: str, new: str) -> list[Change]:
    words = git_bytes(repo, "diff-tree", "-r", "-z", "--no-renames", "--raw", old, new).split(b"\0")
    found: list[Change] = []
    for meta, path in zip(words[0::2], words[1::2], strict=False):
        _, mode, _, oid, letter = meta.decode().split(" ")
        found.append((path, None if letter == "D" else Entry(path, int(mode, 8), oid)))
    return sorted(found, key=_by_path)


def git_has(repo: Repo, tree: str) -> bool:
    """Is a tree here with all its folders?"""
    try:
        git_bytes(repo, "ls-tree", "-r", "-t", tree)
    except subprocess.CalledProcessError:
        return False
    return True


def trees_of(repo: Repo) -> list[str]:
    trees = git_word(repo, "log", "--all", "--format=%T").split()
    empty = git_word(repo, "hash-object", "-t", "tree", "--stdin")
    return [*dict.fromkeys(tree for tree in trees if git_has(repo, tree)), empty]


def _by_path(change: Change) -> bytes:
    return change[0]


def children_of(pid: int) -> list[int]:
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def check_contract(repo: Repo, repository: Repository) -> None:
    """Head, listings, differences and contents are git's."""
    commit = git_word(repo, "rev-list", "-1", "--all") and git_word(repo, "rev-parse", "HEAD")
    trees = trees_of(repo)
    tree = git_word(repo, "log", "-1", "--format=%T") if commit else trees[-1]
    assert repository.head() == Head(commit or None, tree)
    for old in trees:
        assert sorted(repository.entries(old)) == git_entries(repo, old)
        for new in trees:
            found = sorted(repository.changes(old, new), key=_by_path)
            assert found == git_changes(repo, old, new)
    for entry in git_entries(repo, tree):
        if entry.mode == GITLINK:
            with pytest.raises(ObjectMissing):
                repository.read(entry.oid)
        else:
            data = git_bytes(repo, "cat-file", "blob", entry.oid)
            assert repository.read(entry.oid) == data
            assert repository.size(entry.oid) == len(data)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("made", KINDS, indirect=True)
def test_contract(made: Repo, backend: str, request: pytest.FixtureRequest) -> None:
    kind = KINDS[request.node.callspec.params["made"]]
    if backend == "pygit2" and not kind.libgit2:
        with pytest.raises(GitIndexError):
            BACKENDS[backend](made)
        return
    repository = BACKENDS[backend](made)
    try:
        check_contract(made, repository)
        absent = "1" * len(repository.head().tree)
        for call in (repository.read, repository.size, lambda oid: list(repository.entries(oid))):
            with pytest.raises(ObjectMissing):
                call(absent)
    finally:
        repository.close()


@pytest.mark.parametrize("made", KINDS, indirect=True)
def test_the_choice_is_libgit2_where_it_can_read(
    made: Repo, request: pytest.FixtureRequest
) -> None:
    kind = KINDS[request.node.callspec.params["made"]]
    repository = open_repository(made.worktree)
    try:
        assert isinstance(repository, Pygit2Repository) == kind.libgit2
        repository.head()
    finally:
        repository.close()


@pytest.mark.parametrize("backend", BACKENDS)
def test_odd_modes_are_read_as_git_reads_them(repo: Repo, backend: str) -> None:
    repo.write("a", "x\n")
    repo.commit()
    blob = bytes.fromhex(repo.git("rev-parse", "HEAD:a").strip())
    modes = (b"100664", b"100600", b"100755", b"100711", b"100654", b"120777", b"160755", b"0")
    raw = b"".join(b"%s %d\0%s" % (m, n, blob) for n, m in enumerate(modes))
    tree = (
        subprocess.run(
            [
                "git",
                "-C",
                str(repo.path),
                "hash-object",
                "-t",
                "tree",
                "-w",
                "--stdin",
                "--literally",
            ],
            input=raw,
            capture_output=True,
            timeout=TIMEOUT,
            check=True,
        )
        .stdout.decode()
        .strip()
    )
    repository = BACKENDS[backend](repo)
    try:
        assert sorted(repository.entries(tree)) == git_entries(repo, tree)
    finally:
        repository.close()


@pytest.mark.parametrize("backend", BACKENDS)
def test_nothing_but_a_whole_object_id_reaches_git(repo: Repo, backend: str) -> None:
    repo.write("a", "x\n")
    repo.commit()
    repository = BACKENDS[backend](repo)
    oid = repo.git("rev-parse", "HEAD:a").strip()
    try:
        for name in ("HEAD", oid[:12], f"{oid}\n{oid}", "", "--batch-all-objects", "\ud800"):
            for call in (repository.read, repository.size):
                with pytest.raises(ObjectMissing):
                    call(name)
        assert repository.read(oid) == b"x\n"
    finally:
        repository.close()


@pytest.mark.parametrize("backend", BACKENDS)
def test_new_commits_gc_and_repack_are_seen_while_open(repo: Repo, backend: str) -> None:
    repo.write("a.py", "A = 0\n")
    repo.commit()
    repository = BACKENDS[backend](repo)
    seen: dict[str, bytes] = {}
    try:
        for number in range(1, 5):
            text = b"A = %d\n" % number
            repo.write("a.py", text)
            commit = repo.commit()
            (entry,) = repository.entries(repository.head().tree)
            seen[entry.oid] = text
            assert repository.head().commit == commit
            assert {oid: repository.read(oid) for oid in seen} == seen
            repo.git("repack", "-adfq")
            repo.git("pack-refs", "--all")
            assert {oid: repository.size(oid) for oid in seen} == dict.fromkeys(seen, 6)
        repo.git("reset", "-q", "--hard", "HEAD~2")
        repo.git("reflog", "expire", "--expire=now", "--all")
        repo.git("gc", "-q", "--prune=now")
        assert repository.head().commit == repo.git("rev-parse", "HEAD").strip()
        (entry,) = repository.entries(repository.head().tree)
        assert repository.read(entry.oid) == seen[entry.oid]
    finally:
        repository.close()


@pytest.mark.parametrize("backend", BACKENDS)
def test_head_that_cannot_be_read_is_never_taken_for_unborn(repo: Repo, backend: str) -> None:
    repo.write("a.py", "A = 0\n")
    repo.commit()
    repository = BACKENDS[backend](repo)
    ref = repo.path / ".git/refs/heads/main"
    try:
        assert repository.head().commit is not None
        for content in ("garbage\n", "", f"{'1' * 40}\n"):
            ref.write_text(content)
            with pytest.raises(GitIndexError):
                repository.head()
            with pytest.raises(GitIndexError):
                repo.verdict()
        ref.unlink()
        empty = git_word(repo, "hash-object", "-t", "tree", "--stdin")
        assert repository.head() == Head(None, empty)
    finally:
        repository.close()


def test_references_that_move_to_a_reftable_are_never_taken_for_unborn(
    repo: Repo, newer: None
) -> None:
    repo.write("a.py", "A = 0\n")
    repo.commit()
    repositories = [open_for(repo) for open_for in BACKENDS.values()]
    old, new = repositories
    try:
        before = old.head()
        assert new.head() == before
        repo.git("refs", "migrate", "--ref-format=reftable")
        with pytest.raises(GitIndexError):
            old.head()
        assert new.head() == before
        repo.index()
        repo.assert_published()
    finally:
        for repository in repositories:
            repository.close()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_damaged_object_is_as_good_as_missing(repo: Repo, backend: str) -> None:
    repo.write("a.py", "A = 0\n")
    repo.write("b.py", "B = 0\n")
    repo.commit()
    bad, good = (repo.git("rev-parse", f"HEAD:{name}").strip() for name in ("a.py", "b.py"))
    file = repo.path / ".git/objects" / bad[:2] / bad[2:]
    file.chmod(0o600)
    file.write_bytes(b"not zlib")
    repository = BACKENDS[backend](repo)
    try:
        with pytest.raises(ObjectMissing):
            repository.read(bad)
        assert repository.read(good) == b"B = 0\n"
    finally:
        repository.close()


# The children of the command backend


def test_children_are_clean_hold_nothing_and_end_with_close(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repo.write("a.py", "A = 0\n")
    repo.commit()
    worktree = repo.worktree
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_WORK_TREE"):
        monkeypatch.setenv(name, str(tmp_path / "poison"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.bare")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    before = set(children_of(os.getpid()))
    held = os.open(tmp_path / "lock", os.O_CREAT | os.O_RDWR)
    repository = GitCommandRepository(worktree)
    try:
        (entry,) = repository.entries(repository.head().tree)
        assert repository.read(entry.oid) == b"A = 0\n"
        assert repository.size(entry.oid) == 6
        started = set(children_of(os.getpid())) - before
        assert len(started) == 2
        for pid in started:
            environ = Path(f"/proc/{pid}/environ").read_bytes()
            assert b"poison" not in environ
            assert b"GIT_OPTIONAL_LOCKS=0" in environ
            assert b"core.hooksPath=/dev/null" in Path(f"/proc/{pid}/cmdline").read_bytes()
            files = [os.readlink(f"/proc/{pid}/fd/{n}") for n in os.listdir(f"/proc/{pid}/fd")]
            assert not any("lock" in name for name in files)
    finally:
        os.close(held)
        repository.close()
    assert set(children_of(os.getpid())) <= before
    assert (repo.path / ".git/index.lock").exists() is False


def test_a_killed_child_is_replaced_and_a_stopped_one_is_not_waited_for(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("a.py", "A = 0\n")
    repo.commit()
    before = set(children_of(os.getpid()))
    repository = GitCommandRepository(repo.worktree)

    def ours() -> set[int]:
        return set(children_of(os.getpid())) - before

    try:
        (entry,) = repository.entries(repository.head().tree)
        for pid in ours():
            os.kill(pid, signal.SIGKILL)
        assert repository.head().commit is not None
        assert repository.read(entry.oid) == b"A = 0\n"
        assert repository.size(entry.oid) == 6
        stopped = (repository._names, repository._objects)
        for batch in stopped:
            monkeypatch.setattr(batch, "_timeout", 3.0)
        for pid in ours():
            os.kill(pid, signal.SIGSTOP)
        for call in (repository.head, lambda: repository.read(entry.oid)):
            with pytest.raises(GitIndexError, match="in time"):
                call()
        monkeypatch.undo()  # a busy machine may need longer than that for a sound answer
        assert repository.read(entry.oid) == b"A = 0\n"
    finally:
        repository.close()
    assert not ours()


def test_children_end_when_their_owner_is_killed(repo: Repo) -> None:
    repo.write("a.py", "A = 0\n")
    repo.commit()
    code = (
        "import sys, time\nfrom gitindex.base.worktree import worktree_at\n"
        "from gitindex.git.git_objects import GitCommandRepository\n"
        "r = GitCommandRepository(worktree_at(sys.argv[1]))\n"
        "e, = r.entries(r.head().tree)\nr.size(e.oid)\nprint('ready', flush=True)\ntime.sleep(60)\n"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code, os.path.realpath(repo.path)], stdout=subprocess.PIPE
    )
    assert owner.stdout is not None
    with owner.stdout as said:
        assert said.readline() == b"ready\n"
        pids = children_of(owner.pid)
        assert len(pids) == 2
        owner.kill()
        owner.wait(TIMEOUT)
    wait_for(lambda: not any(_is_cat_file(pid) for pid in pids))


def _is_cat_file(pid: int) -> bool:
    try:
        return b"cat-file" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@pytest.mark.parametrize("made", ["plain", "sha256"], indirect=True)
@pytest.mark.parametrize("choice", ["git", ""])
def test_pygit2_is_not_loaded_without_need(made: Repo, choice: str) -> None:
    code = (
        "import sys\nfrom gitindex.base.worktree import worktree_at\n"
        "from gitindex.git.backend import open_repository\n"
        "open_repository(worktree_at(sys.argv[1])).close()\nprint('gitindex.git.libgit2' in sys.modules)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, os.path.realpath(made.path)],
        capture_output=True,
        text=True,
        env=os.environ | {"GITINDEX_BACKEND": choice},
        timeout=TIMEOUT,
        check=True,
    ).stdout
    assert said.strip() == str(
        choice == "" and made.git("rev-parse", "HEAD").strip().__len__() == 40
    )


def test_an_unknown_choice_is_refused(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITINDEX_BACKEND", "svn")
    with pytest.raises(GitIndexError, match="svn"):
        open_repository(repo.worktree)


# Trust and the network


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("choice", ["git", ""])
def test_a_foreign_owner_is_refused_with_a_hint(
    base: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, choice: str
) -> None:
    repo = _given_away(base, tmp_path / "repo")
    monkeypatch.setenv("GITINDEX_BACKEND", choice)
    with pytest.raises(GitIndexError, match="dubious ownership") as refused:
        open_repository(repo.worktree)
    assert "safe.directory" in refused.value.hint
    done = repo.gitindex("status")
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
    assert "safe.directory" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_git_trusts_by_a_pattern_is_read_by_git(
    base: Repo, tmp_path: Path, newer: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """libgit2 knows exact paths only."""
    repo = _given_away(base, tmp_path / "repo")
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(f"[safe]\n\tdirectory = {tmp_path}/*\n")
    monkeypatch.setenv("HOME", str(home))
    repository = open_repository(repo.worktree)
    try:
        assert repository.head().commit == repo.git("rev-parse", "HEAD").strip()
    finally:
        repository.close()


def _given_away(base: Repo, to: Path) -> Repo:
    repo = _copy(base, to)
    for path in (to, to / ".git", *(to / ".git").rglob("*")):
        os.chown(path, 65534, 65534, follow_symlinks=False)
    return repo


@pytest.mark.parametrize("backend", BACKENDS)
def test_r9_a_partial_clone_never_reaches_its_remote(
    base: Repo, tmp_path: Path, any_git: str, backend: str
) -> None:
    """Whatever the remote is: a port that listens, a command that would run, a folder that is gone."""
    repo = _clone("--filter=blob:none")(base, tmp_path / "repo")
    gone = base.git("rev-parse", "c1:app.py").strip()
    here = base.git("rev-parse", "c3:app.py").strip()
    trap = tmp_path / "trap"
    repo.git("config", "protocol.ext.allow", "always")
    repo.git("config", "protocol.git.allow", "always")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.setblocking(False)
        port = listener.getsockname()[1]
        for url in (f"git://127.0.0.1:{port}/x", f"ext::touch {trap}", str(tmp_path / "nowhere")):
            repo.git("config", "remote.origin.url", url)
            repository = BACKENDS[backend](repo)
            try:
                for call in (repository.read, repository.size):
                    with pytest.raises(ObjectMissing):
                        call(gone)
                assert repository.read(here)
                check_contract(repo, repository)
            finally:
                repository.close()
            assert set(read_blobs(os.path.realpath(repo.path), [gone, here])) == {here}
            env = clean_env(str(repo.path))
            done = subprocess.run(
                ["git", "-C", str(repo.path), "cat-file", "-e", gone],
                env=env,
                timeout=TIMEOUT,
                capture_output=True,
                check=False,
            )
            assert done.returncode
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert not trap.exists()


# End to end


FORCED = ("plain", "linked worktree", "submodule", "partial clone", "unborn")
CHOSEN = (
    "sha256",
    "reftable",
    "reftable sha256",
    "split index",
    "sparse index",
    "partial clone",
    "treeless clone",
    "shallow",
    "absent submodule",
)


def is_fresh(repo: Repo) -> bool:
    return repo.verdict().state is IndexState.FRESH


@pytest.mark.parametrize(
    ("made", "choice"), [(k, "git") for k in FORCED] + [(k, "") for k in CHOSEN], indirect=["made"]
)
def test_index_status_and_search_end_fresh(
    made: Repo, choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITINDEX_BACKEND", choice)
    made.index()
    assert is_fresh(made)
    if made.try_git("rev-parse", "--verify", "HEAD").returncode == 0:
        made.assert_published()
    made.write("later.py", "def arrives_later():\n    return 3\n")
    made.git("add", "--sparse", "later.py")
    made.git("commit", "-q", "-m", "later")
    assert not is_fresh(made)
    made.index()
    assert made.state() == "fresh"
    made.assert_published()
    answer = made.answer("search", "arrives_later")
    assert answer["freshness"]["state"] == "fresh"
    assert answer["results"][0]["path"] == "later.py"
    assert answer["results"][0]["snippet"].startswith("def arrives_later")
    assert made.git("status", "--porcelain").strip() == ""


@pytest.mark.parametrize("choice", BACKENDS)
def test_r5_crlf_with_autocrlf_is_clean_and_fresh(
    repo: Repo, choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITINDEX_BACKEND", choice)
    repo.git("config", "core.autocrlf", "true")
    repo.write("win.py", b"def first():\r\n    pass\r\n\r\n\r\ndef crlf_target():\r\n    pass\r\n")
    repo.commit()
    (repo.path / "win.py").unlink()
    repo.git("checkout", "-q", "--", "win.py")
    assert b"\r\n" in (repo.path / "win.py").read_bytes()
    repo.index()
    assert is_fresh(repo)
    repo.assert_published()
    result = repo.answer("search", "crlf_target")["results"][0]
    assert (result["path"], result["startLine"]) == ("win.py", 5)


@pytest.mark.parametrize("choice", BACKENDS)
def test_r7_r8_r9_what_is_not_here_is_skipped_with_a_reason(
    base: Repo, tmp_path: Path, choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A submodule, an LFS pointer, a sparse folder and a blob that was never fetched."""
    monkeypatch.setenv("GITINDEX_BACKEND", choice)
    source = _superproject(base, tmp_path / "source")
    source.write("sparse/out.py", "def outside():\n    return 1\n")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 9\n"
    source.write("big.bin", pointer)
    source.write("big.py", pointer)
    source.commit()
    repo = _clone("--filter=blob:none", "--sparse")(source, tmp_path / "repo")
    assert not (repo.path / "sparse").exists()
    repo.git("config", "remote.origin.url", str(tmp_path / "nowhere"))
    repo.index()
    assert is_fresh(repo)
    listed = {one["path"]: one["reason"] for one in repo.answer("status", "--skipped")["skipped"]}
    assert listed["vendor/sub"] == "submodule"
    assert listed["sparse/out.py"] == "missing_blob"
    assert listed["big.bin"] == listed["big.py"] == "lfs_pointer"
    assert {row.path for row in repo.mapping()} == set(repo.ls_tree())
    repo.git("config", "remote.origin.url", source.path.as_uri())
    repo.git("sparse-checkout", "disable")
    repo.index()
    assert repo.answer("search", "outside")["results"][0]["path"] == "sparse/out.py"
    stop_runners(tmp_path)


@pytest.mark.parametrize("choice", BACKENDS)
def test_r10_a_case_only_rename_leaves_one_row(
    repo: Repo, choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITINDEX_BACKEND", choice)
    repo.write("readme.py", "def spelled():\n    return 1\n")
    repo.commit()
    repo.index()
    repo.git("mv", "readme.py", "README.py")
    repo.commit()
    repo.index()
    assert [row.path for row in repo.mapping()] == [b"README.py"]
    assert repo.extracted() == 1


@pytest.mark.parametrize("made", ["plain", "sha256"], indirect=True)
@pytest.mark.parametrize("choice", ["git", ""])
def test_t8_a_pruned_tree_is_never_fresh_and_is_recovered_from(
    made: Repo, choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITINDEX_BACKEND", choice)
    made.index()
    made.git("reset", "-q", "--hard", "c1")
    made.git("tag", "-d", "c2", "c3")
    made.git("reflog", "expire", "--expire=now", "--all")
    made.git("gc", "-q", "--prune=now")
    assert not is_fresh(made)
    made.index()
    assert is_fresh(made)
    made.assert_published()


def test_hooks_refresh_a_repository_libgit2_cannot_open(repo: Repo, newer: None) -> None:
    """The runner lingers, and follows HEAD through a reftable without a hook."""
    shutil.rmtree(repo.path)
    repo.init("--ref-format=reftable", "--object-format=sha256")
    repo.write("a.py", "def one():\n    return 1\n")
    repo.commit()
    repo.gitindex("install")
    repo.wait_fresh()
    repo.write("b.py", "def two():\n    return 2\n")
    repo.commit()
    repo.wait_fresh()
    repo.assert_published()
    repo.git("reset", "-q", "--hard", "HEAD~1", env={"GITINDEX": "0"})
    repo.index()
    assert is_fresh(repo)
    repo.assert_published()
