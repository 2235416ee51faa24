"""Find callers that no longer fit a changed signature: arity and required keywords. Python only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gitindex.base.vocabulary import Tier
from gitindex.languages.facts import Use
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.impact.arity import Parameter, misfit, read_call, read_parameters
from gitindex.query.impact.change import Difference, TreeChange
from gitindex.query.names.finder import Finder
from gitindex.query.names.model import Definition, Site

_PLAIN = re.compile(r"@(staticmethod|classmethod)\b")
_SURE = (Tier.SEMANTIC, Tier.EXACT, Tier.IMPORT)


class Misfit(NamedTuple):
    """A call that fits the old signature but not the new one. `line` is 0-based."""

    path: str
    line: int
    column: int
    name: str
    why: str
    signature: str


def find_misfits(change: TreeChange) -> list[Misfit]:
    """Return every misfit, ordered by path and line."""
    found: set[Misfit] = set()
    for one in change.symbols:
        new = one.definition
        if one.difference is not Difference.INTERFACE or new.kind not in FUNCTIONS:
            continue
        old = _before(change, new)
        if old is not None and new.path.endswith(".py") and not _is_wrapped(change.after, new):
            found.update(_callers(change, old, new))
    return sorted(found)


def _before(change: TreeChange, new: Definition) -> Definition | None:
    source = change.before.project.source(new.path)
    same = [s for s in source.named(new.name) if s.qualified == new.qualified] if source else []
    return same[0] if len(same) == 1 else None


def _is_wrapped(finder: Finder, definition: Definition) -> bool:
    """Return whether a decorator may change the signature that callers see."""
    text = finder.project.span(definition.path, definition.start_line, definition.line)
    above = [line.strip() for line in text.splitlines()[:-1]]
    return any(line.startswith("@") and not _PLAIN.match(line) for line in above)


def _callers(change: TreeChange, old: Definition, new: Definition) -> Iterator[Misfit]:
    before, after = (_parameters(f, d) for f, d in ((change.before, old), (change.after, new)))
    if before is None or after is None:
        return
    source = change.after.project.source(new.path)
    owner = source.symbol(new.parent) if source else None
    target = owner if owner is not None and new.name == "__init__" else new
    member = owner is not None and change.after.binder.is_member(new)
    for site in change.after.sites([target]):
        if site.use != Use.CALL or site.tier not in _SURE:
            continue
        why = _why(change.after, site, before, after, member)
        if why:
            signature = " ".join(new.signature.split())
            yield Misfit(site.path, site.line, site.column, new.name, why, signature)


def _parameters(finder: Finder, definition: Definition) -> list[Parameter] | None:
    text = definition.signature
    source = finder.project.source(definition.path)
    if "…" in text and source is not None:
        text = finder.binder.names.header(source, definition)
    return read_parameters(text)


def _why(
    finder: Finder, site: Site, before: list[Parameter], after: list[Parameter], member: bool
) -> str:
    """Return why the call at a site no longer fits; empty if it fits, or if that is unknown."""
    text = finder.project.text(site.path).decode("utf-8", "replace")
    end = finder.project.offset(site.path, site.line, site.end_column)
    data = finder.project.text(site.path)
    opened = len(data[:end].decode("utf-8", "replace"))
    while text[opened : opened + 1].isspace():
        opened += 1
    call = read_call(text, opened) if text[opened : opened + 1] == "(" else None
    if call is None:
        return ""
    # A method may be called through an instance or through its class.
    ways = (True, False) if member else (False,)
    if not any(misfit(call, before, way) == "" for way in ways):
        return ""
    reasons = [misfit(call, after, way) for way in ways]
    return reasons[0] if all(reasons) else ""
