"""explore binds the uses in as many files as it has a budget for; what is beyond is counted, never denied."""

from __future__ import annotations

from typing import Any

import pytest

from gitindex.query.explore import BOUND_FILES as FILES
from gitindex.query.explore import USES, explore
from gitindex.query.search.search import search
from gitindex.questions.explore import budget_of, text
from gitindex.questions.ink import Ink
from gitindex.view.tree import open_tree
from tests.support import Repo


def _place(repo: Repo) -> dict[str, Any]:
    with open_tree(repo.worktree, str(repo.path)) as view:
        answer = explore(view, "settle the account", budget_of(4_000, 0, Ink()))
    return next(p for p in answer["places"] if p.get("name") == "settle_account")


@pytest.mark.parametrize("beyond", [0, 3])
def test_uses_beyond_the_budget_are_possible(repo: Repo, beyond: int) -> None:
    repo.write("bank.py", 'def settle_account():\n    """Settle the account."""\n')
    for number in range(FILES - 1 + beyond):
        repo.write(f"use{number}.py", "from bank import settle_account\nsettle_account()\n")
    repo.commit()
    repo.index()
    place = _place(repo)
    assert len(place["callers"]) == USES
    assert place.get("unexamined", 0) == beyond
    assert place.get("uncertain", 0) == 2 * beyond  # an import and a call in each
    assert place["moreCallers"] == FILES - 1 - USES


SHOP = '''# Licence: everybody may gadget.
import gadget_import


LIMIT = 3


class Basket:
    """Holds goods."""

    def __init__(self, goods):
        self.goods = goods

    # The discount is taken before tax.
    def total(self):
        return sum(self.goods)


def ship_basket(basket):
    first = 1
{filler}
    give_parcel_to_courier(basket)
{filler}
'''


@pytest.fixture
def shop(repo: Repo) -> Repo:
    filler = "\n".join(f"    step_{number} = {number}" for number in range(100))
    repo.write("shop.py", SHOP.format(filler=filler))
    repo.write("tests/test_shop.py", "from shop import ship_basket\n\nship_basket(1)\n")
    for number in range(30):
        repo.write(
            f"use_{number}.py", "from shop import ship_basket\n\n\nship_basket('a basket')\n"
        )
    repo.commit()
    repo.index()
    return repo


def _asked(repo: Repo, question: str, budget: tuple[int, int], ink: Ink) -> tuple[Any, list[str]]:
    with open_tree(repo.worktree, str(repo.path)) as view:
        answer = explore(view, question, budget_of(*budget, ink))
    return answer, list(text(answer, ink))


@pytest.mark.parametrize("ink", [Ink(), Ink(80)], ids=["agent", "terminal"])
@pytest.mark.parametrize("question", ["ship basket", "Basket", "courier parcel", "step", "gadget"])
def test_the_budget_holds_for_what_is_printed(shop: Repo, question: str, ink: Ink) -> None:
    for tokens in (200, 333, 1_000, 4_000):
        answer, lines = _asked(shop, question, (tokens, 0), ink)
        assert answer["places"], tokens
        assert sum(len(line) + 1 for line in lines) <= 4 * tokens
    for most in (8, 20, 60):
        answer, lines = _asked(shop, question, (20_000, most), ink)
        assert len(lines) <= most


def test_a_comment_above_belongs_to_its_definition(shop: Repo) -> None:
    answer, _ = _asked(shop, "discount before tax", (1_000, 0), Ink())
    first = answer["places"][0]
    assert first["code"].lstrip().startswith("# The discount is taken"), first
    assert (first["name"], first["why"]) == ("total", ["discount", "before", "tax"])


def test_a_long_definition_is_shown_around_the_hit(shop: Repo) -> None:
    answer, lines = _asked(shop, "ship basket by courier", (500, 0), Ink())
    mine = [p for p in answer["places"] if p.get("name") == "ship_basket"]
    assert "def ship_basket(basket):" in mine[0]["code"], lines
    assert any("    give_parcel_to_courier(basket)" in p["code"] for p in mine), lines
    assert any(line.startswith("## …:") for line in lines), lines


def test_a_type_before_its_constructor_and_imports_last(shop: Repo) -> None:
    answer, _ = _asked(shop, "Basket", (1_000, 0), Ink())
    assert (answer["places"][0]["name"], answer["places"][0]["kind"]) == ("Basket", "class")
    answer, _ = _asked(shop, "limit", (1_000, 0), Ink())
    assert len(answer["places"][0]["code"].split("\n")) > 1, "no place of one line"


