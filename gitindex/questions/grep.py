"""`gitindex grep`, `grep_codebase`: lines that match a pattern, with ripgrep's flags and format."""

from __future__ import annotations

import os
from itertools import groupby
from operator import itemgetter

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import counted, safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.ink import Aside, Note, not_searched
from gitindex.questions.table import Here, Ink, Lines, Params, question

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gitindex.base.answers import GrepAnswer, GrepRow
    from gitindex.git.wildmatch import Rule
    from gitindex.query.grep.grep import GrepQuery
    from gitindex.query.grep.pattern import GrepPattern
    from gitindex.store.entities import Filter

LINES = 1_000


def ask(here: Here, params: Params) -> GrepAnswer:
    """Return the lines; for people from the files on disk, if there is no index."""
    from gitindex.query.grep.grep import grep, scan
    from gitindex.view.live_scan import served_or_scanned

    everywhere, documents = _query(here, params), _documents(params)

    def serve() -> GrepAnswer:
        with here.tree() as view:
            query = everywhere
            if documents is not None:
                from gitindex.query.documents import document_paths

                query = query._replace(only=document_paths(view, documents))
            if below := here.below(view):
                query = query._replace(below=tuple(map(_encoded, below)))
            return grep(view, query)

    def scan_disk(why: str) -> GrepAnswer:
        if documents is None:
            return scan(here.worktree, everywhere, why)
        from gitindex.query.documents import scanned_documents

        paths = frozenset(d.path for d in scanned_documents(here.worktree, documents))
        return scan(here.worktree, everywhere._replace(only=paths), why)

    if here.agent:
        return serve()
    return served_or_scanned(here.choice, serve, scan_disk, upgraded=True)


def _query(here: Here, params: Params) -> GrepQuery:
    from gitindex.base.vocabulary import GrepForm
    from gitindex.query.grep.grep import GrepQuery
    from gitindex.query.grep.pattern import understand

    files, texts = list(params["words"]), _texts(params)
    if not texts:
        raise GitIndexError("give a pattern", "see `gitindex grep --help`", Exit.USAGE)
    if files and not (params["patterns"] or params["pattern"]):
        del files[0]  # the pattern
    needle = pattern_of(texts, params)
    understand(needle)  # report a bad pattern before anything else
    form = GrepForm.FILES if params["names"] else GrepForm.LINES
    return GrepQuery(
        needle,
        below=tuple(_below(here, file) for file in files),
        form=GrepForm.COUNTS if params["count"] else form,
        limit=params["limit"],
        before=params["before"] or params["context"],
        after=params["after"] or params["context"],
        rules=rules_of(params["globs"]),
        languages=languages_of(params["types"]),
    )


def _texts(params: Params) -> list[str]:
    """Return the patterns: options, MCP's own, or the first word."""
    return list(
        params["patterns"] or [params["pattern"]][: bool(params["pattern"])] or params["words"][:1]
    )


def pattern_of(texts: list[str], params: Params) -> GrepPattern:
    """Return one pattern that matches where any of the texts does."""
    from gitindex.query.grep.pattern import GrepPattern

    made = GrepPattern(
        texts[0], params["ignore_case"], params["fixed"], params["word"], params["invert"]
    )
    if len(texts) == 1:
        return made
    import re

    parts = [re.escape(text) if made.fixed else text for text in texts]
    return made._replace(text="|".join(f"(?:{part})" for part in parts), fixed=False)


def _team(_answer: Any, params: Params) -> tuple[str, list[Any]]:
    """Return the pattern; what the team's index cannot narrow is refused."""
    named = len(params["words"]) > (not params["patterns"] and not params["pattern"])
    narrowing = ("invert", "globs", "tags", "date_from", "date_to")
    if named or any(params[name] for name in narrowing):
        raise GitIndexError(
            "the team is asked for lines by a pattern alone",
            "leave out files, -g, -v, --tag, --from and --to, or --team",
            Exit.USAGE,
        )
    return "grep", [pattern_of(_texts(params), params)]


def rules_of(globs: list[str]) -> tuple[Rule, ...]:
    """Parse globs as ripgrep's `-g` does: git's wildcards, with `!` in front to exclude."""
    from gitindex.git.wildmatch import make_rule

    rules = []
    for glob in globs:
        rule = make_rule(_encoded(glob.removeprefix("!")), negated=glob.startswith("!"))
        if rule is None:
            raise GitIndexError(f"not a glob: {safe_text(glob)}", code=Exit.USAGE)
        rules.append(rule)
    return tuple(rules)


def languages_of(types: list[str]) -> frozenset[str]:
    """Resolve languages by name or by file extension (`py`, `ts`)."""
    from gitindex.languages.table import BY_NAME, TEXT, language_of

    languages: set[str] = set()
    for name in types:
        language = name if name in BY_NAME else language_of(_encoded(f"x.{name}"), b"")
        if language not in BY_NAME or (language == TEXT and name != TEXT):
            raise GitIndexError(
                f"no such type: {safe_text(name)}", "see docs/languages.md", Exit.USAGE
            )
        languages.add(language)
    return frozenset(languages)


