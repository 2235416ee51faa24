"""`python -m tests.pages` writes what programs write in pages; tests/mcp_docs.py writes the MCP tools."""

from __future__ import annotations

from bench import page as benchmarks
from gitindex.cli.help import ALIAS, manual_page
from tests.pages import (
    DOCS,
    IMAGES,
    MANUAL,
    PROMISES,
    SCENARIOS,
    pictures,
    promises,
    reference,
    scenarios,
)

if __name__ == "__main__":
    SCENARIOS.write_text(scenarios.render(SCENARIOS.read_text()))
    PROMISES.write_text(promises.render(PROMISES.read_text(), promises.collect()))
    (MANUAL / "git-index.1").write_text(manual_page())
    (MANUAL / "gitindex.1").write_text(ALIAS)
    for name in reference.PAGES:
        (DOCS / name).write_text(reference.render(name))
    for name, drawn in pictures.all_pictures().items():
        (IMAGES / name).write_text(drawn)
    benchmarks.PAGE.write_text(benchmarks.render())
