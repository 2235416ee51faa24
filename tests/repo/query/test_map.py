"""The repo map: central files first, focus, an exact budget, the same every time, nothing unescaped."""

from __future__ import annotations

import xml.dom.minidom
from typing import Any
from xml.etree import ElementTree

import pytest

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.vocabulary import MapSection
from gitindex.query.map.answer import (
    CHARS_PER_TOKEN,
    MapQuery,
    read_sections,
    repo_map,
)
from gitindex.query.map.file_graph import page_rank
from gitindex.query.svg import Arrow, LabelledBox, picture
from gitindex.view.tree import NOW, TreeChoice, open_tree
from tests.support import Repo


def _fill(repo: Repo) -> Repo:
    repo.write(
        "shop/core.py",
        "class Money:\n    def add(self, other):\n        return other\n\n\n"
        "def rounded(value):\n    return value\n",
    )
    for name in ("cart", "bill", "tax"):
        repo.write(
            f"shop/{name}.py",
            f"from shop.core import Money, rounded\n\n\ndef {name}_total(x):\n    return rounded(x)\n",
        )
    repo.write("shop/__init__.py", "from shop.cart import cart_total\n")
    repo.write("shop/far.py", "def lonely():\n    pass\n")
    repo.write("shop/__main__.py", "from shop.bill import bill_total\n\n\ndef main():\n    pass\n")
    repo.write(
        "tests/test_cart.py", "from shop.cart import cart_total\n\n\ndef test_it():\n    pass\n"
    )
    repo.write("web/app.ts", "export function start(): void {}\n")
    repo.write("pyproject.toml", '[project.scripts]\nshop = "shop.__main__:main"\n')
    repo.write("docs/a.md", "# A & <b>\n")
    repo.commit("shop")
    return repo


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    repo = Repo(tmp_path_factory.mktemp("map") / "repo")
    repo.init()
    _fill(repo).index()
    return repo


@pytest.fixture
def shop(repo: Repo) -> Repo:
    _fill(repo).index()
    return repo


def _map(repo: Repo, wanted: MapQuery = MapQuery(), ask: TreeChoice = NOW) -> Any:  # noqa: B008
    with open_tree(repo.worktree, str(repo.path), ask) as view:
        return repo_map(view, wanted)


def _paths(answer: dict[str, Any]) -> list[str]:
    return [file["path"] for file in answer["files"]]


def test_what_is_imported_most_comes_first(standing: Repo) -> None:
    answer = _map(standing)
    assert _paths(answer)[0] == "shop/core.py"
    assert answer["status"] == "ok"
    assert answer["receipt"]["treeId"] == standing.tree()
    assert answer["map"].startswith("shop/core.py\n  class Money\n    def add(self, other)\n")
    first = answer["files"][0]["symbols"][0]
    assert (first["name"], first["kind"], first["line"]) == ("Money", "class", 1)
    assert answer["truncated"] is False


def test_the_focus_and_what_it_needs_come_first(standing: Repo) -> None:
    answer = _map(standing, MapQuery(focus=("shop/tax.py",)))
    assert _paths(answer)[:2] == ["shop/tax.py", "shop/core.py"]
    assert _paths(_map(standing, MapQuery(focus=("web",))))[0] == "web/app.ts"
    with pytest.raises(GitIndexError) as error:
        _map(standing, MapQuery(focus=("nowhere.py",)))
    assert error.value.code is Exit.USAGE


@pytest.mark.parametrize("tokens", [1, 5, 10, 20, 40, 80, 160, 100_000])
@pytest.mark.parametrize("include", [(), tuple(MapSection)])
def test_the_budget_is_never_exceeded(
    standing: Repo, tokens: int, include: tuple[MapSection, ...]
) -> None:
    answer = _map(standing, MapQuery(tokens, include=include))
    assert len(answer["map"]) <= CHARS_PER_TOKEN * tokens
    assert answer["tokens"] <= tokens
    assert answer["truncated"] or tokens > 40
    assert not answer["truncated"] or tokens < 100_000


def test_the_same_tree_gives_the_same_map(standing: Repo) -> None:
    wanted = MapQuery(include=tuple(MapSection))
    first = standing.answer("map", "--include", ",".join(MapSection))
    assert (
        first == standing.answer("map", "--include", ",".join(MapSection)) == _map(standing, wanted)
    )


def test_sections_say_what_is_there(standing: Repo) -> None:
    answer = _map(standing, MapQuery(4_000, include=tuple(MapSection)))
    assert {"path": "shop/", "files": 7, "lines": 23} in [
        {**row, "lines": 23} for row in answer["structure"]
    ]
    assert answer["languages"][0]["language"] == "python"
    starts = {row["name"]: row["target"] for row in answer["entrypoints"]}
    assert starts["pyproject.toml: shop"] == "shop.__main__:main"
    assert starts["shop/__main__.py"] == "main()"
    assert answer["hubs"][0] == {"path": "shop/core.py", "importedBy": 3, "imports": 0}
    assert answer["tests"] == [{"path": "tests/", "files": 1, "covers": ["shop/cart.py"]}]
    assert {"path": "shop/__init__.py", "names": ["cart_total"]} in answer["surface"]
    assert answer["map"].startswith("structure\n  ./  ")


