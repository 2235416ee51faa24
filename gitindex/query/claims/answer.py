"""Check claims against the trees they are about: a verdict on each, with its evidence.

Claims about symbols are judged by the partition of the name and nothing else; claims about the text of
a file (a line, a definition, a signature, an import) by that text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

from gitindex.base.escape import counted, safe_text
from gitindex.base.pattern import compile_later
from gitindex.base.vocabulary import Assumption, Direction
from gitindex.languages.facts import Import
from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES
from gitindex.query.callgraph.answer import GraphQuery, call_graph
from gitindex.query.claims.evidence import (
    CALLS,
    CONFIRMED,
    MAX_CANDIDATES,
    REFUTED,
    SURE,
    UNVERIFIABLE,
    ClaimTree,
    ClaimVerdict,
    UnclearPath,
    UnknownName,
    combined,
    definition_row,
    node_name,
    rows_of,
)
from gitindex.query.claims.grammar import KINDS, Claim, claims_of_text
from gitindex.query.names.expressions import closing
from gitindex.query.names.model import Definition
from gitindex.query.references import MAX_LIMIT, ReferenceQuery, find_references
from gitindex.query.symbols import SymbolQuery, list_symbols
from gitindex.view.tree import TreeView

VERDICTS = (CONFIRMED, REFUTED, UNVERIFIABLE)
FEW = 32
"""Claims that each have a footprint of their own; more share what was derived for them."""
_FILES = frozenset({"FILE", "PATH"})
TEST_DEPTH = 4
"""Calls between a test and what it is said to test."""
_FROM_OUTSIDE: Known = frozenset(
    {"a test runner calls it", "a decorator or attribute may hand it to a framework"}
)
"""Reasons of a use that is no call in the tree's own code."""
_MAKES_NAMES = frozenset(
    [
        "eval_exec",
        "generated_member",
        "macro_or_generated",
        "encoding_lossy",
        "parse_error",
        "star_import",
    ]
)
"""Flags of a file that may define more than its text spells."""
_BLANKS = compile_later(r"\s+")
_AROUND = compile_later(r"\s*([(),:=\[\]{}<>|*&;-])\s*")
_RECEIVER = compile_later(r"^\((?:self|cls|&self|&mut self)(?:,|(?=\)))")
_SEGMENTS = compile_later(r"[/:\\.]+")
_SUFFIX = compile_later(r"\.(?:h|hh|hpp|js|cjs|mjs|jsx|ts|tsx|json|css|py|go|rs|java)$")
_OVERLOADING = frozenset({"java", "kotlin", "scala", "csharp", "cpp", "swift"})
_SPELLS_IMPORTS = frozenset({"python", "go", "java", "rust", "javascript", "typescript", "tsx"})

Row = dict[str, Any]
Known = frozenset[str]


class ClaimPlaces(NamedTuple):
    """How the reader's paths become paths of the tree."""

    inside: Callable[[str], str]  # a file or folder
    placed: Callable[[str], str]  # a symbol, which may name a file


class ClaimsQuery(NamedTuple):
    """Claims, the text of a report, and whether a broken assumption makes a verdict open."""

    claims: list[Claim]
    text: str = ""
    strict: bool = False


def verify_claims(
    open_at: Callable[[str], Any], query: ClaimsQuery, places: ClaimPlaces
) -> dict[str, Any]:
    """Return a verdict for each claim; `open_at` opens the tree of a revision, "" the default one."""
    rows: list[dict[str, Any]] = []
    with ExitStack() as stack:
        view: TreeView = stack.enter_context(open_at(""))
        trees = {"": ClaimTree(view)}
        claims = list(query.claims)
        if query.text:
            paths = _Paths(view, places.inside)
            claims += claims_of_text(query.text, paths.resolve)
            places = places._replace(inside=paths.inside)
        for claim in claims:
            if claim.at not in trees:
                trees[claim.at] = ClaimTree(stack.enter_context(open_at(claim.at)))
        alone = len(claims) == 1 and not query.text
        for claim in claims:
            tree = trees[claim.at]
            if len(claims) <= FEW:
                tree = tree.anew()
            rows.append(_row(tree, claim, query.strict, places, alone))
        counts = {name: sum(row["verdict"] == name for row in rows) for name in VERDICTS}
        return view.envelope(verdicts=rows, counts=counts)


