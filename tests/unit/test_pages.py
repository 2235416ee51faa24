"""The pages of this repository: up to date, no dead name, no pointer to a file outside it.

tests/unit/test_book.py checks what the user's pages say.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from gitindex.cli.help import ALIAS, manual_page
from tests.pages import MANUAL, ROOT, SCENARIOS, scenarios

BEING_WRITTEN: set[str] = set()
"""Scenarios whose tests come with the change that fixes them; empty once all have landed."""


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--", *patterns],
        capture_output=True,
        check=False,
        text=True,
        timeout=300,
    ).stdout
    names = listed.split("\0")[:-1] or [str(p) for pattern in patterns for p in ROOT.glob(pattern)]
    return [path for name in names if (path := ROOT / name).is_file()]


PAGES = sorted(tracked("*.md", "docs/*.md", "tests/*.md", "templates/*.md"))


def test_scenarios_page_is_up_to_date() -> None:
    page = SCENARIOS.read_text()
    assert page == scenarios.render(page), "run `python -m tests.pages`"


def test_the_manual_is_the_help() -> None:
    assert (MANUAL / "git-index.1").read_text() == manual_page(), "run `python -m tests.pages`"
    assert (MANUAL / "gitindex.1").read_text() == ALIAS


def test_every_scenario_has_a_test() -> None:
    assert set(scenarios.untested(SCENARIOS.read_text())) <= BEING_WRITTEN


def test_architecture_names_what_exists() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text()
    for name, path in re.findall(r"`([A-Za-z_.]+)`(?: and `\w+`)? in `([\w/]+\.py)`", page):
        text = (ROOT / "gitindex" / path).read_text()
        for part in name.split("."):
            assert re.search(rf"(?:def|class) {part}\b|^{part} = ", text, re.MULTILINE), (
                name,
                path,
            )
    for folder in re.findall(r"`(\w+/)`", page):
        assert (ROOT / "gitindex" / folder).is_dir() or (ROOT / folder).is_dir(), folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_stay_inside_and_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if "://" not in target:
            found = (page.parent / target).resolve()
            assert found.is_relative_to(ROOT), target
            assert found.exists(), target


OUTSIDE = re.compile(
    r"(?<![\w./])(?:\.\./)*shared/|design sheet|reliability\.md|githooks\.md|limits\.md",
    re.IGNORECASE,
)


def test_nothing_points_outside_the_repository() -> None:
    for path in tracked(
        "*.md", "*.py", "*.sh", "*.sql", "*.toml", "*.yaml", "*.cfg", "*.ini", "Makefile"
    ):
        if path != Path(__file__).resolve() and "fixtures" not in path.parts:
            assert not OUTSIDE.search(path.read_text()), path


def test_pages_name_files_that_exist() -> None:
    """`gitindex/x.py`, `docs/x.md` and the like in prose are files of this repository."""
    for page in PAGES:
        if page.name in ("CHANGELOG.md", "benchmarks.md"):
            continue
        screens = re.compile(r"^```console$.*?^```$", re.MULTILINE | re.DOTALL)
        prose = screens.sub("", page.read_text())
        for name in re.findall(
            r"(?<![\w/.])((?:gitindex|docs|tests|hooks|bench)/[\w/.-]+\.\w+)", prose
        ):
            if not re.search(r"NAME|EXT", name):  # to be filled in
                assert (ROOT / name).exists(), (page.name, name)


def test_the_index_of_pages_names_every_page() -> None:
    page = (ROOT / "docs/README.md").read_text()
    linked = set(re.findall(r"\]\(([\w.-]+\.md)\)", page))
    assert linked == {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}


def test_every_library_has_its_licence_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [
        d for name, of in project["optional-dependencies"].items() if name != "dev" for d in of
    ]
    needed = {re.split(r"[\[<>=~ ]", one)[0] for one in [*project["dependencies"], *extras]}
    page = (ROOT / "docs/licences.md").read_text()
    named = set(re.findall(r"[\w-]+", page))
    grammars = {name for name in needed if name.startswith("tree-sitter-")}
    assert needed - grammars <= named
