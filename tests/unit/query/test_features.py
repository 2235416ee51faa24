"""What each feature of ranking prefers. Pure."""

from __future__ import annotations

from itertools import pairwise

import pytest

from gitindex.query.search.chunks import ChunkScorer, ChunkTerm
from gitindex.query.search.definitions import DefinitionMatcher, NamedDefinition
from gitindex.query.search.features import (
    Atom,
    NameMatcher,
    needle_of,
    path_features,
    similarity,
)
from gitindex.query.search.memory import repository_words
from gitindex.query.search.passages import FileLines, best_line
from gitindex.query.search.query_text import parse_query
from gitindex.query.search.ranking import (
    KINDS,
    Features,
    Rarity,
    first_features,
    headers,
    kinds_of,
    scaled,
    total,
)
from gitindex.query.search.snippets import (
    count_terms,
    holds_phrases,
    line_start,
)
from gitindex.query.search.weights import FINAL, FIRST


def _definitions(text: str, *named: NamedDefinition, exact: float = 1.0) -> list[float]:
    query = parse_query(text)
    rarity = Rarity(query, {}, 100)
    atoms = rarity.atoms(query)
    matcher = DefinitionMatcher(query, atoms, rarity.shares, NameMatcher(atoms))
    found = [(matcher.features([one])[0], matcher.scored([one])[0].score) for one in named]
    return [exact * one.exact + best + 0.3 * one.doc + one.phrase for one, best in found]


def _function(
    name: str, within: str = "", doc: str = "", kind: str = "function"
) -> NamedDefinition:
    return NamedDefinition(name, f"{within}.{name}" if within else name, kind, doc)


def _falls(values: list[float]) -> bool:
    return all(a > b for a, b in pairwise(values))


def _path(text: str, path: str) -> float:
    query = parse_query(text)
    said = path_features(NameMatcher(Rarity(query, {}, 100).atoms(query)), path)
    return total(first_features(query, path, said), FIRST)


def test_exact_over_spelling_over_part_over_nothing() -> None:
    names = ("parseRequest", "parse_request", "parse_request_line", "line")
    found = _definitions("parseRequest", *(_function(name) for name in names))
    assert _falls(found)
    assert found[-1] == 0.0


def test_several_words_in_one_name_beat_one_of_them() -> None:
    names = ("http_request", "parse_http_request_line", "http", "other")
    assert _falls(_definitions("http request", *(_function(name) for name in names)))


def test_surroundings_and_comments_count_less_than_names() -> None:
    found = _definitions(
        "socket close",
        _function("close_socket"),
        _function("close", within="Socket"),
        _function("close"),
        _function("shut", doc="Close the socket."),
        exact=0.0,
    )
    assert _falls(found)


@pytest.mark.parametrize(
    "text", ["socket.close", "Socket::close", "Socket#close", "Socket->close()"]
)
def test_a_qualified_name_is_exact_in_any_notation(text: str) -> None:
    query = parse_query(text)
    rarity = Rarity(query, {}, 100)
    atoms = rarity.atoms(query)
    matcher = DefinitionMatcher(query, atoms, rarity.shares, NameMatcher(atoms))
    assert matcher.features([_function("close", within="Socket")])[0].qualified == 1.0
    assert matcher.features([_function("close", within="File")])[0].qualified == 0.0


def test_types_before_functions_before_variables_of_the_same_name() -> None:
    kinds = ("class", "function", "variable")
    assert _falls(_definitions("limit", *(_function("limit", kind=kind) for kind in kinds)))
    assert _falls(_definitions("Limit", _function("Limit"), _function("limit")))


def test_rare_words_count_more() -> None:
    query = parse_query("self frobnicate")
    shares = Rarity(query, {"self": 990, "frobnicate": 3}, 1000).shares
    assert shares["frobnicate"] > 0.9 > shares["self"]
    assert sum(shares.values()) == pytest.approx(1.0)