def _row(
    tree: ClaimTree, claim: Claim, strict: bool, places: ClaimPlaces, alone: bool
) -> dict[str, Any]:
    try:
        found = JUDGES[claim.kind](tree, *_arguments(claim, places))
    except UnknownName as error:
        if alone:
            raise
        hint = f" ({error.hint})" if error.hint else ""
        found = ClaimVerdict(UNVERIFIABLE, error.message + hint)
    if strict and found.assumes and found.verdict != UNVERIFIABLE:
        names = ", ".join(str(one["assumption"]).replace("_", " ") for one in found.assumes)
        found = found._replace(verdict=UNVERIFIABLE, why=f"assumes no {names}; {found.why}")
    return {
        "claim": safe_text(str(claim)),
        "verdict": found.verdict,
        "why": found.why,
        "evidence": list(found.evidence),
        "assumes": list(found.assumes),
        "receipt": tree.view.receipt(),
    }


def _arguments(claim: Claim, places: ClaimPlaces) -> Iterator[str]:
    for name, value in zip(KINDS[claim.kind], claim.args, strict=True):
        if name in _FILES:
            yield places.inside(value)
        elif name.startswith('"') or name in ("N", "MODULE"):
            yield value
        else:
            yield places.placed(node_name(value))


class _Paths:
    """The paths of a tree, by their last part: reports shorten them."""

    def __init__(self, view: TreeView, inside: Callable[[str], str]) -> None:
        self._inside = inside
        self._unclear: dict[str, list[str]] = {}
        self._by_name: dict[str, list[str]] = {}
        for (path,) in view.rows("SELECT l.path FROM {live} l"):
            text = os.fsdecode(path)
            self._by_name.setdefault(text.rpartition("/")[2], []).append(text)

    def resolve(self, path: str) -> str:
        """Return the only path of the tree that ends so, or that an absolute path ends with."""
        clean = path.removeprefix("./")
        same = sorted(self._by_name.get(clean.rpartition("/")[2], ()))
        ends = [p for p in same if _ends(p, clean)] or [p for p in same if _ends(clean, p)]
        if len(ends) > 1 and clean not in ends:
            self._unclear[clean] = ends
        return ends[0] if len(ends) == 1 else clean

    def inside(self, path: str) -> str:
        """Return a path of the tree; refuses one that several files end with."""
        if path in self._unclear:
            raise UnclearPath(path, self._unclear[path])
        return self._inside(path)


def _ends(path: str, tail: str) -> bool:
    return path == tail or path.endswith(f"/{tail}")


def _of_each(judge: Callable[..., ClaimVerdict]) -> Callable[..., ClaimVerdict]:
    """Return a judge of a name: of every symbol that it may mean."""
    return lambda tree, name, *rest: _each(tree, name, lambda one: judge(tree, one, *rest))


def judge_calls(tree: ClaimTree, caller: str, callee: str) -> ClaimVerdict:
    """Confirmed by a sure call inside of the caller; refuted where no place in it may be one."""
    if tree.has(caller):
        return _each(tree, callee, lambda one: _calls(tree, caller, None, one))
    return _each(
        tree,
        caller,
        lambda one: _each(tree, callee, lambda other: _calls(tree, one.path, one, other)),
    )


def judge_tests(tree: ClaimTree, name: str, test: str) -> ClaimVerdict:
    """Confirmed by a path of sure calls from the test; refuted where nobody uses the function."""
    if not tree.has(test):
        tree.symbols(test)  # an unknown test is refused
    return _each(tree, name, lambda one: _tests(tree, one, test))


