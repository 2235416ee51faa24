"""`python -m tests.pages` writes the generated columns anew."""

from __future__ import annotations

from tests.pages import SCENARIOS, scenarios

if __name__ == "__main__":
    SCENARIOS.write_text(scenarios.render(SCENARIOS.read_text()))
