"""Runs the `git` command, hardened and without side effects. Drops the caller's GIT_* variables."""

from __future__ import annotations

import os
import select
import sys
import time

from gitindex.base.atomic_file import read_small
from gitindex.base.errors import GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING, NamedTuple
from gitindex.base.system import SIGKILL, spawn
from gitindex.base.worktree import Worktree, worktree_at
from gitindex.git.interface import object_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

QUESTION = ("config", "--show-scope", "-z", "--get-regexp", r"^filter\.")
_TAKEN_BACK = {"required": "false"}
_OWN_SCOPES = frozenset({"local", "worktree"})


def filter_overrides(root: str, ask_git: Callable[[], bytes]) -> dict[str, str]:
    """Return variables that override the drivers of the repository at `root`; mostly empty.

    `ask_git` answers QUESTION. It is called only if the repository's configuration names a filter
    or includes other files.
    """
    if not _may_define(root):
        return {}
    pairs = overrides_of(ask_git())
    env = {"GIT_CONFIG_COUNT": str(len(pairs))} if pairs else {}
    for number, (key, value) in enumerate(pairs):
        env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return env


def overrides_of(answer: bytes) -> list[tuple[str, str]]:
    """Return settings that reset each key of the repository to the user's value, or to nothing."""
    fields = answer.decode("utf-8", "surrogateescape").split("\0")[:-1]
    own: dict[tuple[str, str], None] = {}
    of_user: dict[tuple[str, str], str] = {}
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = entry.partition("\n")
        name, _, last = key.removeprefix("filter.").rpartition(".")
        if scope in _OWN_SCOPES:
            own[name, last] = None
        else:
            of_user[name, last] = value
    values = {key: of_user.get(key, _TAKEN_BACK.get(key[1], "")) for key in own}
    for name, last in own:
        if last in ("clean", "process") and not values[name, last]:
            values[name, "required"] = "false"  # else git fails without a filter
    return [(f"filter.{name}.{last}", value) for (name, last), value in values.items()]


def _may_define(root: str) -> bool:
    """False only if the repository's configuration names neither a filter nor another file."""
    try:
        worktree = worktree_at(root)
    except GitIndexError:
        return False  # not a repository: git will report it
    return may_mention(own_files(worktree), b"filter", b"include")


SYSTEM = "/etc/gitconfig"


def own_files(worktree: Worktree) -> tuple[str, ...]:
    """Return the files of the repository itself."""
    own = os.path.join(worktree.git_dir, "config.worktree")
    return os.path.join(worktree.common_dir, "config"), own


def user_files() -> tuple[str, ...]:
    """Return the files of the user."""
    home = os.path.expanduser("~")
    xdg = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    return os.path.join(home, ".gitconfig"), os.path.join(xdg, "git", "config")


def attribute_files(worktree: Worktree) -> tuple[str, ...]:
    """Return the files with attributes outside of the work tree."""
    own = os.path.join(worktree.common_dir, "info", "attributes")
    beside = os.path.join(os.path.dirname(user_files()[1]), "attributes")
    return own, beside, "/etc/gitattributes"


def may_be_anywhere(word: bytes, worktree: Worktree, git: str) -> bool:
    """False only if no file that this git reads has the word or includes further files."""
    if sys.platform != "linux" or git != "/usr/bin/git":
        return True  # another git may have its system configuration anywhere
    return may_mention((*own_files(worktree), *user_files(), SYSTEM), word, b"include")


def may_mention(files: Iterable[str], *words: bytes) -> bool:
    """False only if every file was read whole and has none of the words, in any case."""
    try:
        texts = [(read_small(file) or b"").lower() for file in files]
    except OSError:
        return True
    return any(word in text for text in texts for word in words)


TIMEOUT_S = 60.0  # ends what would hang for ever: git itself waits for no network here


class TooMuchOutput(GitIndexError):
    """A program printed more than the caller accepts."""


class Result(NamedTuple):
    """The output and exit code of a program."""

    returncode: int
    output: bytes
    errors: bytes


class Running:
    """A running program. `result` waits for it."""

    def __init__(
        self, argv: Sequence[str | bytes], env: dict[str, str], stdin: bytes = b""
    ) -> None:
        """`stdin` must fit into a pipe's buffer."""
        self._name = os.fsdecode(argv[0])
        in_read = _filled_pipe(stdin)
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        try:
            self._pid = spawn(argv, env, in_read, out_write, err_write)
        except OSError as error:
            os.close(out_read)
            os.close(err_read)
            raise GitIndexError(f"cannot run {self._name}: {error.strerror}") from error
        finally:
            for fd in (in_read, out_write, err_write):
                os.close(fd)
        self._outputs = out_read, err_read

    def result(self, timeout: float = TIMEOUT_S, most: int = 0) -> Result:
        """Wait for the end. TooMuchOutput if it prints more than `most` bytes, if that is given."""
        try:
            output, errors = _drain(self._outputs, time.monotonic() + timeout, most)
        except BaseException as error:
            self._end()
            if isinstance(error, TimeoutError):
                raise GitIndexError(f"no answer in time from {self._name}", "try again") from error
            raise
        _, status = os.waitpid(self._pid, 0)
        return Result(os.waitstatus_to_exitcode(status), output, errors)

    def abandon(self) -> None:
        """Kill it: its answer is no longer needed."""
        for fd in self._outputs:
            os.close(fd)
        self._end()

    def _end(self) -> None:
        os.kill(self._pid, SIGKILL)
        os.waitpid(self._pid, 0)


