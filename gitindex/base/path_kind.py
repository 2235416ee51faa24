"""What a path says about a file: code, tests or documents; written here, generated or taken over. Pure."""

from __future__ import annotations

import re

from gitindex.base.vocabulary import PathKind

_TEST = re.compile(
    r"(^|/)(tests?|specs?|__tests__|testing)/|(^|/)test_[^/]*$|_test\.\w+$|\.(test|spec)\.\w+$"
    r"|(^|/)[^/]*Tests?\.(java|kt|cs|scala|swift|php)$|_spec\.rb$|(^|/)conftest\.py$"
)
_DOCS = re.compile(r"\.(md|markdown|mdx|rst|adoc|asciidoc|txt|org|tex)$", re.IGNORECASE)
_FOREIGN = re.compile(
    r"(^|/)(_?vendor(ed)?|third[-_]?party|node_modules|bower_components|external|extern|dist|build"
    r"|generated|__generated__|gen|fixtures?|testdata|snapshots|__snapshots__)/"
    r"|\.min\.(js|css)$|[._]pb2?(_grpc)?\.\w+$|\.pb\.go$|\.g\.dart$|[._]generated\.\w+$"
    r"|(^|/)zz_generated|\.lock$|(^|/)(package-lock\.json|go\.sum)$",
    re.IGNORECASE,
)
_NEWS = re.compile(r"(^|/)(change(s|log)?|history|news|release[-_]?notes?)([./-]|$)", re.IGNORECASE)


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
