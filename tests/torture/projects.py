"""Ordinary code in random states: a project's files under everything that users and git do to a work tree.

The code is that of Python's own library, or of the folders that GITINDEX_PROJECTS names. The oracle shares
nothing with the product: `git ls-files` lists paths, `open` reads them, `re` and `ast` find words and
definitions. An exact answer is what the disk holds, one that is not says how much it left out, and fresh is
said of HEAD's tree only.
"""

from __future__ import annotations

import ast
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from gitindex.base.errors import GitIndexError
from gitindex.extract.policy import is_secret
from gitindex.query.grep.grep import GrepQuery, grep
from gitindex.query.grep.pattern import GrepPattern
from gitindex.query.read import LineRange, read_lines
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.query.search.search import search
from gitindex.query.symbols import SymbolQuery, list_symbols
from gitindex.view.overlay import FactsMemory
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import TreeChoice, TreeView, open_tree
from tests import tree_changes
from tests.support import Repo
from tests.torture import Clock

PACKAGES = ("json", "email", "asyncio", "http", "unittest", "logging", "wsgiref", "concurrent")
MAX_FILES, MAX_TEXT = 40, 4 << 20
STEPS, QUESTIONS = 40, 4
WORD = re.compile(rb"(?<![\w$\x80-\xff])[A-Za-z_]\w{3,}(?![\w$\x80-\xff])")
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""Of a branch that has no commit yet."""
REVISIONS = ("HEAD", "HEAD~1", "other")
FOLDERS = ("", "pkg", "pkg/deep", "Pkg", "vendor")
ODD_NAMES = ("ü ber.py", 'quo"te.py', "-dash.py", "[x].py", "sp ace.md")
ODD_TEXTS = (
    b"tok = 1\r\nother = tok\r\n",
    b"tok = 1\rother = tok\r",
    b"tok\x0cother\nlast",
    "tok = '\u2028'\nother = 'é'\n".encode(),
    "tok = 'é'\n".encode("latin-1"),
    b"\xef\xbb\xbftok = 1\n",
    b"tok\n" * 3_000 + b"\0\n",
    b"\n\n\n",
    b"",
)
Change = Callable[["Project", Repo, random.Random], None]


class Project:
    """One repository with ordinary code, and the tokens that were written into it."""

    def __init__(self, repo: Repo, rng: random.Random, code: Path) -> None:
        self.repo, self.rng, self._tokens = repo, rng, 0
        self.done: list[str] = []
        repo.init()
        found = [p for p in sorted(code.rglob("*")) if p.is_file() and ".git" not in p.parts]
        for path in rng.sample(found, min(MAX_FILES, len(found))):
            if path.stat().st_size < 200_000 and path.suffix not in (".pyc", ".so"):
                repo.write(f"pkg/{path.relative_to(code)}", path.read_bytes())
        tree_changes.fill(repo)
        repo.index()

    def token(self) -> str:
        self._tokens += 1
        return f"token_{self._tokens}_{self.rng.randrange(1_000_000)}"

    def file(self) -> Path | None:
        return tree_changes._file(self.repo, self.rng)

    def step(self) -> None:
        change: Any = self.rng.choice((*CHANGES, *tree_changes.CHANGES))
        self.done.append(change.__name__.strip("_"))
        if change in CHANGES:
            change(self, self.repo, self.rng)
        else:
            change(self.repo, self.rng)


def _edit_code(project: Project, _repo: Repo, rng: random.Random) -> None:
    """Lines are added, dropped, moved and indented; some of it is no program any more."""
    if path := project.file():
        lines = path.read_bytes().split(b"\n")
        at = rng.randrange(len(lines))
        token = project.token().encode()
        lines[at:at] = rng.choice(
            [
                [b"def %s(value):" % token, b"    return value", b""],
                [b"# about %s" % token],
                [b"    %s = %s(1)" % (token, token)],
                lines[at : at + 5],
            ]
        )
        if rng.random() < 0.4:
            del lines[rng.randrange(len(lines)) :][:3]
        path.write_bytes(b"\n".join(lines))


def _odd_text(project: Project, repo: Repo, rng: random.Random) -> None:
    path = repo.path / rng.choice(FOLDERS) / rng.choice((*ODD_NAMES, "plain.py"))
    if path.parent.is_dir() and not path.is_dir() and not path.is_symlink():
        path.write_bytes(rng.choice(ODD_TEXTS).replace(b"tok", project.token().encode()))


def _huge(project: Project, repo: Repo, rng: random.Random) -> None:
    size = rng.choice([300_000, MAX_TEXT - 5, MAX_TEXT + 5])
    line = f"{project.token()} = 'x'\n"
    tree_changes.write(repo, rng)
    if path := project.file():
        path.write_text(line * (size // len(line)) + "#" * (size % len(line)))


def _rename_any_folder(_project: Project, repo: Repo, rng: random.Random) -> None:
    folders = [p for p in sorted(repo.path.rglob("*")) if p.is_dir() and not p.is_symlink()]
    folders = [p for p in folders if not {".git", ".llmc"}.intersection(p.parts)]
    if folders:
        path = rng.choice(folders)
        target = path.with_name(rng.choice([path.name.swapcase(), "moved", "Pkg", "pkg"]))
        if not target.exists():
            path.rename(target)


def _swap_case(project: Project, _repo: Repo, _rng: random.Random) -> None:
    if path := project.file():
        target = path.with_name(path.name.swapcase())
        if not target.exists():
            path.rename(target)


def _link_folder(_project: Project, repo: Repo, rng: random.Random) -> None:
    path = repo.path / rng.choice(FOLDERS[1:])
    if path.is_dir() and not path.is_symlink():
        path.rename(path.with_name("real")) if not path.with_name("real").exists() else None
        if not os.path.lexists(path):
            path.symlink_to(rng.choice(["real", "..", "/etc"]))
    elif path.is_symlink():
        path.unlink()


def _submodule(_project: Project, repo: Repo, rng: random.Random) -> None:
    inner = repo.path.parent / "inner"
    if not inner.exists():
        other = Repo(inner)
        other.init()
        other.write("inner.py", "def inside_of_a_submodule():\n    return 1\n")
        other.commit()
    allow = ("-c", "protocol.file.allow=always", "submodule")
    repo.try_git(*allow, *rng.choice([("add", str(inner), "vendor"), ("deinit", "-f", "vendor")]))


def _worktree(_project: Project, repo: Repo, rng: random.Random) -> None:
    """A linked worktree inside of the work tree, as some tools make them."""
    name = f"wt{rng.randrange(2)}"
    if rng.random() < 0.5:
        repo.try_git("worktree", "add", "-f", "-q", "--detach", name)
    else:
        repo.try_git("worktree", "remove", "-f", name)


def _sparse(_project: Project, repo: Repo, rng: random.Random) -> None:
    how = rng.choice([("set", "pkg"), ("set", "--no-cone", "/*", "!/pkg/"), ("disable",)])
    repo.try_git("sparse-checkout", *how)


def _partial_checkout(_project: Project, repo: Repo, rng: random.Random) -> None:
    where = rng.choice(["pkg", ".", "a", "pkg/*.py"])
    repo.try_git("checkout", "-q", rng.choice(["HEAD", "HEAD~1", "other"]), "--", where)


def _settings(_project: Project, repo: Repo, rng: random.Random) -> None:
    name, value = rng.choice(
        [
            *(("core.autocrlf", "true"), ("core.autocrlf", "false"), ("core.symlinks", "false")),
            *(("core.untrackedCache", "true"), ("core.splitIndex", "true")),
            *(("index.version", "4"), ("core.checkStat", "minimal"), ("core.trustctime", "false")),
            *(("core.eol", "crlf"), ("core.safecrlf", "true"), ("core.precomposeUnicode", "true")),
            *(("status.showUntrackedFiles", "no"), ("core.quotePath", "false")),
            *(("submodule.recurse", "true"), ("diff.ignoreSubmodules", "all")),
            *(("diff.noprefix", "true"), ("status.relativePaths", "false"), ("color.ui", "always")),
        ]
    )
    repo.git("config", rng.choice(["--local", "--global"]), name, value)
    if rng.random() < 0.3:
        repo.try_git("config", "--local", "--unset-all", name)


def _git(_project: Project, repo: Repo, rng: random.Random) -> None:
    for args in rng.choice(GIT):
        repo.try_git(*args)


GIT: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("cherry-pick", "other"),),
    (("cherry-pick", "--abort"),),
    (("rebase", "-q", "other"),),
    (("rebase", "--abort"),),
    (("revert", "--no-edit", "HEAD"),),
    (("merge", "-q", "--no-commit", "other"),),
    (("reset", "-q", "--keep", "HEAD~1"),),
    (("reset", "-q", "--merge"),),
    (("restore", "--staged", "."),),
    (("restore", "--source=other", "."),),
    (("mv", "pkg", "moved"),),
    (("gc", "-q"),),
    (("repack", "-adq"),),
    (("update-index", "--refresh"),),
    (("update-index", "--really-refresh"),),
    (("read-tree", "-m", "HEAD"),),
    (("read-tree", "other"),),
    (("rm", "-rqf", "--cached", "."),),
    (("symbolic-ref", "HEAD", "refs/heads/unborn"),),
    (("checkout", "-q", "-f", "--orphan", "orphan"),),
    (("checkout", "-q", "-f", "main"),),
    (("add", "-N", "."),),
    (("add", "-A"), ("commit", "-q", "-m", "more")),
    (("add", "-A"), ("commit", "-q", "-m", "more")),
)


def _index(_project: Project, repo: Repo, _rng: random.Random) -> None:
    """A branch without a commit cannot be indexed; nothing else may go wrong."""
    if not repo.try_git("rev-parse", "--verify", "-q", "HEAD^{tree}").returncode:
        repo.index()


def _killed_index(_project: Project, repo: Repo, rng: random.Random) -> None:
    command = [
        sys.executable,
        "-I",
        "-m",
        "gitindex",
        *rng.choice([["index"], ["index", "--force"]]),
    ]
    running = subprocess.Popen(
        command, cwd=repo.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(rng.random() * 0.8)
    running.kill()
    running.wait()


CHANGES: tuple[Change, ...] = (
    *(_edit_code,) * 5,
    *(_index,) * 4,
    *(_git,) * 5,
    *(_odd_text, _odd_text, _huge, _rename_any_folder, _swap_case, _link_folder, _submodule),
    *(_worktree, _sparse, _partial_checkout, _settings, _settings, _killed_index),
)


class Truth(NamedTuple):
    """What the disk holds of the tracked and the new files."""

    texts: dict[str, bytes]
    hidden: frozenset[str]
    """In git's index only, as a sparse checkout leaves them out; or in HEAD and on disk, but ignored."""


