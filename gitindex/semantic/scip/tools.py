"""The indexers: one table of commands. Found on the user's PATH, never inside the repository."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.vocabulary import ContextKind
from gitindex.base.worktree import Worktree
from gitindex.git.command import clean_env, try_git
from gitindex.git.settings import USER_SCOPES, YES, is_inside, user_allows
from gitindex.semantic.contexts.discovery import Context
from gitindex.semantic.scip.facts import ECMA_LINES, LINES, UTF8, UTF16, IndexerQuirks

PROBE_SECONDS = 60.0  # for a version: tools of the JVM and of Node start slowly


class Indexer(NamedTuple):
    """One row. The arguments may contain {root}, {output}, {temp}, {name} and {project}."""

    family: str
    program: str
    arguments: str
    seconds: float  # time limit of one run
    install: str  # how to install it
    needs: str = ""  # requires one of these files in the context's folder
    ambient: bool = False  # also works on files without a project
    version: str = "--version"
    encoding: int = UTF16  # of columns, if the output does not state it
    breaks: re.Pattern[bytes] = LINES
    experimental: bool = True  # not tested by us: no package registry has it

    @property
    def habits(self) -> IndexerQuirks:
        """Return the properties that its output does not state."""
        return IndexerQuirks(self.encoding, self.breaks)


TOOLS = (
    Indexer(
        "python",
        "scip-python",
        "index --cwd {root} --project-name {name} --project-version 0 --output {output} --quiet",
        3600,
        "npm install -g @sourcegraph/scip-python",
        ambient=True,
        experimental=False,
    ),
    Indexer(
        "javascript",
        "scip-typescript",
        "index --cwd {root} --output {output} --no-progress-bar {project}",
        3600,
        "npm install -g @sourcegraph/scip-typescript",
        "package.json tsconfig.json",
        breaks=ECMA_LINES,
        experimental=False,
    ),
    Indexer(
        "go",
        "scip-go",
        "--quiet --output {output}",
        3600,
        "go install github.com/sourcegraph/scip-go/cmd/scip-go@latest",
        "go.mod",
        encoding=UTF8,
    ),
    Indexer(
        "jvm",
        "scip-java",
        "index --output {output} --targetroot {temp}/java",
        3600,
        "coursier install scip-java",
        "pom.xml build.gradle build.gradle.kts build.sbt",
    ),
    Indexer(
        "dotnet",
        "scip-dotnet",
        "index --working-directory {root} --output {output}",
        3600,
        "dotnet tool install --global scip-dotnet",
    ),
    Indexer(
        "cpp",
        "scip-clang",
        "--compdb-path={root}/compile_commands.json --index-output-path={output}",
        3600,
        "see the releases of scip-clang",
        "compile_commands.json",
        encoding=UTF8,
    ),
    Indexer(
        "ruby",
        "scip-ruby",
        "{root} --index-file {output} --gem-metadata {name}@0",
        3600,
        "gem install scip-ruby",
        "Gemfile",
        encoding=UTF8,
    ),
    Indexer(
        "rust",
        "rust-analyzer",
        "scip {root} --output {output}",
        3600,
        "rustup component add rust-analyzer",
        "Cargo.toml",
        encoding=UTF8,
    ),
)

BY_FAMILY = {tool.family: tool for tool in TOOLS}
_JAVASCRIPT = {
    "allowJs": True,
    "noEmit": True,
    "skipLibCheck": True,
    "target": "esnext",
    "moduleResolution": "node",
    "jsx": "preserve",
}


class InstalledIndexer(NamedTuple):
    """A tool that is installed and starts."""

    tool: Indexer
    program: str
    version: str


class ToolMissing(GitIndexError):
    """The context's indexer is not installed, or does not start."""


def tool_for(context: Context) -> Indexer | None:
    """Return the indexer for a context, installed or not; None if there is none."""
    tool = BY_FAMILY.get(context.family)
    if tool is None or (context.kind is ContextKind.AMBIENT and not tool.ambient):
        return None
    names = {path.rpartition("/")[2] for path in context.markers}
    needed = tool.needs.split()
    return tool if not needed or names & set(needed) else None


def tool_env(root: str, temp: str) -> dict[str, str]:
    """Return the user's environment without git's, Python's and the repository's entries."""
    env = clean_env(root)
    folders = [f for f in env["PATH"].split(os.pathsep) if os.path.isabs(f) and _outside(f, root)]
    return env | {"PATH": os.pathsep.join(folders), "TMPDIR": temp, "LC_ALL": "C.UTF-8"}


def locate(tool: Indexer, env: dict[str, str], root: str) -> str | None:
    """Return the tool's program on the PATH of `env`; ignores programs in the repository."""
    for folder in env["PATH"].split(os.pathsep):
        candidate = os.path.join(folder, tool.program)
        if (
            os.access(candidate, os.X_OK)
            and os.path.isfile(candidate)
            and _outside(candidate, root)
        ):
            return candidate
    return None