def test_the_repositorys_own_name_tells_little() -> None:
    query = parse_query("redis cluster")
    frequencies = {"redis": 300, "cluster": 300}
    shares = Rarity(query, frequencies, 1000, frozenset({"redis"})).shares
    assert shares["cluster"] > 5 * shares["redis"]
    alone = parse_query("redis")
    assert Rarity(alone, frequencies, 1000, frozenset({"redis"})).shares == {"redis": 1.0}


def test_a_word_about_the_change_tells_little_beside_two_others() -> None:
    counts = {"fix": 100, "socket": 300, "pool": 300}
    rarity = Rarity(query := parse_query("Fix socket pool"), counts, 1000)
    assert rarity.shares["socket"] > rarity.shares["Fix"]
    assert rarity.lead(query) == "socket"
    few = Rarity(parse_query("fix socket"), counts, 1000).shares
    assert few["fix"] > few["socket"]


def test_the_name_of_the_repository_is_the_address_its_files_mention_most() -> None:
    readme = (
        b"[a](https://github.com/o/Gadget-Box) git@github.com:o/gadget-box.git github.com/p/other."
    )
    assert repository_words([readme, b"no address"]) == {"gadget", "box"}
    assert repository_words([readme, b'{\n  "name": "@works/root"']) == {"works"}
    assert repository_words([]) == repository_words([b"github.com/p/other"]) == frozenset()


def test_a_path_that_was_asked_for_beats_its_words() -> None:
    paths = ("a/pkg/foo.py", "foo/pkg.py", "other.py")
    assert _falls([_path("pkg/foo.py", path) for path in paths])
    paths = ("a/read_config.py", "a/read_config_of_other_things.py", "a/b.py")
    assert _falls([_path("read config", path) for path in paths])


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ("recovery", "recoverer"),
        ("utility", "utils"),
        ("websocket", "websockets"),
        ("configuration", "config"),
        ("queries", "query"),
        ("authentication", "auth"),
    ],
)
def test_other_forms_and_abbreviations_match_in_paths(asked: str, word: str) -> None:
    assert 0.5 < similarity(asked, word) < 1.0
    assert similarity(asked, asked) == 1.0
    assert similarity(asked, "other") == 0.0


def test_words_are_found_in_joined_names_and_every_part_of_a_dotted_one() -> None:
    matcher = NameMatcher([Atom("flush", 1.0)])
    assert path_features(matcher, "src/cacheflushhandler.go").stem_precision > 0.1
    matcher = NameMatcher([Atom("part", 1.0)])
    assert path_features(matcher, "src/Name.Part.cs").path_cover == 1.0
    assert path_features(matcher, "some-part/name.cs").path_cover == 1.0
    assert path_features(matcher, "src/part/index.ts").lead_name == 0.0
    matcher = NameMatcher([Atom("part", 1.0)], "part")
    assert path_features(matcher, "src/part/index.ts").lead_name == 1.0


def _kinds(text: str, path: str) -> dict[str, float]:
    return dict(zip(KINDS, kinds_of(parse_query(text), path), strict=True))


def test_other_kinds_of_files_give_way_unless_asked_for() -> None:
    plain = parse_query("socket")
    assert kinds_of(plain, "src/socket.py") == (0.0,) * len(KINDS)
    for path, kind in (
        ("tests/test_socket.py", "test"),
        ("src/jvmTest/Socket.kt", "test"),
        ("vendor/socket.py", "aside"),
        ("socket.min.js", "aside"),
        ("ChangeLog", "aside"),
        ("examples/socket.py", "aside"),
        ("types/socket.d.ts", "stub"),
        ("config/socket.toml", "aside"),
        ("docs/socket.md", "aside"),
    ):
        assert _kinds("socket", path)[kind], path
        assert getattr(FIRST, kind) <= 0 >= getattr(FINAL, kind), kind
    assert not _kinds("socket in:tests", "tests/test_socket.py")["test"]
    assert _kinds("socket test", "tests/test_socket.py")["test"]
    assert kinds_of(parse_query("path:vendor socket"), "vendor/socket.py") == (0.0,) * len(KINDS)
    assert kinds_of(plain, "django/contrib/auth/models.py") == (0.0,) * len(KINDS)
    assert kinds_of(plain, "lib/test_functions.bash") == (0.0,) * len(KINDS)


