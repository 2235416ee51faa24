"""The format of a pack file: a magic line, the manifest, then one zstd frame per member."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.extras import missing_extra
from gitindex.freshness.marker import Fingerprint, parse_fingerprint, runtime_fingerprint
from gitindex.git.command import FALLBACK_PATH, clean_env, find_program

MAGIC = b"GIXP1\n"
MAX_MANIFEST = 4 << 20
"""It is read into memory before its digest is known."""
MAX_PACK = 8 << 30
"""A hostile destination must not fill the disk; the pack of 80,000 files has 0.2 GB."""


def write_pack(path: str, folder: str, names: list[str], manifest: Manifest) -> Manifest:
    """Write the members of a folder as a pack; return the manifest with their sizes and digests."""
    with tempfile.TemporaryFile(dir=folder) as body:
        packed = []
        for name in names:
            with open(os.path.join(folder, name), "rb") as source:
                packed.append(Member(name, compress(source, body)))
        whole = manifest._replace(members=tuple(packed))
        head = io.BytesIO()
        frame = compress(io.BytesIO(render(whole)), head)
        with open(path, "wb") as pack:
            pack.write(MAGIC + b"%d %d %s\n" % (frame.size, frame.packed, frame.sha256.encode()))
            pack.write(head.getvalue())
            body.seek(0)
            shutil.copyfileobj(body, pack, CHUNK)
    return whole


def read_manifest(path: str) -> Manifest:
    """Return the checked manifest of a pack; its members are not read."""
    with _opened(path) as pack:
        return _manifest(pack)


def unpack(path: str, folder: str) -> Manifest:
    """Unpack the members into an empty folder; BadPack if anything is not as announced."""
    with _opened(path) as pack:
        manifest = _manifest(pack)
        os.mkdir(os.path.join(folder, "lexical"), 0o700)
        for member in manifest.members:
            target = os.path.join(folder, member.name)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(target, flags, 0o600), "wb") as sink:
                decompress(pack, sink, member.frame)
        if pack.read(1):
            raise BadPack("it has bytes after its end")
    return manifest


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as pack:
        if os.fstat(pack.fileno()).st_size > MAX_PACK:
            raise BadPack("it is larger than any pack may be")
        yield pack


def _manifest(pack: IO[bytes]) -> Manifest:
    if pack.read(len(MAGIC)) != MAGIC:
        raise BadPack("it is not a pack, or one of another version")
    words = pack.readline(200).split()
    try:
        size, packed, digest = int(words[0]), int(words[1]), words[2].decode()
    except (ValueError, IndexError) as error:
        raise BadPack("its head cannot be read") from error
    if not (0 < size <= MAX_MANIFEST and 0 < packed <= MAX_MANIFEST):
        raise BadPack("its manifest is too large")
    sink = io.BytesIO()
    decompress(pack, sink, FrameInfo(size, packed, digest))
    return parse(sink.getvalue())


KIND = "gitindex_pack_v3"
SUFFIX = ".gixp"
STATEMENT = ".intoto.json"
MAX_MEMBERS = 2_000
"""A Tantivy index has six files a segment and merges above ten segments."""
MAX_UNPACKED = 16 << 30
"""Maximum number of bytes of all members together, regardless of the manifest."""
DATABASE = "facts.db"
_HEX = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_LEXICAL = re.compile(
    r"lexical/(meta\.json|\.managed\.json|[0-9a-f]{32}\.(idx|pos|term|store|fast|fieldnorm))"
)
NAME = re.compile(r"gitindex-([0-9a-f]{12})-([0-9a-f]{8})(?:-on-([0-9a-f]{12}))?\.gixp")
"""Tree, fingerprint and, of a delta, the tree of the pack that it completes."""


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
    base: str = ""  # of a delta: the tree whose facts it leaves out

    @property
    def name(self) -> str:
        """Return the file name of the pack."""
        return pack_name(self.tree, fingerprint_name(self.fingerprint), self.base)

    @property
    def size(self) -> int:
        """Return the size of all members, unpacked."""
        return sum(member.frame.size for member in self.members)


def pack_name(tree: str, fingerprint: str, base: str = "") -> str:
    """Return the file name of a pack, which `NAME` matches."""
    delta = f"-on-{base[:12]}" if base else ""
    return f"gitindex-{tree[:12]}-{fingerprint}{delta}{SUFFIX}"


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
        "base": manifest.base,
    }
    return json.dumps(fields, indent=1).encode() + b"\n"


def write_statement(pack: str, manifest: Manifest) -> str:
    """Write the manifest as an in-toto statement beside the pack; return its path.

    Its subjects are the git tree that the facts are of, and the pack itself.
    """
    with open(pack, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": manifest.commit, "digest": {"gitTree": manifest.tree}},
            {"name": manifest.name, "digest": {"sha256": digest}},
        ],
        "predicateType": f"urn:gitindex:{KIND}",
        "predicate": json.loads(render(manifest)),
    }
    path = pack + STATEMENT
    with open(path, "w", encoding="utf-8") as file:
        json.dump(statement, file, indent=1)
        file.write("\n")
    return path


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
        _matched(_HEX, fields["base"]) if fields["base"] else "",
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


LEVEL = 3
"""Level 7 costs twice the CPU and saves four percent."""
CHUNK = 1 << 20
MAX_WINDOW = 1 << 27
"""zstd's own largest default: a frame may ask for this much memory."""


