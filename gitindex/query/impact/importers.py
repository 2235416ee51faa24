"""Which files import which: imports are chosen by their words, and only these are resolved."""

from __future__ import annotations

import os

from gitindex.query.names.project import Project, WrittenImport, words_of_file

_PYTHON = (".py", ".pyi", ".pyx")


class Importers:
    """The imports of one tree and what they reach."""

    def __init__(self, project: Project) -> None:
        self._resolver = project.tree.resolver
        self._written = project.written
        self._certain: dict[str, bool] = project.tree.notes.setdefault("certain", {})
        self._same: dict[int, tuple[str, ...]] = project.tree.notes.setdefault("same", {})

    def of(self, targets: set[str]) -> set[str]:
        """Return the files that import one of some files, without these."""
        words = {word for target in targets for word in words_of_file(target)}
        python = sum(target.endswith(_PYTHON) for target in targets)
        found: set[str] = set()
        for number in self._written.with_words(words):
            written = self._written.entries[number]
            own = written.users[0][1] == "python"
            if not python if own else python == len(targets):
                continue  # Python imports nothing else, and nothing else imports Python
            if own and not written.level and self._is_certain(written):
                if targets.isdisjoint(self._reached(number, written)):
                    continue
                found.update(os.fsdecode(path) for path, _ in written.users)
                continue
            item = written.item()
            for path, language in ((os.fsdecode(raw), there) for raw, there in written.users):
                if path not in found and not targets.isdisjoint(
                    self._resolver.resolve(path, language, item)
                ):
                    found.add(path)
        return found - targets

    def _is_certain(self, written: WrittenImport) -> bool:
        """Return whether an absolute Python import means the same module wherever it is written."""
        if written.module not in self._certain:
            item = written.item()
            self._certain[written.module] = self._resolver.is_certain("", "python", item)
        return self._certain[written.module]

    def _reached(self, number: int, written: WrittenImport) -> tuple[str, ...]:
        if number not in self._same:
            self._same[number] = self._resolver.resolve("", "python", written.item())
        return self._same[number]
