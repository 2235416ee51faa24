"""SCIP: symbols, positions and documents; and the real indexers on third-party code."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitindex.base.vocabulary import ContextKind, JobStatus, Relation
from gitindex.languages.facts import Use
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.semantic.scip.facts import (
    ECMA_LINES,
    LINES,
    UTF8,
    UTF16,
    UTF32,
    IndexerQuirks,
    OutsideFile,
    Positions,
    SyntacticOutline,
    Syntax,
    make_facts,
    qualified,
    read_symbol,
)
from gitindex.semantic.scip.importer import BadOutput, read_output
from gitindex.semantic.scip.schema import messages
from gitindex.semantic.scip.tools import TOOLS, tool_for
from gitindex.store import semantic
from gitindex.store.semantic import NOWHERE, StoredOccurrence, pack_places, unpack_places
from gitindex.view.tree import TreeView
from tests.indexers import allow, dump, index_semantically, real_indexers, refresh, with_lens
from tests.support import Repo

SYMBOLS = {
    "scip-python python pkg 1.2 `pkg.a`/Shape#area().": ("area", "method"),
    "scip-python python pkg 1.2 `pkg.a`/make().": ("make", "function"),
    "scip-python python pkg 1.2 `pkg.a`/Shape#": ("Shape", "class"),
    "scip-python python pkg 1.2 `pkg.a`/__init__:": ("pkg.a", "module"),
    "scip-python python pkg 1.2 `pkg.a`/make().(n)": ("n", "parameter"),
    "scip-python python pkg 1.2 `pkg.a`/Circle#size.": ("size", "field"),
    "scip-python python pkg 1.2 `pkg.a`/LIMIT.": ("LIMIT", "variable"),
    "scip-typescript npm @x/y 1.0.0 src/`a.ts`/": ("a.ts", "module"),
    "scip-typescript npm @x/y 1.0.0 src/`a.ts`/C#`<constructor>`().": ("C", "constructor"),
    "scip-typescript npm @x/y 1.0.0 src/`a.ts`/C#`<get>len`().": ("len", "method"),
    "scip-typescript npm @x/y 1.0.0 src/`a.ts`/f().[T]": ("T", "type_parameter"),
    "scip-typescript npm @x/y 1.0.0 src/`a.ts`/key0:": ("key0", "meta"),
    "semanticdb maven org.x 1.0 a/b/F#run(+1).": ("run", "method"),
    "rust-analyzer cargo my  crate 0.1.0 m/odd``name`!": ("odd``name`", "macro"),
    "x y z 1 `back``tick`#": ("back`tick", "class"),
}


@pytest.mark.parametrize("text", SYMBOLS)
def test_names_and_kinds_of_symbols(text: str) -> None:
    found = read_symbol(text)
    if "odd" not in text:
        assert (found.name, found.kind) == SYMBOLS[text]
    assert not found.is_local


def test_names_in_full_are_of_the_file_down() -> None:
    odd = "src/`a.ts`/C#bag.`util.Loose`:typeLiteral508:maximum."
    assert qualified(f"scip-typescript npm @x/y . {odd}") == "C.bag.maximum"
    assert qualified("scip-python python two  words . `pkg.a`/Shape#area().") == "Shape.area"


def test_x8_identity_is_without_the_version() -> None:
    one, two = (read_symbol(f"scip-python python p {v} `m`/f().") for v in ("1.0", "abc123"))
    assert one.identity == two.identity == "scip-python python p . `m`/f()."
    spaced = read_symbol("scip-x mgr two  words 9 a/f().")
    assert spaced.identity == "scip-x mgr two  words . a/f()."
    assert read_symbol("scip-python python q 1.0 `m`/f().").identity != one.identity
    assert read_symbol("local 4") == ("local 4", "4", "variable", True, b"")


@given(st.text(max_size=60))
@example("a b c d `")
@example("a b c d (")
@example("a b c d x(")
def test_any_symbol_has_an_identity(text: str) -> None:
    found = read_symbol(f"s m p v {text}")
    assert found.identity
    assert read_symbol(text).identity == text or text.count(" ") >= 4 or "  " in text


def count_units(text: str, encoding: int) -> int:
    width, name = {UTF8: (1, "utf-8"), UTF16: (2, "utf-16-le"), UTF32: (4, "utf-32-le")}[encoding]
    return len(text.encode(name)) // width


_TEXT = st.text(st.sampled_from("ab é\u0301😀𝒙\n\r\u2028\t"), max_size=40)


@given(_TEXT, st.sampled_from([UTF8, UTF16, UTF32]), st.sampled_from([LINES, ECMA_LINES]))
@example("\ufeffa\nb", UTF16, LINES)
@example("a\rb😀c\r\nd", UTF16, LINES)
def test_x4_every_character_is_found_at_its_byte(
    text: str, encoding: int, breaks: re.Pattern[bytes]
) -> None:
    """Against a slow definition: cut the text into the tool's lines and measure each prefix."""
    data = text.encode()
    positions = Positions(data, encoding, breaks)
    seen = text.removeprefix("\ufeff")
    offset = len(data) - len(seen.encode())
    ends = "\r\n|\n|\r" + ("|[\u2028\u2029]" if breaks is ECMA_LINES else "")
    for number, line in enumerate(_split(seen, ends)):
        body, ending = line
        for at in range(len(body) + 1):
            here = offset + len(body[:at].encode())
            expected = (data.count(b"\n", 0, here), here - (data.rfind(b"\n", 0, here) + 1))
            assert positions.place(number, count_units(body[:at], encoding)) == expected
        with pytest.raises(OutsideFile):
            positions.place(number, count_units(body, encoding) + 1)
        offset += len((body + ending).encode())


