"""Are there other spellings of a name: Java and JavaScript with escapes, Python in another form of
Unicode, PHP and SQL with other capital letters? Text searches do not find those."""

from __future__ import annotations

from collections.abc import Iterable

from gitindex.base.pattern import compile_later
from gitindex.query.names.mentions import files_with
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition

_CASE_BLIND = frozenset({"php", "sql"})
_LIKE = "SELECT text FROM {names} WHERE text LIKE ? ESCAPE '\\' AND text<>?"
_ESCAPED = compile_later(rb"\\u+00[2-7][0-9a-fA-F][\w$\\]|[\w$]\\u+00[2-7][0-9a-fA-F]")
_SPECIAL = compile_later(r"([\\_%])")


def is_respelled(project: Project, targets: Iterable[Definition]) -> bool:
    """Return whether code of the targets' languages has one of their names in another spelling."""
    told = ((project.source(target.path), target.name) for target in targets)
    for language, name in dict.fromkeys((s.language, name) for s, name in told if s is not None):
        if any(project.plain_places(other) for other in project.other_spellings(name)):
            return True
        if language == "java" and _has_escapes(project):
            return True
        if language in _CASE_BLIND and _has_other_letters(project, name, language):
            return True
    return False


def _has_escapes(project: Project) -> bool:
    """Return whether code of Java has escapes of plain letters; kept for the tree."""
    notes = project.tree.notes
    if "escaped_names" not in notes:
        files = [f for f in files_with(project.view, "u00") if f.language == "java"]
        for file in files:
            project.know(file.path, file.oid)
        project.read(file.path for file in files)
        notes["escaped_names"] = any(_ESCAPED.search(project.text(f.path)) for f in files)
    return bool(notes["escaped_names"])


def _has_other_letters(project: Project, name: str, language: str) -> bool:
    for (other,) in project.view.rows(_LIKE, _SPECIAL.sub(r"\\\1", name), name):
        for path in project.plain_places(other):
            there = project.source(path)
            if there is not None and there.language == language:
                return True
    return False
