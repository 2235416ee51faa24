"""Compares our definitions with those of universal-ctags over folders of real sources.

Run `python -m tests.ctags.agreement LANGUAGE FOLDER…` to see what differs and why.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from gitindex.base.vocabulary import FactsStatus
from gitindex.languages.syntax.extract import extract_facts
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.languages.table import language_of
from tests.ctags.explanations import Definition, explain, is_covered

MAX_BYTES = 300_000
MAX_FILES = 600
_UNREAD = re.compile(r"\.min\.|\.d\.[cm]?ts$")
"""Minified files, and declaration files: ctags 5.9 finds almost nothing in those."""


class Parser(NamedTuple):
    """ctags' name of a language and the letters of the kinds that we cover too."""

    name: str
    kinds: str


PARSERS = {
    "python": Parser("Python", "cfmv"),
    "javascript": Parser("JavaScript", "fcmgGSCvpM"),
    "typescript": Parser("TypeScript", "fcigevmpCaG"),
    "go": Parser("Go", "pfcvtsinma"),
    "rust": Parser("Rust", "nsigftvMmeP"),
    "java": Parser("Java", "acefgimp"),
    "c": Parser("C", "dfgstuevmpx"),
    "cpp": Parser("C++", "dfgcnstuevmpx"),
    "csharp": Parser("C#", "cEefgimnps"),
    "ruby": Parser("Ruby", "cfmSCAa"),
    "php": Parser("PHP", "cidfntv"),
    "kotlin": Parser("Kotlin", "icomTCvp"),
    "bash": Parser("Sh", "f"),
    "lua": Parser("Lua", "f"),
    "elixir": Parser("Elixir", "fgmpda"),
}


@dataclass
class Agreement:
    """Counts of both directions, and the definitions that nothing explains."""

    theirs: int = 0
    found: int = 0
    ours: int = 0
    confirmed: int = 0
    missing: list[tuple[str, Definition]] = field(default_factory=list)
    extra: list[tuple[str, Definition]] = field(default_factory=list)
    explained: Counter[str] = field(default_factory=Counter)

    def found_share(self) -> float:
        """Of the definitions ctags finds, how many we find at the same line."""
        return 1 - len(self.missing) / max(self.theirs, 1)

    def confirmed_share(self) -> float:
        """Of what we find, how much ctags confirms or we can say why not."""
        return 1 - len(self.extra) / max(self.ours, 1)


def compare(language: str, folders: list[str]) -> Agreement:
    """Both sides' definitions, matched by name and line."""
    result = Agreement()
    paths = list(source_files(language, folders))[:MAX_FILES]
    tags = ctags(language, paths)
    for path in paths:
        ours, tagged = own(language, path), tags[path]
        theirs = {key: item for key, item in tagged.items() if is_covered(language, item)}
        partial = any(item.partial for item in ours.values())
        result.theirs += len(theirs)
        result.ours += len(ours)
        result.found += len(theirs.keys() & ours.keys())
        result.confirmed += len(tagged.keys() & ours.keys())
        for key in sorted(theirs.keys() - ours.keys()):
            result.missing.append((path, theirs[key]._replace(partial=partial)))
        for key in sorted(ours.keys() - tagged.keys()):
            reason = explain(language, ours[key])
            result.explained[reason] += 1
            if not reason:
                result.extra.append((path, ours[key]))
    return result


def source_files(language: str, folders: list[str]) -> Iterator[str]:
    """Files of the language that are neither links, nor minified, nor large."""
    for folder in folders:
        for parent, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                path = os.path.join(parent, name)
                if language_of(path.encode(), b"") != language or _UNREAD.search(name):
                    continue
                if (
                    not os.path.islink(path)
                    and os.path.getsize(path) < MAX_BYTES
                    and not _is_foreign(path)
                ):
                    yield path


def _is_foreign(path: str) -> bool:
    """Whether a file is of a dialect its extension does not tell: Objective-C, Flow."""
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".h"):
        return b"@interface" in data or b"@protocol" in data or b"#import" in data
    return path.endswith(".js") and b"@flow" in data[:1000]


