"""Asks ripgrep for the lines of exactly these files. Never through a shell, never with the user's options."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

from gitindex.disk import Beneath
from gitindex.git.command import clean_env, find_program
from gitindex.git.process import run_program
from gitindex.matching.lines import FileHits, Hit, Want
from gitindex.needle import Needle

OPTIONS = (
    "--no-config", "--no-messages", "--no-ignore", "--hidden", "--text", "--no-mmap", "--null",
    "--no-heading", "--with-filename", "--line-number", "--column", "--color=never",
)  # fmt: skip
MAX_ARGUMENTS = 1 << 19
"""Bytes of paths in one call: a quarter of what Linux takes, half of what macOS does."""
GROWTH = 16
TIMEOUT_S = 120.0


class Refused(Exception):
    """Ripgrep does not take this pattern, or does not run here."""


def find_ripgrep() -> str | None:
    """Ripgrep on PATH, or beside this Python: there a wheel puts it."""
    beside = os.path.dirname(sys.executable)
    return find_program("rg", os.pathsep.join((clean_env()["PATH"], beside)))


class Asked(NamedTuple):
    """Which ripgrep, where, and what for."""

    program: str
    root: str
    needle: Needle


def ripgrep(asked: Asked, paths: list[bytes], want: Want) -> list[FileHits]:
    """Hits in files, in the order of `paths`, which one command line must hold."""
    program, root, needle = asked
    names = [os.path.join(root, os.fsdecode(path)) for path in paths]
    argv = [program, *OPTIONS, *_options(needle, want), "-e", needle.text, "--", *names]
    done = run_program(argv, clean_env(), timeout=TIMEOUT_S)
    if done.errors or done.returncode not in (0, 1, 2):
        raise Refused  # without messages only a pattern makes it talk; 2: a file was not readable
    read = _read_lines if want.lines else _read_counts
    found = read(done.output, len(os.fsencode(root)) + 1)
    with Beneath(root) as disk:
        # it follows a link that it is told to read: what came through one does not count
        return [found[path] for path in paths if path in found and disk.read(path, 0) is not None]


def portions(root: str, paths: list[bytes], first: int) -> Iterator[list[bytes]]:
    """The paths in portions that a command line holds; with `first`, small ones to begin with."""
    part: list[bytes] = []
    size, most = 0, first or len(paths)
    for path in paths:
        size += len(root) + len(path) + 10
        if part and (size > MAX_ARGUMENTS or len(part) == most):
            yield part
            part, size, most = [], len(root) + len(path) + 10, GROWTH * most
        part.append(path)
    if part:
        yield part


def _options(needle: Needle, want: Want) -> list[str]:
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
    """Records of `path NUL line:column:text`."""
    found: dict[bytes, list[Hit]] = {}
    for path, rest in _records(output, prefix):
        line, column, text = rest.split(b":", 2)
        found.setdefault(path, []).append(Hit(int(line), int(column), text))
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