def run_program(
    argv: Sequence[str | bytes],
    env: dict[str, str],
    stdin: bytes = b"",
    timeout: float = TIMEOUT_S,
    most: int = 0,
) -> Result:
    """Run a program to its end."""
    return Running(argv, env, stdin).result(timeout, most)


def _filled_pipe(data: bytes) -> int:
    read_end, write_end = os.pipe()
    try:
        os.set_blocking(write_end, False)
        if data and os.write(write_end, data) != len(data):
            raise ValueError("more than a pipe holds")
    finally:
        os.close(write_end)
    return read_end


def _drain(fds: tuple[int, int], deadline: float, most: int = 0) -> tuple[bytes, bytes]:
    chunks: dict[int, list[bytes]] = {fd: [] for fd in fds}
    poller = select.poll()
    for fd in fds:
        poller.register(fd, select.POLLIN | select.POLLHUP)
    left = set(fds)
    size = 0
    try:
        while left:
            ready = poller.poll(max(0.0, deadline - time.monotonic()) * 1000)
            if not ready:
                raise TimeoutError
            for fd, _ in ready:
                chunk = os.read(fd, 1 << 20)
                chunks[fd].append(chunk)
                size += len(chunk)
                if most and size > most:
                    raise TooMuchOutput("git has too much to say")
                if not chunk:
                    poller.unregister(fd)
                    left.discard(fd)
    finally:
        for fd in fds:
            os.close(fd)
    return b"".join(chunks[fds[0]]), b"".join(chunks[fds[1]])


HARDENING = (
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.trustctime=true",
    "-c",
    "core.checkStat=default",
    "-c",
    "safe.bareRepository=explicit",
    "-c",
    "submodule.recurse=false",
)
"""Keeps a repository's configuration from running commands, taking locks or hiding edits."""

VIEWS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "views")
"""One empty git directory per object format, to read a repository's objects through."""

FALLBACK_PATH = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin"
BLOBS_AT_ONCE = 500
"""This many names fit into a pipe's buffer."""
MAX_ENDS = 100
"""How often objects that cannot be read may end git before the rest is given up: a process each."""


class GitFailed(GitIndexError):
    """Git failed; `returncode` and `output` are its own."""

    def __init__(self, message: str, returncode: int, output: bytes = b"") -> None:
        super().__init__(message, _hint(message))
        self.returncode = returncode
        self.output = output


def clean_env(root: str = "/") -> dict[str, str]:
    """Return the environment of every child: no GIT_*, no PYTHON*, no prompt, no lock, no fetch, no
    filter that only the repository defines; the work tree is the folder that holds `.git`.

    Git before 2.45 ignores GIT_NO_LAZY_FETCH: without a protocol it reaches no remote either.
    Replaced objects are not followed: everything here is keyed by id.
    """
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "PYTHON"))}
    env["PATH"] = os.pathsep.join(filter(None, (env.get("PATH"), FALLBACK_PATH)))
    env.update(
        GIT_OPTIONAL_LOCKS="0",
        GIT_TERMINAL_PROMPT="0",
        GIT_NO_LAZY_FETCH="1",
        GIT_ALLOW_PROTOCOL="",
        GIT_NO_REPLACE_OBJECTS="1",
        GIT_CEILING_DIRECTORIES=os.path.dirname(root),
        LC_ALL="C",
    )
    if root != "/":
        if os.path.lexists(os.path.join(root, ".git")):
            env["GIT_WORK_TREE"] = root  # whatever `core.worktree` says
        env |= filter_overrides(
            root, lambda: run_program(git_argv(root, QUESTION, env), env).output
        )
    return env


def view_env(worktree: Worktree, id_digits: int) -> dict[str, str]:
    """Return the environment of a child that sees only the objects of a repository.

    The repository's configuration does not apply, so a missing object of a partial clone is just
    missing, with any version of git: there is no remote to fetch from.
    """
    return clean_env(worktree.root) | {
        "GIT_DIR": os.path.join(VIEWS, "sha256" if id_digits == 64 else "sha1"),
        "GIT_OBJECT_DIRECTORY": os.path.join(worktree.common_dir, "objects"),
    }


def git_program(env: dict[str, str]) -> str:
    """Return the absolute path of git, even if a GUI started us with an empty PATH."""
    program = find_program("git", env["PATH"])
    if program is None:
        raise GitIndexError("git was not found", "install git, or put it on PATH")
    return program


def find_program(name: str, path: str) -> str | None:
    """Return the absolute path of a program; ignores relative, untrusted folders of PATH."""
    for folder in path.split(os.pathsep):
        candidate = os.path.join(folder, name)
        if os.path.isabs(folder) and os.access(candidate, os.X_OK):
            return candidate
    return None


