"""Which nodes a map shows, how they are joined, and where they stand."""

from __future__ import annotations

from itertools import combinations

from gitindex.query.map.nodes import (
    MAX_NODES,
    MapFile,
    choose_nodes,
    join_nodes,
    place_nodes,
)


def files(*paths: str, symbols: tuple[tuple[str, str, str], ...] = ()) -> dict[str, MapFile]:
    return {path: MapFile(path, True, symbols) for path in paths}


SMALL = files("a/x.py", "a/y.py", "b/c/z.py", "top.py")
IMPORTS = {"a/x.py": ("a/y.py", "b/c/z.py"), "a/y.py": ("b/c/z.py",), "top.py": ("a/x.py",)}


def test_a_small_tree_is_shown_whole() -> None:
    nodes, cut = choose_nodes(SMALL, ())
    assert not cut
    assert {node.id for node in nodes} == {
        "a",
        "a/x.py",
        "a/y.py",
        "b",
        "b/c",
        "b/c/z.py",
        "top.py",
    }


def test_closed_folders_stand_for_their_files() -> None:
    nodes, _ = choose_nodes(SMALL, ["b"])
    assert {node.id for node in nodes} == {"a", "b", "b/c", "top.py"}
    edges, cut = join_nodes(nodes, IMPORTS)
    assert not cut
    assert {(e["from"], e["to"], e["count"]) for e in edges} == {
        ("a", "b/c", 2),
        ("top.py", "a", 1),
    }


def test_an_open_file_shows_its_symbols() -> None:
    tree = files("m.py", symbols=(("f", "f", "function"), ("C", "C", "class")))
    nodes, _ = choose_nodes(tree, ["m.py"])
    assert [node.id for node in nodes] == ["m.py", "m.py#f", "m.py#C"]


def test_marked_files_are_shown_alone_in_their_folders() -> None:
    nodes, _ = choose_nodes(SMALL, (), {"b/c/z.py": "changed", "top.py": "reached"})
    assert {node.id: node.mark for node in nodes if node.kind == "file"} == {
        "b/c/z.py": "changed",
        "top.py": "reached",
    }
    assert {node.id for node in nodes if node.kind == "folder"} == {"b", "b/c"}


def test_never_more_than_the_cap() -> None:
    tree = files(*(f"d{n % 40}/f{n}.py" for n in range(5_000)))
    nodes, cut = choose_nodes(tree, [f"d{n}" for n in range(40)])
    assert len(nodes) == MAX_NODES
    assert cut


def test_no_two_nodes_stand_on_each_other() -> None:
    tree = files(*(f"d{n % 7}/e{n % 3}/file{n}.py" for n in range(150)))
    opened = [f"d{a}/e{b}" for a in range(7) for b in range(3)]
    nodes, _ = choose_nodes(tree, opened)
    places = place_nodes(nodes)
    assert {node.id for node in nodes} == places.keys()
    leaves = [places[node.id] for node in nodes if not node.is_open]
    for (x, y, w, h), (x2, y2, w2, h2) in combinations(leaves, 2):
        assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y
    for node in nodes:
        if node.parent:
            (x, y, w, h), (x2, y2, w2, h2) = places[node.id], places[node.parent]
            assert x2 < x < x + w < x2 + w2
            assert y2 < y < y + h < y2 + h2
