"""The facts of one sample per language, compared whole with what they were reviewed to be."""

import os

import pytest

from gitindex.base.vocabulary import FactsStatus
from gitindex.languages.facts import BlobFacts, Use, decode_facts, encode_facts, unpack_places
from gitindex.languages.syntax.extract import extract_facts
from gitindex.languages.table import LANGUAGES, language_of

FOLDER = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "fixtures", "syntax"
)
SAMPLES = sorted(name for name in os.listdir(FOLDER) if not name.endswith(".facts"))
MARKS = {
    Use.DEFINITION: "def",
    Use.IMPORT: "import",
    Use.REFERENCE: "ref",
    Use.CALL: "call",
    Use.ATTRIBUTE: "attr",
    Use.TYPE: "type",
    Use.INHERIT: "inherit",
    Use.DECORATOR: "decorator",
}


def read(name: str) -> bytes:
    with open(os.path.join(FOLDER, name), "rb") as file:
        return file.read()


def facts_of(name: str) -> BlobFacts:
    data = read(name)
    return extract_facts(data, language_of(name.encode(), data[:256]))


def render(facts: BlobFacts) -> str:
    lines = [
        f"{facts.language} {facts.status} {facts.lines} lines {' '.join(facts.flags)}".rstrip()
    ]
    for s in facts.symbols:
        seen = "+" if s.exported else "-"
        where = f"{s.line + 1}:{s.column + 1} {s.start_line + 1}-{s.end_line + 1}"
        doc = f"  # {s.doc!r}" if s.doc else ""
        lines.append(f"{seen} {s.kind} {s.qualified} {where} | {s.signature}{doc}")
    for item in facts.imports:
        names = ", ".join(f"{name}={local}" for name, local in item.names)
        lines.append(f"import {'.' * item.level}{item.module} [{names}] {item.line + 1}")
    lines.append(f"exports {' '.join(facts.exports)}")
    for name, packed in sorted(facts.postings.items()):
        places = " ".join(
            f"{p.line + 1}:{p.column + 1}:{MARKS[p.use]}" for p in unpack_places(name, packed)
        )
        lines.append(f"{name} {places}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", SAMPLES)
def test_facts_are_as_reviewed(name: str) -> None:
    text = render(facts_of(name))
    golden = os.path.join(FOLDER, name + ".facts")
    if os.environ.get("GITINDEX_REVIEW") == "write":
        with open(golden, "w", encoding="utf-8") as file:
            file.write(text)
    with open(golden, encoding="utf-8") as file:
        assert text == file.read()


@pytest.mark.parametrize("name", SAMPLES)
def test_facts_hold_together(name: str) -> None:
    facts = facts_of(name)
    lines = read(name).split(b"\n")
    assert facts.status is FactsStatus.PARSED
    assert decode_facts(encode_facts(facts)) == facts
    for ordinal, symbol in enumerate(facts.symbols):
        assert symbol.parent < ordinal
        assert symbol.start_line <= symbol.line <= symbol.end_line < len(lines)
        places = unpack_places(symbol.name, facts.postings[symbol.name])
        here = [p for p in places if (p.line, p.column) == (symbol.line, symbol.column)]
        assert [p.use for p in here] == [Use.DEFINITION]
    for posted, packed in facts.postings.items():
        places = unpack_places(posted, packed)
        assert places == sorted(places, key=lambda p: (p.line, p.column))
        for place in places:
            first_word = posted.split()[0].encode()
            assert lines[place.line][place.column :].startswith(first_word)


def test_every_language_has_a_sample() -> None:
    sampled = {facts_of(name).language for name in SAMPLES}
    assert sampled == {row.name for row in LANGUAGES}
