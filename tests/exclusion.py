"""False exclusion: a use of the target that an answer has in none of its lists."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

Place = tuple[str, int, int]  # path, line, column, 1-based as in answers
LISTS = ("definitions", "references", "possible", "unlikely")
"""What a reader of an answer sees; `unlikely` where the query asks for everything."""
SUMMED = ("definitions", "references", "possible", "unlikely", "elsewhere", "prose")


class Judgement(NamedTuple):
    """What is wrong with one answer."""

    excluded: list[Place]
    false_claims: list[str]
    assumes: list[str]  # assumptions that the answer says are broken here

    @property
    def excused(self) -> bool:
        """Return whether something is wrong, and the answer itself says why it may be."""
        return bool((self.excluded or self.false_claims) and self.assumes)

    @property
    def wrong(self) -> bool:
        """Return whether something is wrong and nothing in the answer says so."""
        return bool((self.excluded or self.false_claims) and not self.assumes)


def judge(answer: Mapping[str, Any], uses: Collection[Place], unspelled: bool = False) -> Judgement:
    """Compare an answer with the places that really use the target.

    `unspelled`: something uses the target without its name; then nobody may say that it is absent.
    """
    excluded = sorted(set(uses) - listed(answer))
    claims = []
    if answer["absent"] and (uses or unspelled):
        claims.append("absent, and it is used")
    if answer["complete"] and set(uses) - listed(answer, ("definitions", "references")):
        claims.append("complete, and a use is not a reference")
    if not adds_up(answer):
        claims.append(f"does not add up: {answer['accounted']}")
    return Judgement(excluded, claims, [one["assumption"] for one in answer["assumes"]])


def listed(answer: Mapping[str, Any], lists: Collection[str] = LISTS) -> set[Place]:
    """Return the places of some lists of an answer."""
    rows = [row for name in lists for row in answer.get(name, ())]
    return {(row["path"], row["line"], row["column"]) for row in rows}


def lines_excluded(
    answer: Mapping[str, Any], lines: Collection[tuple[str, int]]
) -> list[tuple[str, int]]:
    """Return the lines with a use of which an answer lists no place."""
    return sorted(set(lines) - {place[:2] for place in listed(answer)})


def adds_up(answer: Mapping[str, Any]) -> bool:
    """Return whether the counts of the classes are the total."""
    counts = answer["accounted"]
    return bool(sum(counts[name] for name in SUMMED) == counts["total"])
