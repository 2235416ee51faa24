"""Open questions about a file or one of its names, each with a stable signature."""

from __future__ import annotations

import hashlib
import json
import re
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.filestate.inputs import FileInputs
from gitindex.languages.facts import BlobFacts, Symbol
from gitindex.languages.implicit_calls import called_without_name, is_constructor
from gitindex.store import decisions as table
from gitindex.store.decisions import Decision

if TYPE_CHECKING:
    from collections.abc import Iterator


_READ_AGAIN = {
    "python": "{} = 0",
    "javascript": "var {};",
    "typescript": "var {};",
    "tsx": "var {};",
}
"""Languages whose flags depend on places, each with its stand-in for another definition."""
_NAME = re.compile(r"(?<![\w.:$])([A-Z]\w*|[a-z_]\w*(?=\s*\())")
_NO_CODE = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')
_RUST_PRELUDE = """
Some None Ok Err Vec String Option Result Box Iterator Into From Default Clone Copy Send Sync Drop Fn
FnMut FnOnce ToString ToOwned AsRef AsMut Eq Ord PartialEq PartialOrd Extend IntoIterator Self
DoubleEndedIterator ExactSizeIterator drop
"""
_KEYWORDS = "if while for match return fn loop switch catch sizeof assert"
_KNOWN = frozenset(f"{_RUST_PRELUDE} {_KEYWORDS}".split())
"""Names and keywords that are known without a star import."""
_MODULE_HOOK = "__getattr__"
"""The function of a Python module that is called for names that the module does not define."""
MAX_IMPORT_LINES = 60  # of one import that are searched for a name


class FlagQuestion(NamedTuple):
    """One definition of a file with known facts."""

    lines: list[str]
    facts: BlobFacts
    symbol: Symbol

    def text(self) -> str:
        """Return the lines of the definition."""
        return "\n".join(self.lines[self.symbol.start_line : self.symbol.end_line + 1])

    def has(self, line: int) -> bool:
        """Return whether a line is inside of the definition."""
        return self.symbol.start_line <= line <= self.symbol.end_line


def flags_of_symbol(inputs: FileInputs, question: FlagQuestion) -> set[str]:
    """Return the flags of a file that count for one definition of it."""
    of_file = set(question.facts.flags)
    flags = of_file & {"parse_error", "encoding_lossy"}
    if "star_import" in of_file and _may_be_from_star(question):
        flags.add("star_import")
    if "macro_or_generated" in of_file and _is_macro_or_generated(question):
        flags.add("macro_or_generated")
    rest = of_file - flags - REPEATED - {"star_import", "macro_or_generated", "reexport_chain"}
    if rest and question.facts.language in _READ_AGAIN:
        alone = _read_alone(inputs, question)
        flags |= rest if alone is None else rest & alone
    else:
        flags |= rest
    if "conditional_definition" in rest and _uses_conditional(question):
        flags.add("conditional_definition")
    return flags - {"unresolved_receiver"}  # about what it calls, not about what it is


def _read_alone(inputs: FileInputs, question: FlagQuestion) -> set[str] | None:
    """Return the flags of the definition on its own; None if it cannot be extracted on its own."""
    text = _alone(question).encode("utf-8", "replace")
    facts = inputs.view.parse(text, question.facts.language)
    if facts is None or (
        "parse_error" in facts.flags and "parse_error" not in question.facts.flags
    ):
        return None
    return set(facts.flags)


def _alone(question: FlagQuestion) -> str:
    """Return the definition between the file's imports and stand-ins for its other names."""
    symbol, symbols = question.symbol, question.facts.symbols
    others = {s.name for s in symbols if s.parent < 0 and s.name.isidentifier()} - {symbol.name}
    language = question.facts.language
    body = textwrap.dedent(question.text())
    in_class = symbol.parent >= 0 and symbols[symbol.parent].kind == "class"
    if in_class and language != "python":
        body = f"class Enclosing {{\n{body}\n}}"
    imports = dict.fromkeys(_imports(question))
    known = map(_READ_AGAIN[language].format, sorted(others - {_MODULE_HOOK}))
    return "\n".join([*imports, *known, *_hooks(question), body, ""])


def _hooks(question: FlagQuestion) -> Iterator[str]:
    """Yield the module's hook under another name, so that only the code in it counts.

    Python calls it only for names that the module lacks (PEP 562). So it concerns a definition only
    if it reaches names by computation, for example in `globals()`.
    """
    for symbol in question.facts.symbols:
        if symbol.parent < 0 and symbol.name == _MODULE_HOOK and symbol != question.symbol:
            text = textwrap.dedent(question._replace(symbol=symbol).text())
            yield text.replace(_MODULE_HOOK, "module_hook")


