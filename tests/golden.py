"""What people ask of five third-party packages, and the files that answer it. Written before ranking them.

The first set is for tuning; the second is held out: it is only ever measured.
"""

from __future__ import annotations

import importlib.util
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from gitindex.query.search.query_text import parse_query
from gitindex.store.lexical import LexicalQuery, LexicalReader
from gitindex.view.tree import TreeView

DEPTH = 10
Ranker = Callable[[str], list[str]]


class Case(NamedTuple):
    """A query and the files that answer it, the best first; `symbol` is the definition asked for."""

    query: str
    files: tuple[str, ...]
    symbol: str = ""


class GoldenSet(NamedTuple):
    """Packages in one repository, and what is asked of it."""

    packages: tuple[str, ...]
    cases: tuple[Case, ...]


TUNED = GoldenSet(
    ("_pytest", "pre_commit", "typer"),
    (
        # identifiers, as they are written
        Case("MonkeyPatch", ("_pytest/monkeypatch.py",), "MonkeyPatch"),
        Case("AssertionRewriter", ("_pytest/assertion/rewrite.py",), "AssertionRewriter"),
        Case("getfixturevalue", ("_pytest/fixtures.py",), "getfixturevalue"),
        Case("tmp_path_factory", ("_pytest/tmpdir.py",), "tmp_path_factory"),
        Case(
            "pytest_runtest_protocol",
            ("_pytest/runner.py", "_pytest/hookspec.py"),
            "pytest_runtest_protocol",
        ),
        Case("xargs", ("pre_commit/xargs.py",), "xargs"),
        Case("staged_files_only", ("pre_commit/staged_files_only.py",), "staged_files_only"),
        Case("Store", ("pre_commit/store.py",), "Store"),
        Case("get_staged_files", ("pre_commit/git.py",), "get_staged_files"),
        Case("Typer", ("typer/main.py",), "Typer"),
        Case("OptionInfo", ("typer/models.py",), "OptionInfo"),
        # other spellings and parts
        Case("monkey patch", ("_pytest/monkeypatch.py",), "MonkeyPatch"),
        Case("capture fixture", ("_pytest/capture.py",), "CaptureFixture"),
        Case("FixtureLookup error", ("_pytest/fixtures.py",), "FixtureLookupError"),
        Case("installUninstall", ("pre_commit/commands/install_uninstall.py",)),
        Case("file lock", ("pre_commit/file_lock.py",), "lock"),
        Case("param info", ("typer/models.py",), "ParameterInfo"),
        Case("terminal writer", ("_pytest/_io/terminalwriter.py",), "TerminalWriter"),
        # sentences
        Case("how are assert statements rewritten", ("_pytest/assertion/rewrite.py",)),
        Case("where is stdout captured", ("_pytest/capture.py",)),
        Case("remove old temporary directories", ("_pytest/pathlib.py", "_pytest/tmpdir.py")),
        Case("compare floating point numbers with a tolerance", ("_pytest/approx.py",), "approx"),
        Case("write junit xml report", ("_pytest/junitxml.py",)),
        Case("skip tests conditionally", ("_pytest/skipping.py",)),
        Case("evaluate mark expression", ("_pytest/mark/expression.py",), "Expression"),
        Case("clone a repository into the cache", ("pre_commit/store.py",), "clone"),
        Case("stash unstaged changes before running hooks", ("pre_commit/staged_files_only.py",)),
        Case("update hook revisions to the latest tag", ("pre_commit/commands/autoupdate.py",)),
        Case("install the git hook script", ("pre_commit/commands/install_uninstall.py",)),
        Case("run commands in parallel partitions", ("pre_commit/xargs.py",)),
        Case("read the shebang of an executable", ("pre_commit/parse_shebang.py",)),
        Case(
            "generate shell completion script",
            (
                "typer/_completion_classes.py",
                "typer/completion.py",
                "typer/_completion_shared.py",
                "typer/_click/shell_completion.py",
            ),
        ),
        Case("prompt for a password", ("typer/_click/termui.py",), "prompt"),
        Case(
            "progress bar",
            ("typer/_click/_termui_impl.py", "typer/_click/termui.py"),
            "ProgressBar",
        ),
        # paths
        Case("junitxml.py", ("_pytest/junitxml.py",)),
        Case("commands/gc", ("pre_commit/commands/gc.py",)),
        Case("languages/golang.py", ("pre_commit/languages/golang.py",)),
        Case("rich_utils", ("typer/rich_utils.py",)),
        # pasted
        Case(
            "def pytest_collection_modifyitems(session, config, items):",
            ("_pytest/hookspec.py",),
            "pytest_collection_modifyitems",
        ),
        Case(
            "raise UsageError(",
            ("_pytest/config/__init__.py", "_pytest/main.py", "_pytest/config/exceptions.py"),
        ),
        Case("from pre_commit.prefix import Prefix", ("pre_commit/prefix.py",), "Prefix"),
        Case("monkeypatch.setattr", ("_pytest/monkeypatch.py",), "setattr"),
        # phrases and filters
        Case('"no tests ran"', ("_pytest/terminal.py",)),
        Case("path:languages install_environment node", ("pre_commit/languages/node.py",)),
        Case("kind:class TestReport", ("_pytest/reports.py",), "TestReport"),
        Case("must:MappingNode -path:_pytest yaml", ("pre_commit/yaml_rewrite.py",)),
    ),
)

