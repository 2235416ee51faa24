"""The floor of a first index: parse every listed file in one process and keep nothing."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gitindex.languages import language_of
from gitindex.syntax.parser import parse_tree


def main() -> int:
    """Parse the files that the file given as argument lists."""
    for name in Path(sys.argv[1]).read_text().splitlines():
        data = Path(name).read_bytes()
        parse_tree(data, language_of(os.fsencode(name), data[:8000]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
