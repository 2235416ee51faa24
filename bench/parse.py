"""The floor of a first index: parse every listed file in one process and keep nothing."""

from __future__ import annotations

import os
import sys
import warnings
from functools import cache
from importlib import import_module
from pathlib import Path

from tree_sitter import Language, Parser

from gitindex.languages import BY_NAME, language_of


@cache
def _parser(language: str) -> Parser | None:
    row = BY_NAME.get(language)
    if row is None:
        return None
    try:
        module = import_module(row.dist.replace("-", "_"))
    except ImportError:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return Parser(Language(getattr(module, row.function)()))


def main() -> int:
    """Parse the files that the file given as argument lists."""
    for name in Path(sys.argv[1]).read_text().splitlines():
        data = Path(name).read_bytes()
        parser = _parser(language_of(os.fsencode(name), data[:8000]))
        if parser is not None:
            parser.parse(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
