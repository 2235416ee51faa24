"""A pytest plugin that writes which collected tests hold which promises, as JSON."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.pages import TESTS

_NAMED = re.compile(r"test_i(\d\d)_")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write what was collected where the process that asked for it reads."""
    found = promises_of(session.items)
    Path(os.environ["GITINDEX_COLLECTED"]).write_text(json.dumps(found))


def promises_of(items: list[pytest.Item]) -> list[dict[str, Any]]:
    """One entry per test function and ring: ids it holds, ids it is a control of, number of cases."""
    cases: Counter[tuple[str, bool]] = Counter()
    facts: dict[tuple[str, bool], dict[str, object]] = {}
    for item in items:
        assert isinstance(item, pytest.Function)
        name = item.originalname or item.name
        promises = {id_ for mark in item.iter_markers("promise") for id_ in mark.args}
        controls = {id_ for mark in item.iter_markers("control") for id_ in mark.args}
        promises |= {f"I-{number}" for number in _NAMED.findall(name)}
        if not promises | controls:
            continue
        place = f"`{name}` ({item.path.relative_to(TESTS).as_posix()})"
        key = (place, item.get_closest_marker("torture") is not None)
        extra = [mark.kwargs for mark in item.iter_markers("promise") if mark.kwargs]
        cases[key] += max([int(kwargs.get("cases", 1)) for kwargs in extra], default=1)
        suites = sorted({str(kwargs["suite"]) for kwargs in extra if "suite" in kwargs})
        facts[key] = {
            "test": place,
            "torture": key[1],
            "promises": sorted(promises),
            "controls": sorted(controls),
            "suites": suites,
        }
    return [fields | {"cases": cases[key]} for key, fields in sorted(facts.items())]
