"""Our definitions against ctags' own unit cases: `python -m tests.ctags.units CHECKOUT [--all] [LANGUAGE…]`.

A case is a text with the tags that its author expects. Debian's ctags is older than the cases: what it
reports counts if the case expects the name, too; what only we report must be expected by one of the two.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.ctags import agreement
from tests.ctags.agreement import PARSERS, Agreement, Key, canonical, source_files
from tests.ctags.explanations import Definition, explain, is_covered

_NO_TEXT = re.compile(
    r"\.b/|/afl-fuzz|broken|invalid|incomplete|infinite_loop|unterminated|trigraph|newlines-cr|-cr\.d|errors"
    r"|parser-iPythonCell|\.pyx$|parser-rspec|parser-qtmoc|parser-yacc|macroexpand|unicode-escape"
    r"|sh-alias|sh-statements"
)
"""Cases that are no valid text of the language: cut or wrong on purpose (`.b`: ctags fails them, too), of
another dialect (Cython, cells, yacc, moc, trigraphs, lone carriage returns, and what `bash -n` refuses), with
macros that ctags is given, and names in escapes, which we list as they are spelled. Every other
case counts; see `--all`."""


def compare(language: str, checkout: Path, everything: bool = False) -> Agreement:
    """Return both sides' definitions in the cases of a language."""
    result = Agreement()
    cases = source_files(language, [str(checkout / "Units")])
    paths = [path for path in cases if everything or not _NO_TEXT.search(path)]
    for path, tagged in _tags(language, paths).items():
        listed = expected(Path(path))
        ours = agreement.own(language, path)
        theirs = {
            key: item
            for key, item in tagged.items()
            if is_covered(language, item) and (listed is None or key[0] in {n for n, _ in listed})
        }
        confirmed = tagged.keys() | (listed or set())
        result.theirs += len(theirs)
        result.ours += len(ours)
        result.missing += [(path, theirs[key]) for key in sorted(theirs.keys() - ours.keys())]
        for key in sorted(ours.keys() - confirmed):
            reason = explain(language, ours[key])
            result.explained[reason] += 1
            if not reason:
                result.extra.append((path, ours[key]))
    return result


def expected(path: Path) -> set[Key] | None:
    """Return the names that a case expects, at the lines of its patterns; None without such a list."""
    listed = path.parent / "expected.tags"
    if not listed.exists():
        return None
    lines = path.read_text("utf-8", "replace").split("\n")
    found: set[Key] = set()
    for row in listed.read_text("utf-8", "replace").splitlines():
        name, _, rest = row.partition("\t")
        if row.startswith("!_") or rest.partition("\t")[0] != path.name:
            continue
        text = re.sub(r"\\(.)", r"\1", rest.partition("\t/^")[2].partition('/;"')[0]).removesuffix(
            "$"
        )
        found |= {
            (canonical(name), at) for at, line in enumerate(lines, 1) if line.startswith(text)
        }
    return found


def _tags(language: str, paths: list[str]) -> dict[str, dict[Key, Definition]]:
    """Return ctags' own tags; a file that it crashes on has none, and does not count."""
    try:
        return agreement.ctags(language, paths)
    except subprocess.CalledProcessError:
        half = len(paths) // 2
        return _tags(language, paths[:half]) | _tags(language, paths[half:]) if half else {}


def f1(result: Agreement) -> float:
    """The harmonic mean of how much of theirs we find, and of how much of ours is expected."""
    shares = result.found_share(), result.confirmed_share()
    return 2 * shares[0] * shares[1] / sum(shares)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--all"]
    for each in words[1:] or PARSERS:
        whole = compare(each, Path(words[0]), everything=True)
        made = whole if "--all" in sys.argv else compare(each, Path(words[0]))
        counted = f"{made.theirs} of ctags, {made.ours} of ours"
        print(
            f"{each}: F1 {f1(made):.4f} ({f1(whole):.4f} with texts that are not valid), {counted}"
        )
        for title, items in (("missing", made.missing), ("extra", made.extra)):
            for where, item in items:
                print(f"  {title} {where}:{item.line} {item.kind} {item.name} | {item.text[:90]}")