def _split(text: str, breaks: str) -> Iterator[tuple[str, str]]:
    at = 0
    for gap in re.finditer(breaks, text):
        yield text[at : gap.start()], gap[0]
        at = gap.end()
    yield text[at:], ""


@pytest.mark.parametrize(
    "numbers", [[], [1], [0, 1], [0, 1, 2, 3, 4], [0, 2, 1], [5, 0, 1], [0, -1, 1]]
)
def test_x3_ranges_that_fit_no_file(numbers: list[int]) -> None:
    with pytest.raises(OutsideFile):
        Positions(b"some text\n", UTF8).span(numbers)


def test_x3_ranges_of_three_and_four_numbers() -> None:
    positions = Positions("é = 1\nyz\n".encode(), UTF16)
    assert positions.span([0, 0, 1]) == (0, 0, 0, 2)
    assert positions.span([0, 4, 1, 2]) == (0, 5, 1, 2)
    assert positions.text((0, 5, 1, 2)) == b"1\nyz"


_PLACES = st.builds(
    StoredOccurrence, *[st.integers(0, 2**32 - 1)] * 4, st.integers(0, 15), st.integers(0, NOWHERE)
)


@given(st.lists(_PLACES, max_size=20))
def test_places_survive_packing(places: list[StoredOccurrence]) -> None:
    assert unpack_places(pack_places(places)) == places


def document(**fields: Any) -> Any:
    return messages()["Document"](**fields)


def test_calls_come_from_enclosing_ranges_and_the_grammar() -> None:
    data = b"def outer():\n  def inner():\n    return f()\n  return inner()\nouter()\n"
    one = document(
        occurrences=[
            {
                "range": [0, 4, 9],
                "symbol": "s m p 1 outer().",
                "symbol_roles": 1,
                "enclosing_range": [0, 0, 3, 16],
            },
            {
                "range": [1, 6, 11],
                "symbol": "s m p 1 outer().inner().",
                "symbol_roles": 1,
                "enclosing_range": [1, 2, 2, 14],
            },
            {"range": [2, 11, 12], "symbol": "s m p 1 f()."},
            {"range": [3, 9, 14], "symbol": "s m p 1 outer().inner()."},
            {"range": [4, 0, 5], "symbol": "s m p 1 outer()."},
        ]
    )
    syntax = Syntax({(2, 11): Use.CALL, (3, 9): Use.CALL, (4, 0): Use.DEFINITION})
    facts = make_facts(one, data, syntax, IndexerQuirks())
    assert [(d.identity, d.parent, d.start_line, d.end_line) for d in facts.definitions] == [
        ("s m p . outer().", -1, 0, 3),
        ("s m p . outer().inner().", 0, 1, 2),
    ]
    found = {identity: unpack_places(packed) for identity, packed in facts.places.items()}
    assert found["s m p . f()."] == [StoredOccurrence(2, 11, 2, 12, Use.CALL, 1)]
    assert found["s m p . outer().inner()."] == [
        StoredOccurrence(1, 6, 1, 11, Use.DEFINITION, 0),
        StoredOccurrence(3, 9, 3, 14, Use.CALL, 0),
    ]
    assert found["s m p . outer()."][1] == StoredOccurrence(4, 0, 4, 5, Use.REFERENCE, NOWHERE)


