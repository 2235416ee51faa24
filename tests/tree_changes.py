"""Random changes of a work tree and of what git thinks of it: edits, renames, rules, settings, git itself."""

from __future__ import annotations

import mmap
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.support import Repo

Change = Callable[[Repo, random.Random], None]
FOLDERS = ("", "a", "a/b", "c/d", "e", "new", "new/deep", "build", "e/cache")
NAMES = ("one.py", "two.txt", "three.log", "four.tmp", "five.dat")


def fill(repo: Repo) -> None:
    """A tree with files in several folders, rules, and a second branch."""
    for folder in FOLDERS[:5]:
        for name in NAMES[:2]:
            repo.write(os.path.join(folder, name), f"{folder} {name}\n")
    repo.write(".gitignore", "*.log\nbuild/\n")
    repo.commit("one")
    repo.git("branch", "other")
    repo.write("a/one.py", "changed on main\n")
    repo.commit("two")


def _any_path(repo: Repo, pick: random.Random) -> Path:
    return repo.path / pick.choice(FOLDERS) / pick.choice(NAMES)


def _file(repo: Repo, pick: random.Random) -> Path | None:
    found = [p for p in repo.path.rglob("*") if p.is_file() and not p.is_symlink()]
    found = sorted(p for p in found if not {".git", ".llmc"}.intersection(p.parts))
    return pick.choice(found) if found else None


def write(repo: Repo, pick: random.Random) -> None:
    path = _any_path(repo, pick)
    if any(above.is_file() or above.is_symlink() for above in path.parents):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_dir():
        path.unlink(missing_ok=True)
        path.write_text(f"text {pick.random()}\n")


def rewrite_same_size(repo: Repo, pick: random.Random) -> None:
    """In place, as long as before, with the old time of modification."""
    if (path := _file(repo, pick)) and path.stat().st_size:
        before, text = path.stat(), bytearray(path.read_bytes())
        text[0] ^= 1
        with path.open("r+b") as file:
            file.write(text)
        if pick.random() < 0.5:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def write_mapped(repo: Repo, pick: random.Random) -> None:
    """Through shared memory: the kernel raises no event for it."""
    if (path := _file(repo, pick)) and path.stat().st_size:
        with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
            memory[0] ^= 1


def replace(repo: Repo, pick: random.Random) -> None:
    """As editors do: a new file takes the place of the old one."""
    if path := _file(repo, pick):
        beside = path.with_name(".beside")
        beside.write_text(f"replaced {pick.random()}\n")
        os.replace(beside, path)


def delete(repo: Repo, pick: random.Random) -> None:
    if path := _file(repo, pick):
        path.unlink()


def rename(repo: Repo, pick: random.Random) -> None:
    path, target = _file(repo, pick), _any_path(repo, pick)
    if path and target.parent.is_dir() and not target.is_dir():
        os.replace(path, target)


def rename_folder(repo: Repo, pick: random.Random) -> None:
    old, new = (repo.path / name for name in pick.sample(FOLDERS[1:], 2))
    if old.is_dir() and not new.exists() and new.parent.is_dir() and old not in new.parents:
        os.rename(old, new)


def delete_folder(repo: Repo, pick: random.Random) -> None:
    path = repo.path / pick.choice(FOLDERS[1:])
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)


def make_folder(repo: Repo, pick: random.Random) -> None:
    """Made, filled, and moved into place; or empty."""
    path = repo.path / pick.choice(FOLDERS[1:])
    if not os.path.lexists(path) and path.parent.is_dir():
        made = repo.path / ".git" / "made"
        made.mkdir()
        if pick.random() < 0.5:
            (made / "inner").mkdir()
            (made / "inner" / pick.choice(NAMES)).write_text("inside\n")
        os.rename(made, path)


def change_mode(repo: Repo, pick: random.Random) -> None:
    if path := _file(repo, pick):
        path.chmod(path.stat().st_mode ^ 0o100)


def link(repo: Repo, pick: random.Random) -> None:
    if path := _file(repo, pick):
        path.unlink()
        path.symlink_to(pick.choice(["one.py", "a", "nowhere", "../c"]))


def folder_to_file(repo: Repo, pick: random.Random) -> None:
    path = repo.path / pick.choice(FOLDERS[1:])
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
        path.write_text("a file now\n")


def file_to_folder(repo: Repo, pick: random.Random) -> None:
    if path := _file(repo, pick):
        path.unlink()
        path.mkdir()
        (path / "inside.py").write_text("inside\n")


