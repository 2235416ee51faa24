"""SHA-1 and SHA-256 without OpenSSL, whose import costs a cold command 3 to 6 ms."""

from __future__ import annotations

from gitindex.base.light_types import TYPE_CHECKING, once

if TYPE_CHECKING:
    from hashlib import sha1, sha256

    __all__ = ["sha1", "sha256"]
else:

    def sha1(data=b""):
        """Return a SHA-1 object, as hashlib does."""
        return _sha1()(data)

    def sha256(data=b""):
        """Return a SHA-256 object, as hashlib does."""
        return _sha256()(data)

    def _first_of(name, *modules):
        """Return the function of the first module that this Python has."""
        for module in modules:
            try:
                return getattr(__import__(module), name)
            except ImportError:
                continue
        return getattr(__import__("hashlib"), name)

    _sha1 = once(lambda: _first_of("sha1", "_sha1"))
    _sha256 = once(lambda: _first_of("sha256", "_sha256", "_sha2"))