class FrameInfo(NamedTuple):
    """One frame: size before and after compression, and the digest of its content."""

    size: int
    packed: int
    sha256: str


def compress(source: IO[bytes], sink: IO[bytes]) -> FrameInfo:
    """Compress all of `source` into one frame."""
    digest, size, start = hashlib.sha256(), 0, sink.tell()
    compressor = zstd_library().ZstdCompressor(level=LEVEL)
    with compressor.stream_writer(sink, closefd=False) as writer:
        while chunk := source.read(CHUNK):
            digest.update(chunk)
            size += len(chunk)
            writer.write(chunk)
    return FrameInfo(size, sink.tell() - start, digest.hexdigest())


def decompress(source: IO[bytes], sink: IO[bytes], frame: FrameInfo) -> None:
    """Read one frame of `frame.packed` bytes; BadPack unless its content is as announced."""
    bounded = _Bounded(source, frame.packed)
    digest, size = hashlib.sha256(), 0
    library = zstd_library()
    try:
        reader = library.ZstdDecompressor(max_window_size=MAX_WINDOW).stream_reader(bounded)
        while chunk := reader.read(min(CHUNK, frame.size - size + 1)):
            size += len(chunk)
            if size > frame.size:
                raise BadPack("a member is larger than announced")
            digest.update(chunk)
            sink.write(chunk)
    except library.ZstdError as error:
        raise BadPack(f"a member cannot be read: {error}") from error
    if bounded.left:
        raise BadPack("a member has bytes after its end")
    if size != frame.size or digest.hexdigest() != frame.sha256:
        raise BadPack("a member is not what the manifest says")


class _Bounded:
    """Reads at most this many bytes of a file."""

    def __init__(self, source: IO[bytes], size: int) -> None:
        self._source = source
        self.left = size

    def read(self, size: int = -1) -> bytes:
        count = self.left if size < 0 else min(size, self.left)
        data = self._source.read(count)
        self.left -= len(data)
        return data


def zstd_library() -> Any:
    """Return the module, or raise the error that names its extra."""
    try:
        import zstandard
    except ImportError as error:
        raise missing_extra("a pack", "pack") from error
    return zstandard


NAMESPACE = "gitindex-pack"
SIGNATURE = ".sig"
TIMEOUT_SECONDS = 120.0
MAX_SIGNATURE = 1 << 16
"""An SSH signature has 300 to 3,000 bytes."""


def sign(pack: str, key: str) -> str:
    """Sign a pack with a key file or a key of the agent; return the signature's path."""
    signature = pack + SIGNATURE
    if os.path.exists(signature):
        os.unlink(signature)
    done = _run(["-Y", "sign", "-f", os.path.expanduser(key), "-n", NAMESPACE, pack])
    if done.returncode or not os.path.exists(signature):
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = safe_text(lines[-1]) if lines else "no reason given"
        raise GitIndexError(f"the pack could not be signed: {reason}", "check gitindex.pack.key")
    return signature


def find_signer(pack: str, allowed: str) -> str:
    """Return who signed a pack; empty if it is unsigned. BadPack if the signature is invalid."""
    signature = pack + SIGNATURE
    try:
        found = os.lstat(signature)
    except FileNotFoundError:
        return ""
    if not os.path.isfile(signature) or os.path.islink(signature) or found.st_size > MAX_SIGNATURE:
        raise BadPack("its signature is not a file")
    if not allowed or not os.path.isfile(os.path.expanduser(allowed)):
        return ""  # no allowed signers: counts as unsigned
    allowed = os.path.expanduser(allowed)
    named = _run(["-Y", "find-principals", "-s", signature, "-f", allowed])
    lines = named.stdout.decode("utf-8", "replace").splitlines()
    if named.returncode or not lines:
        raise BadPack("it is signed by a key that is not among the allowed signers")
    signer = lines[0].strip()
    with open(pack, "rb") as data:
        done = _run(
            ["-Y", "verify", "-f", allowed, "-I", signer, "-n", NAMESPACE, "-s", signature],
            data.fileno(),
        )
    if done.returncode:
        raise BadPack("its signature does not hold")
    return signer


def _run(args: list[str], stdin: int = subprocess.DEVNULL) -> subprocess.CompletedProcess[bytes]:
    env = clean_env()
    program = find_program("ssh-keygen", env.get("PATH", FALLBACK_PATH))
    if program is None:
        raise GitIndexError("ssh-keygen was not found", "install OpenSSH", Exit.ERROR)
    try:
        return subprocess.run(
            [program, *args],
            stdin=stdin,
            capture_output=True,
            env=env,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GitIndexError("ssh-keygen did not answer", "check gitindex.pack.key") from error