HELD_OUT = GoldenSet(
    ("hypothesis", "mcp"),
    (
        Case("RuleBasedStateMachine", ("hypothesis/stateful.py",), "RuleBasedStateMachine"),
        Case("ConjectureRunner", ("hypothesis/internal/conjecture/engine.py",), "ConjectureRunner"),
        Case(
            "DirectoryBasedExampleDatabase",
            ("hypothesis/database.py",),
            "DirectoryBasedExampleDatabase",
        ),
        Case("sampled_from", ("hypothesis/strategies/_internal/core.py",), "sampled_from"),
        Case(
            "FeatureStrategy",
            ("hypothesis/strategies/_internal/featureflags.py",),
            "FeatureStrategy",
        ),
        Case("ClientSession", ("mcp/client/session.py",), "ClientSession"),
        Case("ToolManager", ("mcp/server/mcpserver/tools/tool_manager.py",), "ToolManager"),
        Case("stdio_server", ("mcp/server/stdio.py",), "stdio_server"),
        Case("IntervalSet", ("hypothesis/internal/intervalsets.py",), "IntervalSet"),
        Case(
            "from_regex",
            ("hypothesis/strategies/_internal/core.py", "hypothesis/strategies/_internal/regex.py"),
            "from_regex",
        ),
        Case("interval set", ("hypothesis/internal/intervalsets.py",), "IntervalSet"),
        Case("lazy strategy", ("hypothesis/strategies/_internal/lazy.py",), "LazyStrategy"),
        Case("session group", ("mcp/client/session_group.py",), "ClientSessionGroup"),
        Case("uriTemplate", ("mcp/shared/uri_template.py",), "UriTemplate"),
        Case(
            "health check",
            ("hypothesis/_settings.py", "hypothesis/internal/healthcheck.py"),
            "HealthCheck",
        ),
        Case(
            "bearer auth backend",
            ("mcp/server/auth/middleware/bearer_auth.py",),
            "BearerAuthBackend",
        ),
        Case("how is a failing example shrunk", ("hypothesis/internal/conjecture/shrinker.py",)),
        Case("save failing examples to disk", ("hypothesis/database.py",)),
        Case("generate source code of tests", ("hypothesis/extra/ghostwriter.py",)),
        Case("explain which lines cause a failure", ("hypothesis/internal/scrutineer.py",)),
        Case(
            "strategy for ip addresses",
            ("hypothesis/strategies/_internal/ipaddress.py",),
            "ip_addresses",
        ),
        Case(
            "generate dates and times with a timezone",
            ("hypothesis/strategies/_internal/datetime.py",),
            "datetimes",
        ),
        Case("least recently used cache eviction", ("hypothesis/internal/cache.py",)),
        Case("unicode character categories table", ("hypothesis/internal/charmap.py",)),
        Case("infer strategies from type hints", ("hypothesis/strategies/_internal/types.py",)),
        Case(
            "deprecation warning for users",
            ("hypothesis/utils/deprecation.py", "hypothesis/_settings.py"),
            "note_deprecation",
        ),
        Case("refresh an oauth access token", ("mcp/client/auth/oauth2.py",)),
        Case("dynamic client registration endpoint", ("mcp/server/auth/handlers/register.py",)),
        Case("protect against dns rebinding", ("mcp/server/transport_security.py",)),
        Case("terminate a windows process tree", ("mcp/os/win32/utilities.py",)),
        Case("validate the name of a tool", ("mcp/shared/tool_name_validation.py",)),
        Case(
            "render a prompt",
            ("mcp/server/mcpserver/prompts/base.py", "mcp/server/mcpserver/prompts/manager.py"),
        ),
        Case("server sent events transport", ("mcp/server/sse.py", "mcp/client/sse.py")),
        Case("elicit user input", ("mcp/server/elicitation.py",)),
        Case("ghostwriter.py", ("hypothesis/extra/ghostwriter.py",)),
        Case("shrinking/floats", ("hypothesis/internal/conjecture/shrinking/floats.py",)),
        Case("handlers/token.py", ("mcp/server/auth/handlers/token.py",)),
        Case("def find(specifier, condition", ("hypothesis/core.py",), "find"),
        Case(
            "from mcp.shared.exceptions import MCPError", ("mcp/shared/exceptions.py",), "MCPError"
        ),
        Case(
            "raise InvalidArgument(",
            ("hypothesis/errors.py", "hypothesis/strategies/_internal/core.py"),
        ),
        Case("path:client connect to a server over stdio", ("mcp/client/stdio.py",)),
        Case("kind:class Bundle", ("hypothesis/stateful.py",), "Bundle"),
    ),
)