def test_a_folder_for_what_the_others_share_is_central() -> None:
    matcher = NameMatcher([Atom("parse", 1.0)])
    paths = ["pkg/core/parse.py", "pkg/Common/x.py", "core.py", "pkg/score/parse.py"]
    assert [path_features(matcher, path).central for path in paths] == [1.0, 1.0, 0.0, 0.0]


def test_a_header_with_a_source_is_a_declaration() -> None:
    paths = ["src/idna.h", "src/idna.c", "include/uv.h", "a/x.hpp", "b/x.cpp", "a/y.hh", "a/y.cc"]
    assert headers(paths) == {"src/idna.h", "a/x.hpp", "a/y.hh"}


def test_the_best_chunk_counts_not_the_length_of_the_file() -> None:
    terms = [ChunkTerm(b"thread", 1.0, False), ChunkTerm(b"lock", 1.0, False)]
    filler = b"something else altogether is written here\n" * 100
    together = ChunkScorer(terms).best(filler + b"the lock of a thread\n" + filler)
    apart = ChunkScorer(terms).best(b"lock\n" + filler + b"thread\n")
    assert together > apart
    assert ChunkScorer(terms).best(b"") == 0.0


def test_words_of_the_path_belong_to_every_chunk() -> None:
    terms = [ChunkTerm(b"socket", 1.0, False), ChunkTerm(b"clos", 1.0, False)]
    paths = ("net/socket.py", "socket/net.py", "net/other.py")
    assert _falls([ChunkScorer(terms).best(b"close it", path=path) for path in paths])
    alone = ChunkScorer(terms).best(b"nothing", path="net/socket.py")
    both = ChunkScorer(terms).best(b"socket", path="net/socket.py")
    assert 0.0 < alone < both < alone + ChunkScorer(terms).best(b"socket")


def test_starts_of_words_count_more_than_their_insides() -> None:
    terms = [ChunkTerm(b"flush", 1.0, False)]
    texts = (b"flush it", b"cacheflushhandler", b"nothing")
    assert _falls([ChunkScorer(terms).best(text) for text in texts])
    assert ChunkScorer(terms).best(b"cacheFlush") == ChunkScorer(terms).best(b"cache_Flush")
    assert ChunkScorer([ChunkTerm(b"id", 1.0, False)]).best(b"videos") == 0.0


def test_needles_are_what_all_forms_start_with() -> None:
    assert {needle_of(word) for word in ("query", "queries", "querying")} == {"quer"}
    assert needle_of("closing") == needle_of("close") == "clos"
    assert needle_of("id") == "id"


def test_relative_features_end_at_one() -> None:
    rows = scaled([Features(text=4.0, chunk=0.0), Features(text=2.0, chunk=0.0)])
    assert [row.text for row in rows] == [1.0, 0.5]
    assert scaled([]) == []


def test_the_line_to_show_is_no_import_where_there_is_another() -> None:
    terms = [(b"clos", 1.0), (b"socket", 1.0)]
    text = b"import socket, closer\n\n\n\n\ndef close(socket):\n    pass\n"
    assert best_line(FileLines(text), terms) == 5
    assert best_line(FileLines(b"import socket\n"), terms) == 0
    assert best_line(FileLines(b""), terms) == 0


def test_lines_start_where_they_start() -> None:
    text = "".join(f"{'x' * (number % 97)}\n" for number in range(3_000)) + "end"
    starts = [0, *(at + 1 for at, char in enumerate(text) if char == "\n")]
    assert [line_start(text, line) for line in range(3_001)] == starts
    assert line_start(text, 9_999) == len(text)
    assert line_start("", 3) == 0


def test_terms_are_counted_as_the_index_counts_them() -> None:
    text = "parseHttp parse_http HTTP reparse"
    assert count_terms(text, ["parse", "http", "none"]) == {"parse": 2, "http": 3}


def test_phrases_are_found_across_blanks_and_case_but_not_in_longer_words() -> None:
    assert holds_phrases("Say  Hello\n  World!", ["hello world"])
    assert not holds_phrases("say hello worlds", ["hello world"])
    assert holds_phrases("anything", [])