def _each(tree: ClaimTree, name: str, judge: Callable[[Definition], ClaimVerdict]) -> ClaimVerdict:
    """Judge every symbol that a name may mean."""
    found = tree.symbols(name)
    if len(found) > MAX_CANDIDATES:
        some = tuple(map(definition_row, found[:3]))
        why = f"{safe_text(name)} is {len(found)} symbols: name one"
        return ClaimVerdict(UNVERIFIABLE, why, some)
    return combined(name, [(one, _of_overload(tree, one, found, judge(one))) for one in found])


def _of_overload(
    tree: ClaimTree, one: Definition, found: list[Definition], verdict: ClaimVerdict
) -> ClaimVerdict:
    """Return a verdict on one of several overloads: a call that exists may be of another one."""
    source = tree.finder.project.source(one.path)
    if not verdict.found or source is None or source.language not in _OVERLOADING:
        return verdict
    named = (d for d in source.named(one.name) if d.qualified == one.qualified)
    others = [d for d in named if d.line != one.line and d not in found]
    if not others:
        return verdict
    why = f"its calls are not told from those of line {others[0].line + 1}; {verdict.why}"
    return verdict._replace(verdict=UNVERIFIABLE, why=why)


def _no_callers(tree: ClaimTree, definition: Definition) -> ClaimVerdict:
    """Confirmed by a complete list without a call; refuted by a call that is sure."""
    answer = tree.references(definition)
    calls = [row for row in answer["references"] if row["use"] in CALLS]
    sure = [row for row in calls if row["tier"] in SURE]
    if sure:
        return _found(REFUTED, counted(len(sure), "calls"), sure, answer)
    if doubt := _doubt(answer, calls, _FROM_OUTSIDE):
        return doubt
    return _verdict(CONFIRMED, f"no call: {_all(answer)}", [], answer)


def _unused(tree: ClaimTree, definition: Definition) -> ClaimVerdict:
    """Confirmed by `absent`; refuted by any reference."""
    answer = tree.references(definition)
    if answer["references"]:
        many = counted(answer["totalReferences"], "references")
        return _found(REFUTED, many, answer["references"], answer)
    if answer["absent"]:
        return _verdict(CONFIRMED, f"nobody uses it: {_all(answer)}", [], answer)
    return _doubt(answer, []) or _verdict(UNVERIFIABLE, "it may be used unnamed", [], answer)


def _only_called_from(tree: ClaimTree, definition: Definition, below: str) -> ClaimVerdict:
    """Confirmed by a complete list of calls, all in the file or folder; refuted by one outside."""
    answer = tree.references(definition)
    calls = [row for row in answer["references"] if row["use"] in CALLS]
    outside = [row for row in calls if not _is_below(row["path"], below)]
    sure = [row for row in outside if row["tier"] in SURE]
    if sure:
        many = f"{counted(len(sure), 'calls')} outside of {safe_text(below)}"
        return _found(REFUTED, many, sure, answer)
    if doubt := _doubt(answer, outside, _FROM_OUTSIDE):
        return doubt
    if not calls:
        return _verdict(UNVERIFIABLE, "nobody calls it", [], answer)
    return _verdict(CONFIRMED, f"all {counted(len(calls), 'calls')} there", calls, answer)


def _calls(
    tree: ClaimTree, path: str, caller: Definition | None, callee: Definition
) -> ClaimVerdict:
    answer = tree.references(callee, path)
    inside = [row for row in answer["references"] if _is_in(row, caller)]
    calls = [row for row in inside if row["use"] in CALLS and _is_within(row, caller)]
    sure = [row for row in calls if row["tier"] in SURE]
    if sure:
        return _found(CONFIRMED, counted(len(sure), "calls"), sure, answer)
    return _not_called(answer, inside, caller, callee)