def copy_packages(golden: GoldenSet, target: Path) -> None:
    """The installed sources of a set's packages; nothing is downloaded, nothing is compiled."""
    for package in golden.packages:
        spec = importlib.util.find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        shutil.copytree(
            Path(spec.origin).parent,
            target / package,
            ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.pyc", "vendor"),
        )


def usable(golden: GoldenSet, target: Path) -> list[Case]:
    """The cases whose files this version of the packages has."""
    return [case for case in golden.cases if all((target / file).exists() for file in case.files)]


def ndcg(case: Case, paths: list[str], depth: int = DEPTH) -> float:
    """How well a list of paths answers: 1 if the right files are first, in any order."""
    unique = list(dict.fromkeys(paths))[:depth]
    gain = sum(1 / math.log2(n + 2) for n, path in enumerate(unique) if path in case.files)
    best = sum(1 / math.log2(n + 2) for n in range(min(depth, len(case.files))))
    return gain / best


def plain_bm25(view: TreeView) -> Ranker:
    """BM25 over the same terms of the same texts, and nothing else."""
    reader = LexicalReader(view.worktree.lexical)
    rows = view.rows("SELECT l.path, l.oid FROM {live} l")
    paths = {oid.hex(): path.decode() for path, oid in rows}

    def ranked(text: str) -> list[str]:
        terms = [(term, 1.0) for term in parse_query(text).terms]
        hits = reader.search(LexicalQuery(terms, name_boost=0.0), DEPTH)
        return [paths[hit.key.oid] for hit in hits]

    return ranked
