"""The compiled functions and those in Python say the same, byte for byte; without them all works."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gitindex.base import compiled
from gitindex.extract import terms
from gitindex.languages.syntax import extract, outline, postings, sweep
from gitindex.languages.syntax.parser import Captures
from gitindex.languages.syntax.source import read_source
from gitindex.languages.table import language_of
from gitindex.query.search import chunks

ROOT = Path(__file__).parents[3]
built = pytest.mark.skipif(compiled.LIBRARY is None, reason="installed without a C compiler")
PIECES = [
    b"parseHTTPRequest",
    b"_",
    b"__x__",
    b"aB",
    b"ABc",
    b"9",
    b"v2",
    b" ",
    b"\n",
    b"-",
    b".",
    b"\t",
]
PIECES += [
    "é".encode(),
    "İ".encode(),
    "Straße\u00a0x".encode(),
    "日本語".encode(),
    b"\xff",
    b"\xe2\x80",
    b"\0",
]
PIECES += [b"a" * 199, b"A" * 201, b"x1" * 120, b"getX", b"get_x", b"def f(self): return self.x\n"]


def _texts(count: int, seed: int = 3) -> list[bytes]:
    pick = random.Random(seed)
    lengths = (0, 1, 2, 5, 40, 400)
    return [b"".join(pick.choices(PIECES, k=pick.choice(lengths))) for _ in range(count)]


def _files() -> list[Path]:
    """Real files of all languages that have fixtures, and sources of our own."""
    fixtures = [path for path in (ROOT / "tests/fixtures").rglob("*") if path.is_file()]
    return sorted(fixtures) + sorted((ROOT / "gitindex/store").glob("*.py"))


@built
def test_terms_are_the_same() -> None:
    texts = _texts(1_500) + [path.read_bytes() for path in _files()]
    for data in texts:
        text = data.decode("utf-8", "replace").encode()
        assert terms.lexical_terms(text) == terms.python_terms(text), text


@built
def test_texts_that_may_contain_anything_are_marked_the_same() -> None:
    """A word that is cut, and more words than are listed."""
    many = b" ".join(b"%x" % (number * 7919) for number in range(terms.MAX_TERM_BYTES // 4))
    for text in (b"x" * 199, b"x" * 200, b"a " + b"x" * 201 + b" b", "ü".encode() * 201, many):
        found = terms.lexical_terms(text)
        assert found == terms.python_terms(text)
        assert found.endswith(terms.MARK) == (text != b"x" * 199)


def _broken_forms(path: Path, pick: random.Random) -> list[bytes]:
    """A real file; the same cut anywhere; with bytes that are no UTF-8, and with other letters."""
    data = read_source(path.read_bytes()).data
    cut = data[: pick.randrange(len(data) + 1)]
    other = data.replace(b"a", "ä".encode(), pick.randrange(4))
    return [data, cut, data.replace(b"e", b"\xe9", pick.randrange(3)), other]


@built
def test_outlines_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges, symbols, marks of visibility and lines of the surface."""
    compared = []

    def both(data: bytes, captures: Captures, language: str) -> Any:
        compiled = outline.read_outline(data, captures, language)
        with monkeypatch.context() as without:
            without.setattr(sweep, "LIBRARY", None)
            plain = outline.read_outline(data, captures, language)
        assert compiled._replace(definitions=[]) == plain._replace(definitions=[])
        for one, other in zip(compiled.definitions, plain.definitions, strict=True):
            for name in ("rank", "exported", "local", "guarded", "label", "doc", "prefix", "outer"):
                pair = getattr(one, name), getattr(other, name)
                assert pair[0] == pair[1] or (name == "outer" and pair[0].start == pair[1].start)
        compared.append(len(compiled.symbols))
        return compiled

    monkeypatch.setattr(extract, "read_outline", both)
    pick = random.Random(17)
    for path in _files():
        for text in _broken_forms(path, pick):
            extract.extract_facts(text, language_of(os.fsencode(path.name), text[:200]))
    assert sum(compared) > 3_000


