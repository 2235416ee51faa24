"""What a path says about a file: code, tests or documents; written here, generated or taken over. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from gitindex.base.vocabulary import PathKind

_TEST = re.compile(
    r"(^|/)(tests?|specs?|__tests__|testing|testdata|e2e|\w*[-_]tests?|tests?[-_]\w+|[a-z]\w*Tests?"
    r"|[\w.]*\.Tests?|__fixtures__|__mocks__|test-?utils?)/"
    r"|(^|/)test_[^/]*(?<!\.bash)$|[-_]tests?\.\w+$|\.(test|spec|test-d|tst|cy|stories)\.\w+$|(^|/)tests?\.\w+$"
    r"|(^|/)[^/]*(Tests?|Spec|Suite|TestCase)\.(java|kt|cs|scala|swift|php|groovy|hs)$"
    r"|_spec\.\w+$|(^|/)conftest\.py$|\.bats$"
)
_DOCS = re.compile(r"\.(md|markdown|mdx|rst|adoc|asciidoc|txt|org|tex)$", re.IGNORECASE)
_DOCS_FOLDER = re.compile(r"(^|/)(docs?|documentation|website|man)/", re.IGNORECASE)
_FOREIGN = re.compile(
    r"(^|/)(_?vendor(ed)?|third[-_]?party|node_modules|bower_components|external|extern|dist|build"
    r"|generated|__generated__|gen|fixtures?|testdata|snapshots|__snapshots__)/"
    r"|\.min\.(js|css)$|[._]pb2?(_grpc)?\.\w+$|\.pb\.go$|\.g\.dart$|[._]generated\.\w+$"
    r"|(^|/)zz_generated|\.lock$|(^|/)(package-lock\.json|go\.sum)$",
    re.IGNORECASE,
)
_NEWS = re.compile(r"(^|/)(change(s|log)?|history|news|release[-_]?notes?)([./-]|$)", re.IGNORECASE)
_EXAMPLE = re.compile(
    r"(^|/)(examples?|samples?|demos?|playgrounds?|tutorials?|docs_src|snippets|quickstarts?|sandbox)/"
    r"|(^|/)(example|sample|demo)[^/]*$",
    re.IGNORECASE,
)
_DATA = re.compile(
    r"\.(jsonc?|json5|toml|ya?ml|xml|ini|cfg|conf|properties|csv|tsv|lock|svg|html?|css|scss|snap"
    r"|pot?|gradle|kts|sbt|cabal|gemspec|csproj|props|targets|sln|bzl|cmake|mk|am|ac|in|nix|graphql"
    r"|env|plist|api|golden|native)$|(^|/)(Makefile|Dockerfile|Gemfile|Rakefile|LICENSE|COPYING|BUILD)$",
    re.IGNORECASE,
)
_STUB = re.compile(r"\.(d\.[cm]?ts|pyi|mli|rbi)$")
_HIDDEN = re.compile(r"(^|/)\.[^/]")
_LEGACY = re.compile(r"(^|/)(v\d+|legacy|old|deprecated|attic|archive|obsolete)/", re.IGNORECASE)
_BENCHMARK = re.compile(
    r"(^|/)([\w.-]*bench(mark)?s?|perf)/|(^|[/_.-])bench(mark)?s?([._-][^/]*)?$", re.IGNORECASE
)
_TOOL = re.compile(
    r"(^|/)(scripts?|tools?|buildSrc|ci|hack|misc|packaging|gradle|project|tasks|build-logic)/"
)


class FileKinds(NamedTuple):
    """What kinds of file a path says it is: none for most code. Several may hold."""

    test: bool = False
    example: bool = False
    docs: bool = False
    data: bool = False
    foreign: bool = False
    news: bool = False
    stub: bool = False
    hidden: bool = False
    legacy: bool = False
    benchmark: bool = False
    tool: bool = False


def file_kinds(path: str) -> FileKinds:
    """All kinds of a file that are rarely what one looks for."""
    return FileKinds(
        test=is_test(path),
        example=_EXAMPLE.search(path) is not None,
        docs=_DOCS.search(path) is not None or _DOCS_FOLDER.search(path) is not None,
        data=_DATA.search(path) is not None,
        foreign=is_foreign(path),
        news=is_news(path),
        stub=_STUB.search(path) is not None,
        hidden=_HIDDEN.search(path) is not None,
        legacy=_LEGACY.search(path) is not None,
        benchmark=_BENCHMARK.search(path) is not None,
        tool=_TOOL.search(path) is not None,
    )


def is_test(path: str) -> bool:
    """Does the name of a file say that it holds tests?"""
    return _TEST.search(path) is not None


def is_foreign(path: str) -> bool:
    """Is the file generated, vendored or test data, judged by its path?"""
    return _FOREIGN.search(path) is not None


def is_news(path: str) -> bool:
    """A list of changes mentions everything and explains nothing."""
    return _NEWS.search(path) is not None


def place_of(path: str) -> PathKind:
    """What a file is for."""
    if is_test(path):
        return PathKind.TESTS
    return PathKind.DOCS if _DOCS.search(path) else PathKind.CODE


def stem_of(path: str) -> str:
    """What a file is called without its suffix; a package's main file is called like its folder."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0] or name
    return folder.rpartition("/")[2] or stem if stem in _MAIN else stem


_MAIN = frozenset({"__init__", "index", "mod", "__main__"})
MAIN_NAMES = _MAIN | {"main", "lib", "init", "package"}
"""Names of files that stand for their folder."""
CENTRAL_NAMES = frozenset({"core", "common", "base", "shared", "internal"})
"""Names of folders for what the other folders share."""
