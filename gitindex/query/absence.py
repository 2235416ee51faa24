"""The partition of an answer about a symbol: every occurrence of its name in exactly one class."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from gitindex.base.escape import counted, path_fields, safe_text, utf16_length
from gitindex.base.pattern import compile_later
from gitindex.base.vocabulary import (
    Assumption,
    FactsStatus,
    MentionKind,
    OccurrenceClass,
    SkipReason,
)
from gitindex.languages.facts import Use
from gitindex.languages.scopes.model import EXPORTED_WHOLE, MODELLED
from gitindex.query.names.dispatch import is_entry, is_registered, reason_used_unnamed
from gitindex.query.names.finder import MAX_TARGETS, Finder, Found
from gitindex.query.names.model import (
    BUDGET,
    ECMA,
    ELSEWHERE,
    KEY,
    STRICT,
    STRING,
    UNBOUND,
    At,
    Definition,
    PlaceClass,
    Site,
    family_of,
)
from gitindex.query.names.project import Project
from gitindex.query.names.targets import NAME, ReferenceTarget
from gitindex.query.names.texts import (
    MentioningFile,
    Texts,
    is_respelled,
    kind_of,
    look,
    look_left_out,
    places_without_verdict,
)
from gitindex.view.tree import TreeView

MAX_LINE = 200
_START = compile_later(rb"[ \t\r\f\v]*([^\n]{0,%d})" % (4 * MAX_LINE))  # UTF-8 takes at most four
SUMMED = tuple(OccurrenceClass)
"""The classes whose counts add up to the total."""

_FLAGS = {
    "eval_exec": Assumption.EVAL,
    "monkey_patch": Assumption.REBINDING,
    "dynamic_attribute": Assumption.COMPUTED_NAMES,
    "dynamic_import": Assumption.COMPUTED_NAMES,
    "generated_member": Assumption.COMPUTED_NAMES,
}
"""What the flags of a file say about what it does."""
_FLAGGED = (
    "SELECT l.path, b.language, b.flags FROM {live} l JOIN {blobs} b ON b.id=l.blob_id"
    " WHERE b.flags<>''"
)
_SUBMODULES = "SELECT l.path FROM {live} l WHERE l.skip='submodule'"
_HIDDEN = SkipReason.SECRET


class FoundPlace(NamedTuple):
    """One occurrence that is no reference."""

    path: str
    line: int
    column: int
    start: int
    why: str  # a Why or a MentionKind


class Assumed(NamedTuple):
    """An assumption that code of the targets' languages breaks."""

    assumption: Assumption
    places: int
    first: str  # a path, with the line where it is known

    def fields(self) -> dict[str, Any]:
        """Return the fields of an assumption in an answer."""
        first = safe_text(self.first)
        return {"assumption": str(self.assumption), "places": self.places, "first": first}


class Partition(NamedTuple):
    """Every occurrence of a name in a tree, each in one class, and what follows from them."""

    name: str
    references: list[Site]  # with those under another name
    places: dict[OccurrenceClass, list[FoundPlace]]  # all occurrences but the references
    counts: dict[str, int]  # by class; and aliased, decoded and total
    secret: frozenset[str]  # files whose text is withheld
    unread: int  # files that a limit left out
    trusted: bool  # the facts are our own, or of a pack that the user trusts
    submodules: list[str]
    reasons: list[str]  # why nobody can say that it is not used
    assumes: list[Assumed]
    coverage: dict[str, int]

    @property
    def possible(self) -> list[FoundPlace]:
        """Places that may be references."""
        return self.places[OccurrenceClass.POSSIBLE]

    @property
    def accounted_for(self) -> bool:
        """No use that spells the name is outside of the lists."""
        return self.trusted and not self.unread and NAME.fullmatch(self.name) is not None

    @property
    def complete(self) -> bool:
        """The references are all uses that spell the name."""
        open_places = self.possible or self.places[OccurrenceClass.UNLIKELY]
        return self.accounted_for and not open_places

    @property
    def absent(self) -> bool:
        """Nobody uses it."""
        return self.complete and not self.references and not self.reasons

    def mentions(self) -> dict[str, int]:
        """Return how many occurrences are prose, by the kind of text."""
        counts = Counter(place.why for place in self.places[OccurrenceClass.PROSE])
        return {str(kind): counts[kind] for kind in MentionKind if counts[kind]}

    def fields(
        self,
        project: Project,
        limit: int,
        shown: Callable[[str], bool] = lambda _: True,
        everything: bool = False,
        mentions: bool = False,
    ) -> dict[str, Any]:
        """Return the fields of an answer; `limit` and `shown` cut lists, never counts."""

        def listed(group: OccurrenceClass) -> list[dict[str, Any]]:
            below = [place for place in self.places[group] if shown(place.path)]
            return [self._fields_of(project, place) for place in below[:limit]]

        possible = listed(OccurrenceClass.POSSIBLE)
        fields: dict[str, Any] = {
            "possible": possible,
            "unexplained": possible,
            "accounted": self.counts,
            "accountedFor": self.accounted_for,
            "complete": self.complete,
            "absent": self.absent,
            "reasons": self.reasons,
            "assumes": [one.fields() for one in self.assumes],
            "mentions": self.mentions(),
            "coverage": self.coverage,
        }
        if everything:
            fields["unlikely"] = listed(OccurrenceClass.UNLIKELY)
        if mentions:
            fields["mentioned"] = listed(OccurrenceClass.PROSE)
        if self.submodules:
            fields["leftOut"] = {"submodules": [safe_text(path) for path in self.submodules]}
        return fields

    def _fields_of(self, project: Project, place: FoundPlace) -> dict[str, Any]:
        """Return the fields of a place in an answer."""
        path, line, column, start, why = place
        raw = self.name.encode("utf-8", "surrogatepass")
        units = utf16_length(project.text(path)[start - column : start])
        return {
            **path_fields(os.fsencode(path)),
            "line": line + 1,
            "column": column + 1,
            "endColumn": column + len(raw) + 1,
            "columnUtf16": units + 1,
            "endColumnUtf16": units + utf16_length(raw) + 1,
            "why": str(why),
            "text": safe_text(self.line_of(project, place)),
        }

    def line_of(self, project: Project, place: FoundPlace) -> str:
        """Return the line of a place; that of a secret is withheld."""
        shown = place.path not in self.secret
        return text_line(project, place.path, place.line) if shown else ""


