"""Names in strings of Python that mean what code means: annotations, and items of `__all__`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitindex.languages.facts import Occurrence, Use
from gitindex.query.names.mentions import is_annotation, look
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition, FileNames, enclosing, is_python

At = tuple[str, int, int]  # path, line, column


def _mentioned(
    project: Project, targets: Iterable[Definition], within: Iterable[str]
) -> Iterator[tuple[str, FileNames, list[tuple[int, int, int]]]]:
    """Yield where the texts of Python files have the names of targets of modules."""
    names = {t.name for t in targets if is_python(t.path) and t.parent < 0}
    for name in sorted(names):
        for file, places in look(project, name, within).places.items():
            source = project.source(file.path) if file.language == "python" else None
            if source is not None:
                yield name, source, places


def of_annotations(
    project: Project, targets: Iterable[Definition], within: Iterable[str], code: set[At]
) -> Iterator[tuple[FileNames, Occurrence]]:
    """Yield occurrences in Python annotations written as strings; `code` are known others."""
    for name, source, places in _mentioned(project, targets, within):
        for line, column, _ in places:
            if (source.path, line, column) in code:
                continue
            text = project.span(source.path, line, line)
            if is_annotation(text, column, column + len(name)):
                around = enclosing(source, line)
                scope = around.ordinal if around else -1
                yield source, Occurrence(name, line, column, Use.TYPE, scope)


def of_exports(
    project: Project, targets: Iterable[Definition], within: Iterable[str]
) -> Iterator[tuple[FileNames, Occurrence]]:
    """Yield items of Python's `__all__`: each refers to the module's binding of that name."""
    for name, source, places in _mentioned(project, targets, within):
        text, size = project.text(source.path), len(name.encode())
        if b"__all__" not in text:
            continue
        for line, column, start in places:
            end = text[start + size : start + size + 1]
            whole = text[start - 1 : start] in (b'"', b"'") and end in (b'"', b"'")
            scopes = project.scopes(source.path) if whole else None
            if scopes is not None and scopes.quiet(start) == "exported":
                yield source, Occurrence(name, line, column, Use.REFERENCE, -1)