def test_without_enclosing_ranges_the_grammar_gives_the_extent() -> None:
    data = b"def f():\n    g()\n"
    one = document(
        occurrences=[
            {"range": [0, 4, 5], "symbol": "s m p 1 f().", "symbol_roles": 1},
            {"range": [1, 4, 5], "symbol": "s m p 1 g()."},
        ]
    )
    syntax = Syntax(symbols={(0, 4): SyntacticOutline("function", 0, 1, exported=False)})
    facts = make_facts(one, data, syntax, IndexerQuirks())
    (place,) = unpack_places(facts.places["s m p . g()."])
    assert place.enclosing == 0
    assert not facts.definitions[0].exported


def test_a_place_with_another_name_on_it_is_not_kept() -> None:
    data = b"from m import f as g\nclass C: pass\nx.field; f(); g(); other(); self.f\n"
    texts = {(2, 2): 7, (2, 9): 10, (2, 14): 15, (2, 19): 24, (2, 28): 32}
    one = document(
        occurrences=[
            {"range": [line, start, end], "symbol": "s m p 1 `m`/f()."}
            for (line, start), end in texts.items()
        ]
    )
    syntax = Syntax(bound=frozenset({"g"}))
    facts = make_facts(one, data, syntax, IndexerQuirks())
    found = [place.column for place in unpack_places(facts.places["s m p . `m`/f()."])]
    assert found == [9, 14, 28]  # the name, a name an import binds, a word that stands for it
    assert facts.doubtful == 2
    aliased = make_facts(one, data, Syntax(aliases=frozenset({("f", "other")})), IndexerQuirks())
    assert [p.column for p in unpack_places(aliased.places["s m p . `m`/f()."])] == [9, 19, 28]


def test_a_key_is_called_what_is_written_there() -> None:
    """scip-typescript counts the keys of objects: their number is no part of the name."""
    key = "scip-typescript npm p 1 `a.ts`/size7:"
    document = messages()["Document"](relative_path="a.ts")
    document.occurrences.add(range=[1, 7, 11], symbol=key)
    document.occurrences.add(range=[0, 13, 17], symbol=key, symbol_roles=1)
    facts = make_facts(document, b"const box = {size: 1}\nf(box).size\n", Syntax(), IndexerQuirks())
    assert set(facts.names.values()) == {"size"}
    assert [d.exported for d in facts.definitions] == [False]


@pytest.mark.parametrize(
    ("told", "signature"),
    [
        ("```ts\n(property) size: number\n```", "size: number"),
        ("```ts\nvar f: (a: b) => c\n```", "var f: (a: b) => c"),
    ],
)
def test_a_signature_does_not_say_what_the_kind_says(told: str, signature: str) -> None:
    document = messages()["Document"](relative_path="a.ts")
    symbol = "scip-typescript npm p 1 `a.ts`/C#size."
    document.occurrences.add(range=[0, 0, 4], symbol=symbol, symbol_roles=1)
    document.symbols.add(symbol=symbol).documentation.append(told)
    (made,) = make_facts(document, b"size\n", Syntax(), IndexerQuirks()).definitions
    assert made.signature == signature


def test_relationships_and_bytes_that_are_no_text() -> None:
    one = document(
        occurrences=[{"range": [0, 2, 3], "symbol": "s m p 1 C#", "symbol_roles": 1}],
        symbols=[
            {
                "symbol": "s m p 1 C#",
                "relationships": [
                    {"symbol": "s m q 3 B#", "is_implementation": True, "is_reference": True},
                    {"symbol": "local 3", "is_reference": True},
                ],
            },
        ],
    )
    facts = make_facts(one, b"\xff C\n", Syntax(), IndexerQuirks())
    assert {(r.target, r.kind) for r in facts.relations} == {
        ("s m q . B#", Relation.IMPLEMENTATION),
        ("s m q . B#", Relation.REFERENCE),
    }
    assert facts.flags == ("encoding_lossy",)
    assert facts.names["s m q . B#"] == "B"