def read_truth(repo: Repo) -> Truth:
    def listed(*options: str) -> list[str]:
        out = repo.git("-c", "core.quotePath=false", "ls-files", "-z", *options)
        return [name for name in out.split("\0") if name]

    names = {*listed("-c"), *listed("-o", "--exclude-standard")}
    texts = {}
    for name in names:
        path = repo.path / name
        if not _is_inside(repo.path, path):
            continue
        data = path.read_bytes()
        if b"\0" not in data[:8000] and len(data) <= MAX_TEXT:
            texts[name] = data
    absent = {row[2:] for row in listed("-t") if row.startswith("S ")}
    head = repo.try_git("ls-tree", "-r", "-z", "--name-only", "HEAD").stdout.split("\0")
    removed = {name for name in head if name and name not in names}
    return Truth(texts, frozenset(absent - texts.keys()) | removed)


def read_committed(repo: Repo, ask: TreeChoice) -> Truth | None:
    """What git has of a commit, or of its index; None if there is no such commit, or not all of it."""
    listing = ("ls-files", "-z", "-s") if ask.staged else ("ls-tree", "-r", "-z", str(ask.at))
    listed = repo.try_git(*listing)
    if listed.returncode:
        return None
    oids = {}
    for row in filter(None, listed.stdout.split("\0")):
        meta, name = row.split("\t", 1)
        mode, *rest = meta.split(" ")
        if mode.startswith("100"):
            oids[name] = rest[0] if ask.staged else rest[1]
    texts = {}
    for name, oid in oids.items():
        data = _blob(repo, oid)
        if data is None:
            return None
        if b"\0" not in data[:8000] and len(data) <= MAX_TEXT:
            texts[name] = data
    return Truth(texts, frozenset())


