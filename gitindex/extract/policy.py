"""The one ignore policy: which files of a tracked tree are indexed, and why others are not."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Mapping

from gitindex.base.light_types import NamedTuple
from gitindex.base.pattern import compile_later
from gitindex.base.vocabulary import SkipReason
from gitindex.extract.policy_secrets import is_secret
from gitindex.git.interface import GITLINK, LINK, TREE, Entry
from gitindex.git.wildmatch import (
    MAX_PATTERNS,
    Rule,
    ignores,
    make_rule,
    parse_ignore,
    rule_matches,
)

MAX_PARSE_BYTES = 1 << 20
MAX_TEXT_BYTES = 4 << 20
MAX_PROBED_BYTES = 64 << 20
"""A larger blob is not read to see whether it is a text that a limit leaves out."""
MAX_POLICY_BYTES = 1 << 18
BINARY_PROBE = 8000
IGNORE_FILE = b".gitindexignore"
ATTRIBUTES_FILE = b".gitattributes"

_BLANK = compile_later(rb"[ \t\r]+")
_WORD = compile_later(rb"[-!]?[A-Za-z0-9_.][-A-Za-z0-9_.]*(=.*)?")
_ESCAPE_TEXT = rb'\\([abfnrtv\\"]|[0-3][0-7]{2})'
_QUOTED = compile_later(rb'"((?:[^"\\]|%s)*+)"' % _ESCAPE_TEXT)
GREPPED = frozenset({SkipReason.GENERATED, SkipReason.MINIFIED})
"""Skipped by facts and ranked search, but still searched line by line."""
_LFS = b"version https://git-lfs.github.com/spec/"


class _Attribute(NamedTuple):
    rule: Rule
    reason: SkipReason
    set: bool


_WATCHED = {
    b"linguist-generated": SkipReason.GENERATED,
    b"linguist-vendored": SkipReason.VENDORED,
    b"binary": SkipReason.BINARY,
}


class Policy:
    """The rules of one tree. A pure function of that tree: files outside it have no effect."""

    def __init__(self, ignore: list[Rule], attributes: list[_Attribute]) -> None:
        self._ignore = ignore
        self._attributes = attributes

    def skip_path(self, entry: Entry) -> SkipReason | None:
        """Return why a path is skipped before its bytes are read; None if it is not."""
        if entry.mode == GITLINK:
            return SkipReason.SUBMODULE
        if entry.mode == TREE:
            return SkipReason.OVERSIZE  # a folder with too many paths
        if entry.mode == LINK:
            return SkipReason.SYMLINK
        if is_secret(entry.path):
            return SkipReason.SECRET
        if ignores(self._ignore, entry.path):
            return SkipReason.IGNORED
        return self._by_attribute(entry.path)

    def _by_attribute(self, path: bytes) -> SkipReason | None:
        verdict: dict[SkipReason, bool] = {}
        for attribute in self._attributes:
            if rule_matches(attribute.rule, path):
                verdict[attribute.reason] = attribute.set
        if not verdict:
            return None
        return next((reason for reason in _WATCHED.values() if verdict.get(reason)), None)


def is_policy_file(path: bytes) -> bool:
    """Can a change of this path change what is indexed elsewhere?"""
    return path == IGNORE_FILE or path.rpartition(b"/")[2] == ATTRIBUTES_FILE


def of_tree(entries: Iterable[Entry], read: Callable[[list[str]], Mapping[str, bytes]]) -> Policy:
    """Return the policy of a tree with these entries; reads only its policy files, in one batch.

    A file that `read` does not return has no effect: in a partial clone it may be missing.
    """
    ignore: list[Rule] = []
    attributes: list[_Attribute] = []
    files = [e for e in entries if is_policy_file(e.path) and e.mode not in (LINK, GITLINK)]
    contents = read([entry.oid for entry in files])
    for entry in sorted(files, key=lambda e: (e.path.count(b"/"), e.path)):
        data = _whole_lines(contents.get(entry.oid, b""))
        base = entry.path.rpartition(b"/")[0]
        if entry.path == IGNORE_FILE:
            ignore = parse_ignore(data)
        else:
            attributes += _parse_attributes(data, base + b"/" if base else b"")
    return Policy(ignore, attributes)


def _whole_lines(data: bytes) -> bytes:
    """Return the lines that are read: half a pattern would skip more than its author wrote."""
    if len(data) <= MAX_POLICY_BYTES:
        return data
    return data[: data.rfind(b"\n", 0, MAX_POLICY_BYTES) + 1]


def skip_content(data: bytes) -> SkipReason | None:
    """Return why a blob's bytes are skipped, independent of its path; None if they are not."""
    if len(data) > MAX_TEXT_BYTES:  # its beginning, as of a file on disk
        return SkipReason.BINARY if _is_binary(data[:BINARY_PROBE]) else SkipReason.OVERSIZE
    if data.startswith(_LFS):
        return SkipReason.LFS_POINTER
    if _is_binary(data):
        return SkipReason.BINARY
    if len(data) > 20_000 and len(data) / (data.count(b"\n") + 1) > 1000:
        return SkipReason.MINIFIED
    return None


def _is_binary(data: bytes) -> bool:
    return b"\0" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff"))


def _parse_attributes(data: bytes, base: bytes) -> list[_Attribute]:
    found = []
    for line in data.removeprefix(codecs.BOM_UTF8).split(b"\n")[:MAX_PATTERNS]:
        pattern, words = _split_attributes(line.strip(b" \t\r"))
        if pattern.startswith((b"!", b"[attr]")) or not all(map(_WORD.fullmatch, words)):
            continue  # git drops such a line, too; macros with our words are not supported
        rule = make_rule(pattern, base)
        if rule is not None:
            found += [_Attribute(rule, *told) for told in map(_read_word, words) if told]
    return found


def _split_attributes(line: bytes) -> tuple[bytes, list[bytes]]:
    if line.startswith(b"#"):
        return b"", []
    if quoted := _QUOTED.match(line):
        rest = line[quoted.end() :].strip(b" \t\r")
        return quoted[1].decode("unicode_escape").encode("latin-1"), _BLANK.split(
            rest
        ) if rest else []
    pattern, *words = _BLANK.split(line)
    return pattern, words


def _read_word(word: bytes) -> tuple[SkipReason, bool] | None:
    name, _, value = word.lstrip(b"-!").partition(b"=")
    reason = _WATCHED.get(name)
    if reason is None:
        return None
    return reason, not word.startswith((b"-", b"!")) and value.lower() not in (b"false", b"0")