def _imports(question: FlagQuestion) -> Iterator[str]:
    """Yield the import statements outside the definition, up to their closing bracket."""
    for item in question.facts.imports:
        if question.has(item.line):
            continue
        text = ""
        for line in question.lines[item.line : item.line + MAX_IMPORT_LINES]:
            text += line.strip() + "\n"
            if sum(map(text.count, "([{")) <= sum(map(text.count, ")]}")):
                break
        yield text.rstrip("\n")


def _may_be_from_star(question: FlagQuestion) -> bool:
    """Does it contain a star import, or use a type or function of unknown origin?"""
    stars = [item for item in question.facts.imports if ("*", "*") in item.names]
    if any(question.has(star.line) for star in stars):
        return True
    known = {local for item in question.facts.imports for _, local in item.names}
    known |= {symbol.name for symbol in question.facts.symbols} | _KNOWN
    return not set(_NAME.findall(_NO_CODE.sub(" ", question.text()))) <= known


def _is_macro_or_generated(question: FlagQuestion) -> bool:
    """Is the file generated, or does the definition contain or use one of its macros?"""
    macros = [symbol for symbol in question.facts.symbols if symbol.kind == "macro"]
    if not macros:
        return True
    names = "|".join(re.escape(m.name) for m in macros)
    inside = any(question.has(macro.start_line) for macro in macros)
    return inside or re.search(rf"\b(?:{names})\b", question.text()) is not None


def _uses_conditional(question: FlagQuestion) -> bool:
    """Is it indented at module level, or does it use such a definition? Then it is conditional."""
    guarded = {
        symbol.name
        for symbol in question.facts.symbols
        if symbol.parent < 0 and question.lines[symbol.start_line][:1] in (" ", "\t")
    }
    if question.symbol.parent < 0 and question.symbol.name in guarded:
        return True
    return any(re.search(rf"\b{re.escape(name)}\b", question.text()) for name in guarded)


REPEATED = frozenset({"multiple_definitions", "overload_set"})
"""Flags that concern some names of a file; all other flags concern the whole file."""


class EditTarget(NamedTuple):
    """The target of an edit: a file, a definition in it, or the definition around a line."""

    path: str
    symbol: str = ""
    line: int = 0  # 1-based; 0: none


class Interpretation(NamedTuple):
    """One possible answer to a question. Lines are 1-based."""

    id: str  # stable while the definition keeps its name, kind and signature
    path: str
    name: str
    qualified: str
    kind: str
    line: int
    end_line: int
    signature: str


class Ambiguity(NamedTuple):
    """An open question with all its possible answers."""

    target: EditTarget
    flags: tuple[str, ...]
    definitions: tuple[Interpretation, ...]  # the definitions that the target may mean

    @property
    def signature(self) -> str:
        """Return a hash of the question; it does not change when lines move."""
        text = json.dumps(
            [
                self.target.path,
                self.target.symbol,
                self.flags,
                [(d.id, d.kind, d.signature) for d in self.definitions],
            ]
        )
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def choices(self) -> list[str]:
        """Return everything a decision may select: definitions, and flags to accept as they are."""
        return [d.id for d in self.definitions] + [f"flag:{name}" for name in self._bare_flags()]

    def is_answered_by(self, selected: list[str]) -> bool:
        """Does a selection answer the question? It needs all flags and at least one definition."""
        chosen = set(selected)
        meant = chosen & {d.id for d in self.definitions}
        rest = chosen - meant
        all_flags = rest == {f"flag:{name}" for name in self._bare_flags()}
        return all_flags and bool(meant) == bool(self.definitions) and len(chosen) == len(selected)

    def _bare_flags(self) -> list[str]:
        """Return the flags that no definition represents."""
        return [f for f in self.flags if not (self.definitions and f in REPEATED)]


def parse_target(text: str, is_path: Callable[[str], bool]) -> EditTarget:
    """Parse `FILE`, `FILE:LINE`, `FILE:SYMBOL` or `FILE#SYMBOL`; an existing path is taken whole."""
    file, mark, name = text.partition("#")
    if mark and is_path(file):
        return EditTarget(file, name)
    path, colon, place = text.rpartition(":")
    if not colon or not path or not place or "/" in place or is_path(text):
        return EditTarget(text)
    if place.isascii() and place.isdecimal() and len(place) < 10:
        return EditTarget(path, line=int(place))
    return EditTarget(path, place)


