"""SARIF 2.1.0, the format of findings that code hosts show beside changed lines."""

from __future__ import annotations

from gitindex.base.light_types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class SarifResult(NamedTuple):
    """One finding. `line` is 1-based."""

    rule: str
    level: str  # "error", "warning" or "note"
    message: str
    path: str
    line: int


RULES = {
    "dangling-reference": "A reference to something that the change removes.",
    "merge-break": "One side of a merge removes what the other refers to.",
    "duplicate-definition": "Both sides of a merge define the same name.",
    "api-removed": "An exported name was removed.",
    "api-incompatible": "An exported signature changed so that callers may not fit.",
    "api-changed": "An exported signature changed.",
    "api-added": "A name was exported.",
}


def render_sarif(results: list[SarifResult]) -> str:
    """Render a complete log with one run."""
    import json

    from gitindex.base.version import __version__

    used = [name for name in RULES if any(one.rule == name for one in results)]
    driver = {
        "name": "gitindex",
        "version": __version__,
        "rules": [{"id": name, "shortDescription": {"text": RULES[name]}} for name in used],
    }
    run = {"tool": {"driver": driver}, "results": [_result(one) for one in results]}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=True)


def _result(one: SarifResult) -> dict[str, Any]:
    place = {
        "artifactLocation": {"uri": one.path, "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": one.line},
    }
    return {
        "ruleId": one.rule,
        "level": one.level,
        "message": {"text": one.message},
        "locations": [{"physicalLocation": place}],
    }
