"""Turns an indexer's output into facts: all documents are parsed before any is stored."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from gitindex.base.escape import safe_text
from gitindex.semantic.scip.facts import IndexerQuirks, OutsideFile, Syntax, make_facts, read_symbol
from gitindex.semantic.scip.schema import parse_index
from gitindex.store.semantic import Dependency, FileFacts

_DEFINITION = 1


class Prepared(NamedTuple):
    """One file's facts, ready to be stored."""

    path: bytes
    oid: str
    facts: FileFacts
    edges: tuple[Dependency, ...]


class IndexerReport(NamedTuple):
    """The facts that an output contains about a context."""

    files: tuple[Prepared, ...]
    defined: frozenset[str]  # identities that some document defines


def documents_by_path(output: Output, root: str, folder: str) -> dict[bytes, Any]:
    """Return documents by path in the repository, whichever folder the tool's paths start at."""
    base = os.path.realpath(output.project_root)
    if base != root and not base.startswith(root + os.sep):
        base = os.path.join(root, folder)
    prefix = os.path.relpath(base, root).replace(os.sep, "/")
    found = {}
    for path, document in output.documents.items():
        inside = posixpath.normpath(posixpath.join(prefix, path))
        if not inside.startswith(("../", "/")):
            found[os.fsencode(inside)] = document
    return found


def understand(
    documents: Mapping[bytes, Any],
    members: Iterable[bytes],
    blobs: Mapping[bytes, str],
    read: Callable[[bytes], bytes | None],
    syntax: Callable[[bytes], Syntax],
    habits: IndexerQuirks,
) -> IndexerReport:
    """Return the facts of every path asked for (with its blob id) whose bytes are unchanged.

    `read` returns None for a changed file. An edge to a member that is not among them, or that has
    changed, records that its bytes are unknown.
    """
    made: dict[bytes, FileFacts] = {}
    for path in sorted(blobs.keys() & documents.keys()):
        data = read(path)
        if data is None:
            continue  # changed while the tool ran: its input is unknown
        try:
            made[path] = make_facts(documents[path], data, syntax(path), habits)
        except OutsideFile as error:
            raise BadOutput(f"{safe_text(path)} has no {error}") from error
    homes = _homes(documents, made)
    known = {path: Dependency(path, "", "") for path in members}
    known |= {path: Dependency(path, blobs[path], f.interface_hash) for path, f in made.items()}
    files = tuple(
        Prepared(path, blobs[path], facts, _edges(path, facts, homes, known))
        for path, facts in made.items()
    )
    return IndexerReport(files, frozenset(homes))


def externals(understood: IndexerReport, files: Iterable[Prepared]) -> dict[str, str]:
    """Return identities, with names, that these files use and no document defines."""
    return {
        identity: name
        for file in files
        for identity, name in file.facts.names.items()
        if identity not in understood.defined and not identity.startswith("local ")
    }


def _homes(documents: Mapping[bytes, Any], made: Mapping[bytes, FileFacts]) -> dict[str, bytes]:
    """Return the document that defines each identity; the first by name if there are several."""
    found: dict[str, bytes] = {}
    for path in sorted(documents):
        if path in made:
            defined = (d.identity for d in made[path].definitions)
        else:
            defined = (
                read_symbol(occurrence.symbol).identity
                for occurrence in documents[path].occurrences
                if occurrence.symbol_roles & _DEFINITION
            )
        for identity in defined:
            if not identity.startswith("local "):
                found.setdefault(identity, path)
    return found


def _edges(
    path: bytes,
    facts: FileFacts,
    homes: Mapping[str, bytes],
    known: Mapping[bytes, Dependency],
) -> tuple[Dependency, ...]:
    targets = {homes[identity] for identity in facts.places if identity in homes} - {path}
    return tuple(known[target] for target in sorted(targets) if target in known)


MAX_OUTPUT = 1 << 31
"""Protobuf's own size limit."""


class BadOutput(Exception):
    """The output is empty, truncated, or not SCIP."""


class Output(NamedTuple):
    """The output of one run."""

    tool: str
    version: str
    project_root: str  # an absolute folder
    documents: dict[str, Any]  # by path relative to that folder


def read_output(data: bytes) -> Output:
    """Return all documents of an output. Raises BadOutput unless every byte of it is valid."""
    try:
        index = parse_index(data)
    except ValueError as error:
        raise BadOutput(f"the output is damaged: {error}") from error
    parts: dict[str, Any] = {}
    for document in index.documents:
        path = posixpath.normpath(document.relative_path)
        if path in parts:  # a project that two others reference is written twice
            parts[path].MergeFrom(document)
        else:
            parts[path] = document
    tool = index.metadata.tool_info
    root = unquote(urlsplit(index.metadata.project_root).path)
    if not tool.name or not root.startswith("/"):
        raise BadOutput("the output does not say who made it, and where")
    return Output(tool.name, tool.version, root, parts)
