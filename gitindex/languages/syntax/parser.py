"""The only module that uses tree-sitter: a grammar and its query, loaded once, run over bytes."""

from __future__ import annotations

import os
import warnings
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import NamedTuple

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor

from gitindex.languages.table import BY_NAME, Language

QUERIES = os.path.join(os.path.dirname(__file__), "queries")


Captures = dict[str, list[Node]]


class Parsed(NamedTuple):
    """The captures of one query in one blob. The nodes keep the tree alive: never store one."""

    captures: Captures
    root: Node

    @property
    def has_error(self) -> bool:
        """Is some part of the text broken?"""
        return self.root.has_error


class _Tools(NamedTuple):
    parser: Parser
    query: Query


def parse(data: bytes, language: str) -> Parsed | None:
    """Return the captures of the language's query in `data`; None without grammar or query."""
    tools = _tools(language)
    if tools is None:
        return None
    root = tools.parser.parse(data).root_node
    captures = QueryCursor(tools.query).captures(root)
    captures["root"] = [root]
    return Parsed(captures, root)


def parse_tree(data: bytes, language: str) -> Node | None:
    """Return the root of the tree of `data`; None if the language has no grammar here."""
    grammar = _grammar(language)
    return None if grammar is None else Parser(grammar).parse(data).root_node


def query_matches(root: Node, language: str, query: str) -> list[tuple[int, Captures]] | None:
    """Return the matches of another query of the language in a parsed text; None without one."""
    tools = _tools(language, query)
    return None if tools is None else QueryCursor(tools.query).matches(root)


@cache
def _tools(language: str, query: str = "facts") -> _Tools | None:
    grammar = _grammar(language)
    if grammar is None:
        return None
    try:
        text = query_text(BY_NAME[language], query)
    except FileNotFoundError:
        return None
    return _Tools(Parser(grammar), Query(grammar, text))


@cache
def _grammar(language: str) -> Grammar | None:
    row = BY_NAME.get(language)
    if row is None:
        return None
    try:
        module = _core_of(row.dist.replace("-", "_"), row.function)
    except ImportError:
        return None
    with warnings.catch_warnings():
        # Some wheels still return a plain address; the binding accepts it with a warning.
        warnings.simplefilter("ignore", DeprecationWarning)
        return Grammar(getattr(module, row.function)())


def _core_of(package: str, function: str) -> ModuleType:
    """Load a grammar's compiled core alone: its package imports `importlib.resources`, at every start of
    a worker. Imports the package if there is no such core.
    """
    spec_of_package = find_spec(package)
    places = spec_of_package and spec_of_package.submodule_search_locations
    spec = PathFinder.find_spec(f"{package}._binding", places) if places else None
    if spec is not None and spec.loader is not None:
        core = module_from_spec(spec)
        spec.loader.exec_module(core)
        if hasattr(core, function):
            return core
    return import_module(package)


def query_text(row: Language, query: str = "facts") -> str:
    """Return a language's query, joined from its folders; FileNotFoundError if there is none."""
    parts = []
    for folder in (row.queries or row.name).split():
        path = os.path.join(QUERIES, folder, f"{query}.scm")
        if query == "facts" or os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                parts.append(file.read())
    if not parts:
        raise FileNotFoundError(query)
    return "\n".join(parts)