def summary(answer: Mapping[str, Any], first: str = "") -> str:
    """Return the partition of an answer as one line; `first` is said instead of the references."""
    counts, everything = answer["accounted"], _total_text(answer)
    broken = " and ".join(map(_assumed_text, answer["assumes"]))
    assumes = f"; assumes {broken}" if broken else ""
    if answer["absent"] and not first:
        return f"nobody uses it: {everything}{assumes}"
    lines = [first or counted(counts["references"] + counts["aliased"], "references")]
    if counts["possible"]:
        lines.append(f"{counts['possible']} possible")
    if counts["unlikely"]:
        lines.append(f"{counts['unlikely']} on other types")
    said = f"{', '.join(lines)}; {everything}"
    if not counts["references"] + counts["aliased"] and answer["reasons"]:
        said += f"; {answer['reasons'][0]}"
    if handed := answer.get("handedOver"):
        said += f"; passed as a value in {counted(handed, 'places')}"
    return said + assumes


def _total_text(answer: Mapping[str, Any]) -> str:
    """Return how many occurrences there are, and whether they are all."""
    total = counted(answer["accounted"]["total"], "occurrences")
    if answer["accountedFor"]:
        only = answer["accounted"]["total"] == 1
        return "its only occurrence accounted for" if only else f"all {total} accounted for"
    unread = answer.get("coverage", {}).get("unchecked", 0)
    why = f"{counted(unread, 'files')} not searched" if unread else "nothing is certified"
    return f"{total} found, {why}"


def _assumed_text(assumed: Mapping[str, Any]) -> str:
    """Return an assumption of an answer in words."""
    return f"no {assumed['assumption'].replace('_', ' ')}"


def partition(finder: Finder, targets: Collection[Definition], name: str = "") -> Partition:
    """Return the partition of the name of some definitions, or of a name without a definition."""
    name = name or next(iter(targets)).name
    found = finder.find(targets) if targets else finder.mentions(name)
    return partition_of(finder, name, found, targets)


def partition_target(finder: Finder, target: ReferenceTarget, found: Found) -> Partition:
    """Return the partition of a target: definitions, a local variable, or a name."""
    declared = {(d.path, d.line, d.column) for d in target.declared}
    found = found._replace(defined=found.defined | declared)
    local = target if target.local else None
    if local is not None and any(d.kind == "parameter" for d in target.declared):
        named = finder.mentions(target.name)  # a keyword of a call gives it its value
        keywords = {s[:3] for s in named.maybe if s.use == Use.REFERENCE}
        keys = {at for at, verdict in named.judged.items() if verdict == KEY or at in keywords}
        found = found._replace(judged=found.judged | dict.fromkeys(keys, KEY))
    return partition_of(finder, target.name, found, target.definitions, local)