@built
def test_names_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of real files, of files cut anywhere, and of such with bytes that are no UTF-8."""
    compared = []

    def both(data: bytes, outline: Any, captures: Captures, extra: Any) -> Any:
        found = postings.build_postings(data, outline, dict(captures), extra)
        asked = postings.python_postings(data, outline, captures, extra)
        assert list(found.counts.items()) == list(asked.counts.items())
        assert found.text == asked.text
        compared.append(len(found))
        return found

    monkeypatch.setattr(extract, "build_postings", both)
    pick = random.Random(11)
    for path in _files():
        for text in _broken_forms(path, pick):
            extract.extract_facts(text, language_of(os.fsencode(path.name), text[:200]))
    assert sum(compared) > 5_000


@built
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("terms_of_text", ("text", len)),
        ("terms_of_text", ("é".encode(), lambda _: "no bytes")),
        ("group_names", (b"x", [1], [], {}, [], [], [])),
        ("group_names", (b"x", [-1, 2], [], {}, [], [], [])),
        ("group_names", (b"x", [], [object()], {}, [], [], [])),
        ("group_names", (b"x", [], [], {9: []}, [], [], [])),
        ("group_names", (b"x", [], (), {}, [], [], [])),
        ("group_names", (b"x", [], [], {}, [], [], [1, 2])),
        ("group_names", (b"x", [], [], {}, [], [], [1, 2, -3])),
        ("sweep_ranges", (b"x", [], {}, None)),
        ("sweep_ranges", (b"x", (7,), {}, None)),
        ("sweep_ranges", (b"x", ((99, 0, 0, []),), {}, None)),
        ("sweep_ranges", (b"x", ((2, 0, 0, [object()]),), {}, None)),
        ("score_chunks", (b"x", [(b"x", 1.0, False, 0.0)], 700)),
        ("score_chunks", (b"x", ((b"", 1.0, False, 0.0),), 700)),
        ("score_chunks", (b"x", ((b"x", 1.0, False),), 700)),
        ("score_chunks", (b"x", ((b"x", 1.0, False, 0.0),) * 129, 700)),
        ("score_chunks", (b"x", (), 0)),
        ("score_chunks", (b"x", (7,), 700)),
    ],
)
def test_bad_arguments_are_refused(name: str, arguments: tuple[Any, ...]) -> None:
    assert compiled.LIBRARY is not None
    with pytest.raises((TypeError, ValueError, AttributeError)):
        getattr(compiled.LIBRARY, name)(*arguments)


@built
def test_places_beyond_the_text_are_left_to_python() -> None:
    assert compiled.LIBRARY is not None
    group = compiled.LIBRARY.group_names
    assert group(b"ab", [5, 9], [], {}, [], [], []) is None
    assert group(b"\xff", [0, 1], [], {}, [], [], []) is None
    assert group(b"ab", [0, 1 << 50], [], {}, [], [], [1 << 40, 1 << 41, 0]) == (
        {"ab": 3},
        b"\x02\0\0",
    )
    assert group(b"ab", [1, 0], [], {}, [], [], []) == ({"": 3}, b"\x02\x01\0")


def test_without_the_library() -> None:
    """The variable turns it off: an install without a compiler is the same."""
    code = (
        "from gitindex.base import compiled; from gitindex.extract.terms import lexical_text;"
        "assert compiled.LIBRARY is None; print(lexical_text('parseHTTP é x'))"
    )
    env = {**os.environ, compiled.VARIABLE: "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{terms.lexical_text('parseHTTP é x')}\n"


@built
def test_chunks_are_the_same() -> None:
    """Scores, covers and places, to the last bit; single letters and overlapping words too."""
    pick = random.Random(11)
    words = [b"x", b"get", b"par", b"parsehttprequest", b"aa", b"aaa", b"http", b"s", b"request"]
    words += [b"self", b"def", b"\xc3\xa9", b"9", b"v2", b"_", b"get_x", b"return"]
    texts = _texts(400, seed=7) + [path.read_bytes() for path in _files()]
    assert compiled.LIBRARY is not None
    for data in texts:
        listed = tuple(
            (word, pick.uniform(0.0, 9.0), pick.random() < 0.3, pick.choice((0.0, 1.0, 3.0)))
            for word in pick.sample(words, pick.randrange(len(words)))
        )
        step = pick.choice((1, 7, 50, chunks.STEP))
        found = compiled.LIBRARY.score_chunks(data, listed, step)
        assert found == chunks.python_chunks(data, listed, step), (data, listed, step)
