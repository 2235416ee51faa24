"""The book: its size, its four kinds of page, no diary, and claims that the code confirms."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
import yaml

import gitindex
from bench import page as benchmarks
from gitindex.base.errors import Exit
from gitindex.cli.commands import all_commands, commands, resolve
from gitindex.cli.help import OPTIONS
from gitindex.git.settings import SETTINGS
from gitindex.questions.table import shell_params
from tests.pages import DOCS, IMAGES, ROOT, hand_written, pictures, reference
from tests.support import Repo

BOOK = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
PRODUCT = sorted(Path(gitindex.__file__).parent.rglob("*.py"))
MOST_WORDS = 22_000
MOST_EXPLANATION = 1_200
GENERATED = {"benchmarks.md", "promises.md"}
SHELL = re.compile(r"^ *```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def by_name(page: Path) -> str:
    return page.name


def kinds() -> dict[str, list[str]]:
    """The pages of each section of the site."""
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    sections = [next(iter(section.items())) for section in config["nav"]]
    return {name: pages if isinstance(pages, list) else [pages] for name, pages in sections}


def test_every_page_is_of_one_of_four_kinds() -> None:
    sections = kinds()
    assert list(sections) == ["Start", "Tutorial", "How to", "Reference", "Explanation"]
    listed = [name for pages in sections.values() for name in pages]
    assert sorted(listed) == sorted(path.name for path in DOCS.glob("*.md"))


def test_the_book_is_short() -> None:
    words = {
        str(page.relative_to(ROOT)): len(hand_written(page.read_text()).split()) for page in BOOK
    }
    assert sum(words.values()) <= MOST_WORDS, words


def test_an_explanation_is_short_and_has_one_picture() -> None:
    for name in kinds()["Explanation"]:
        text = hand_written((DOCS / name).read_text())
        assert len(text.split()) <= MOST_EXPLANATION, name
        assert len(re.findall(r"^!\[", text, re.MULTILINE)) == 1, name


DIARY = {
    "a clock time": re.compile(
        r"\b(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?\s*(?:UTC|h\b|o'clock)|\bUTC\b.*\bload\b"
    ),
    "a load": re.compile(r"\bloads? (?:of|above|below|was) \d|\bat a load\b|\bloaded machine\b"),
    "a commit id": re.compile(
        r"(?<![\w./-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])(?!ed25519)[0-9a-f]{7,12}(?![\w-])"
    ),
}
SHOWN = re.compile(r"^ *```(?:json|text|console)\n.*?^ *```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", BOOK, ids=by_name)
def test_no_diary_in_a_page(page: Path) -> None:
    text = page.read_text() if page.name in GENERATED else hand_written(page.read_text())
    prose = SHOWN.sub("", text)
    for what, pattern in DIARY.items():
        found = pattern.search(prose)
        assert found is None, (what, found and found[0])


def shell_lines() -> Iterator[tuple[str, str]]:
    """The lines of `sh` blocks that run gitindex, without their comments."""
    for page in BOOK:
        for block in SHELL.findall(page.read_text()):
            for line in block.splitlines():
                bare = re.sub(r"(^|\s+)#.*$", "", line).strip()
                for command in re.split(r"\s(?:&&|\|)\s", bare):
                    if re.match(r"(gitindex|git idx|git index)\s", command):
                        yield page.name, re.sub(r"^git (idx|index)", "gitindex", command)


@pytest.mark.parametrize(("page", "line"), [*shell_lines()])
def test_commands_and_their_options_exist(page: str, line: str) -> None:
    words = shlex.split(line.replace("…", ""))[1:]
    while words[:1] == ["-C"]:
        words = words[2:]
    found, rest = resolve(words)
    assert found is not None, (page, line)
    known = {flag for param in shell_params(found) for flag in param.flags} | {"-h", "--help"}
    for word in rest[: rest.index("--")] if "--" in rest else rest:
        if re.match(r"--?[a-zA-Z]", word):
            assert word.partition("=")[0] in known, (page, line, word)


FOREIGN = {  # options of git, pre-commit, pytest, npm, pip, ssh and bench that pages name
    "--add", "--amend", "--cached", "--cov", "--cov-context", "--force", "--from-ref", "--to-ref",
    "--all-files", "--global",
    "--install-hooks", "--allow-missing-config", "--unset", "--unshallow", "--hard", "--untracked",
    "--no-index", "--no-aliases", "--pre", "--plugin-dir", "--first-parent", "--radar",
}  # fmt: skip


def test_options_in_prose_exist() -> None:
    known = {
        flag
        for one in [*all_commands(), *commands().values()]
        for p in shell_params(one)
        for flag in p.flags
    }
    known |= {word for names, _ in OPTIONS for word in re.findall(r"--?[\w-]+", names)}
    for page in BOOK:
        for span in re.findall(r"`([^`\n]+)`", SHOWN.sub("", hand_written(page.read_text()))):
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", span):
                assert option in known | FOREIGN, (page.name, span)


def test_settings_and_variables_exist() -> None:
    known = {f"gitindex.{setting.name}" for setting in SETTINGS}
    source = "".join(path.read_text() for path in PRODUCT)
    source += "".join(path.read_text() for path in (ROOT / "hooks").rglob("*") if path.is_file())
    for page in BOOK:
        text = hand_written(page.read_text())
        for key in re.findall(r"\bgit config [^`\n]*?(gitindex\.[\w.]+)", text):
            assert key in known, (page.name, key)
        for variable in re.findall(r"\b(GITINDEX_[A-Z_]+)\b", text):
            assert variable in source or page.name == "add-a-language.md", (page.name, variable)
    settings = (DOCS / "settings.md").read_text()
    used = {*re.findall(r"\"(GITINDEX_[A-Z]+)\"", source)}
    assert used <= {*re.findall(r"\b(GITINDEX_[A-Z]+)\b", settings)}


NAMED = re.compile(
    r"`((?:gitindex|docs|tests|bench|hooks|templates|editors|native|man)/[\w/.-]*|"
    r"(?:base|cli|edit|extract|filestate|freshness|git|install|languages|maintenance|mcp|query|questions"
    r"|refresh|semantic|sharing|store|view|web)/[\w/.-]+\.(?:py|sql|scm))`"
)


@pytest.mark.parametrize(
    "page", [*BOOK, ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md"], ids=by_name
)
def test_paths_in_pages_exist(page: Path) -> None:
    for name in NAMED.findall(page.read_text()):
        if not re.search(r"NAME|EXT|sample\.|_data", name):
            assert (ROOT / name).exists() or (ROOT / "gitindex" / name).exists(), name


def test_messages_of_the_troubleshooting_page_are_in_the_code() -> None:
    source = re.sub(r"\s+", " ", " ".join(path.read_text() for path in PRODUCT))
    source = re.sub(r"\{[^{}\"]*(?:\{[^{}]*\}[^{}\"]*)*\}", "…", source)
    page = (DOCS / "troubleshooting.md").read_text()
    checked = 0
    for line in page.splitlines():
        if line.startswith("| `"):
            for message in re.findall(r"`([^`]+)`", line.strip("| ").split(" | ")[0]):
                for part in re.split(r"…|^(?:stale|rebuilding|error|unknown): ", message):
                    part = re.sub(r" \(secret\)$|\.llmc$", "", part).strip(" :,")
                    if len(part) > 5:
                        checked += 1
                        assert part in source, part
    assert checked > 45


CODES = (
    "0 fresh (with or without edits), 1 stale or rebuilding, 2 usage, 3 not indexed or requires "
    "reindex, 4 error. Of queries: 0 found, 1 nothing found, 2 usage, 3 gated, 4 error"
)


def test_exit_codes_are_those_of_the_code() -> None:
    assert [code.value for code in Exit] == [0, 1, 2, 3, 4]
    assert CODES in re.sub(r"\s+", " ", (ROOT / "README.md").read_text())


def test_the_hooks_of_pre_commit_are_those_of_the_page() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    page = (DOCS / "pre-commit.md").read_text()
    for hook in hooks:
        if hook["id"] == "gitindex-python":
            continue
        row = next(
            (line for line in page.splitlines() if line.startswith(f"| `{hook['id']}` |")), None
        )
        assert row is not None, hook["id"]
        assert row.split(" | ")[1] == ", ".join(hook["stages"]), hook["id"]
    sample = yaml.safe_load((ROOT / "templates/pre-commit-config.yaml").read_text())
    shown = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[0])
    shown["repos"][0]["repo"] = sample["repos"][0]["repo"]
    assert shown == sample


def test_readme_names_every_everyday_command() -> None:
    readme = (ROOT / "README.md").read_text()
    for one in all_commands():
        if one.group in ("Everyday", "Explore", "Change") and one.name.split()[0] not in (
            "history",
            "decide",
        ):
            assert re.search(rf"gitindex {one.name}\b|\b{one.name}\b", readme), one.name


@pytest.mark.parametrize("name", reference.PAGES)
def test_reference_pages_are_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text() == reference.render(name), "run `make pages`"


def test_pictures_and_benchmarks_are_up_to_date() -> None:
    for name, drawn in pictures.all_pictures().items():
        assert (IMAGES / name).read_text() == drawn, "run `make pages`"
    assert benchmarks.PAGE.read_text() == benchmarks.render(), "run `make pages`"
    assert json.loads(benchmarks.RESULTS.read_text())["runs"]


NUMBERS = {  # what a page says → where the code has it, and in which unit
    "design.md: within a budget ({} paths": "freshness.envelope:MAX_PATHS",
    "design.md: paths, {} MB)": "freshness.envelope:MAX_BYTES >> 20",
    "design.md: texts above {} MB": "base.vocabulary:MAX_TEXT_BYTES >> 20",
    "internals.md: one per {} KiB of the database": "store.checksums:PART >> 10",
    "certificates.md: one answer binds ({} files": "query.names.finder:MAX_FILES",
    "certificates.md: files, {} places)": "query.names.finder:MAX_PLACES",
    "ranking.md: It yields {} files": "query.search.candidates:TEXT_HITS",
    "ranking.md: we keep {}, preferring": "query.search.candidates:BY_TEXT",
    "ranking.md: The best {} files are then read": "query.search.search:POOL",
    "ranking.md: the latest {} commits": "git.subjects:WINDOW",
    "ranking.md: chunks of {} bytes": "query.search.chunks:STEP * 2",
    "ranking.md: more than {} characters": "query.search.query_text:LONG",
    "ranking.md: at most {} characters": "query.search.query_text:MAX_QUERY",
    "ranking.md: and {} telling words": "query.search.query_text:MAX_WORDS",
    "ranking.md: edges from tests weigh {}": "query.map.file_graph:TEST_WEIGHT",
    "search.md: ended after {} seconds in one file": "query.grep.child:SECONDS_PER_FILE",
    "search.md: one file and {} in all": "query.grep.child:SECONDS_IN_ALL",
    "documents.md: a query of more than {} characters": "query.documents:MAX_TEXT",
    "documents.md: at most {}, never stored": "query.documents:MAX_UNTRACKED",
    "proof.md: not a sample of {}": "store.fact_check:SAMPLE",
    "web.md: after {} minutes without a request": "web.server:IDLE_SECONDS // 60",
    "team.md: must stand within {} s": "sharing.server:CONNECT_SECONDS",
    "team.md: a question may take {} s": "sharing.server:QUERY_MS // 1000",
    "team.md: nobody tries for {} seconds": "sharing.server:BREAKER_SECONDS",
    "team.md: reads at most {} parts of texts": "sharing.team_questions:CANDIDATES",
    "languages.md: more than {} MiB | words only": "base.vocabulary:MAX_PARSE_BYTES >> 20",
    "languages.md: more than {} MiB | not indexed": "base.vocabulary:MAX_TEXT_BYTES >> 20",
    "languages.md: more than {} brackets": "languages.syntax.extract:MAX_NESTING",
    "mcp.md: at most {} KiB": "mcp.dispatch:MAX_BYTES >> 10",
    "install.md: git {} and later": "install.hooks.place:CONFIG_HOOKS",
    "changes.md: (git {} or later)": "git.merge_tree:NEEDED",
}


@pytest.mark.parametrize("claim", NUMBERS)
def test_numbers_are_those_of_the_code(claim: str) -> None:
    name, _, phrase = claim.partition(": ")
    module, _, expression = NUMBERS[claim].partition(":")
    constant = expression.split()[0]
    scope = {constant: getattr(import_module(f"gitindex.{module}"), constant)}
    value = eval(expression, scope)  # a line of this file
    shown = ".".join(map(str, value)) if isinstance(value, tuple) else f"{value:,g}"
    page = re.sub(r"\s+", " ", hand_written((DOCS / name).read_text()))
    assert phrase.replace("{}", shown) in page, shown


def test_the_shown_status_and_marker_have_the_fields_of_real_ones(repo: Repo) -> None:
    repo.index_files({"a.py": "def f(): pass\n"})
    blocks = re.findall(r"```json\n(.*?)```", (DOCS / "files.md").read_text(), re.DOTALL)
    names = ("rag_index_status.json", "completion_marker.json")
    for block, name in zip(blocks, names, strict=True):
        real = json.loads((repo.path / ".llmc" / name).read_text())
        shown = json.loads(block)
        assert shown.keys() == real.keys(), name
        assert shown.get("fingerprint", {}).keys() == real.get("fingerprint", {}).keys()


@pytest.mark.parametrize(
    "name",
    [
        "action.yml",
        "docs/ci.md",
        "docs/pre-commit.md",
        "editors/vscode/package.json",
        "templates/ci/gitlab.yml",
        "templates/mcp/server.json",
        "templates/plugins/claude-code/.claude-plugin/plugin.json",
        "templates/plugins/gemini-cli/gemini-extension.json",
        "templates/pre-commit-config.yaml",
    ],
)
def test_every_file_names_the_version_of_this_package(name: str) -> None:
    found = re.findall(r'(?:"version": "|@v|rev: v)(\d+\.\d+\.\d+)', (ROOT / name).read_text())
    assert found
    assert set(found) == {gitindex.__version__}