def _blob(repo: Repo, oid: str) -> bytes | None:
    command = ["git", "-C", str(repo.path), "cat-file", "blob", oid]
    done = subprocess.run(command, capture_output=True, check=False, timeout=300)
    return None if done.returncode else done.stdout


def _is_inside(root: Path, path: Path) -> bool:
    """A regular file that no link leads to."""
    above = [p for p in path.parents if p.is_relative_to(root) and p != root]
    try:
        regular = stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
    return regular and not any(p.is_symlink() for p in above)


def check(project: Project, memory: FactsMemory | None, clock: Clock) -> None:
    """Ask for some words of the disk, and compare."""
    repo, rng = project.repo, project.rng
    truth = read_truth(repo)
    words = [w.decode() for data in _some(rng, truth) for w in rng.sample(WORD.findall(data), 1)]
    try:
        with open_tree(repo.worktree, ".", memory=memory) as view:
            for word in words:
                _grep(view, truth, word)
                _references(view, truth, word, clock)
                _definitions(view, truth, word)
                clock.count("answers", 3)
            _read(view, truth, rng)
            _search(view, truth, words, clock)
    except GateClosed:
        clock.count("refused")  # nothing is committed, or no index is there yet
        assert project.done[-1] != "index", (project.done, "an index, and still refused")