def find_tool(tool: Indexer, env: dict[str, str], root: str, temp: str) -> InstalledIndexer:
    """Return the installed tool with its version. ToolMissing if there is none that starts."""
    program = locate(tool, env, root)
    if program is None:
        raise ToolMissing(f"{tool.program} is not installed", tool.install)
    log = os.path.join(temp, "version")
    ended = run_tool([program, *tool.version.split()], "/", env, log, PROBE_SECONDS)
    said = last_words(log)
    if ended.code != 0:
        raise ToolMissing(f"{tool.program} does not start: {safe_text(said)}", tool.install)
    return InstalledIndexer(tool, program, safe_text(said)[:100])


def command(
    found: InstalledIndexer, context: Context, root: str, temp: str, output: str
) -> list[str]:
    """Return the command line that indexes a context."""
    here = os.path.normpath(os.path.join(root, context.root))
    values = {
        "root": here,
        "output": output,
        "temp": temp,
        "name": context.root or ".",
        "project": _project(context, here, temp),
    }
    words = found.tool.arguments.split()
    return [found.program, *(word.format_map(values) for word in words)]


def _project(context: Context, here: str, temp: str) -> str:
    """Return the folder of a project's own tsconfig, else a temporary one beside the output."""
    if context.family != "javascript" or os.path.isfile(os.path.join(here, "tsconfig.json")):
        return here
    path = os.path.join(temp, "tsconfig.json")
    with open(path, "w", encoding="utf-8") as file:
        include, exclude = [f"{here}/**/*"], [f"{here}/**/node_modules"]
        json.dump({"compilerOptions": _JAVASCRIPT, "include": include, "exclude": exclude}, file)
    return path


def _outside(path: str, root: str) -> bool:
    real = os.path.realpath(path)
    return real != root and not real.startswith(root + os.sep)


KEY = "gitindex.semantic"
ON_COMMIT = "gitindex.semantic.oncommit"
_NO = ("false", "no", "off", "0", "")


class Trust(NamedTuple):
    """Whether indexers may run, and which setting decided it."""

    allowed: bool
    why: str


def read_trust(worktree: Worktree) -> Trust:
    """Return what the user's git configuration allows for this worktree now."""
    found = try_git(
        worktree.root, "config", "-z", "--show-scope", "--show-origin", "--get-all", KEY
    )
    words = os.fsdecode(found.output).split("\0")
    allowed, why = False, f"{KEY} is not set"
    for scope, origin, value in zip(words[0::3], words[1::3], words[2::3], strict=False):
        if scope not in USER_SCOPES or is_inside(origin.removeprefix("file:"), worktree):
            why = why if allowed else f"{KEY} counts only in your own git configuration"
        elif value.lower() in YES:
            allowed, why = True, f"{KEY} is true for every repository"
        elif value.lower() in _NO:
            allowed, why = False, f"{KEY} is false"
        elif _names(value, worktree):
            allowed, why = True, f"{KEY} names this repository"
    return Trust(allowed, why)


def is_allowed_on_commit(worktree: Worktree) -> bool:
    """May commits start the indexers? The setting must be in the user's own configuration."""
    return user_allows(worktree, ON_COMMIT)


def require_trust(worktree: Worktree) -> None:
    """Raise unless indexers may run."""
    trust = read_trust(worktree)
    if not trust.allowed:
        root = safe_text(worktree.root)
        hint = f"`git config --global --add {KEY} {root}`: indexers run the project's code"
        raise GitIndexError(f"indexers are off: {trust.why}", hint, Exit.GATED)


def _names(value: str, worktree: Worktree) -> bool:
    path = os.path.expanduser(value)
    roots = {worktree.root, os.path.dirname(worktree.common_dir)}
    return os.path.isabs(path) and os.path.realpath(path) in roots


POLL_SECONDS = 0.05  # between two looks at a running tool
SUPERVISOR = (sys.executable, "-I", "-m", "gitindex.semantic.scip.supervisor")


class Ended(NamedTuple):
    """How a run ended."""

    code: int | None  # None: it was killed at its time limit
    seconds: float


def run_tool(
    argv: list[str],
    folder: str,
    env: dict[str, str],
    log: str,
    seconds: float,
    tick: Callable[[float], None] = lambda _seconds: None,
) -> Ended:
    """Run a tool until it ends or the limit; kills its whole process group before returning."""
    started = time.monotonic()
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [*SUPERVISOR, *argv],
            cwd=folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    assert process.stdin is not None
    try:
        while not _has_ended(process.pid):
            spent = time.monotonic() - started
            if spent > seconds:
                return Ended(None, spent)
            tick(spent)
            time.sleep(POLL_SECONDS)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # before it is reaped: its id is not reused yet
        process.stdin.close()
        code = process.wait()
    return Ended(code, time.monotonic() - started)


def last_words(log: str) -> str:
    """Return the last line of a tool's output."""
    with open(log, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 4096))
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip()[:300] if lines else "it said nothing"


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