def git_argv(root: str, args: tuple[str, ...], env: dict[str, str]) -> list[str]:
    """Return the full command line of a hardened git call inside `root`."""
    return [git_program(env), "-C", root, *HARDENING, *args]


def try_git(
    root: str,
    *args: str,
    stdin: bytes = b"",
    timeout: float = TIMEOUT_S,
    env: dict[str, str] | None = None,
    most: int = 0,
) -> Result:
    """Run git in `root` and return its result. `stdin` must fit into a pipe's buffer."""
    env = env or clean_env(root)
    return run_program(git_argv(root, args, env), env, stdin, timeout, most)


def run_git(root: str, *args: str, index: str | None = None, timeout: float = TIMEOUT_S) -> bytes:
    """Return the output of a git command that must succeed."""
    env = clean_env(root) | ({"GIT_INDEX_FILE": index} if index else {})
    return check_result(args, try_git(root, *args, timeout=timeout, env=env))


def check_result(args: tuple[str, ...], result: Result) -> bytes:
    """Return the output of a finished git call; GitFailed if it failed."""
    if result.returncode:
        raise GitFailed(_complaint(args, result), result.returncode, result.output)
    return result.output


def is_shallow(root: str) -> bool:
    """Does the clone lack the beginning of its history?"""
    return run_git(root, "rev-parse", "--is-shallow-repository").strip() == b"true"


def missing_commit_hint(root: str, otherwise: str) -> str:
    """Return what helps where a commit is not there: more history, if the clone is shallow."""
    deeper = "fetch all of it: `git fetch --unshallow`, in CI `fetch-depth: 0`"
    return deeper if is_shallow(root) else otherwise


def tree_of(root: str, commit: str) -> str:
    """Return the tree id of a commit."""
    output = run_git(root, "rev-parse", "--verify", "--end-of-options", f"{commit}^{{tree}}")
    return output.decode().strip()


def empty_tree(root: str) -> str:
    """Return the id of the empty tree, in this repository's hash."""
    return run_git(root, "hash-object", "-t", "tree", "--stdin").decode().strip()


def read_blobs(root: str, oids: list[str]) -> dict[str, bytes]:
    """Return the contents of some blobs; those that git does not have here are left out."""
    return read_objects(oids, view_env(worktree_at(root), len(oids[0]))) if oids else {}


def blob_sizes(root: str, oids: list[str]) -> dict[str, int]:
    """Return the sizes of some blobs; those that git does not have here are left out."""
    sizes: dict[str, int] = {}
    env = clean_env(root) if oids else {}
    for at in range(0, len(oids), BLOBS_AT_ONCE):
        names = "".join(f"{oid}\n" for oid in oids[at : at + BLOBS_AT_ONCE]).encode()
        form = "--batch-check=%(objectname) %(objecttype) %(objectsize)"
        output = try_git(root, "cat-file", form, stdin=names, env=env).output
        for line in output.decode("ascii", "replace").splitlines():
            oid, kind, size = (*line.split(" "), "", "")[:3]
            if kind == "blob":
                sizes[oid] = int(size)
    return sizes


def read_objects(oids: Iterable[str], view: dict[str, str]) -> dict[str, bytes]:
    """Return the contents of some objects of a view; those that cannot be read are left out."""
    left = list(dict.fromkeys(oids))
    objects: dict[str, bytes] = {}
    ends = 0
    while left and ends < MAX_ENDS:
        part = left[:BLOBS_AT_ONCE]
        names = "".join(f"{oid}\n" for oid in part).encode()
        result = try_git("/", "cat-file", "--batch", stdin=names, env=view)
        answers, whole = _parse_batch(result.output)
        objects |= whole
        if answers < len(part):  # an object that git cannot read ends it: the others are intact
            ends += 1
            answers += 1
        del left[:answers]
    return objects


def _parse_batch(output: bytes) -> tuple[int, dict[str, bytes]]:
    """Return how many objects `cat-file --batch` spoke of, and the contents of those that are whole."""
    objects: dict[str, bytes] = {}
    count = at = 0
    while (end := output.find(b"\n", at)) != -1:
        oid, *words = output[at:end].decode("ascii", "replace").split(" ")
        at = end + 1
        if len(words) == 2:
            size = int(words[1])
            data = output[at : at + size]
            at += size + 1
            if at > len(output):
                break  # cut short
            if object_id(words[0].encode(), data, len(oid)) == oid:  # git does not check that
                objects[oid] = data
        count += 1
    return count, objects


def _complaint(args: tuple[str, ...], result: Result) -> str:
    lines = result.errors.decode("utf-8", "replace").strip().splitlines()
    said = safe_text(lines[0]) if lines else f"exit {result.returncode}"
    return f"git {args[0]}: {said.removeprefix('fatal: ')}"


def _hint(message: str) -> str:
    if "dubious ownership" in message:
        return "git does not trust this folder's owner: see `git help config`, safe.directory"
    return ""