def whole_output() -> bytes:
    index = messages()["Index"]()
    index.metadata.tool_info.name = "t"
    index.metadata.project_root = "file:///some%20where"
    for name in ("a.py", "./b.py", "a.py"):
        added = index.documents.add(relative_path=name)
        added.occurrences.add(range=[0, 0, 1], symbol=f"s m p 1 {name}#")
    return bytes(index.SerializeToString())


def test_documents_are_read_and_doubles_merged() -> None:
    output = read_output(whole_output())
    assert output.project_root == "/some where"
    assert {path: len(d.occurrences) for path, d in output.documents.items()} == {
        "a.py": 2,
        "b.py": 1,
    }


def test_x2_no_cut_is_taken_for_a_whole_output() -> None:
    """A cut between two documents cannot be seen here: that is what known documents are for."""
    data = whole_output()
    whole = set(read_output(data).documents)
    for size in range(len(data)):
        try:
            found = read_output(data[:size])
        except BadOutput:
            continue
        assert set(found.documents) <= whole
    for number in (0x00, 0x08, 0x7F, 0xFF):
        with pytest.raises(BadOutput):
            read_output(bytes([number]) * 20)


@given(st.binary(max_size=200))
def test_x2_garbage_is_refused(data: bytes) -> None:
    with pytest.raises(BadOutput):
        read_output(data)


def test_every_tool_of_the_table_is_whole() -> None:
    from gitindex.semantic.contexts.discovery import Context
    from gitindex.semantic.scip.tools import InstalledIndexer, command

    assert {tool.family for tool in TOOLS} == {
        "python",
        "javascript",
        "go",
        "jvm",
        "dotnet",
        "cpp",
        "ruby",
        "rust",
    }
    for tool in TOOLS:
        assert tool.seconds > 0
        context = Context(tool.family, "sub", ContextKind.PACKAGE, ("sub/tsconfig.json",), None, "")
        argv = command(
            InstalledIndexer(tool, "/bin/tool", "1"), context, "/root", "/tmp", "/tmp/out.scip"
        )
        assert any("/tmp/out.scip" in word for word in argv), tool.program
        assert not any("{" in word for word in argv), tool.program
        ambient = Context(tool.family, "", ContextKind.AMBIENT, (), None, "")
        assert (tool_for(ambient) is not None) is (tool.family == "python")


# The real ones.


@pytest.fixture(scope="module")
def programs() -> str:
    found = real_indexers()
    if found is None:
        pytest.skip(
            "npm is missing or cannot install: scip-python and scip-typescript cannot be had"
        )
    return found


@pytest.fixture
def real(repo: Repo, programs: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repo]:
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    allow(repo)
    yield repo
    repo.git("config", "--global", "--unset-all", "gitindex.semantic")


SNAPSHOT = re.compile(r"^(?:#|//)\s*(?P<mark>\^+) (?P<role>definition|reference) (?P<symbol>.+)$")


def snapshot(golden: str, source: str) -> Counter[tuple[str, int, int, str]]:
    """Role, line, column and descriptors of every occurrence in a tool's own snapshot.

    A snapshot is the source with marks between its lines, which begin where a comment does at least.
    """
    found: Counter[tuple[str, int, int, str]] = Counter()
    lines = source.split("\n")
    number = -1
    for line in golden.split("\n"):
        told = SNAPSHOT.match(line)
        if told is not None and not told["symbol"].strip().startswith("local "):
            path = told["symbol"].strip().split(" ")[-1]
            found[told["role"], number, told.start("mark"), path] += 1
        elif number + 1 < len(lines) and line == lines[number + 1]:
            number += 1
    assert number >= len(lines) - 2, "the snapshot is of another source"
    return found


