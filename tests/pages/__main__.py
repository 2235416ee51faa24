"""`python -m tests.pages` writes the generated columns anew."""

from __future__ import annotations

from tests.pages import PROMISES, SCENARIOS, promises, scenarios

if __name__ == "__main__":
    SCENARIOS.write_text(scenarios.render(SCENARIOS.read_text()))
    PROMISES.write_text(promises.render(PROMISES.read_text(), promises.collect()))