def check_git(project: Project, clock: Clock) -> None:
    """Ask for some words of a commit, and of what is staged."""
    repo, rng = project.repo, project.rng
    ask = rng.choice([TreeChoice(staged=True), *(TreeChoice(at=rev) for rev in REVISIONS)])
    truth = read_committed(repo, ask)
    if truth is None:
        return
    words = [w.decode() for data in _some(rng, truth) for w in rng.sample(WORD.findall(data), 1)]
    try:
        with open_tree(repo.worktree, ".", ask) as view:
            for word in words:
                _grep(view, truth, word)
                _definitions(view, truth, word)
                clock.count("answers", 2)
    except GateClosed:
        clock.count("refused")
    except GitIndexError as error:
        if "unmerged" not in error.message:
            raise


def _some(rng: random.Random, truth: Truth) -> list[bytes]:
    with_words = [data for _, data in sorted(truth.texts.items()) if WORD.search(data)]
    return rng.sample(with_words, min(QUESTIONS, len(with_words)))


def _grep(view: TreeView, truth: Truth, word: str) -> None:
    answer: Any = grep(view, GrepQuery(GrepPattern(word, fixed=True), limit=0))
    needle = word.encode()
    real = {
        (name, number)
        for name, data in truth.texts.items()
        if needle in data
        for number, line in enumerate(data.split(b"\n"), 1)
        if needle in line
    }
    shown = {(row["path"], row["line"]) for row in answer["results"]}
    shown = {place for place in shown if place[0] not in truth.hidden}
    _may_be_fresh(view, answer)
    assert not answer.get("truncated"), word
    assert {n for n, _ in shown - real} <= {n for n, d in truth.texts.items() if _odd(d)}, (
        "grep shows what is not on disk",
        word,
        sorted(shown - real)[:5],
    )
    missing = {name for name, _ in real - shown}
    left_out = answer["freshness"].get("leftOut", 0)
    skipped = sum(answer["notSearched"].values())
    assert answer["freshness"]["exact"] is (left_out == 0), answer["freshness"]
    assert len(missing) <= left_out + skipped, ("grep misses", word, sorted(missing)[:5], answer)


def _odd(data: bytes) -> bool:
    return data[:2] in (b"\xff\xfe", b"\xfe\xff")


def _references(view: TreeView, truth: Truth, word: str, clock: Clock) -> None:
    try:
        answer: Any = find_references(view, ReferenceQuery(word, limit=10_000))
    except GitIndexError:
        return  # nothing of this name is defined
    _may_be_fresh(view, answer)
    rows = [row for part in ("definitions", "references", "possible") for row in answer[part]]
    for row in rows:
        data = truth.texts.get(row["path"])
        if data is None:
            assert row["path"] in truth.hidden, ("refs of a file that is gone", row)
        elif word.isascii():
            line = data.split(b"\n")[row["line"] - 1]
            spelled = row.get("via") or word
            assert spelled.encode() in line, ("refs shows", word, row, line)
    if answer["accountedFor"] and not truth.hidden:
        counted = Counter(w for data in truth.texts.values() for w in WORD.findall(data))
        clock.count("accounted for")
        assert answer["accounted"]["total"] >= counted[word.encode()], (word, answer["accounted"])