def imported(repo: Repo, path: str) -> Counter[tuple[str, int, int, str]]:
    """The same of what was imported, in the columns of a snapshot, which are characters."""

    def ask(view: TreeView) -> Counter[tuple[str, int, int, str]]:
        found: Counter[tuple[str, int, int, str]] = Counter()
        lines = view.read([path.encode()])[path.encode()].split(b"\n")
        for ref in semantic.references(view.rows, _identities(view)):
            if ref.path == path.encode() and ref.place[:2] != ref.place[2:4]:
                role = "definition" if ref.place.use == Use.DEFINITION else "reference"
                column = len(lines[ref.place.line][: ref.place.column].decode())
                column = max(column, 1 if path.endswith(".py") else 2)
                found[role, ref.place.line, column, ref.identity.split(" ")[-1]] += 1
        return found

    listed: Counter[tuple[str, int, int, str]] = with_lens(repo, ask)
    return listed


def _identities(view: TreeView) -> list[str]:
    rows = view.rows("SELECT identity FROM semantic_symbols WHERE identity NOT LIKE 'local %'")
    return [identity for (identity,) in rows]


def check_texts(repo: Repo) -> int:
    """Every imported range is its symbol's name on disk, or one of a few things that are explained."""

    def ask(view: TreeView) -> int:
        found = semantic.references(view.rows, _identities(view))
        data = view.read({ref.path for ref in found})
        lines = {path: text.split(b"\n") for path, text in data.items()}
        names = dict(
            view.rows(
                "SELECT identity, text FROM semantic_symbols s JOIN names n ON n.id=s.name_id"
            )
        )
        for ref in found:
            named, place = read_symbol(ref.identity)._replace(name=names[ref.identity]), ref.place
            line = lines[ref.path][place.line]
            text = line[place.column : place.end_column].decode()
            assert place.line == place.end_line
            assert (
                text == named.name
                or named.kind == "module"  # `./a`, `.a`, or nothing at all
                or (named.kind == "constructor" and text == "constructor")
                or text.strip("\"'") == named.name
                or f"{named.name} as {text}".encode() in data[ref.path]
            ), (ref, text)
        return len(found)

    count = with_lens(repo, ask)
    assert isinstance(count, int)
    return count


def identities_by_file(repo: Repo) -> dict[bytes, set[tuple[str, bytes]]]:
    def ask(view: TreeView) -> dict[bytes, set[tuple[str, bytes]]]:
        rows = view.rows(
            "SELECT l.path, s.identity, o.places FROM file_semantic_facts f"
            " JOIN paths p ON p.id=f.path_id JOIN {live} l ON l.path=p.path AND l.oid=f.oid"
            " JOIN semantic_occurrences o ON o.facts_id=f.id"
            " JOIN semantic_symbols s ON s.id=o.symbol_id"
        )
        found: dict[bytes, set[tuple[str, bytes]]] = {}
        for path, identity, places in rows:
            found.setdefault(path, set()).add((identity, places))
        return found

    listed: dict[bytes, set[tuple[str, bytes]]] = with_lens(repo, ask)
    return listed


@pytest.mark.timeout(600)
def test_scip_python_on_a_real_package(real: Repo, programs: str, tmp_path: Path) -> None:
    """iniconfig, as it is installed for pytest."""
    import iniconfig

    source = Path(iniconfig.__file__).parent
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source, real.path / "iniconfig", ignore=ignore)
    shutil.copytree(source, tmp_path / "snap/input/x/iniconfig", ignore=ignore)
    real.write("pyproject.toml", "[project]\nname = 'iniconfig'\n")
    real.commit("first")
    refresh(real)
    (first,) = index_semantically(real)
    assert first.job.status is JobStatus.COMPLETED, first.job.error
    assert first.done is not None
    assert first.done.imported == first.done.files
    assert first.done.left_behind == ()
    assert real.git("status", "--porcelain") == ""

    subprocess.run(
        [
            f"{programs}/scip-python",
            "snapshot-dir",
            str(tmp_path / "snap"),
            "--quiet",
            "--project-name",
            ".",
            "--project-version",
            "0",
        ],
        check=True,
        timeout=300,
        capture_output=True,
        cwd=tmp_path,
    )
    for name in ("_parse.py", "exceptions.py"):
        told = (tmp_path / "snap/output/x/iniconfig" / name).read_text()
        golden = snapshot(told, (source / name).read_text())
        assert golden
        assert imported(real, f"iniconfig/{name}") == golden
    assert check_texts(real) > 300

    before = identities_by_file(real)
    real.write(
        "iniconfig/more.py", "from iniconfig import IniConfig\n\n\ndef more() -> IniConfig: ...\n"
    )
    real.commit("a commit that touches no old file")
    refresh(real)
    (second,) = index_semantically(real)
    assert second.done is not None
    assert second.done.changed == 1
    after = identities_by_file(real)
    assert {path: after[path] for path in before} == before


