"""`gitindex grep`: queries and prints, in ripgrep's format."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.vocabulary import GrepForm
from gitindex.base.worktree import Worktree, find_worktree
from gitindex.cli.printing import any_of, not_searched, print_answer
from gitindex.cli.shown_path import named_path, shown_path
from gitindex.cli.terminal import coloured, paint, say
from gitindex.git.wildmatch import Rule, make_rule
from gitindex.git.worktree_probe import WorktreeProbe
from gitindex.languages.table import BY_NAME, TEXT, language_of
from gitindex.query.grep import LIMIT
from gitindex.query.grep.grep import GrepQuery, grep, scan
from gitindex.query.grep.pattern import GrepPattern, understand
from gitindex.view.fallback import served_or_scanned
from gitindex.view.tree import NOW, TreeChoice, open_tree

if TYPE_CHECKING:
    from gitindex.base.answers import GrepAnswer, GrepRow
    from gitindex.store.entities import Filter


def find_lines(
    question: GrepQuery,
    files: list[str],
    path: str = ".",
    ask: TreeChoice = NOW,
    as_json: bool = False,
    begun: WorktreeProbe | None = None,
    documents: Filter | None = None,
) -> int:
    """Print lines that match a pattern. `begun`: a look at the work tree that is under way.

    `documents`: only in documents with these topics and days.
    """
    understand(question.needle)  # report a bad pattern before anything else
    worktree = begun.worktree if begun else find_worktree(path)
    named = question._replace(below=tuple(_below(worktree, path, file, ask) for file in files))

    def serve() -> GrepAnswer:
        with open_tree(worktree, path, ask, begun=begun) as view:
            if documents is None:
                return grep(view, named)
            from gitindex.query.documents import document_paths

            return grep(view, named._replace(only=document_paths(view, documents)))

    def scan_disk(why: str) -> GrepAnswer:
        if documents is None:
            return scan(worktree, named, why)
        from gitindex.query.document_source import scanned_documents

        found = scanned_documents(worktree, documents)
        return scan(worktree, named._replace(only=frozenset(d.path for d in found)), why)

    return print_answer(
        partial(served_or_scanned, ask, serve, scan_disk, upgraded=True),
        as_json,
        lambda found: _say_found(found, question.needle),
        any_of("results"),
    )


def read_flags(args: list[str]) -> tuple[GrepQuery, list[str]] | None:
    """Parse short flags and words into query and files; None if it takes a full parser."""
    flags = [arg for arg in args if arg.startswith("-")]
    words = [arg for arg in args if not arg.startswith("-")]
    letters = "".join(flag[1:] for flag in flags if flag != "--json")
    if not words or set(letters) - set("iFwlc"):
        return None
    needle = GrepPattern(words[0], "i" in letters, "F" in letters, "w" in letters)
    form = form_of("l" in letters, "c" in letters)
    return GrepQuery(needle, form=form, limit=LIMIT), words[1:]


def form_of(files: bool, counts: bool) -> GrepForm:
    """Return the output form; counts take precedence over file names, file names over lines."""
    return GrepForm.COUNTS if counts else GrepForm.FILES if files else GrepForm.LINES


def one_pattern(texts: list[str], pattern: GrepPattern) -> GrepPattern:
    """Return one pattern that matches where any of the texts does."""
    if len(texts) == 1:
        return pattern._replace(text=texts[0])
    parts = [re.escape(text) if pattern.fixed else text for text in texts]
    return pattern._replace(text="|".join(f"(?:{part})" for part in parts), fixed=False)


def rules_of(globs: list[str]) -> tuple[Rule, ...]:
    """Parse globs as ripgrep's `-g` does: git's wildcards, with `!` in front to exclude."""
    found = []
    for glob in globs:
        rule = make_rule(os.fsencode(glob.removeprefix("!")), negated=glob.startswith("!"))
        if rule is None:
            raise GitIndexError(f"not a glob: {safe_text(glob)}", code=Exit.USAGE)
        found.append(rule)
    return tuple(found)


def languages_of(types: list[str]) -> frozenset[str]:
    """Resolve languages by name or by file extension (`py`, `ts`)."""
    found = set()
    for name in types:
        language = name if name in BY_NAME else language_of(os.fsencode(f"x.{name}"), b"")
        if language not in BY_NAME or (language == TEXT and name != TEXT):
            raise GitIndexError(
                f"no such type: {safe_text(name)}", "see docs/languages.md", Exit.USAGE
            )
        found.add(language)
    return frozenset(found)


def documents_of(tags: list[str], date_from: str, date_to: str) -> Filter | None:
    """Return the documents to search; None for all files."""
    if not (tags or date_from or date_to):
        return None
    from gitindex.store.entities import Filter

    return Filter(tuple(tags), date_from, date_to)


def _below(worktree: Worktree, path: str, file: str, ask: TreeChoice) -> bytes:
    inside = named_path(worktree.root, path, file)
    if not (ask.at or ask.staged or os.path.lexists(os.path.join(worktree.root, inside))):
        raise GitIndexError(f"no such file or folder: {safe_text(file)}", code=Exit.USAGE)
    return b"" if inside == "." else os.fsencode(inside)


def _say_found(answer: GrepAnswer, needle: GrepPattern) -> None:
    show = _painter(needle)
    with_context = any("before" in result for result in answer["results"])
    if with_context:
        _say_with_context(answer["results"], show)
    for result in () if with_context else answer["results"]:
        shown = paint("path", shown_path(result["path"]))
        if "line" in result:
            text = show(safe_text(result["text"], keep="\t"))
            say(f"{shown}:{paint('line', str(result['line']))}:{text}")
        elif "count" in result:
            say(f"{shown}:{result['count']}")
        else:
            say(shown)
    for note in _notes(answer):
        sys.stderr.write(f"gitindex: {safe_text(note)}\n")


def _say_with_context(results: list[GrepRow], show: Callable[[str], str]) -> None:
    """Print matches with context, each line once, with `--` between separate parts."""
    last: tuple[str, int] | None = None
    for path, rows in groupby(results, key=itemgetter("path")):
        matches = {row["line"]: row for row in rows}
        lines: dict[int, str] = {}
        for line, row in matches.items():
            lines |= dict(enumerate(row["before"], line - len(row["before"])))
            lines |= dict(enumerate(row["after"], line + 1))
        lines |= {line: row["text"] for line, row in matches.items()}
        for line in sorted(lines):
            if last is not None and last != (path, line - 1):
                say("--")
            last = (path, line)
            text, mark = safe_text(lines[line], keep="\t"), "-"
            if line in matches:
                text, mark = show(text), ":"
            say(f"{paint('path', shown_path(path))}{mark}{paint('line', str(line))}{mark}{text}")


def _painter(needle: GrepPattern) -> Callable[[str], str]:
    """Return a function that highlights matches, if colour is on and the pattern cannot be slow."""
    if not coloured() or not understand(needle).is_plain:
        return lambda text: text
    regex = needle.compiled()
    return lambda text: regex.sub(lambda match: paint("match", match[0]), text)


def _notes(answer: GrepAnswer) -> list[str]:
    """Return notes about an incomplete or stale answer; none if it is complete and fresh."""
    notes = list(answer.get("warnings", []))
    if answer["truncated"]:
        notes.append(f"cut after {len(answer['results'])}; --limit 0 shows all")
    if sys.stdout.isatty() and (left := answer.get("notSearched")):
        notes.append(not_searched(left))
    if answer["freshness"].get("leftOut"):
        notes.append(f"{answer['freshness']['leftOut']} changed files were left out")
    return notes
