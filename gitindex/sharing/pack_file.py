"""The format of a pack file: a magic line, the manifest, then one zstd frame per member."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from gitindex.sharing.compression import BadFrame, FrameInfo, compress, decompress
from gitindex.sharing.manifest import BadPack, Manifest, Member, parse, render

MAGIC = b"GIXP1\n"
MAX_MANIFEST = 4 << 20
MAX_PACK = 8 << 30


def write_pack(path: str, folder: str, names: list[str], manifest: Manifest) -> Manifest:
    """Write the members of a folder as a pack; return the manifest with their sizes and digests."""
    members = f"{path}.members"
    with open(members, "w+b") as body:
        packed = []
        for name in names:
            with open(os.path.join(folder, name), "rb") as source:
                packed.append(Member(name, compress(source, body)))
        whole = manifest._replace(members=tuple(packed))
        head = io.BytesIO()
        told = compress(io.BytesIO(render(whole)), head)
        with open(path, "wb") as pack:
            pack.write(MAGIC + b"%d %d %s\n" % (told.size, told.packed, told.sha256.encode()))
            pack.write(head.getvalue())
            body.seek(0)
            while chunk := body.read(1 << 20):
                pack.write(chunk)
    os.unlink(members)
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
                _read_frame(pack, sink, member.frame)
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
    _read_frame(pack, sink, FrameInfo(size, packed, digest))
    return parse(sink.getvalue())


def _read_frame(pack: IO[bytes], sink: IO[bytes], told: FrameInfo) -> None:
    try:
        decompress(pack, sink, told)
    except BadFrame as error:
        raise BadPack(str(error)) from error
