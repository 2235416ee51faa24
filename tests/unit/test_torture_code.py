"""What begins the sums of a fault suite anew: its statements, not where its imports are."""

from __future__ import annotations

from tests.torture.__main__ import digest_of

SUITE = b'"""About."""\nfrom a import b\n\n\ndef suite():\n    """Why."""\n    b(1)\n'


def test_a_moved_import_or_a_comment_begins_nothing_anew() -> None:
    moved = b'"""Other."""\nimport x\nfrom a.c import b\n\n\ndef suite():\n    # why\n    b( 1 )\n'
    assert digest_of(moved) == digest_of(SUITE)


def test_another_statement_begins_the_sums_anew() -> None:
    assert digest_of(SUITE.replace(b"b(1)", b"b(2)")) != digest_of(SUITE)
    assert digest_of(SUITE + b"X = 1\n") != digest_of(SUITE)