def _not_called(
    answer: Row, inside: list[Row], caller: Definition | None, callee: Definition
) -> ClaimVerdict:
    """Return the verdict where no call is sure: refuted only where no place may be one."""
    if inside:
        why = f"it names {safe_text(callee.qualified)}, but no call of it is sure"
        return _verdict(UNVERIFIABLE, why, inside, answer)
    maybe = [r for r in (*answer["possible"], *answer["unlikely"]) if _is_in(r, caller)]
    if maybe:
        return _verdict(UNVERIFIABLE, counted(len(maybe), "possible places"), maybe, answer)
    if doubt := _unnamed(answer, _FROM_OUTSIDE):
        return doubt
    cut = answer["truncated"] or len(answer["possible"]) >= MAX_LIMIT
    if cut or not answer["accountedFor"]:
        return _verdict(UNVERIFIABLE, "not all occurrences are accounted for", [], answer)
    evidence = [definition_row(caller)] if caller else []
    return _verdict(REFUTED, f"no occurrence of {callee.name} in it", evidence, answer)


def _tests(tree: ClaimTree, definition: Definition, test: str) -> ClaimVerdict:
    answer = tree.references(definition)
    if answer["absent"]:
        return _verdict(REFUTED, f"nobody uses it: {_all(answer)}", [], answer)
    sites: list[Row] = []
    for start in [test] if tree.has(test) else [_id(one) for one in tree.symbols(test)]:
        sites = _path_to(tree, start, definition)
        if sites:
            return _found(CONFIRMED, f"by {counted(len(sites), 'calls')}", sites, answer)
    why = f"no path of at most {TEST_DEPTH} sure calls leads from the test to it"
    return _verdict(UNVERIFIABLE, why, [], answer)


def _path_to(tree: ClaimTree, start: str, target: Definition) -> list[Row]:
    """Return the calls that lead from a test to a definition; empty if none are known."""
    graph = call_graph(
        tree.view, GraphQuery(start, Direction.CALLEES, TEST_DEPTH, 1_000), tree.memory
    )
    if graph["status"] != "ok":
        return []
    edges = [e for e in graph["edges"] if e["kind"] == "call" and e["tier"] in SURE]
    steps: dict[str, list[Row]] = {graph["root"]: []}
    waiting = [graph["root"]]
    for node in waiting:
        for edge in (e for e in edges if e["from"] == node and e["to"] not in steps):
            steps[edge["to"]] = [*steps[node], {**edge["site"], "tier": edge["tier"]}]
            waiting.append(edge["to"])
    goal = (safe_text(target.path), target.line + 1)
    return next(
        (steps.get(n["id"], []) for n in graph["nodes"] if (n["path"], n["line"]) == goal), []
    )


def _id(definition: Definition) -> str:
    return f"{definition.path}:{definition.line + 1}"


def _doubt(answer: Row, calls: list[Row], known: Known = frozenset()) -> ClaimVerdict | None:
    """Return why a list is not a proof that there is no other call; None if it is one."""
    if calls:
        return _verdict(UNVERIFIABLE, f"{counted(len(calls), 'calls')} may be of it", calls, answer)
    places = [*answer["possible"], *answer["unlikely"]]
    if places:
        return _verdict(UNVERIFIABLE, counted(len(places), "possible places"), places, answer)
    if not answer["complete"]:
        return _verdict(UNVERIFIABLE, "not all occurrences are accounted for", [], answer)
    return _unnamed(answer, known)


def _unnamed(answer: Row, known: Known = frozenset()) -> ClaimVerdict | None:
    """Return how a symbol may be called without its name, apart from what is known."""
    for reason in answer["reasons"]:
        if reason not in known:
            return _verdict(UNVERIFIABLE, reason, [], answer)
    rows = [row for row in answer["references"] if row["use"] in ("reference", "attribute")]
    if (handed := answer.get("handedOver")) and (rows or not answer["reasons"]):
        why = f"passed as a value in {counted(handed, 'places')}"
        return _verdict(UNVERIFIABLE, why, rows, answer)
    return None


def _verdict(verdict: str, why: str, rows: list[Row], answer: Row) -> ClaimVerdict:
    return ClaimVerdict(verdict, why, rows_of(rows), tuple(answer["assumes"]))


