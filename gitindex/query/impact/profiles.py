"""Read what each test executed from a folder `coverage`: LCOV and Go's cover profiles, foreign and bounded.

A test is named by the `TN:` of an LCOV file, else by the place of the file: `coverage/test/app.js/lcov.info`
and `coverage/test/app.js.info` are of the test file `test/app.js`, `coverage/TestMux.out` of `TestMux`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice

from gitindex.base.confined_read import ConfinedRoot
from gitindex.store.coverage_data import MAX_BYTES, MAX_LINE, Executed

FOLDER = "coverage"
MAX_FILES = 5_000
"""Files of one folder: a project has fewer tests."""
_LCOV, _GO = ".info", ".out"
_BLOCK = re.compile(r"(.+\.go):(\d{1,7})\.\d+,(\d{1,7})\.\d+ \d+ (\d+)")
_MODULE = re.compile(rb"(?m)^module\s+(\S+)")

Line = tuple[str, str, int]  # test, measured file, 1-based line


class Profiles:
    """The records of one folder."""

    def __init__(self, disk: ConfinedRoot, root: str, folder: str) -> None:
        self.paths: dict[str, Executed] = {}
        """What ran of each measured file, as the records name it; relative names start at the folder."""
        self.modified = 0
        """When the oldest record was written."""
        self._disk, self._root, self._folder = disk, root, folder
        room = MAX_BYTES
        for name in islice(self._listed(), MAX_FILES):
            file = disk.read(os.fsencode(os.path.join(folder, FOLDER, name)), room)
            if file is not None and self._add(name, file.data.decode("utf-8", "replace")):
                self.modified = min(self.modified or file.modified, file.modified)
            room -= file.size if file is not None else 0
            if room <= 0:
                self.paths.clear()  # only a part is known
                break

    def contexts(self) -> list[str]:
        """Return the names of all tests that ran."""
        return list({test for by_test in self.paths.values() for test in by_test})

    def executed(self, path: str) -> Executed:
        """Return the lines of a measured file that each test executed."""
        return self.paths.get(path, {})

    def _listed(self) -> Iterator[str]:
        top = os.path.join(self._root, self._folder, FOLDER)
        for folder, folders, files in os.walk(top) if not os.path.islink(top) else ():
            folders.sort()
            for name in sorted(files):
                if name.endswith((_LCOV, _GO)):
                    yield os.path.relpath(os.path.join(folder, name), top)

    def _add(self, name: str, text: str) -> bool:
        """Add what one record says; returns whether it says of a test what it ran."""
        stem, ending = os.path.splitext(name)
        test = os.path.dirname(stem) if os.path.basename(stem) == "lcov" else stem
        lines = _lcov(text, test) if ending == _LCOV else _go(text, test, self._module())
        said = False
        for context, path, line in lines:
            said = True
            self.paths.setdefault(path, {}).setdefault(context, set()).add(line)
        return said

    def _module(self) -> str:
        """Return the name of the folder's Go module."""
        file = self._disk.read(os.fsencode(os.path.join(self._folder, "go.mod")), 1 << 16)
        found = _MODULE.search(file.data) if file is not None else None
        return found[1].decode("utf-8", "replace") if found else ""


def _lcov(text: str, test: str) -> Iterator[Line]:
    context, path = test, ""
    for line in text.splitlines():
        kind, _, value = line.partition(":")
        if kind == "TN":
            context = value.strip() or test
        elif kind == "SF":
            path = value.strip()
        elif kind == "DA" and context and path:
            number, _, count = value.partition(",")
            ran = count.partition(",")[0].strip() != "0"
            if ran and number.isdecimal() and 0 < int(number[:9]) < MAX_LINE:
                yield context, path, int(number[:9])


def _go(text: str, test: str, module: str) -> Iterator[Line]:
    """Yield the ends of each block that ran: between them may be lines without code."""
    for line in text.splitlines() if test and module else ():
        block = _BLOCK.fullmatch(line)
        if block and block[4] != "0" and block[1].startswith(f"{module}/"):
            for number in {int(block[2]), int(block[3])}:
                yield test, block[1][len(module) + 1 :], number
