"""What a path says about a file: code, tests or documents; written here, generated or taken over. Pure.

Sets of names instead of regular expressions: a cold search would compile thirteen of them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from gitindex.base.vocabulary import PathKind


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TEST_FOLDERS = _words(
    "test tests spec specs __tests__ testing testdata e2e __fixtures__ __mocks__"
    " testutil testutils test-util test-utils"
)
_TEST_STEMS = tuple(_words("-test _test -tests _tests _spec .test .spec .test-d .tst .cy .stories"))
_TEST_CLASSES = ("Test", "Tests", "Spec", "Suite", "TestCase")
_CLASS_SUFFIXES = _words("java kt cs scala swift php groovy hs")
_DOCS = tuple(_words(".md .markdown .mdx .rst .adoc .asciidoc .txt .org .tex"))
_DOCS_FOLDERS = frozenset({"doc", "docs", "documentation", "website", "man"})
_FOREIGN_FOLDERS = _words(
    "vendor vendored _vendor _vendored thirdparty third-party third_party node_modules"
    " bower_components external extern dist build generated __generated__ gen fixture fixtures"
    " testdata snapshots __snapshots__"
)
_FOREIGN_NAMES = frozenset({"package-lock.json", "go.sum"})
_FOREIGN_ENDS = (".min.js", ".min.css", ".g.dart", ".lock")
_FOREIGN_STEMS = tuple(
    f"{mark}{word}" for mark in "._" for word in ("pb", "pb2", "pb_grpc", "pb2_grpc", "generated")
)
_NEWS = _words(
    "change changes changelog history news releasenote releasenotes release-note release-notes"
    " release_note release_notes"
)
_NEWS_STARTS = tuple(f"{word}-" for word in _NEWS)
_EXAMPLE_FOLDERS = _words(
    "example examples sample samples demo demos playground playgrounds tutorial tutorials docs_src"
    " snippets quickstart quickstarts sandbox"
)
_EXAMPLE_STARTS = ("example", "sample", "demo")
_DATA_SUFFIXES = _words(
    "json jsonc json5 toml yml yaml xml ini cfg conf properties csv tsv lock svg htm html css scss"
    " snap po pot gradle kts sbt cabal gemspec csproj props targets sln bzl cmake mk am ac in nix"
    " graphql env plist api golden native"
)
_DATA_NAMES = _words("makefile dockerfile gemfile rakefile license copying build")
_STUBS = (".d.ts", ".d.cts", ".d.mts", ".pyi", ".mli", ".rbi")
_LEGACY_FOLDERS = frozenset({"legacy", "old", "deprecated", "attic", "archive", "obsolete"})
_BENCHMARKS = frozenset({"bench", "benchs", "benchmark", "benchmarks"})
_BENCHMARK_ENDS = tuple(_BENCHMARKS)
_MARKS = str.maketrans("-_", "..")
_TOOL_FOLDERS = _words(
    "script scripts tool tools buildSrc ci hack misc packaging gradle project tasks build-logic"
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
    folder, _, name = path.rpartition("/")
    inside, low = _folder_kinds(folder), name.lower()
    return FileKinds(
        test=inside.test or _is_test_name(name),
        example=inside.example or low.startswith(_EXAMPLE_STARTS),
        docs=inside.docs or low.endswith(_DOCS),
        data=low in _DATA_NAMES or _suffix(low) in _DATA_SUFFIXES,
        foreign=inside.foreign or _is_foreign_name(low),
        news=inside.news or _is_news_name(low),
        stub=name.endswith(_STUBS),
        hidden=inside.hidden or _is_hidden_name(name),
        legacy=inside.legacy,
        benchmark=inside.benchmark
        or ("bench" in low and not _BENCHMARKS.isdisjoint(low.translate(_MARKS).split("."))),
        tool=inside.tool,
    )


def is_test(path: str) -> bool:
    """Does the name of a file say that it holds tests?"""
    folder, _, name = path.rpartition("/")
    return _folder_kinds(folder).test or _is_test_name(name)


def is_foreign(path: str) -> bool:
    """Is the file generated, vendored or test data, judged by its path?"""
    folder, _, name = path.rpartition("/")
    return _folder_kinds(folder).foreign or _is_foreign_name(name.lower())


def is_news(path: str) -> bool:
    """A list of changes mentions everything and explains nothing."""
    folder, _, name = path.rpartition("/")
    return _folder_kinds(folder).news or _is_news_name(name.lower())


def place_of(path: str) -> PathKind:
    """What a file is for."""
    if is_test(path):
        return PathKind.TESTS
    return PathKind.DOCS if path.lower().endswith(_DOCS) else PathKind.CODE


@lru_cache(maxsize=1 << 13)
def _folder_kinds(path: str) -> FileKinds:
    """The kinds of everything below a folder."""
    if not path:
        return FileKinds()
    names = path.split("/")
    low = path.lower().split("/")
    return FileKinds(
        test=any(map(_is_test_folder, names)),
        example=not _EXAMPLE_FOLDERS.isdisjoint(low),
        docs=not _DOCS_FOLDERS.isdisjoint(low),
        foreign=not _FOREIGN_FOLDERS.isdisjoint(low)
        or any(name.startswith("zz_generated") for name in low),
        news=any(map(_is_news_name, low)),
        hidden=any(map(_is_hidden_name, names)),
        legacy=not _LEGACY_FOLDERS.isdisjoint(low)
        or any(name[0:1] == "v" and name[1:].isdecimal() for name in low),
        benchmark=any(map(_is_benchmark_folder, low)),
        tool=not _TOOL_FOLDERS.isdisjoint(names),
    )


def _is_test_folder(name: str) -> bool:
    if name in _TEST_FOLDERS or "est" not in name:
        return name in _TEST_FOLDERS
    start, mark, rest = name.partition("-") if "-" in name else name.partition("_")
    if mark and start in ("test", "tests") and _is_word(rest):
        return True
    return _ends_as_test(name.removesuffix("s"))


def _ends_as_test(one: str) -> bool:
    """Does a folder's name end in the word `test`, of any case's convention?"""
    if one.endswith(("-test", "_test")):
        return one[:-5] == "" or _is_word(one[:-5])
    if one.endswith(".Test"):
        return one == ".Test" or _is_word(one[:-5].replace(".", "_"))
    return one.endswith("Test") and "a" <= one[0] <= "z" and _is_word(one)


def _is_test_name(name: str) -> bool:
    if name.startswith("test_"):
        return not name.endswith(".bash")
    stem, dot, suffix = name.rpartition(".")
    if not dot or not _is_word(suffix):
        return False
    if suffix in _CLASS_SUFFIXES and stem.endswith(_TEST_CLASSES):
        return True
    return (
        stem.endswith(_TEST_STEMS)
        or stem in ("test", "tests")
        or suffix == "bats"
        or name == "conftest.py"
    )


def _is_foreign_name(low: str) -> bool:
    if low.endswith(_FOREIGN_ENDS) or low in _FOREIGN_NAMES or low.startswith("zz_generated"):
        return True
    stem, _, suffix = low.rpartition(".")
    return stem.endswith(_FOREIGN_STEMS) and _is_word(suffix)


def _is_news_name(low: str) -> bool:
    start = low.partition(".")[0]
    return start in _NEWS or start.startswith(_NEWS_STARTS)


def _is_hidden_name(name: str) -> bool:
    return name.startswith(".") and len(name) > 1


def _is_benchmark_folder(low: str) -> bool:
    if not low.endswith(_BENCHMARK_ENDS):
        return low == "perf"
    return _is_word(low.translate(_MARKS).replace(".", "_"))


def _suffix(name: str) -> str:
    return name.rpartition(".")[2] if "." in name else ""


def _is_word(text: str) -> bool:
    """Letters, digits and underscores of any script, at least one."""
    return text.isalnum() or text.replace("_", "a").isalnum()


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
