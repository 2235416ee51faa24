"""The only importer of zstandard: writes and reads frames of files, with a bound on both."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from gitindex.base.extras import missing_extra

LEVEL = 3
"""Level 7 costs twice the CPU and saves four percent."""
CHUNK = 1 << 20
MAX_WINDOW = 1 << 27


class FrameInfo(NamedTuple):
    """One frame: size before and after compression, and the digest of its content."""

    size: int
    packed: int
    sha256: str


class BadFrame(Exception):
    """A frame that is damaged, truncated, or not as announced."""


def compress(source: IO[bytes], sink: IO[bytes]) -> FrameInfo:
    """Compress all of `source` into one frame."""
    digest, size, start = hashlib.sha256(), 0, sink.tell()
    compressor = _library().ZstdCompressor(level=LEVEL)
    with compressor.stream_writer(sink, closefd=False) as writer:
        for chunk in _chunks(source):
            digest.update(chunk)
            size += len(chunk)
            writer.write(chunk)
    return FrameInfo(size, sink.tell() - start, digest.hexdigest())


def decompress(source: IO[bytes], sink: IO[bytes], told: FrameInfo) -> None:
    """Read one frame of `told.packed` bytes; BadFrame unless its content is as announced."""
    bounded = _Bounded(source, told.packed)
    digest, size = hashlib.sha256(), 0
    library = _library()
    try:
        reader = library.ZstdDecompressor(max_window_size=MAX_WINDOW).stream_reader(bounded)
        while chunk := reader.read(min(CHUNK, told.size - size + 1)):
            size += len(chunk)
            if size > told.size:
                raise BadFrame("a member is larger than announced")
            digest.update(chunk)
            sink.write(chunk)
    except library.ZstdError as error:
        raise BadFrame(f"a member cannot be read: {error}") from error
    if bounded.left:
        raise BadFrame("a member has bytes after its end")
    if size != told.size or digest.hexdigest() != told.sha256:
        raise BadFrame("a member is not what the manifest says")


class _Bounded:
    """Reads at most this many bytes of a file."""

    def __init__(self, source: IO[bytes], size: int) -> None:
        self._source = source
        self.left = size

    def read(self, size: int = -1) -> bytes:
        wanted = self.left if size < 0 else min(size, self.left)
        data = self._source.read(wanted)
        self.left -= len(data)
        return data


def _chunks(source: IO[bytes]) -> Iterator[bytes]:
    while chunk := source.read(CHUNK):
        yield chunk


def _library() -> Any:
    try:
        import zstandard
    except ImportError as error:
        raise missing_extra("a pack", "pack") from error
    return zstandard
