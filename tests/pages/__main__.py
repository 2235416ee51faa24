"""`python -m tests.pages` writes the generated columns anew."""

from __future__ import annotations

from gitindex.cli.manual import ALIAS, manual_page
from tests.pages import MANUAL, PROMISES, SCENARIOS, promises, scenarios

if __name__ == "__main__":
    SCENARIOS.write_text(scenarios.render(SCENARIOS.read_text()))
    PROMISES.write_text(promises.render(PROMISES.read_text(), promises.collect()))
    (MANUAL / "git-index.1").write_text(manual_page())
    (MANUAL / "gitindex.1").write_text(ALIAS)