def definitions(inputs: FileInputs, path: str) -> list[Interpretation]:
    """Return all definitions of a file as it is on disk, in its order."""
    facts = inputs.facts(path)
    seen: dict[str, int] = {}
    listed = []
    for symbol in facts.symbols if facts else ():
        number = seen[symbol.qualified] = seen.get(symbol.qualified, 0) + 1
        unique = f"{safe_text(path)}#{symbol.qualified}" + (f"~{number}" if number > 1 else "")
        lines = (symbol.start_line + 1, symbol.end_line + 1)
        shown = (symbol.name, symbol.qualified, symbol.kind)
        listed.append(Interpretation(unique, path, *shown, *lines, symbol.signature))
    return listed


def meant(target: EditTarget, definitions: list[Interpretation]) -> list[Interpretation]:
    """Return the definitions that a target names; none for a whole file."""
    if target.symbol:
        return [d for d in definitions if target.symbol in (d.name, d.qualified)]
    around = [d for d in definitions if d.line <= target.line <= d.end_line]
    return sorted(around, key=lambda d: (-d.line, d.end_line))[:1]


def find_ambiguity(inputs: FileInputs, target: EditTarget) -> Ambiguity | None:
    """Return the open question about a target in a file with facts; None if there is none."""
    of_file = definitions(inputs, target.path)
    flags = inputs.flags(target.path)
    if target.symbol or target.line:
        named = meant(target, of_file)
        if not named and target.symbol:
            raise GitIndexError(
                f"no `{safe_text(target.symbol)}` in {safe_text(target.path)}",
                "see `gitindex outline`",
                Exit.NO,
            )
        flags = _flags_of_named(inputs, named, flags)
        open_ones = tuple(named) if len(named) > 1 else ()
    else:
        open_ones = () if REPEATED.isdisjoint(flags) else _defined_twice(of_file)
    return Ambiguity(target, flags, open_ones) if flags or open_ones else None


def _defined_twice(of_file: list[Interpretation]) -> tuple[Interpretation, ...]:
    twice = {d.qualified for d in of_file if "~" in d.id}
    return tuple(d for d in of_file if d.qualified in twice)


def _flags_of_named(
    inputs: FileInputs, named: list[Interpretation], flags: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the flags of a file that are open for the definitions that a target may mean."""
    if len(named) < 2:
        flags = _of_definition(inputs, named[0], flags) if named and flags else flags
        flags = tuple(flag for flag in flags if flag not in REPEATED)
    if named and _calls_are_unseen(inputs, named[0]):
        return tuple(dict.fromkeys((*flags, "unresolved_receiver")))
    return flags


def _calls_are_unseen(inputs: FileInputs, meant: Interpretation) -> bool:
    """Is it called through operators or statements, on objects whose types are not resolved?"""
    facts = inputs.facts(meant.path)
    language = facts.language if facts else ""
    return called_without_name(language, meant.name) and not is_constructor(meant.name)


def _of_definition(
    inputs: FileInputs, meant: Interpretation, flags: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the flags of a file that concern one of its definitions."""
    facts, data = inputs.facts(meant.path), inputs.read(meant.path)
    symbols = facts.symbols if facts else ()
    lines = (meant.line - 1, meant.end_line - 1)
    same = [s for s in symbols if (s.start_line, s.end_line) == lines and s.name == meant.name]
    if facts is None or data is None or not same:
        return flags
    lines_now = data.decode("utf-8", "replace").split("\n")
    narrowed = flags_of_symbol(inputs, FlagQuestion(lines_now, facts, same[0]))
    return tuple(flag for flag in flags if flag in narrowed)


def replayed(inputs: FileInputs, ambiguity: Ambiguity) -> Decision | None:
    """Return the stored decision for this question and the bytes now on disk, or None."""
    for decision in table.of_signature(inputs.database, ambiguity.signature):
        if ambiguity.is_answered_by(decision.selected) and all(
            inputs.disk_id(path) == oid for path, oid in decision.file_hashes.items()
        ):
            return decision
    return None


def decision_fields(decision: Decision) -> dict[str, Any]:
    """Return a decision as fields of an answer."""
    return {
        "id": decision.id,
        "signature": decision.signature,
        "selected": decision.selected,
        "fileHashes": {safe_text(path): oid for path, oid in decision.file_hashes.items()},
        "proof": decision.proof,
        "repoHead": decision.repo_head,
        "createdAt": decision.created_at,
    }
