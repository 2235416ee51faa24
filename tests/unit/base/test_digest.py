"""Digests without OpenSSL are those of hashlib."""

from __future__ import annotations

import hashlib

from gitindex.base.light_types import sha1, sha256


def test_digests_are_those_of_hashlib() -> None:
    for data in (b"", b"blob 3\0abc", bytes(70_000)):
        assert sha1(data).hexdigest() == hashlib.sha1(data).hexdigest()
        assert sha256(data).hexdigest() == hashlib.sha256(data).hexdigest()
    told = sha256()
    told.update(b"a")
    told.update(b"b")
    assert told.hexdigest() == hashlib.sha256(b"ab").hexdigest()