def _definitions(view: TreeView, truth: Truth, word: str) -> None:
    """A function or class of Python that `ast` finds is listed."""
    answer: Any = list_symbols(view, SymbolQuery(word, limit=10_000))
    found = {row["path"] for row in answer["symbols"] if row["name"] == word}
    if answer["freshness"]["exact"]:
        real = {
            name
            for name, data in truth.texts.items()
            if name.endswith(".py") and word.encode() in data and word in _defined(data)
        }
        assert real <= found, ("symbols misses", word, real - found)
    assert found <= truth.texts.keys() | truth.hidden, ("symbols shows", word, found)


def _defined(data: bytes) -> set[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


def _read(view: TreeView, truth: Truth, rng: random.Random) -> None:
    for name in rng.sample(sorted(truth.texts), min(3, len(truth.texts))):
        if is_secret(os.fsencode(name)) or b"\0" in truth.texts[name]:
            continue  # refused
        answer: Any = read_lines(view, LineRange(name))
        _may_be_fresh(view, answer)
        real = truth.texts[name].decode("utf-8-sig", "replace").replace("\r\n", "\n")
        shown = answer["content"].replace("\r\n", "\n")
        assert _odd(truth.texts[name]) or real.startswith(shown.removesuffix("\n")), (name, shown)


def _search(view: TreeView, truth: Truth, words: list[str], clock: Clock) -> None:
    """A token that one file alone holds is found there; how high it ranks is another question."""
    for word in words:
        homes = [name for name, data in truth.texts.items() if word.encode() in data]
        if word.startswith("token_") and len(homes) == 1 and b"\0" not in truth.texts[homes[0]]:
            answer: Any = search(view, word, 1_000)
            _may_be_fresh(view, answer)
            told = {row["path"] for row in answer["results"]}
            unseen = answer["freshness"].get("leftOut") or answer.get("notSearched")
            assert unseen or homes[0] in told, ("search misses", word, homes, answer)
            clock.count("answers")


def _may_be_fresh(view: TreeView, answer: Any) -> None:
    if answer["freshness"]["state"] == "fresh" and answer["freshness"]["mode"] != "at":
        named = Repo(Path(view.worktree.root)).try_git("rev-parse", "-q", "--verify", "HEAD^{tree}")
        tree = named.stdout.strip() or EMPTY_TREE
        assert answer["receipt"]["treeId"] == tree, ("false fresh", answer["receipt"], tree)


def projects(clock: Clock, rng: random.Random, folder: Path) -> None:
    """Projects in turn, each changed forty times and asked after every change."""
    home, named = os.environ["HOME"], os.environ.get("GITINDEX_PROJECTS")
    places = [Path(p) for p in named.split(os.pathsep)] if named else _library()
    settings = Path(home, ".gitconfig")
    number = 0
    try:
        while clock.goes_on():
            number += 1
            place = folder / str(number)
            os.environ["HOME"] = str(place / "home")
            (place / "home").mkdir(parents=True)
            (place / "home/.gitconfig").write_text(
                settings.read_text() if settings.exists() else ""
            )
            project = Project(Repo(place / "repo"), rng, rng.choice(places))
            _one(project, FactsMemory() if number % 2 else None, clock)
            shutil.rmtree(place)
    finally:
        os.environ["HOME"] = home


def _library() -> list[Path]:
    standard = Path(os.__file__).parent
    return [standard / name for name in PACKAGES]


def _one(project: Project, memory: FactsMemory | None, clock: Clock) -> None:
    for _ in range(STEPS):
        for _ in range(project.rng.choice((1, 1, 2, 4))):
            project.step()
        try:
            check(project, memory, clock)
            check_git(project, clock)
        except (AssertionError, GitIndexError, OSError, ValueError, LookupError) as error:
            status = project.repo.git("status", "--porcelain", check=False)
            told = (project.repo.path, project.done[-12:], status[:1500])
            raise AssertionError(f"{error!r}: {told}") from error
        clock.count(project.done[-1].replace("_", " "))
        clock.count()
        if not clock.goes_on():
            return
