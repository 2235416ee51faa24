"""The manifest of a pack: its content, the tree it belongs to, and the rules that made it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from gitindex.base.errors import GitIndexError
from gitindex.freshness.fingerprint import Fingerprint, parse_fingerprint, runtime_fingerprint
from gitindex.sharing.compression import FrameInfo

KIND = "gitindex_pack_v2"
SUFFIX = ".gixp"
MAX_MEMBERS = 2_000
MAX_UNPACKED = 16 << 30
"""Maximum number of bytes of all members together, regardless of the manifest."""
DATABASE = "facts.db"
_HEX = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_LEXICAL = re.compile(
    r"lexical/(meta\.json|\.managed\.json|[0-9a-f]{32}\.(idx|pos|term|store|fast|fieldnorm))"
)
NAME = re.compile(r"gitindex-([0-9a-f]{12})-([0-9a-f]{8})\.gixp")


class BadPack(GitIndexError):
    """A pack that is refused; nothing of it is used."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the pack is refused: {why}", "index without it: `gitindex index`")


class Member(NamedTuple):
    """One file of a pack."""

    name: str
    frame: FrameInfo


class Manifest(NamedTuple):
    """The manifest: everything known about a pack before it is unpacked."""

    fingerprint: Fingerprint
    repo: tuple[str, ...]  # sorted root commits; none of a shallow clone
    commit: str
    tree: str
    blobs: int
    merkle_root: str
    members: tuple[Member, ...]
    tool: str

    @property
    def name(self) -> str:
        """Return the file name of the pack."""
        return f"gitindex-{self.tree[:12]}-{fingerprint_name(self.fingerprint)}{SUFFIX}"

    @property
    def size(self) -> int:
        """Return the size of all members, unpacked."""
        return sum(member.frame.size for member in self.members)


def fingerprint_name(fingerprint: Fingerprint | None = None) -> str:
    """Return eight digits of a fingerprint: by default this program's own."""
    text = json.dumps((fingerprint or runtime_fingerprint())._asdict())
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def merkle_root(leaves: Iterable[tuple[str, str, bytes]]) -> str:
    """Return the root over sorted (oid, extractor, digest of the facts)."""
    level = [
        hashlib.sha256(b"\0%s\0%s\0%s" % (oid.encode(), extractor.encode(), digest)).digest()
        for oid, extractor, digest in sorted(leaves)
    ]
    while len(level) > 1:
        pairs = [level[at : at + 2] for at in range(0, len(level), 2)]
        level = [hashlib.sha256(b"\1" + b"".join(pair)).digest() for pair in pairs]
    return (level[0] if level else hashlib.sha256(b"").digest()).hex()


def render(manifest: Manifest) -> bytes:
    """Return the manifest as JSON: the same bytes for the same content."""
    fields = {
        "kind": KIND,
        "schemaVersion": manifest.fingerprint.schemaVersion,
        "fingerprint": manifest.fingerprint._asdict(),
        "repo": list(manifest.repo),
        "commit": manifest.commit,
        "tree": manifest.tree,
        "blobs": manifest.blobs,
        "merkleRoot": manifest.merkle_root,
        "members": [{"name": m.name, **m.frame._asdict()} for m in manifest.members],
        "tool": manifest.tool,
    }
    return json.dumps(fields, indent=1).encode() + b"\n"


def parse(data: bytes) -> Manifest:
    """Parse a manifest; BadPack for anything that this program would not have written."""
    try:
        fields = json.loads(data)
        manifest = _from_fields(fields)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadPack("its manifest cannot be read") from error
    if render(manifest) != data:
        raise BadPack("its manifest has other fields than ours")
    _check_members(manifest)
    return manifest


def _from_fields(fields: dict[str, Any]) -> Manifest:
    fingerprint = parse_fingerprint(fields["fingerprint"])
    if fields["kind"] != KIND or fingerprint is None:
        raise ValueError("another kind")
    if not isinstance(fields["tool"], str) or type(fields["blobs"]) is not int:
        raise TypeError("ill-typed field")
    return Manifest(
        fingerprint,
        tuple(_matched(_HEX, commit) for commit in fields["repo"]),
        _matched(_HEX, fields["commit"]),
        _matched(_HEX, fields["tree"]),
        fields["blobs"],
        _matched(_DIGEST, fields["merkleRoot"]),
        tuple(_member(member) for member in fields["members"]),
        fields["tool"],
    )


def _member(fields: dict[str, Any]) -> Member:
    size, packed = fields["size"], fields["packed"]
    if type(size) is not int or type(packed) is not int or size < 0 or packed < 0:
        raise ValueError("ill-typed size")
    name = fields["name"]
    if not isinstance(name, str):
        raise TypeError("ill-typed name")
    return Member(name, FrameInfo(size, packed, _matched(_DIGEST, fields["sha256"])))


def _matched(pattern: re.Pattern[str], value: object) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError("ill-formed value")
    return value


def _check_members(manifest: Manifest) -> None:
    """Check that names are from a closed list, each once, and that sizes are within bounds."""
    names = [member.name for member in manifest.members]
    if len(names) > MAX_MEMBERS or len(set(names)) != len(names):
        raise BadPack("it has too many members")
    if DATABASE not in names or "lexical/meta.json" not in names:
        raise BadPack("a member is missing")
    for name in names:
        if name != DATABASE and not _LEXICAL.fullmatch(name):
            raise BadPack("it has a member of an unknown name")
    if manifest.size > MAX_UNPACKED:
        raise BadPack("it is larger than any pack may be")