def partition_of(
    finder: Finder,
    name: str,
    found: Found,
    targets: Collection[Definition],
    local: ReferenceTarget | None = None,
) -> Partition:
    """Search every text of the tree for the name, and put each occurrence in one class.

    `local`: a variable of one function, which nothing outside of it can name.
    """
    project = finder.project
    project.view.ensure_facts()
    indexed, others = look(project, name), look_left_out(project, name)
    texts = indexed.places | others.places
    sites = _Sites(found)
    judge = _Judge(project, name, targets, texts, sites, local)
    places: dict[OccurrenceClass, list[FoundPlace]] = {group: [] for group in OccurrenceClass}
    counts: Counter[str] = Counter()
    for file in sorted(texts, key=lambda f: os.fsencode(f.path)):
        decoded = project.is_decoded(file.path)
        for line, column, start in texts[file]:
            group, why = judge.classify(file, (file.path, line, column), start)
            counts["decoded" if decoded else group] += 1
            if group is not OccurrenceClass.REFERENCES:
                places[group].append(FoundPlace(file.path, line, column, start, why))
    sums = {str(group): counts[group] for group in SUMMED}
    sums |= {"total": sum(sums.values()), "aliased": sites.aliased(), "decoded": counts["decoded"]}
    unread = indexed.unread + others.unread + len(project.view.overlay.left_out)
    reasons = list(_reasons(finder, targets, found)) if not local else []
    return Partition(
        name,
        found.sites,
        places,
        sums,
        frozenset(f.path for f in texts if f.status == _HIDDEN),
        unread,
        project.view.may_certify(),
        _submodules(project),
        list(dict.fromkeys(reasons)),
        list(_assumed(project, targets, found)),
        _coverage(project) | {"files": len(indexed.places), "unchecked": unread},
    )


class _Sites:
    """The references of a search, by place; some are spelled otherwise, or begin before the word."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self._at = {site[:3]: site for site in found.sites}
        self._met: set[At] = set()
        self._wide: dict[tuple[str, int], list[Site]] = {}
        for site in found.sites:
            self._wide.setdefault(site[:2], []).append(site)

    def meet(self, at: At) -> bool:
        """Return whether a reference is at an occurrence, or around it."""
        if at not in self._at:
            near = self._wide.get(at[:2], ())
            at = next((s[:3] for s in near if s.column <= at[2] < s.end_column), at)
        if at in self._at:
            self._met.add(at)
        return at in self._at

    def aliased(self) -> int:
        """Return how many references were not met: they do not spell the name."""
        return len(self._at) - len(self._met)

    def known(self) -> set[At]:
        """Return the places of all references."""
        return set(self._at)


class _Judge:
    """Puts the occurrences of one name into classes."""

    def __init__(
        self,
        project: Project,
        name: str,
        targets: Collection[Definition],
        texts: dict[MentioningFile, list[tuple[int, int, int]]],
        sites: _Sites,
        local: ReferenceTarget | None,
    ) -> None:
        self._project, self._sites, self._local = project, sites, local
        self._found = found = sites.found
        self._families = {project.family(target) for target in targets}
        known = sites.known() | found.judged.keys() | found.defined
        self._is_named = local is None or any(d.kind == "parameter" for d in local.declared)
        bound = {file: texts[file] for file in texts if file.path not in found.unbound}
        left = places_without_verdict(bound if self._is_named else {}, known)
        data = {file: [p[2] for p in texts[file]] for file in texts if kind_of(file)}
        self._texts = Texts(project, name, left | (data if self._is_named else {}))

    def classify(self, file: MentioningFile, at: At, start: int) -> PlaceClass:
        """Return the class of an occurrence."""
        found = self._found
        if self._sites.meet(at):
            return PlaceClass(OccurrenceClass.REFERENCES)
        if at in found.defined:
            return PlaceClass(OccurrenceClass.DEFINITIONS)
        if self._local is not None:
            return self._of_local(file, at, start, self._local)
        if kind_of(file) and file.language not in self._families:
            return self._texts.judge(file, start)
        if at in found.judged:
            return found.judged[at]
        if file.path in found.unbound:
            return BUDGET
        return self._texts.judge(file, start)

    def _of_local(
        self, file: MentioningFile, at: At, start: int, local: ReferenceTarget
    ) -> PlaceClass:
        """Return the class of a place that is not the variable; others name a parameter by a key."""
        if at in self._found.judged:
            return self._found.judged[at]
        if self._is_named and self._texts.judge(file, start) == STRING:
            return STRING
        unsure = file.path == local.path and not local.proven
        return UNBOUND if unsure else ELSEWHERE


def _reasons(finder: Finder, targets: Collection[Definition], found: Found) -> Iterator[str]:
    """Yield why a symbol may be used though no occurrence of its name is a use."""
    project = finder.project
    if not targets and not found.defined:
        yield "the tree does not define it"
    if found.cut:
        yield "it has more aliases than are followed"
    if len(targets) > MAX_TARGETS:
        yield "it has more definitions than are examined"
    for target in targets if len(targets) <= MAX_TARGETS else ():
        yield from _reasons_of(finder, target)
        if not found.sites and _is_loaded_by_others(finder, target):
            yield "no file imports its module: what loads it may use it"
    if found.outside:
        yield "a base outside of the tree may call it"
    if is_respelled(project, targets):
        yield "other spellings of its name are in the tree"
    if _submodules(project):
        yield "submodules are not searched"


def _reasons_of(finder: Finder, target: Definition) -> Iterator[str]:
    """Yield why one definition may be used though nothing names it."""
    project = finder.project
    source = project.source(target.path)
    if why := reason_used_unnamed(project, target):
        yield why
    if source and source.language in MODELLED and project.scopes(target.path) is None:
        yield "the scopes of its file cannot be read"
    if finder.dispatch.is_collected(target):
        yield "its bases may be asked for the classes below them"
    if source and source.language in ECMA and _is_loaded_whole(finder, target):
        yield "files that import its module as a whole may use it under any name"


def _is_loaded_by_others(finder: Finder, target: Definition) -> bool:
    """Return whether a public name is of a module of Python or ECMAScript that nobody imports."""
    source = finder.project.source(target.path)
    known = source is not None and source.language in STRICT
    return known and target.exported and target.parent < 0 and is_entry(finder.project, target.path)


def _submodules(project: Project) -> list[str]:
    return [os.fsdecode(path) for (path,) in project.view.rows(_SUBMODULES)]


def _is_loaded_whole(finder: Finder, target: Definition) -> bool:
    """Return whether a default or whole export has importers that give it no name."""
    project, modules = finder.project, finder.binder.names.modules
    source = project.source(target.path)
    renamed = modules.renamed(source) if source is not None else {}
    if target.name not in (renamed.get("default"), renamed.get(EXPORTED_WHOLE)):
        return False
    users = project.importing(target.path)
    project.load(users)
    near = (user for user in map(project.source, users) if user is not None)
    return any(
        not item.names and target.path in project.resolve(user, item)
        for user in near
        for item in user.imports
    )


def _assumed(project: Project, targets: Collection[Definition], found: Found) -> Iterator[Assumed]:
    """Yield the assumptions that code of the targets' languages breaks: the lists rely on them."""
    families = {project.family(target) for target in targets}
    holders = [holder for d in list(targets)[:MAX_TARGETS] for holder in _holders(project, d)]
    outside = [f"{d.path}:{d.line + 1}" for d in targets] if found.outside else []
    decorated = [f"{d.path}:{d.start_line + 1}" for d in holders if is_registered(project, d)]
    broken = {Assumption.OUTSIDE: outside, Assumption.FRAMEWORK: decorated}
    for path, family, assumption in _flagged(project):
        if family in families:
            broken.setdefault(assumption, []).append(path)
    for assumption in Assumption:
        if paths := broken.get(assumption):
            yield Assumed(assumption, len(paths), min(paths))


