"""Run ripgrep on exactly these files, without a shell and without the user's options."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

from gitindex.base.confined_read import ConfinedRoot
from gitindex.git.command import clean_env, find_program
from gitindex.git.process import run_program
from gitindex.query.grep.engines.lines import FileHits, LineLimits, LineMatch
from gitindex.query.grep.pattern import GrepPattern

OPTIONS = (
    "--no-config",
    "--no-messages",
    "--no-ignore",
    "--hidden",
    "--text",
    "--no-mmap",
    "--null",
    "--no-heading",
    "--with-filename",
    "--line-number",
    "--column",
    "--color=never",
)
MAX_ARGUMENTS = max(1 << 17, os.sysconf("SC_ARG_MAX") // 3)
"""Bytes of paths in one call; the environment must fit too."""
GROWTH = 16
TIMEOUT_S = 120.0


class PatternRefused(Exception):
    """Ripgrep rejects this pattern, or does not run here."""


def find_ripgrep() -> str | None:
    """Return ripgrep from PATH, or from next to this Python, where a wheel installs it."""
    beside = os.path.dirname(sys.executable)
    return find_program("rg", os.pathsep.join((clean_env()["PATH"], beside)))


class RipgrepRun(NamedTuple):
    """The ripgrep program, the root and the pattern."""

    program: str
    root: str
    needle: GrepPattern


def ripgrep(asked: RipgrepRun, paths: list[bytes], want: LineLimits) -> Iterator[FileHits]:
    """Yield hits in files, in the order of `paths`, which must fit one command line."""
    program, root, needle = asked
    folder = os.fsencode(os.path.join(root, ""))
    argv = [program, *OPTIONS, *_options(needle, want), "-e", needle.text, "--"]
    names = [folder + path for path in paths]
    done = run_program([*argv, *names], clean_env(), timeout=TIMEOUT_S)
    if done.errors or done.returncode not in (0, 1, 2):
        raise PatternRefused  # messages concern the pattern only; 2: an unreadable file
    read = _read_lines if want.lines else _read_counts
    found = read(done.output, len(folder))
    return _beneath(root, [found[path] for path in paths if path in found])


def _beneath(root: str, found: list[FileHits]) -> Iterator[FileHits]:
    """Drop hits that came through a symbolic link: ripgrep follows links given as arguments."""
    with ConfinedRoot(root) as disk:
        yield from (hits for hits in found if disk.read(hits.path, 0) is not None)


def portions(root: str, paths: list[bytes], first: int) -> Iterator[list[bytes]]:
    """Yield the paths in portions that fit a command line; with `first`, start with small ones."""
    each = len(os.fsencode(root)) + 10
    start, most = 0, first or len(paths)
    while start < len(paths):
        part = paths[start : start + most]
        if sum(map(len, part)) + each * len(part) > MAX_ARGUMENTS:
            part = list(_fitting(part, each))
        yield part
        start, most = start + len(part), GROWTH * most


def _fitting(paths: list[bytes], each: int) -> Iterator[bytes]:
    """Yield the first paths that fit one call, at least one."""
    room = MAX_ARGUMENTS - len(paths[0]) - each
    yield paths[0]
    for path in paths[1:]:
        room -= len(path) + each
        if room < 0:
            return
        yield path


def _options(needle: GrepPattern, want: LineLimits) -> list[str]:
    chosen = {
        "--ignore-case": needle.ignore_case,
        "--case-sensitive": not needle.ignore_case,
        "--fixed-strings": needle.fixed,
        "--word-regexp": needle.word,
        "--count": not want.lines,
        f"--max-count={want.per_file}": want.per_file > 0,
    }
    return [option for option, wanted in chosen.items() if wanted]


def _read_lines(output: bytes, prefix: int) -> dict[bytes, FileHits]:
    """Parse records of `path NUL line:column:text`."""
    found: dict[bytes, list[LineMatch]] = {}
    for path, rest in _records(output, prefix):
        line, column, text = rest.split(b":", 2)
        found.setdefault(path, []).append(LineMatch(int(line), int(column), text))
    return {path: FileHits(path, len(hits), hits) for path, hits in found.items()}


def _read_counts(output: bytes, prefix: int) -> dict[bytes, FileHits]:
    return {path: FileHits(path, int(rest), []) for path, rest in _records(output, prefix)}


def _records(output: bytes, prefix: int) -> Iterator[tuple[bytes, bytes]]:
    at = 0
    while (nul := output.find(b"\0", at)) != -1:
        end = output.find(b"\n", nul)
        end = len(output) if end == -1 else end
        yield output[at + prefix : nul], output[nul + 1 : end]
        at = end + 1