def ignore(repo: Repo, pick: random.Random) -> None:
    """Rules at the root, in a folder, in git's own file, in the user's: rewritten in place."""
    user = Path(os.environ["HOME"], ".config", "git", "ignore")
    files = [repo.path / ".gitignore", repo.path / pick.choice(FOLDERS) / ".gitignore"]
    files += [repo.path / ".git/info/exclude", user]
    file = pick.choice(files)
    if file == user:
        file.parent.mkdir(parents=True, exist_ok=True)
    if file.parent.is_dir() and not file.is_dir():
        file.write_text(pick.choice(["", "*.tmp\n", "new/\n", "!*.log\n", "*.dat\n", "a/*\n"]))


def attributes(repo: Repo, pick: random.Random) -> None:
    file = repo.path / pick.choice(FOLDERS) / ".gitattributes"
    if file.parent.is_dir() and not file.is_dir():
        file.write_text(pick.choice(["", "*.txt text eol=crlf\n", "*.py -text\n", "* ident\n"]))


def configure(repo: Repo, pick: random.Random) -> None:
    scope = pick.choice(["--local", "--global"])
    name, values = pick.choice(
        [
            ("core.fileMode", ["true", "false"]),
            ("core.excludesFile", [str(repo.path.parent / "mine"), "~/none"]),
            ("core.autocrlf", ["input", "false"]),
            ("core.ignoreCase", ["true", "false"]),
            ("include.path", [str(repo.path.parent / "included")]),
        ]
    )
    repo.git("config", scope, name, pick.choice(values))


def edit_included(repo: Repo, pick: random.Random) -> None:
    """Files that only git's configuration names; they may be there or not."""
    (repo.path.parent / "mine").write_text(pick.choice(["*.py\n", "", "*.dat\n"]))
    included = repo.path.parent / "included"
    included.write_text(pick.choice(["", "[core]\n\tfileMode = false\n"]))


def nested_repository(repo: Repo, pick: random.Random) -> None:
    path = repo.path / "new" / "inner"
    if path.exists() and pick.random() < 0.5:
        shutil.rmtree(path)
    elif path.parent.is_dir() and not path.exists():
        repo.git("init", "-q", str(path))
        (path / "own.py").write_text("its own\n")
        if pick.random() < 0.3:
            (path / ".git" / "HEAD").unlink()


def hide(repo: Repo, pick: random.Random) -> None:
    """Git is told not to look at a file, or to look again."""
    if path := _file(repo, pick):
        option = pick.choice(["--assume-unchanged", "--no-assume-unchanged", "--skip-worktree"])
        repo.git("update-index", option, str(path.relative_to(repo.path)), check=False)


def run_git(repo: Repo, pick: random.Random) -> None:
    """Git itself: whatever it says, the next answer must be right."""
    for args in pick.choice(GIT):
        repo.git(*args, check=False)


GIT: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("add", "-A"),),
    (("add", "-A"), ("commit", "-q", "-m", "x")),
    (("commit", "-q", "--allow-empty", "-m", "empty"),),
    (("commit", "-q", "--amend", "-m", "amended"),),
    (("reset", "-q", "--hard"),),
    (("reset", "-q", "--soft", "HEAD~1"),),
    (("reset", "-q", "HEAD~1"),),
    (("checkout", "-q", "--", "."),),
    (("checkout", "-q", "-f", "other"),),
    (("checkout", "-q", "-f", "main"),),
    (("checkout", "-q", "-f", "--detach"),),
    (("merge", "-q", "other", "-m", "merge"),),
    (("merge", "--abort"),),
    (("stash", "-q", "-u"),),
    (("stash", "pop", "-q"),),
    (("clean", "-fdq"),),
    (("rm", "-q", "--cached", "-r", "a"),),
    (("pack-refs", "--all"),),
    (("branch", "-f", "other"),),
    (("status",),),
    (("update-ref", "HEAD", "HEAD~1"),),
    (("branch", "-m", "main", "renamed"), ("branch", "-m", "renamed", "main")),
)

CHANGES: tuple[Change, ...] = (
    write,
    write,
    write,
    rewrite_same_size,
    rewrite_same_size,
    replace,
    delete,
    rename,
    rename_folder,
    delete_folder,
    make_folder,
    make_folder,
    change_mode,
    link,
    folder_to_file,
    file_to_folder,
    ignore,
    ignore,
    attributes,
    configure,
    edit_included,
    nested_repository,
    hide,
    run_git,
    run_git,
    run_git,
)
