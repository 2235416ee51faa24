"""What the repository is called, by its own files: two clones of one commit agree, whatever their folder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from gitindex.base.pattern import compile_later
from gitindex.extract.terms import words_of

_NAMED = (
    "README README.md README.rst README.txt README.adoc Readme.md readme.md CONTRIBUTING.md"
    " CONTRIBUTING.rst .github/CONTRIBUTING.md package.json pyproject.toml setup.cfg setup.py Cargo.toml"
    " go.mod composer.json"
)
NAMING_FILES = tuple(path.encode() for path in _NAMED.split())
"""Files that mention the address of their repository."""
MAX_READ = 200_000
_ADDRESS = compile_later(
    rb"(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)[/:][\w.-]+/([\w-][\w.-]*)"
)
_SCOPE = compile_later(rb'^\s*"name"\s*:\s*"@([\w-]+)/', re.MULTILINE)
LEAST = 2
"""A name that is mentioned less may be anybody's."""
SCOPE = 5
"""How many mentions of an address the scope of a package's name is worth: `@vitest/monorepo`."""


def repository_words(texts: Iterable[bytes]) -> frozenset[str]:
    """Return the words of the name that the texts mention most often as a repository; none if none is."""
    found: Counter[str] = Counter()
    for text in texts:
        for name in _ADDRESS.findall(text[:MAX_READ]):
            found[name.decode().lower().rstrip(".").removesuffix(".git")] += 1
        for name in _SCOPE.findall(text[:MAX_READ]):
            found[name.decode().lower()] += SCOPE
    name, mentions = min(found.items(), key=lambda pair: (-pair[1], pair[0]), default=("", 0))
    return frozenset(words_of(name)) if mentions >= LEAST else frozenset()