@pytest.mark.timeout(600)
def test_scip_typescript_across_a_workspace(real: Repo) -> None:
    """Two packages, each indexed for itself, know each other's symbols; one that is left out is not run."""
    real.write("package.json", '{"private": true, "workspaces": ["packages/a", "packages/b"]}')
    real.write(".gitignore", "node_modules\n")
    (real.path / "node_modules/@x").mkdir(parents=True)
    for name, text in (
        ("a", "export class Box { open(n: number): string { return String(n); } }\n"),
        ("b", "import { Box } from '@x/a';\nexport const shown = new Box().open(3);\n"),
        ("c", "export const c = 1;\n"),
    ):
        manifest = {"name": f"@x/{name}", "version": f"1.{len(text)}", "types": "src/index.ts"}
        real.write(f"packages/{name}/package.json", json.dumps(manifest))
        settings = {"compilerOptions": {"moduleResolution": "node"}, "include": ["src"]}
        real.write(f"packages/{name}/tsconfig.json", json.dumps(settings))
        real.write(f"packages/{name}/src/index.ts", text)
        (real.path / "node_modules/@x" / name).symlink_to(f"../../packages/{name}")
    real.commit("first")
    refresh(real)
    outcomes = {outcome.context: outcome.job.status for outcome in index_semantically(real)}
    assert outcomes == dict.fromkeys(
        ("javascript:packages/a", "javascript:packages/b"), JobStatus.COMPLETED
    )
    found = with_lens(real, lambda view: find_references(view, ReferenceQuery("Box.open")))[
        "references"
    ]
    assert [(r["path"], r["line"], r["tier"], r["layer"]) for r in found] == [
        ("packages/b/src/index.ts", 2, "semantic", "semantic")
    ]


@pytest.mark.timeout(600)
def test_scip_typescript_on_real_packages(real: Repo, programs: str) -> None:
    """The sources of scip-typescript itself, and the snapshots it ships."""
    package = Path(programs).parent / "@sourcegraph/scip-typescript"
    shutil.copytree(package / "snapshots/input/syntax", real.path / "syntax")
    real.write("indexer/package.json", (package / "package.json").read_text())
    for name in (
        "Range.ts",
        "Position.ts",
        "Descriptor.ts",
        "ScipSymbol.ts",
        "Packages.ts",
        "Counter.ts",
    ):
        real.write(f"indexer/src/{name}", (package / "src" / name).read_text())
    real.commit("first")
    refresh(real)
    outcomes = {outcome.context: outcome for outcome in index_semantically(real)}
    assert set(outcomes) == {"javascript:syntax", "javascript:indexer"}
    assert {o.job.status for o in outcomes.values()} == {JobStatus.COMPLETED}
    assert real.git("status", "--porcelain") == ""  # though one of them has no tsconfig

    def own(seen: Counter[tuple[str, int, int, str]]) -> Counter[tuple[str, int, int, str]]:
        """What is defined in the package: the libraries of the snapshot's author are not here."""
        return Counter({key: n for key, n in seen.items() if key[3].startswith("src/")})

    for golden in sorted((package / "snapshots/output/syntax/src").glob("*.ts")):
        source = (real.path / "syntax/src" / golden.name).read_text()
        expected = own(snapshot(golden.read_text(), source))
        found = own(imported(real, f"syntax/src/{golden.name}"))
        assert found == expected, golden.name
    assert check_texts(real) > 1000

    before = dump(real)
    again = index_semantically(real)
    assert [o.done.changed for o in again if o.done] == [0, 0]
    assert dump(real) == before

    def ask(view: TreeView) -> None:
        (identity,) = semantic.find_identities(view.rows, "IntermediateSuperclass")
        assert (identity, Relation.IMPLEMENTATION) in [
            (target, kind)
            for subclass in semantic.find_identities(view.rows, "Subclass")
            for target, kind in semantic.related(view.rows, subclass)
        ]
        assert any(
            kind is Relation.IMPLEMENTATION for _, kind in semantic.relating(view.rows, identity)
        )

    with_lens(real, ask)