def test_sections_are_named_one_by_one_or_together() -> None:
    both = (MapSection.HUBS, MapSection.TESTS)
    assert read_sections(["hubs,tests"]) == read_sections(["hubs", "tests", "hubs"]) == both
    with pytest.raises(GitIndexError):
        read_sections(["hub"])


def test_an_edit_is_on_the_next_map(shop: Repo) -> None:
    before = _paths(_map(shop))
    shop.write("shop/far.py", "class Far:\n    pass\n")
    for name in ("cart", "bill", "tax", "more"):
        shop.write(f"shop/{name}.py", "from shop.far import Far\n\n\ndef use():\n    return Far\n")
    assert _paths(_map(shop))[0] == "shop/far.py"
    assert _paths(_map(shop, ask=TreeChoice(at="HEAD"))) == before
    assert _paths(_map(shop, ask=TreeChoice(staged=True))) == before
    (shop.path / "shop/far.py").unlink()
    assert "shop/far.py" not in _paths(_map(shop))


def test_a_picture_is_well_formed_and_escapes_everything(shop: Repo) -> None:
    evil = 'shop/<script>alert("1")&\'.py'
    shop.write(evil, "from shop.core import Money\n\n\ndef evil():\n    return Money\n")
    text = shop.gitindex("map", "--svg", "--focus", evil).stdout
    xml.dom.minidom.parseString(text)
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    xml.dom.minidom.parseString(picture({}, []))
    box = LabelledBox(0, 0, 50, 20, "a]]>&", ("a]]>&",))
    assert "]]>" not in picture({"a": box}, [Arrow("a", "a", "a]]>&")])


def test_through_the_command(standing: Repo) -> None:
    done = standing.gitindex(
        "map", "--tokens", "30", "--focus", "tax.py", cwd=standing.path / "shop"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("shop/tax.py\n")
    assert len(done.stdout) <= 30 * CHARS_PER_TOKEN + 1
    assert standing.gitindex("map", "--svg").stdout.startswith("<svg ")
    assert standing.gitindex("map", "--include", "nothing").returncode == 2
    assert standing.gitindex("map", "--at", "nosuchrev").returncode == 2


def test_an_empty_tree_has_an_empty_map(repo: Repo) -> None:
    repo.git("commit", "-q", "--allow-empty", "-m", "nothing")
    repo.index()
    done = repo.gitindex("map", "--json")
    assert done.returncode == 1, done.stderr
    assert _map(repo)["files"] == []


def test_ranks_sum_to_one_and_follow_edges() -> None:
    edges = {"a": {"c": 1.0}, "b": {"c": 1.0}, "c": {"d": 1.0}}
    ranks = page_rank(edges, dict.fromkeys("abcd", 1.0))
    assert sum(ranks.values()) == pytest.approx(1.0)
    assert min(ranks["c"], ranks["d"]) > ranks["a"] == ranks["b"]
    focused = page_rank(edges, {"a": 1.0, "b": 0.0, "c": 0.0, "d": 0.0})
    assert focused["b"] == 0.0
    assert page_rank({}, {}) == {}
    assert page_rank({}, {"a": 0.0}) == {"a": 0.0}


def test_every_label_of_the_picture_fits_into_its_box(shop: Repo) -> None:
    for number in range(16):
        shop.write(f"shop/{'a_long_' * 9}name{number}.py", "from shop.core import Money\n")
    drawn = ElementTree.fromstring(shop.gitindex("map", "--svg", "--focus", "shop").stdout)
    svg = "{http://www.w3.org/2000/svg}"
    boxes = list(drawn.iter(f"{svg}g"))
    assert {"shop", "shop/core.py", "shop/cart.py"} <= {
        box.findtext(f"{svg}title") for box in boxes
    }
    for box in boxes:
        rect, label = box.find(f"{svg}rect"), box.findtext(f"{svg}text") or ""
        assert rect is not None
        assert 8 + 6.7 * len(label) <= float(rect.get("width", 0)), label
        assert float(rect.get("x", 0)) + float(rect.get("width", 0)) < float(drawn.get("width", 0))
    arrows = {p.findtext(f"{svg}title") for p in drawn.findall(f"{svg}path")}
    assert "shop/cart.py imports shop/core.py" in arrows
    assert shop.gitindex("map", "--svg", "--focus", "nowhere").returncode == 2


def test_a_map_is_remembered_as_long_as_the_tree_is_the_published_one(
    shop: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second answer builds no graph and is not spoilt by the first; an edit or a commit is seen."""
    first = _map(shop)
    told = str(first["files"])
    first["files"].clear()

    def refuse(view: object) -> None:
        raise AssertionError("the graph is built again")

    with monkeypatch.context() as patch:
        patch.setattr("gitindex.query.map.answer.FileGraph", refuse)
        assert str(_map(shop)["files"]) == told
    shop.write("shop/new.py", "from shop.core import Money\n\n\ndef brand_new():\n    pass\n")
    assert "brand_new" in _map(shop)["map"]
    shop.commit("new")
    shop.index()
    assert "brand_new" in _map(shop)["map"]