def _found(verdict: str, why: str, rows: list[Row], answer: Row) -> ClaimVerdict:
    """Return a verdict by places that exist: only a name that is bound again makes them doubtful."""
    made = _verdict(verdict, why, rows, answer)
    kept = tuple(one for one in made.assumes if one["assumption"] == Assumption.REBINDING)
    return made._replace(assumes=kept, found=True)


def _all(answer: Row) -> str:
    return f"all {counted(answer['accounted']['total'], 'occurrences')} accounted for"


def _is_in(row: Row, caller: Definition | None) -> bool:
    """Return whether a place of the caller's file is in its lines, decorators included."""
    return caller is None or caller.start_line < row["line"] <= caller.end_line + 1


def _is_within(row: Row, caller: Definition | None) -> bool:
    """Return whether a place is in the caller's own code: not in its decorators or defaults."""
    around = row.get("enclosing", "")
    return caller is None or around == caller.qualified or around.startswith(f"{caller.qualified}.")


def _is_below(path: str, below: str) -> bool:
    shown = safe_text(os.fsencode(below))
    return below in ("", ".") or path == shown or path.startswith(f"{shown}/")


def judge_line(tree: ClaimTree, path: str, number: str, text: str) -> ClaimVerdict:
    """Confirmed where the line, or one of `A-B`, contains the text, blanks apart; else refuted."""
    if gone := tree.missing(path):
        return gone
    lines = list(map(_squeezed, tree.lines(path) or []))
    claimed = _line_range(number)
    if not claimed or claimed[0] < 1 or claimed[-1] > len(lines):
        why = f"{safe_text(path)} has {len(lines)} lines"
        row = {"path": safe_text(path), "line": max(1, len(lines)), "text": ""}
        return ClaimVerdict(REFUTED, why, (row,))
    here = _places_of(text, lines)
    if there := sorted(set(here) & set(claimed)):
        why = "the line is as quoted" if text else "there is such a line"
        return ClaimVerdict(CONFIRMED, why, (_line_row(tree, path, there[0]),))
    why = f"the line is another{_nearest(here, claimed[0])}"
    return ClaimVerdict(REFUTED, why, (_line_row(tree, path, claimed[0]),))


def _line_range(number: str) -> range:
    """Return the lines that `N` or `A-B` names."""
    first, _, end = number.partition("-")
    return range(int(first), int(end or first) + 1)


def _places_of(text: str, lines: list[str]) -> list[int]:
    quoted = [_squeezed(line) for line in text.splitlines()] or [""]
    return [n + 1 for n in range(len(lines)) if _stands_at(lines, quoted, n)]


def _nearest(here: list[int], at: int) -> str:
    """Return where else a text is, the lines nearest to a claimed one."""
    near = sorted(sorted(here, key=lambda n: abs(n - at))[:3])
    return f"; the text is in line {', '.join(map(str, near))}" if near else ""


def judge_defines(tree: ClaimTree, path: str, name: str) -> ClaimVerdict:
    """Confirmed by a definition; refuted where no occurrence in the file can be one."""
    if gone := tree.missing(path):
        return gone
    for short in _shorter(path, name):
        found = list_symbols(tree.view, SymbolQuery(short, path, limit=5))["symbols"]
        if found:
            rows = [{**row, "text": row["signature"], "use": "definition"} for row in found]
            return ClaimVerdict(CONFIRMED, f"a {found[0]['kind']}", rows_of(rows))
    status, flags = tree.flags(path)
    verdict, why = _not_defined(tree, path, name, status)
    return ClaimVerdict(verdict, why, (), _assumed(flags & _MAKES_NAMES, path))