Key = tuple[str, int]


def own(language: str, path: str) -> dict[Key, Definition]:
    """Our definitions of one file."""
    with open(path, "rb") as file:
        facts = extract_facts(file.read(), language)
    partial = facts.status is FactsStatus.PARTIAL
    found = {}
    inside: list[bool] = []
    for s in facts.symbols:
        parent = facts.symbols[s.parent] if s.parent >= 0 else None
        hidden = not s.exported and "private" not in s.signature
        inside.append(
            parent is not None
            and (inside[s.parent] or parent.kind in FUNCTIONS or (hidden and parent.exported))
        )
        name, scope = canonical(s.name), parent.kind if parent else ""
        if parent and s.kind == "field" and re.search(r"\brecord \w", parent.signature):
            scope = "record"
        found[name, s.line + 1] = Definition(
            name, s.line + 1, s.kind, scope, s.signature, partial, inside[-1]
        )
    return found


def ctags(language: str, paths: list[str]) -> dict[str, dict[Key, Definition]]:
    """The definitions universal-ctags finds, by path."""
    parser = PARSERS[language]
    command = ["ctags", "--output-format=json", "-f", "-", "--fields=+nKZ", "--sort=no"]
    command += [
        f"--language-force={parser.name}",
        f"--kinds-{parser.name}={parser.kinds}",
        "-L",
        "-",
    ]
    done = subprocess.run(
        command, input="\n".join(paths).encode(), capture_output=True, check=True, timeout=300
    )
    found: dict[str, dict[Key, Definition]] = {path: {} for path in paths}
    quoted = {path: heredoc_lines(path) for path in paths} if language == "elixir" else {}
    for line in done.stdout.splitlines():
        tag = _tag(line)
        if tag.get("_type") == "tag":
            name = canonical(str(tag["name"]))
            at = int(str(tag["line"]))
            text = str(tag.get("pattern", ""))[2:-2]
            scope = str(tag.get("scopeKind", ""))
            item = Definition(name, at, str(tag["kind"]), scope, text)
            if at not in quoted.get(str(tag["path"]), ()):
                found[str(tag["path"])][name, at] = item
    return found


def heredoc_lines(path: str) -> set[int]:
    """Lines inside `\"\"\"`: ctags takes the examples in Elixir's docs for code."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().split("\n")
    inside, found = False, set()
    for number, line in enumerate(lines, 1):
        if inside:
            found.add(number)
        inside ^= line.count('"""') % 2 == 1
    return found


def _tag(line: bytes) -> dict[str, object]:
    try:
        tag: dict[str, object] = json.loads(line)
    except ValueError:
        return {}  # ctags 5.9 cuts lines with odd bytes
    return tag


def canonical(name: str) -> str:
    """A name without the prefixes and quotes that only one side writes."""
    name = name.strip("`'\"").removeprefix("r#").lstrip("@:")
    name = name[1:] if name[:1] == "$" and len(name) > 1 else name
    if re.match(r"operator\W", name) and not name.startswith("operator."):
        return re.sub(r"\s+(?=\W)", "", name.removeprefix("operator").strip())
    last = re.split(r"::|[.:\\]", name)[-1].rstrip("?!=")
    return last or name


def report(language: str, result: Agreement) -> str:
    """What a person wants to know."""
    lines = [
        f"{language}: ctags {result.theirs}, we find {result.found_share():.2%}"
        f" ({result.found} matched); ours {result.ours}, confirmed or explained"
        f" {result.confirmed_share():.2%} ({result.confirmed} matched)"
    ]
    lines += [
        f"  {count:6} {name or 'UNEXPLAINED'}" for name, count in result.explained.most_common()
    ]
    for title, items in (("missing", result.missing), ("extra", result.extra)):
        step = max(1, len(items) // 12)
        lines += [
            f"  {title} {path}:{d.line} {d.kind} {d.name} in {d.scope!r} partial={d.partial} | {d.text[:90]}"
            for path, d in items[::step]
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(report(sys.argv[1], compare(sys.argv[1], sys.argv[2:])))