def test_a_heading_that_is_no_name_is_shown_and_not_followed(repo: Repo) -> None:
    repo.write("CHANGELOG.md", "# 1.51.0 (April 3rd, 2026)\n\nThe parcel courier is fixed.\n")
    repo.commit()
    repo.index()
    with open_tree(repo.worktree, str(repo.path)) as view:
        answer = explore(view, "parcel courier fixed April", budget_of(2_000, 0, Ink()))
    assert [place["path"] for place in answer["places"]] == ["CHANGELOG.md"]
    assert "callers" not in answer["places"][0]


MESSAGES = """
def unrelated_command_names(command):
    return command


def refuse(name, parent):
{filler}
    raise ValueError(f"unknown command given: {{name}} for {{parent}}")
{filler}


class Command:
    # A command has a name.
    commands = ["command"]
"""


@pytest.fixture
def messages(repo: Repo) -> Repo:
    filler = "\n".join(f"    step_{number} = {number}" for number in range(60))
    repo.write("app/commands.py", MESSAGES.format(filler=filler))
    repo.write("app/command.py", "class CommandGiven:\n    command = unknown = given = 'command'\n")
    repo.commit()
    repo.index()
    return repo


@pytest.mark.parametrize(
    "pasted",
    [
        "unknown command given",
        "ValueError: unknown command given: 'foo' for 'bar'",
        'Error: unknown command given: "foo" for "bar"',
    ],
)
def test_a_pasted_message_leads_to_its_line(messages: Repo, pasted: str) -> None:
    with open_tree(messages.worktree, str(messages.path)) as view:
        first = search(view, pasted, 3)["results"][0]
    assert first["path"] == "app/commands.py", first
    assert first["name"] == "refuse"
    assert "unknown command given" in first["snippet"].split("\n")[0]
    answer, _ = _asked(messages, pasted, (500, 0), Ink())
    assert any("unknown command given" in place["code"] for place in answer["places"])


def test_a_bare_name_shows_its_definition_first(repo: Repo) -> None:
    """In a long header too, where many files say the name more often."""
    fields = "\n".join(f"    int field_{number};" for number in range(400))
    repo.write(
        "src/server.h",
        f"#ifndef SERVER_H\n#define SERVER_H\nstruct client {{\n{fields}\n}};\n#endif\n",
    )
    for number in range(4):
        body = f"void client{number}(struct client *client) {{ client->field_{number}++; }}\n"
        repo.write(f"src/client_{number}.c", 10 * body)
    repo.write("src/server.c", "struct client *client;\n")
    repo.commit()
    repo.index()
    answer, _ = _asked(repo, "client", (1_000, 0), Ink())
    place = answer["places"][0]
    assert (place["path"], place["startLine"], place["kind"]) == ("src/server.h", 3, "struct")
    assert "field_20;" in place["code"], "the head of the definition, not a window inside"


def test_the_guard_of_a_header_is_no_place(repo: Repo) -> None:
    repo.write(
        "sds.h", "#ifndef SDS_H\n#define SDS_H\n\ntypedef char *sds;\nint sds_len(sds s);\n#endif\n"
    )
    repo.commit()
    repo.index()
    with open_tree(repo.worktree, str(repo.path)) as view:
        first = search(view, "sds.h", 1)["results"][0]
    assert first["name"] == "sds"


LONG = "def first():\n    return 1\n\n\ndef second(values):\n{body}\n    return values\n"


def _shown(repo: Repo, question: str) -> dict[str, Any]:
    with open_tree(repo.worktree, str(repo.path)) as view:
        return dict(explore(view, question, budget_of(600, 0, Ink()))["places"][0])


@pytest.mark.parametrize(
    "question",
    [
        "lib/shop.py:150",
        "shop.py:150:9: error: 'values' is not defined",
        'Traceback:\n  File "/home/me/work/lib/shop.py", line 150, in second\nKeyError: 144',
    ],
)
def test_a_line_of_a_file_in_the_question_is_shown(repo: Repo, question: str) -> None:
    body = "\n".join(f"    values.append({number})" for number in range(200))
    repo.write("lib/shop.py", LONG.replace("{body}", body))
    repo.write("lib/other.py", "def values():\n    return 150\n")
    repo.commit()
    repo.index()
    place = _shown(repo, question)
    assert place["path"] == "lib/shop.py"
    with open_tree(repo.worktree, str(repo.path)) as view:
        places = explore(view, question, budget_of(600, 0, Ink()))["places"]
    assert any("    values.append(144)" in shown["code"].split("\n") for shown in places)  # 150th


def test_a_file_named_alone_is_shown_from_its_first_definition(repo: Repo) -> None:
    repo.write("lib/shop.py", LONG.replace("{body}", "    shop = lib = py = 1"))
    repo.commit()
    repo.index()
    assert "def first" in _shown(repo, "./lib/shop.py")["code"]