def _not_defined(tree: ClaimTree, path: str, name: str, status: str) -> tuple[str, str]:
    """Return the verdict on a name that no definition of the file has, and why."""
    if status != "parsed":
        return UNVERIFIABLE, "the file is not parsed, or only in part"
    *_, last = _shorter(path, name)
    parts = [part for part in _SEGMENTS.split(last) if part]
    unspelled = [part for part in parts if not _count(tree, path, part)]
    if unspelled:
        return REFUTED, f"{safe_text(unspelled[0])} is not in its text"
    if parts and _is_only_used(tree, path, parts[-1]):
        return REFUTED, f"it only uses {safe_text(parts[-1])}, which is defined elsewhere"
    return UNVERIFIABLE, f"{safe_text(name)} occurs, but is no known definition"


def judge_signature(tree: ClaimTree, name: str, text: str) -> ClaimVerdict:
    """Confirmed where the text is the signature, or its part from the name or the bracket on."""
    found = [d for d in tree.symbols(name) if d.kind in FUNCTIONS | TYPES]
    if not found or not text.strip():
        return ClaimVerdict(UNVERIFIABLE, f"{safe_text(name)} has no signature")
    claimed = _bare(text)
    fits = [d for d in found if claimed in _forms(d.signature, d.name)]
    rows = tuple(map(definition_row, (fits or found)[:3]))
    if _is_split(fits, found):
        why = f"{safe_text(name)} is {len(found)} symbols, and {len(fits)} fit: name one"
        return ClaimVerdict(UNVERIFIABLE, why, rows)
    if fits:
        return ClaimVerdict(CONFIRMED, "as claimed", rows[:1])
    if "…" in "".join(d.signature for d in found):
        return ClaimVerdict(UNVERIFIABLE, "the index keeps only the start of the signature", rows)
    return ClaimVerdict(REFUTED, f"it is {safe_text(found[0].signature)}", rows)


def _is_split(fits: list[Definition], found: list[Definition]) -> bool:
    """Return whether only some of the symbols fit, and they are not overloads of one name."""
    return 0 < len(fits) < len(found) and len({(d.path, d.qualified) for d in found}) > 1


def judge_imports(tree: ClaimTree, path: str, module: str) -> ClaimVerdict:
    """Confirmed by an import of the module or of something in it; refuted where none can be."""
    if gone := tree.missing(path):
        return gone
    source = tree.finder.project.source(path)
    items = list(source.imports) if source else []
    if line := _imported_at(tree, path, items, module):
        return ClaimVerdict(CONFIRMED, "imported", (_line_row(tree, path, line),))
    status, flags = tree.flags(path)
    assumes = _assumed(flags & {"dynamic_import", "eval_exec"}, path)
    if source is None or status != "parsed" or source.language not in _SPELLS_IMPORTS:
        return ClaimVerdict(UNVERIFIABLE, "its imports are not all known", (), assumes)
    last = _last(module)
    if not last or any(last in _parts_of(item) for item in items):
        return ClaimVerdict(UNVERIFIABLE, f"an import names {safe_text(last)}", (), assumes)
    return ClaimVerdict(REFUTED, f"no import names {safe_text(last)}", (), assumes)


def _imported_at(tree: ClaimTree, path: str, items: list[Import], module: str) -> int:
    """Return the line of the import of a module, given by its name or as a file; 0: none is known."""
    project, file = tree.finder.project, module if tree.has(module) else ""
    source = project.source(path)
    for item in items:
        reached = source is not None and file and file in project.resolve(source, item)
        if reached or _is_import(path, item, module):
            return item.line + 1
    return 0


def _is_import(path: str, item: Import, module: str) -> bool:
    """Return whether an import statement imports the module, or something below it."""
    if item.level or item.module.startswith("."):
        return item.module == module or _is_relative(path, item, module)
    parts = _SEGMENTS.split(module)
    stated = [item.module, *(f"{item.module}.{name}" for name in _taken(item) if name != "*")]
    return item.module == module or any(_SEGMENTS.split(s)[: len(parts)] == parts for s in stated)


def _is_relative(path: str, item: Import, module: str) -> bool:
    """Return whether a relative import of Python names the module, whose full name may be longer."""
    folder = path.split("/")[:-1]
    if not path.endswith((".py", ".pyi")) or item.level > len(folder) + 1:
        return False
    base = folder[: len(folder) - item.level + 1]
    whole = ".".join([*base, *filter(None, [item.module])])
    stated = [whole, *(f"{whole}.{name}" for name in _taken(item))]
    return any(f".{one}".endswith(f".{module}") for one in stated)