def _documents(params: Params) -> Filter | None:
    """Return the documents to search; None for all files."""
    if not (params["tags"] or params["date_from"] or params["date_to"]):
        return None
    from gitindex.store.entities import Filter

    return Filter(tuple(params["tags"]), params["date_from"], params["date_to"])


def _below(here: Here, file: str) -> bytes:

    inside = here.inside(file)
    other = here.choice.at or here.choice.staged
    if not (other or os.path.lexists(os.path.join(here.worktree.root, inside))):
        raise GitIndexError(f"no such file or folder: {safe_text(file)}", code=Exit.USAGE)
    return b"" if inside == "." else _encoded(inside)


def _encoded(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def text(answer: GrepAnswer, ink: Ink) -> Lines:
    """Yield the lines in ripgrep's format, then notes about what was left out."""
    show = _painter(ink)
    rows = answer["results"]
    if any("before" in row for row in rows):
        yield from _with_context(rows, show, ink)
        rows = []
    for row in rows:
        shown = ink.paint("path", ink.path(row["path"]))
        if "line" in row:
            line = show(safe_text(row["text"], keep="\t"))
            yield f"{shown}:{ink.paint('line', str(row['line']))}:{line}"
        elif "count" in row:
            yield f"{shown}:{row['count']}"
        else:
            yield shown
    if not answer["results"]:
        yield Aside(f"no line matches in {counted(answer.get('searchedFiles', 0), 'files')}")
    yield from map(Note, map(safe_text, _notes(answer)))
    if ink.width and (left := answer.get("notSearched")):
        yield Aside(not_searched(left))


def _with_context(rows: list[GrepRow], show: Callable[[str], str], ink: Ink) -> Lines:
    """Yield matches with context, each line once, with `--` between separate parts."""
    last: tuple[str, int] | None = None
    for path, group in groupby(rows, key=itemgetter("path")):
        matches = {row["line"]: row for row in group}
        lines: dict[int, str] = {}
        for line, row in matches.items():
            lines |= dict(enumerate(row["before"], line - len(row["before"])))
            lines |= dict(enumerate(row["after"], line + 1))
        lines |= {line: row["text"] for line, row in matches.items()}
        for line in sorted(lines):
            if last is not None and last != (path, line - 1):
                yield "--"
            last = (path, line)
            shown, mark = safe_text(lines[line], keep="\t"), "-"
            if line in matches:
                shown, mark = show(shown), ":"
            file = ink.paint("path", ink.path(path))
            yield f"{file}{mark}{ink.paint('line', str(line))}{mark}{shown}"


def _painter(ink: Ink) -> Callable[[str], str]:
    """Return a function that highlights matches, if colour is on and the pattern cannot be slow."""
    if not ink.color:
        return lambda line: line
    from gitindex.query.grep.pattern import understand

    params = dict(ink.params)
    needle = pattern_of(_texts(params), params)
    if not understand(needle).is_plain:
        return lambda line: line
    regex = needle.compiled()
    return lambda line: regex.sub(lambda match: ink.paint("match", match[0]), line)


def _notes(answer: GrepAnswer) -> Lines:
    """Yield notes about an incomplete or stale answer; none if it is complete and fresh."""
    yield from answer.get("warnings", [])
    if answer["truncated"] and "continuation" not in answer:
        yield f"cut after {len(answer['results'])}; --limit 0 shows all"
    if answer["freshness"].get("leftOut"):
        yield f"{counted(answer['freshness']['leftOut'], 'files')} left out"


TABLE = """
Everyday: grep | found=results trees=at,staged,strict probes own_c tool=grep_codebase listed
  + pages=results reach=10000
  Lines that match a pattern. The index says where to look, the files say what is there.
  > Every line that matches a regular expression.
    * | words texts = <PATTERN_[PATH]...> @paths | A regular expression, looked for in each line; only
      + in these files or folders.
    mcp | pattern ! ..1000
    --regexp -e | patterns texts | A pattern; may be repeated.
    --after-context -A | after integer 0.. | Lines after each match.
    --before-context -B | before integer 0.. | Lines before each match.
    --context -C | context integer 0.. | Lines before and after each match. | ..10: lines around
    --glob -g | globs texts | Only paths like this; !GLOB: not.
    --type -t | types texts @languages | Only files of this language.
    --invert-match -v | invert flag | Lines that do not match.
    --ignore-case -i | ignore_case flag | Upper and lower case are the same. | ignoreCase:
    --fixed-strings -F | fixed flag | The pattern is the text itself. | literal:
    --word-regexp -w | word flag | Only whole words.
    --files-with-matches -l | names flag | List the files only.
    --count -c | count flag | List files and how many lines match.
    --line-number -n | numbers flag | Print line numbers; they always are.
    --limit -m | limit integer =1000 0..2147483648 | Lines, or files, at most; 0: all. | =50 1..200:
    --tag | tags texts | Only in documents with this topic.
    --from | date_from | Only in documents dated YYYY-MM-DD or later.
    --to | date_to | Only in documents dated YYYY-MM-DD or earlier.
    --at | at ..256 | In this commit, tag or branch, not on disk. | :
    --staged | staged flag | In what is staged.
    --strict | strict flag | Only from a proven index; no live scan.
"""
QUESTION = question(TABLE, ask, text, team=_team, example={"pattern": "return .*", "context": 1})