def _holders(project: Project, definition: Definition) -> Iterator[Definition]:
    """Yield a definition, and the class it is a member of."""
    yield definition
    source = project.source(definition.path)
    owner = source.symbol(definition.parent) if source is not None else None
    if owner is not None:
        yield owner


def _flagged(project: Project) -> list[tuple[str, str, Assumption]]:
    """Return the files whose flags break an assumption, with their families; kept for the tree."""
    notes = project.tree.notes
    if "flagged" not in notes:
        notes["flagged"] = [
            (os.fsdecode(path), family_of(language), assumption)
            for path, language, flags in project.view.rows(_FLAGGED)
            for assumption in dict.fromkeys(filter(None, map(_FLAGS.get, flags.split(","))))
        ]
    flagged: list[tuple[str, str, Assumption]] = notes["flagged"]
    return flagged


def _coverage(project: Project) -> dict[str, int]:
    """Return how many files of the tree were parsed, by status; kept for the tree."""
    notes = project.tree.notes
    if "coverage" not in notes:
        notes["coverage"] = _count(project.view)
    return dict(notes["coverage"])


def _count(view: TreeView) -> dict[str, int]:
    counts = dict.fromkeys(("parsed", "partial", "noGrammar", "quarantined", "skipped"), 0)
    keys = {FactsStatus.PARSED: "parsed", FactsStatus.PARTIAL: "partial"}
    keys |= {FactsStatus.LEXICAL: "noGrammar", FactsStatus.QUARANTINED: "quarantined"}
    for status, count in view.rows(
        "SELECT b.status, count(*) FROM {live} l LEFT JOIN {blobs} b ON b.id=l.blob_id GROUP BY 1"
    ):
        counts[keys.get(status, "skipped") if status else "skipped"] += count
    return counts


def text_line(project: Project, path: str, line: int) -> str:
    """Return the start of a line of a file."""
    found = _START.match(project.text(path), project.offset(path, line, 0))
    return found.group(1).decode("utf-8", "replace")[:MAX_LINE].strip() if found else ""