def _parts_of(item: Import) -> list[str]:
    return [*_SEGMENTS.split(_SUFFIX.sub("", item.module)), *_taken(item)]


def _taken(item: Import) -> list[str]:
    return [name for name, _ in item.names]


def _last(module: str) -> str:
    return next(filter(None, reversed(_SEGMENTS.split(_SUFFIX.sub("", module)))), "")


def _is_only_used(tree: ClaimTree, path: str, name: str) -> bool:
    """Return whether every occurrence of a name in a file is a use of a definition in another one."""
    query = ReferenceQuery(name, "", path, MAX_LIMIT, True, True)
    answer = find_references(tree.view, query, tree.memory)
    if not answer["accountedFor"] or answer["possible"] or answer.get("unlikely"):
        return False
    used = [row for row in answer["references"] if not row.get("via")]
    return len(used) + len(answer["mentioned"]) == _count(tree, path, name)


def _count(tree: ClaimTree, path: str, word: str) -> int:
    raw = re.escape(word.encode("utf-8", "surrogateescape"))
    return len(
        re.findall(rb"(?<![\w$\x80-\xff])" + raw + rb"(?![\w$\x80-\xff])", tree.text(path) or b"")
    )


def _shorter(path: str, name: str) -> Iterator[str]:
    """Yield a name, then without the leading parts that only name the file's own module."""
    parts = [part for part in re.split(r"::|[.#]", name) if part]
    folders = path.rpartition(".")[0].split("/")
    yield ".".join(parts)
    while len(parts) > 1 and parts[0] in folders:
        parts = parts[1:]
        yield ".".join(parts)


def _line_row(tree: ClaimTree, path: str, line: int) -> dict[str, object]:
    lines = tree.lines(path) or []
    text = lines[line - 1].strip()[:200] if line <= len(lines) else ""
    return {"path": safe_text(path), "line": line, "text": safe_text(text)}


def _assumed(flags: set[str], path: str) -> tuple[dict[str, object], ...]:
    shown = safe_text(path)
    named = sorted({"eval" if flag == "eval_exec" else "computed_names" for flag in flags})
    return tuple({"assumption": one, "places": 1, "first": shown} for one in named)


def _stands_at(lines: list[str], quoted: list[str], at: int) -> bool:
    here = lines[at : at + len(quoted)]
    return len(here) == len(quoted) and all(w in h for w, h in zip(quoted, here, strict=True))


def _squeezed(line: str) -> str:
    return _BLANKS.sub(" ", line.strip())


def _bare(signature: str) -> str:
    """Return a signature without what does not matter: blanks, a last comma, how the body begins."""
    text = _AROUND.sub(r"\1", _squeezed(signature)).rstrip(":{;").replace(",)", ")")
    return text.strip()


def _forms(signature: str, name: str) -> Iterator[str]:
    """Yield the forms in which a signature is quoted: whole, from its name on, only the brackets."""
    whole = _bare(signature)
    start = max(whole.find(f"{name}("), 0)
    bracket = whole.find("(", start)
    yield whole
    yield whole[start:]
    if bracket < 0:
        return
    params = whole[bracket : closing(whole, bracket) + 1]
    rest = whole[bracket + len(params) :]
    for form in (params, _RECEIVER.sub("(", params)):
        yield from (form, form + rest, name + form, name + form + rest)
        yield whole[:bracket] + form


JUDGES: dict[str, Callable[..., ClaimVerdict]] = {
    "calls": judge_calls,
    "no_callers": _of_each(_no_callers),
    "defines": judge_defines,
    "signature": judge_signature,
    "line": judge_line,
    "imports": judge_imports,
    "only_called_from": _of_each(_only_called_from),
    "unused": _of_each(_unused),
    "tests": judge_tests,
}
