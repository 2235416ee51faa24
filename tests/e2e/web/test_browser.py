"""The page in a real Chromium: what a person sees, types and hears; and what an attacker does not get."""

from __future__ import annotations

import json
import os
import re
import shlex
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from gitindex.web.server import PrivateLink
from tests.browser import Visitor, WebServer, launch, serving
from tests.indexers import npm_packages
from tests.support import Repo, stop_runners

expect.set_options(timeout=120_000)
UTIL = (
    'def helper(value):\n    """Double a value."""\n    return double(value)\n\n\n'
    "class Box:\n    def open(self):\n        return helper(1)\n\n\n"
    "def double(value):\n    return value * 2\n"
)
OLD_APP = "def main():\n    return 0\n"
APP = "from lib.util import Box, helper\n\n\ndef main():\n    return helper(21) + Box().open()\n"
TEST = "from lib.util import helper\n\n\ndef test_helper():\n    assert helper(2) == 4\n"
LONG = "a_name_without_any_place_where_a_line_could_be_broken_by_itself"
PAGES = {
    "search": "/?q=helper",
    "file": "/file/lib/util.py",
    "symbol": "/symbol/lib/util.py%23helper",
    "map": "/map",
    "time": "/time",
    "health": "/health",
}


MORE_PAGES = {
    "home": "/",
    "nothing": "/?q=zzzqq",
    "grep": "/?tab=grep&q=helper",
    "symbols": "/?tab=symbols&q=helper",
    "docs": "/?tab=docs&q=helper",
    "folder": "/file/",
    "history": "/history/lib/util.py",
    "blame": "/file/lib/util.py?blame=1",
    "everything": "/symbol/lib/util.py%23helper?all=1",
    "focus": "/map?focus=lib/util.py",
    "compared": "/time?base=HEAD~1",
    "missing": "/file/nope.py",
    "claims": "/claims?claims=no_callers(helper)",
    "radar": "/radar",
    "a line": "/file/lib/util.py#L1",
    "a definition's history": "/history/lib/util.py?symbol=helper",
    "since": "/since/app.py%23main?callee=helper",
    "text": "/time?base=v1&at=HEAD",
    "radar pairs": "/radar?branch=v1",
}
AXE = ("axe-core@4.10.3",)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        made = launch(driver)
        yield made
        made.close()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    top = tmp_path_factory.mktemp("browser")
    repo = Repo(top / "project")
    repo.init()
    repo.write("lib/__init__.py", "")
    repo.write("lib/util.py", UTIL)
    repo.write("app.py", OLD_APP)
    repo.write("docs/guide.md", "---\ntags: [guide, start]\n---\n# Guide\n\nCall the helper.\n")
    repo.write("logo.png", b"\x89PNG\r\n\x1a\n\0\0")
    repo.write(f"{LONG}/{LONG}.png", b"\x89PNG\r\n\x1a\n\0\0")
    repo.write(".env", "TOKEN=very-secret\n")
    repo.commit(f"first {LONG}")
    repo.git("tag", "v1")
    repo.write("app.py", APP)
    repo.write("tests/test_util.py", TEST)
    repo.commit("use the helper")
    repo.index()
    repo.gitindex("install")
    repo.wait_fresh()
    yield repo
    stop_runners(top)


@pytest.fixture(scope="module")
def server(project: Repo) -> Iterator[WebServer]:
    with serving(project.path) as made:
        made.log_in()
        yield made


@pytest.fixture(scope="module")
def window(browser: Browser, server: WebServer) -> Iterator[Visitor]:
    made = Visitor(browser, server, server.cookie)
    yield made
    made.close()


@pytest.fixture
def visit(window: Visitor) -> Iterator[Visitor]:
    """The window, and the promise that nothing went wrong behind its back."""
    window.problems.clear()
    yield window
    window.check()


def type_query(page: Page, text: str) -> None:
    page.locator("#q").fill("")
    page.locator("#q").press_sequentially(text)


def first_hit(page: Page) -> Any:
    return page.locator(".hit a.place").first


def test_results_appear_while_typing(visit: Visitor) -> None:
    page = visit.open("/")
    type_query(page, "helper")
    expect(first_hit(page)).to_contain_text("util.py")
    expect(page.locator("#bar strong")).to_have_text("fresh")
    expect(page.locator("mark").first).to_have_text(re.compile("helper", re.IGNORECASE))
    visit.shoot("search")


@pytest.mark.parametrize(
    ("tab", "query", "shown"),
    [
        ("Search", "double a value", "util.py"),
        ("Grep", "return helper", "lib/util.py"),
        ("Symbols", "Bo", "class Box"),
        ("Docs", "helper", "guide.md"),
    ],
)
def test_every_tab_answers_while_typing(visit: Visitor, tab: str, query: str, shown: str) -> None:
    page = visit.open("/")
    page.get_by_role("navigation", name="Kinds of search").get_by_text(tab, exact=True).click()
    type_query(page, query)
    expect(page.locator(".hits")).to_contain_text(shown)
    visit.shoot(f"tab-{tab.lower()}")


def test_the_address_follows_what_is_typed(visit: Visitor) -> None:
    page = visit.open("/?tab=grep")
    type_query(page, "class")
    expect(page).to_have_url(re.compile(r"/\?.*q=class"))
    assert "w=" not in page.url
    page.reload()
    expect(page.locator("#q")).to_have_value("class")
    expect(page.locator(".hits")).to_contain_text("class Box")


def test_keys_move_and_open(visit: Visitor) -> None:
    page = visit.open("/?q=helper")
    expect(page.locator("#q")).to_be_focused()  # by `autofocus`, which may come after the load
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.tagName") == "BODY"
    page.keyboard.press("j")
    page.keyboard.press("j")
    focused = page.evaluate("document.activeElement.getAttribute('href')")
    assert focused == page.locator(".hit").nth(1).locator("a.place").first.get_attribute("href")
    for _ in range(5):
        page.keyboard.press("k")
    focused = page.evaluate("document.activeElement.getAttribute('href')")
    assert focused == first_hit(page).get_attribute("href")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/file/"))


def test_enter_in_the_box_opens_the_first_result_and_back_returns(visit: Visitor) -> None:
    page = visit.open("/")
    type_query(page, "Box")
    expect(first_hit(page)).to_contain_text("util.py")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/file/lib/util\.py"))
    page.go_back()
    expect(page.locator("#q")).to_have_value("Box")
    expect(first_hit(page)).to_contain_text("util.py")


@pytest.mark.parametrize(
    ("box", "kept"),
    [("tests", "tests/test_util.py"), ("lib/", "lib/util.py"), ("class", "lib/util.py")],
)
def test_a_facet_narrows(visit: Visitor, box: str, kept: str) -> None:
    page = visit.open("/?q=helper+Box")
    page.locator("#facets label", has_text=re.compile(f"^{box}")).first.locator("input").check()
    expect(page).to_have_url(re.compile("path=|in=|kind="))
    expect(page.locator(".hit").first).to_contain_text(kept.rpartition("/")[2])
    for place in page.locator(".hit a.place").all_text_contents():
        assert place.startswith(kept), place


def test_grep_has_its_switches(visit: Visitor) -> None:
    page = visit.open("/?tab=grep&q=HELPER")
    expect(page.locator(".empty")).to_contain_text("Nothing found")
    page.get_by_label("ignore case").check()
    expect(page.locator(".hits")).to_contain_text("helper")


def test_a_command_can_be_copied_and_gives_the_same(visit: Visitor, project: Repo) -> None:
    page = visit.open("/?q=helper&in=code")
    page.get_by_role("button", name="copy as command").click()
    expect(page.locator("button.copy").first).to_have_text("copied")
    program, *words = shlex.split(page.evaluate("navigator.clipboard.readText()"))
    assert program == "gitindex"
    answer = project.answer(*words)
    shown = page.locator(".hit a.place").all_text_contents()
    assert shown == [f"{row['path']}:{row['line']}" for row in answer["results"]]


def test_a_receipt_can_be_copied_and_verified(visit: Visitor, project: Repo) -> None:
    page = visit.open("/?q=helper")
    page.get_by_role("button", name="copy receipt").click()
    expect(page.locator("#receipt button")).to_have_text("copied")
    receipt = page.evaluate("navigator.clipboard.readText()")
    assert json.loads(receipt)["treeId"] == project.tree()
    assert project.gitindex("verify", receipt).returncode == 0


def test_every_hit_says_where_it_comes_from(visit: Visitor, project: Repo) -> None:
    page = visit.open("/?q=helper")
    places = page.locator(".hit a.place:not(.also)")
    sources = {place.get_attribute("title") for place in places.all()}
    assert sources == {f"index@{project.tree()}"}
    assert page.locator(".source").count() == 0  # nothing is edited


def test_nothing_found_says_what_to_try(visit: Visitor) -> None:
    page = visit.open("/?q=zzzqqq")
    expect(page.locator(".empty")).to_contain_text("Nothing found for")
    expect(page.locator(".empty a")).to_have_count(2)
    visit.shoot("nothing")


def test_half_a_pattern_is_no_error(visit: Visitor) -> None:
    page = visit.open("/?tab=grep")
    type_query(page, "(hel")
    expect(page.locator(".empty")).to_be_visible()
    page.locator("#q").press("End")
    page.locator("#q").press_sequentially("per)")
    expect(page.locator(".hits")).to_contain_text("helper")


def test_a_symbol_that_is_mistyped_has_near_names(visit: Visitor) -> None:
    page = visit.open("/?tab=symbols&q=hleper")
    expect(page.locator(".empty")).to_contain_text("Near: helper")


def test_without_a_query_folders_are_browsed(visit: Visitor) -> None:
    page = visit.open("/")
    page.get_by_role("link", name="lib/", exact=True).click()
    expect(page).to_have_url(re.compile("/file/lib$"))
    page.get_by_role("link", name="util.py").click()
    expect(page.locator("ol.code")).to_contain_text("def helper")
    page.locator(".crumbs a", has_text="lib").click()
    expect(page).to_have_url(re.compile("/file/lib$"))
    visit.shoot("folder")


def test_a_name_in_code_leads_to_its_definition_and_with_alt_to_its_uses(visit: Visitor) -> None:
    page = visit.open("/file/app.py")
    name = page.locator("#L5 + code a.to", has_text="helper")
    expect(name).to_have_class("to")
    name.click()
    expect(page).to_have_url(re.compile("/file/lib/util.py#L1$"))
    expect(page.locator("li.here")).to_contain_text("def helper")
    visit.open("/file/app.py")
    page.locator("#L5 + code a.to", has_text="helper").click(modifiers=["Alt"])
    expect(page).to_have_url(re.compile("/symbol/lib/util.py%23helper$"))


def test_a_definition_leads_to_its_uses_and_a_variable_to_its_declaration(visit: Visitor) -> None:
    page = visit.open("/file/lib/util.py#L12")
    expect(page.locator("ol.code")).to_have_attribute("data-linked", re.compile(r"\d+"))
    assert page.locator("#L11 + code a.to").first.get_attribute("href") == (
        "/symbol/lib/util.py%23double"
    )
    value = page.locator("#L12 + code a.to", has_text="value")
    assert value.get_attribute("href") == "/file/lib/util.py#L11"
    assert value.get_attribute("tabindex") == "0", "the names of the chosen line are tab stops"
    assert page.locator("#L11 + code a.to").first.get_attribute("tabindex") == "-1"
    assert page.locator("#L7 + code a.to", has_text="self").count() == 0, "it is its own place"


def test_the_start_page_shows_readme_commits_and_what_matters(
    visit: Visitor, project: Repo
) -> None:
    project.write("README.md", README)
    try:
        page = visit.open("/")
        prose = page.locator("article .prose")
        expect(prose.locator("h2")).to_have_text("Hello")  # of raw HTML only its words
        expect(prose).to_contain_text("for <you>")
        expect(prose).not_to_contain_text("center")
        assert prose.locator("img, script, iframe, [onclick]").count() == 0
        hrefs = [a.get_attribute("href") for a in prose.locator("a").all()]
        assert hrefs == ["/file/lib/util.py", "https://example.org/", None, None]
        expect(page.locator(".home aside")).to_contain_text("Edited now")
        expect(page.locator(".home aside")).to_contain_text("use the helper")
        expect(page.locator(".central")).to_contain_text("lib/util.py")
        page.locator(".central .listed").first.get_by_role("link").nth(1).click()
        expect(page.locator(".hit").first).to_be_visible()
    finally:
        project.path.joinpath("README.md").unlink()


README = """# Hello <img src=x onerror=alert(1)>

See [util](lib/util.py), [site](https://example.org/), [up](../../etc/passwd), [plain](http://example.org).
<script>alert(2)</script> [evil](javascript:alert(3)) ![remote](https://example.org/x.png)

<div align="center">for &lt;you&gt; <img src="https://example.org/x.png" onload="alert(4)"></div>
"""


def test_a_result_has_line_numbers_colours_and_marks(visit: Visitor) -> None:
    page = visit.open("/?q=helper+double")
    first = page.locator(".hit", has_text="util.py").first
    expect(first.locator("pre .number").first).to_have_text(re.compile(r"^\d+$"))
    expect(first.locator("pre .k").first).to_have_text("def")
    expect(first.locator("pre mark").first).to_have_text(re.compile("helper|double"))
    paths = page.locator(".hit .place .name").all_text_contents()
    assert len(paths) == len(set(paths)), "the places of one file are together"
    visit.open("/?tab=grep&q=def helper")
    expect(page.locator(".hits.grep code .k").first).to_have_text("def")
    expect(page.locator(".hits.grep code mark").first).to_have_text("def")


def test_on_a_small_screen_content_comes_first(visit: Visitor) -> None:
    size = visit.page.viewport_size
    try:
        visit.page.set_viewport_size({"width": 400, "height": 800})
        for target in ("/?q=helper", "/file/lib/util.py", "/map"):
            page = visit.open(target)
            content = page.locator(".cols > section").bounding_box()
            side = page.locator(".cols > aside").bounding_box()
            assert content is not None
            assert side is not None
            assert content["y"] < side["y"], target
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    finally:
        assert size is not None
        visit.page.set_viewport_size(size)


def test_a_click_on_a_file_of_the_map_opens_it_and_edges_have_names(visit: Visitor) -> None:
    page = visit.open("/map")
    titles = page.locator("#graph line title").all_text_contents()
    assert "app.py imports lib/util.py" in titles
    expect(page.locator("#graph")).not_to_contain_text("guide.md")
    page.locator("#graph .node.file", has_text="app.py").click()
    expect(page).to_have_url(re.compile("/file/app.py$"))


def test_every_occurrence_has_its_part_of_a_bar(visit: Visitor) -> None:
    page = visit.open("/symbol/lib/util.py%23helper")
    bar = page.locator(".partition")
    expect(bar).to_contain_text("1 definition")
    expect(bar).to_contain_text("references")
    bar.locator("rect.prose").click()
    expect(page).to_have_url(re.compile(r"\?all=1#prose$"))
    expect(page.locator("h2#prose")).to_be_visible()


def test_a_file_has_history_blame_raw_and_a_permalink(
    visit: Visitor, project: Repo, server: WebServer
) -> None:
    head = project.git("rev-parse", "HEAD").strip()[:12]
    page = visit.open("/file/app.py")
    page.get_by_role("link", name="history").click()
    expect(page.locator(".commits .hit")).to_have_count(2)
    visit.open("/file/app.py")
    page.get_by_role("link", name="blame").click()
    expect(page).to_have_url(re.compile(f"at={head}&blame=1$"))
    expect(page.locator("a.who").first).to_have_text("A U Thor")
    visit.open("/file/app.py")
    assert page.get_by_role("link", name="permalink").get_attribute("href") == (
        f"/file/app.py?at={head}"
    )
    page.get_by_role("button", name="copy path").click()
    assert page.evaluate("navigator.clipboard.readText()") == "app.py"
    raw = page.evaluate(
        "fetch('/raw/app.py').then(async (a) => [a.headers.get('content-type'), await a.text()])"
    )
    assert raw == ["text/plain; charset=utf-8", APP]
    assert server.ask("/raw/.env")[0] == 404, "a secret has no content here"


def test_fast_typing_ends_with_the_last_word(visit: Visitor) -> None:
    page = visit.open("/?tab=symbols")
    page.locator("#q").press_sequentially("test_helper", delay=1)
    expect(page.locator(".hit")).to_have_count(1)
    expect(page.locator(".hit")).to_contain_text("test_util.py")


def test_a_late_answer_never_stands_for_the_last_word(visit: Visitor) -> None:
    """The first key's question is held back until the whole word is typed."""
    page = visit.open("/")
    held: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route(re.compile(r"/\?q="), hold_the_first)
    page.locator("#q").press_sequentially("zebra")
    expect(page.locator("#q")).to_have_value("zebra")
    held[0].continue_()
    expect(page.locator(".empty q")).to_have_text("zebra")
    page.unroute_all()


def test_code_is_coloured_and_anchored(visit: Visitor) -> None:
    page = visit.open("/file/lib/util.py#L6")
    expect(page.locator("ol.code .k").first).to_have_text("def")
    expect(page.locator("ol.code .s").first).to_contain_text("Double")
    expect(page.locator("ol.code li.here")).to_contain_text("class Box")
    assert page.locator("ol.code li").count() == len(UTIL.splitlines())
    visit.shoot("file")


def test_the_outline_counts_callers(visit: Visitor) -> None:
    page = visit.open("/file/lib/util.py")
    outline = page.locator(".outline")
    expect(outline).to_contain_text("helper")
    expect(outline.get_by_label("3 callers of helper")).to_be_visible()
    outline.get_by_text("open").click()
    expect(page).to_have_url(re.compile("#L7$"))


def test_hovering_a_name_shows_its_signature_and_comment(visit: Visitor) -> None:
    page = visit.open("/file/app.py")
    page.locator("ol.code li").nth(4).locator("span", has_text="helper").hover()
    tip = page.get_by_role("tooltip")
    expect(tip).to_contain_text("def helper(value)")
    expect(tip).to_contain_text("Double a value.")
    tip.get_by_role("link", name="uses").click()
    expect(page).to_have_url(re.compile("/symbol/lib/util.py%23helper"))


@pytest.mark.parametrize(
    ("name", "why"), [("logo.png", "binary"), (".env", "secret")], ids=["binary", "secret"]
)
def test_what_is_not_shown_says_why(visit: Visitor, name: str, why: str) -> None:
    page = visit.open(f"/file/{name}")
    expect(page.locator(".empty")).to_contain_text(why)
    assert "very-secret" not in page.content()


def test_a_file_that_is_not_there(visit: Visitor) -> None:
    page = visit.open("/file/no/such.py")
    expect(page.locator(".empty h1")).to_have_text("not found")
    visit.problems.clear()  # Chromium reports the 404 of a page on its console


def test_a_symbol_has_its_definition_callers_and_certificate(visit: Visitor) -> None:
    page = visit.open("/symbol/lib/util.py%23helper")
    expect(page.locator("h1")).to_contain_text("helper")
    expect(page.locator("main")).to_contain_text("Double a value.")
    expect(page.locator(".certificate strong")).to_have_text("complete")
    callers = page.locator("section", has=page.locator("h2", has_text="Callers")).last
    for name in ("app.py#main", "lib/util.py#Box.open", "tests/test_util.py#test_helper"):
        expect(callers).to_contain_text(name)
    calls = page.locator("section", has=page.locator("h2", has_text="Calls")).last
    expect(calls).to_contain_text("lib/util.py#double")
    visit.shoot("symbol")


def test_a_symbol_shows_its_calls_and_tests(visit: Visitor) -> None:
    page = visit.open("/symbol/app.py%23main")
    expect(page.locator("main")).to_contain_text("lib/util.py#helper")
    page = visit.open("/symbol/lib/util.py%23helper")
    expect(page.locator("main a", has_text="tests/test_util.py").first).to_be_visible()
    expect(page.locator(".uses .kind", has_text="import").first).to_be_visible()


def test_tests_reach_a_symbol_through_calls(visit: Visitor) -> None:
    """test_helper calls helper, which calls double; no test reaches main."""
    page = visit.open("/symbol/lib/util.py%23double")
    tests = page.locator("section", has=page.locator("h2", has_text="Tests that reach it")).last
    expect(tests).to_contain_text("through 1 call")
    expect(tests.locator("a", has_text="tests/test_util.py")).to_be_visible()
    page = visit.open("/symbol/lib/util.py%23helper")
    tests = page.locator("section", has=page.locator("h2", has_text="Tests that reach it")).last
    expect(tests).to_contain_text("direct")
    page = visit.open("/symbol/app.py%23main")
    expect(page.locator("main")).to_contain_text("No test reaches it.")


def test_a_symbol_that_is_not_there_has_near_names(visit: Visitor) -> None:
    page = visit.open("/symbol/hleper")
    expect(page.locator(".empty")).to_contain_text("helper")
    visit.problems.clear()  # the console of a 404


def test_the_map_draws_and_opens(visit: Visitor) -> None:
    page = visit.open("/map")
    expect(page.locator("#graph")).to_have_attribute("data-drawn", re.compile(r"\d+"))
    before = int(page.locator("#graph").get_attribute("data-nodes") or 0)
    assert before >= 5
    tree = page.get_by_role("navigation", name="Map as a list")
    tree.get_by_role("button", name="util.py", exact=False).first.click()
    expect(page).to_have_url(re.compile("open="))
    expect(page.get_by_role("navigation", name="Map as a list")).to_contain_text("Box")
    expect(page.locator("#graph")).to_have_attribute("data-drawn", re.compile(r"\d+"))
    visit.shoot("map")


def test_a_click_on_the_picture_opens_and_closes(visit: Visitor) -> None:
    page = visit.open("/map?open=docs")
    tree = page.get_by_role("navigation", name="Map as a list")
    expect(tree).to_contain_text("guide.md")
    _click_node(page, "lib")  # a real click, where the node is drawn
    expect(page).to_have_url(re.compile("open=docs.*open=lib"))
    expect(tree).to_contain_text("util.py")
    tree.get_by_role("button", name="util.py").click()
    expect(tree).to_contain_text("Box")
    _click_node(page, "docs", edge=True)  # an open folder closes where nothing covers it
    expect(tree).not_to_contain_text("guide.md")
    _click_node(page, "lib/util.py#Box")
    expect(page).to_have_url(re.compile("/symbol/lib/util.py%23Box"))


def _click_node(page: Page, node: str, edge: bool = False) -> None:
    expect(page.locator("#graph")).to_have_attribute("data-drawn", re.compile(r"\d+"))
    box = page.locator(f"#graph [data-id='{node}'] rect").bounding_box()
    assert box is not None
    across = box["x"] + (4 if edge else box["width"] / 2)
    page.mouse.click(across, box["y"] + box["height"] / 2)


def test_the_map_shows_the_neighbours_of_a_file(visit: Visitor) -> None:
    page = visit.open("/map?focus=lib/util.py")
    tree = page.get_by_role("navigation", name="Map as a list")
    for name in ("util.py", "app.py", "test_util.py"):
        expect(tree).to_contain_text(name)
    expect(tree).not_to_contain_text("guide.md")
    expect(page.locator(".tree a.focus")).to_contain_text("util.py")


def test_the_slider_goes_to_an_old_tag(visit: Visitor) -> None:
    page = visit.open("/time")
    slider = page.get_by_role("slider", name="Commit")
    slider.focus()
    page.keyboard.press("Home")
    expect(page).to_have_url(re.compile("at="))
    expect(page.locator("output")).to_have_text("v1")
    page.get_by_role("link", name="files").click()
    page.get_by_role("link", name="app.py").click()
    expect(page.locator("ol.code")).to_contain_text("return 0")
    expect(page.locator("#bar")).to_contain_text("as of")
    page.locator("#bar a").click()
    expect(page).to_have_url(re.compile("/$"))


def test_search_answers_at_any_commit(visit: Visitor) -> None:
    page = visit.open("/?at=v1&tab=symbols")
    type_query(page, "test_helper")
    expect(page.locator(".empty")).to_contain_text("Nothing found")
    page = visit.open("/?at=HEAD&tab=symbols&q=test_helper")
    expect(page.locator(".hit")).to_have_count(1)


def test_two_commits_are_compared(visit: Visitor) -> None:
    page = visit.open("/time")
    page.get_by_label("Compare with").select_option(index=0)
    page.get_by_role("button", name="show what differs").click()
    found = page.locator("#difference")
    expect(found).to_contain_text("2 imports added, 0 removed")
    expect(found).to_contain_text("app.py → lib/util.py")
    expect(found).to_contain_text("test_helper")
    visit.shoot("time")


def test_health_shows_jobs_sizes_and_what_is_skipped(visit: Visitor) -> None:
    page = visit.open("/health")
    expect(page.locator("#chart")).to_have_attribute("data-drawn", re.compile(r"\d+"))
    expect(page.locator(".scroll tbody tr").first).to_contain_text("completed")
    expect(page.locator("main")).to_contain_text("2 binary")
    expect(page.locator("main")).to_contain_text("1 secret")
    expect(page.locator("#hook")).to_contain_text("p99")
    visit.shoot("health")


def test_more_results_are_a_click_away_and_patterns_are_marked(visit: Visitor) -> None:
    page = visit.open("/?tab=grep&q=h.l.er&n=1")
    expect(page.locator(".hit mark")).to_have_text(["helper"])
    page.get_by_role("link", name="more", exact=True).click()
    expect(page.locator(".hit.one")).to_have_count(5)


def test_claims_are_checked_and_evidence_is_a_link(visit: Visitor) -> None:
    page = visit.open("/claims")
    page.fill("#claims", "no_callers(helper)\ndefines(lib/util.py, helper)")
    page.get_by_role("button", name="check", exact=True).click()
    expect(page.locator(".verdict")).to_have_count(2)
    expect(page.locator(".verdict.refuted h2")).to_contain_text("no_callers(helper)")
    expect(page.locator(".verdict.confirmed h2")).to_contain_text("defines(lib/util.py, helper)")
    page.locator(".verdict.refuted .place").first.click()
    page.wait_for_url("**/file/**")
    page = visit.open("/claims?claims=%3Cscript%3Ealert(1)%3C/script%3E")
    expect(page.locator(".empty")).to_contain_text("not a claim")
    expect(page.locator("#claims")).to_have_value("<script>alert(1)</script>")  # to be mended
    visit.problems.clear()  # the browser names the status 400 of a refusal


def test_radar_compares_worktrees_in_a_table(visit: Visitor, project: Repo) -> None:
    page = visit.open("/radar")
    expect(page.locator(".empty")).to_contain_text("only one line of work")
    visit.problems.clear()  # the browser names the status 400 of a refusal
    files = {
        "<b>other": ("lib/util.py", "def helped(value):\n    return value\n"),
        "user": ("more.py", "from lib.util import helper\n\nhelper(3)\n"),
    }
    trees = {name: project.path.parent / name for name in files}
    for name, (path, text) in files.items():
        project.git("worktree", "add", "-q", "--detach", str(trees[name]))
        (trees[name] / path).write_text(text)
    try:
        page = visit.open("/radar")
        expect(page.locator(".radar td.bad").first).to_have_text("breaks")
        expect(page.locator("pre")).to_contain_text("`helper` is gone from lib/util.py")
        assert page.locator(".radar b").count() == 0
    finally:
        for tree in trees.values():
            project.git("worktree", "remove", "--force", str(tree))


def test_a_question_mark_shows_the_keys(visit: Visitor) -> None:
    page = visit.open("/health")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("copy the receipt")
    visit.shoot("keys")
    page.keyboard.press("m")  # a key that goes elsewhere is not heard now
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    page.get_by_role("button", name="Keys").click()
    expect(keys).to_be_visible()
    keys.get_by_role("button", name="close").click()
    expect(keys).to_have_count(0)
    assert page.url.endswith("/health")


def test_every_page_and_every_tab_has_a_key(visit: Visitor) -> None:
    page = visit.open("/map")
    for key, target in (("t", "/time"), ("h", "/health"), ("m", "/map"), ("s", "/")):
        page.keyboard.press(key)
        expect(page).to_have_url(re.compile(f"{target}$"))
        page.wait_for_load_state()  # a key before the script runs is nobody's
    for key, label in (("2", "Grep"), ("3", "Symbols"), ("4", "Docs"), ("1", "Search")):
        expect(page.locator("#q")).to_be_focused()
        page.keyboard.press("Escape")
        page.keyboard.press(key)
        expect(page.locator(".tabs a[aria-current]")).to_have_text(label)
    visit.open("/file/app.py?at=v1")
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile("/$"))


def test_copying_and_narrowing_have_keys(visit: Visitor, project: Repo) -> None:
    page = visit.open("/?q=helper")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(page.locator("main button.copy").first).to_have_text("copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith("gitindex search helper")
    page.keyboard.press("r")
    expect(page.locator("#receipt button")).to_have_text("copied")
    receipt = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert receipt["treeId"] == project.tree()
    page.keyboard.press("f")
    expect(page.locator("#facets input").first).to_be_focused()
    page.keyboard.press("Space")
    expect(page).to_have_url(re.compile("in=|lang=|path=|kind="))


def test_keys_walk_the_outline_and_show_what_hovering_shows(visit: Visitor) -> None:
    page = visit.open("/file/lib/util.py")
    expect(page.get_by_label("3 callers of helper")).to_be_visible()
    page.keyboard.press("j")
    tip = page.get_by_role("tooltip")
    expect(tip).to_contain_text("def helper(value)")
    expect(tip).to_contain_text("Double a value.")
    page.keyboard.press("Escape")
    expect(tip).to_have_count(0)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#L6$"))


def test_the_box_takes_a_regular_expression_and_says_what_may_be_typed(visit: Visitor) -> None:
    page = visit.open("/")
    page.locator("#q").fill(r"def \w+er\(")
    page.get_by_label("Regular expression").check()
    expect(page.locator(".hits.grep code").first).to_have_text("def helper(value):")
    expect(page.locator("button.copy").first).to_have_attribute(
        "data-copy", re.compile("^gitindex grep ")
    )
    page.wait_for_url("**re=1*")
    page.reload()
    expect(page.get_by_label("Regular expression")).to_be_checked()
    page.get_by_text("syntax", exact=True).click()
    expect(page.locator(".switches dl")).to_contain_text("lang:python")
    page.get_by_label("Regular expression").uncheck()
    expect(page.locator(".hits.grep")).to_have_count(0)


def test_the_map_is_saved_as_it_is_seen(visit: Visitor) -> None:
    page = visit.open("/map")
    with page.expect_download() as coming:
        page.get_by_role("button", name="save as SVG").click()
    tree = ElementTree.parse(coming.value.path())
    titles = {one.text for one in tree.iter("{http://www.w3.org/2000/svg}title")}
    assert coming.value.suggested_filename == "map.svg"
    assert "app.py" in titles


def test_keys_move_the_map(visit: Visitor) -> None:
    page = visit.open("/map")
    graph = page.locator("#graph")
    expect(graph).to_have_attribute("data-drawn", re.compile(r"\d+"))

    def view() -> list[float]:
        found: list[float] = page.evaluate(
            "(({x, y, width}) => [x, y, width])(document.getElementById('graph').viewBox.baseVal)"
        )
        return found

    graph.focus()
    first = view()
    page.keyboard.press("+")
    assert view()[2] < first[2]
    page.keyboard.press("0")
    assert view() == pytest.approx(first, abs=0.01)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert view()[0] > first[0]
    assert view()[1] > first[1]
    page.keyboard.press("Escape")
    page.locator("main").focus()
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.closest('.tree') !== null")


@pytest.mark.parametrize("name", PAGES)
def test_everything_that_can_be_used_has_a_name(visit: Visitor, name: str) -> None:
    page = visit.open(PAGES[name])
    session = visit.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    used = {"link", "button", "searchbox", "textbox", "checkbox", "radio", "slider", "combobox"}
    found = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node.get("ignored") and node.get("role", {}).get("value") in used
    ]
    assert ("searchbox", "Search") in found
    assert [role for role, label in found if not label.strip()] == []
    roles = {node.get("role", {}).get("value") for node in nodes}
    assert {"banner", "main", "navigation", "search", "status"} <= roles


@pytest.mark.network
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 768, 400])
def test_axe_finds_nothing_serious_on_any_page(
    browser: Browser, server: WebServer, window: Visitor, width: int, scheme: str
) -> None:
    packages = npm_packages(AXE)
    if packages is None:
        pytest.skip("axe-core comes from npm, which is not in reach")
    axe = (packages / "axe-core" / "axe.min.js").read_text()
    cookie = "; ".join(f"{one['name']}={one['value']}" for one in window.context.cookies())
    visitor = Visitor(
        browser, server, cookie, viewport={"width": width, "height": 800}, color_scheme=scheme
    )
    found = []
    for name, target in (PAGES | MORE_PAGES).items():
        page = visitor.open(target)
        page.wait_for_load_state("networkidle") if name == "file" else None
        page.evaluate(axe)  # not as an element: the policy of the page forbids it, rightly
        rows = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        found += [
            f"{name}: {row['id']}: {node['html'][:160]}"
            for row in rows
            if row["impact"] in ("serious", "critical")
            for node in row["nodes"]
        ]
    visitor.context.close()
    assert found == [], "\n".join(found)


def test_the_focus_goes_from_top_to_bottom(visit: Visitor) -> None:
    page = visit.open("/health")
    order = []
    for _ in range(8):
        page.keyboard.press("Tab")
        order.append(
            page.evaluate("document.activeElement.textContent || document.activeElement.id")
        )
    assert order == ["Skip to results", "project", "q", "Search", "Map", "Time", "Health", "?"]
    page.keyboard.press("Tab")
    assert page.evaluate("document.getElementById('main').contains(document.activeElement)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(visit: Visitor, scheme: Any) -> None:
    page = visit.open("/?q=helper")
    page.emulate_media(color_scheme=scheme)
    found = page.evaluate(
        """() => {
          const probe = document.createElement("i"); document.body.append(probe);
          const light = (name) => {
            probe.style.color = `var(${name})`;
            const parts = getComputedStyle(probe).color.match(/[0-9.]+/g).slice(0, 3).map((v) => v / 255)
              .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
          };
          const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
          const rows = {};
          const names = "text dim link fresh stale bad edited kw str com num fn cls".split(" ");
          for (const text of names)
            for (const back of ["bg", "panel"])
              rows[`${text} on ${back}`] = ratio(light(`--${text}`), light(`--${back}`));
          return rows;
        }"""
    )
    assert {pair: round(ratio, 2) for pair, ratio in found.items() if ratio < 4.5} == {}
    visit.shoot(f"search-{scheme}")
    page.emulate_media(color_scheme="light")


@pytest.mark.parametrize("width", [400, 3840])
@pytest.mark.parametrize("name", PAGES)
def test_every_width_is_used_well(visit: Visitor, name: str, width: int) -> None:
    page = visit.page
    page.set_viewport_size({"width": width, "height": 900})
    try:
        visit.open(PAGES[name])
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width
        visit.shoot(f"{name}-{width}")
    finally:
        page.set_viewport_size({"width": 1280, "height": 800})


def test_an_edit_shows_in_the_bar_and_in_the_hits_without_a_reload(
    visit: Visitor, project: Repo
) -> None:
    page = visit.open("/?tab=grep&q=brand_new")
    expect(page.locator(".empty")).to_be_visible()
    page.evaluate("window.stayed = true")
    project.write("lib/util.py", UTIL + "\n\ndef brand_new():\n    return 3\n")
    try:
        expect(page.locator("#bar")).to_contain_text("1 edited path overlaid")
        expect(page.locator(".hits")).to_contain_text("def brand_new")
        expect(page.locator(".source.edited").first).to_have_text("edited")
        type_query(page, "brand_ne")
        expect(page.locator(".hits")).to_contain_text("def brand_new")
        assert page.evaluate("window.stayed")
        visit.open("/file/lib/util.py")
        expect(page.locator("ol.code li.edited")).to_have_count(4)
        expect(page.locator(".notes")).to_contain_text("edited")
        visit.open("/map?impact=worktree")
        tree = page.get_by_role("navigation", name="Map as a list")
        expect(tree.locator("a.changed")).to_contain_text("util.py")
        visit.shoot("impact")
    finally:
        project.write("lib/util.py", UTIL)


def test_a_commit_turns_the_bar_fresh_by_itself(visit: Visitor, project: Repo) -> None:
    page = visit.open("/?tab=symbols&q=later")
    expect(page.locator(".empty")).to_be_visible()
    page.evaluate("window.stayed = true")
    before = project.marker()["generation"]
    project.write("lib/later.py", "def later():\n    return 1\n")
    project.commit("later")
    try:
        expect(page.locator("#bar")).not_to_contain_text(f"generation {before}")
        expect(page.locator("#bar strong")).to_have_text("fresh")
        expect(page.locator(".hits")).to_contain_text("def later")
        expect(page.locator(".hits .source")).to_have_count(0)
        assert page.evaluate("window.stayed")
    finally:  # other tests of this file may run after it, in any order
        project.git("reset", "--hard", "HEAD~1")
        project.index()


HOSTILE = {
    "<img src=x onerror=alert(1)>.py": "def odd():\n    return '<script>alert(2)</script>'\n",
    "javascript:alert(1)": "plain text\n",
    "bidi\u202egnp.py": "x = 'a\u2066b\u2069'\n",
    '"onfocus="alert(3).md': "# <img src=x onerror=alert(4)>\n\nhostile text\n",
    "a'b&amp;c.py": "def odd2(): pass\n",
    "line.js": "var x = '" + "y" * 5_000_000 + "';\n",
    "deep/" + "long" * 50 + ".py": "def " + "n" * 300 + "(): pass\n",
    "%2e%2e%2fetc.py": "def dots(): pass\n",
    "/".join(f"d{n}" for n in range(40)) + "/bottom.py": "def bottom(): pass\n",
    "esc\x1b[31m.py": "def escape(): pass\n",
}


MANY = 600
"""Files in one folder: more than a page lists."""


@pytest.fixture(scope="module")
def hostile(
    tmp_path_factory: pytest.TempPathFactory, browser: Browser
) -> Iterator[tuple[Visitor, Repo]]:
    top = tmp_path_factory.mktemp("hostile")
    repo = Repo(top / "<b>repo")
    repo.init("-b", "<svg/onload=alert(5)>")
    for name, text in HOSTILE.items():
        repo.write(name, text)
    with open(bytes(repo.path) + b"/bad\xff.py", "wb") as file:
        file.write(b"def bytes_name(): pass\n")
    for number in range(MANY):
        repo.write(f"many/file{number:03}.py", "")
    repo.commit("<script>alert(6)</script>")
    repo.git("tag", "t<img>")
    repo.index()
    with serving(repo.path) as server:
        made = Visitor(browser, server, server.log_in())
        yield made, repo
        made.close()
    stop_runners(top)


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/?q=odd",
        "/?q=alert",
        "/?tab=grep&q=alert",
        "/?tab=grep&q=yyyy",
        "/?tab=symbols&q=n",
        "/?tab=docs&q=hostile",
        "/?q=%3Cimg+src%3Dx+onerror%3Dalert(7)%3E",
        "/file/",
        "/file/deep",
        "/file/line.js",
        "/map",
        "/map?open=deep",
        "/time",
        "/health",
        "/symbol/odd",
    ],
)
def test_a_hostile_repository_does_nothing(hostile: tuple[Visitor, Repo], target: str) -> None:
    visitor, _ = hostile
    visitor.problems.clear()
    page = visitor.open(target)
    own = "main svg:not(#graph):not(.partition svg)"
    foreign = f"main img, main script, main iframe, {own}, #graph svg, #graph image"
    assert page.locator(foreign).count() == 0
    if target.startswith("/map"):
        expect(page.locator("#graph")).to_have_attribute("data-drawn", re.compile(r"\d+"))
    visitor.check()


def test_every_hostile_name_leads_to_its_file(hostile: tuple[Visitor, Repo]) -> None:
    visitor, _ = hostile
    visitor.problems.clear()
    page = visitor.open("/file/")
    links = page.locator(".entries a.place")
    targets = [links.nth(n).get_attribute("href") or "" for n in range(links.count())]
    assert len(targets) == len(HOSTILE) + 2
    for target in targets:
        visitor.open(target)
        expect(page.locator("ol.code, ol.entries, main .empty").first).to_be_visible()
        expect(page.locator(".empty h1")).to_have_count(0)
    visitor.check()
    visitor.shoot("hostile")


def test_a_very_large_folder_is_listed_in_parts(hostile: tuple[Visitor, Repo]) -> None:
    visitor, _ = hostile
    visitor.problems.clear()
    page = visitor.open("/file/many")
    expect(page.locator(".entries .hit")).to_have_count(500)
    expect(page.locator("main")).to_contain_text(f"entries 1 to 500 of {MANY}")
    page.get_by_role("link", name=f"entries 501 to {MANY}").click()
    expect(page.locator(".entries .hit")).to_have_count(MANY - 500)
    expect(page.locator(".entries .hit").last).to_contain_text(f"file{MANY - 1}.py")
    page.get_by_role("link", name="entries 1 to 500").click()
    expect(page.locator("main")).to_contain_text("entries 1 to 500")
    visitor.check()


@pytest.mark.parametrize("width", [400, 1280, 3840])
def test_hostile_names_stay_in_their_place(hostile: tuple[Visitor, Repo], width: int) -> None:
    """No page is wider than the window, and no label of the map is wider than its box."""
    visitor, _ = hostile
    visitor.problems.clear()
    page = visitor.page
    page.set_viewport_size({"width": width, "height": 900})
    try:
        for target in ("/", "/?tab=symbols&q=n", "/time", "/health", "/file/deep", "/map"):
            visitor.open(target)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, target
        spilled = page.evaluate(
            """[...document.querySelectorAll("#graph .node")].filter((node) =>
              node.querySelector("text").getBBox().width > node.querySelector("rect").getBBox().width)
              .map((node) => node.dataset.id)"""
        )
        assert spilled == []
        visitor.shoot(f"hostile-map-{width}")
        visitor.check()
    finally:
        page.set_viewport_size({"width": 1280, "height": 800})


class _Evil(BaseHTTPRequestHandler):
    target = ""

    def do_GET(self) -> None:
        body = f"""<!doctype html><iframe src="{self.target}/"></iframe>
          <img src="{self.target}/static/icon.svg" onload="document.title='leak'">
          <script src="{self.target}/static/app.js" onload="document.title='leak'"></script>
          <script>fetch("{self.target}/search.json?q=helper", {{credentials: "include"}})
            .then((r) => r.text()).then(() => document.title = "leak").catch(() => document.title = "safe");
          </script>""".encode()
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_another_page_of_the_browser_gets_nothing(
    browser: Browser, server: WebServer, host: str
) -> None:
    evil = type("Evil", (_Evil,), {"target": f"http://{host}:{server.port}"})
    with ThreadingHTTPServer(("127.0.0.1", 0), evil) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        visitor = Visitor(browser, server, server.cookie)
        try:
            visitor.page.goto(f"http://{host}:{other.server_port}/")
            expect(visitor.page).to_have_title("safe")
            frame = visitor.page.frames[-1]
            assert "helper" not in frame.content()
        finally:
            visitor.close()
            other.shutdown()


def test_a_stranger_sees_one_line(browser: Browser, server: WebServer) -> None:
    context = browser.new_context()
    try:
        page = context.new_page()
        answer = page.goto(server.base + "/?q=helper")
        assert answer is not None
        assert answer.status == 401
        assert "run `gitindex web` again" in page.locator("body").inner_text()
    finally:
        context.close()


def test_the_link_opens_the_page_in_a_browser(browser: Browser, project: Repo) -> None:
    with serving(project.path) as made:
        context = browser.new_context()
        page = context.new_page()
        page.goto(made.link)
        assert page.url == f"{made.base}/"
        expect(page.locator("#bar strong")).to_have_text("fresh")
        [cookie] = context.cookies()
        assert cookie["httpOnly"]
        assert cookie["sameSite"] == "Strict"
        assert cookie["name"] == f"gitindex-{made.port}"
        context.close()


def test_a_private_file_leads_to_the_page(browser: Browser, project: Repo) -> None:
    """To the browser it is another site; its link is used all the same, once."""
    with serving(project.path) as server:
        link = PrivateLink(server.link)
        page = browser.new_page()
        page.goto(link.url)
        page.wait_for_url(f"{server.base}/")
        expect(page.locator("#bar strong")).to_have_text("fresh")
        page.goto(link.url)
        page.wait_for_url(server.link)
        expect(page.locator("body")).to_contain_text("are not answered")
        link.remove()
        assert not os.path.exists(urlsplit(link.url).path)
        page.close()


def test_the_snapshot_opens_from_disk(browser: Browser, project: Repo, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert project.gitindex("web", "--export", str(out)).returncode == 0
    context = browser.new_context(viewport={"width": 400, "height": 800})
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("requestfailed", lambda request: problems.append(request.url))
    page.goto(f"file://{out}/index.html")
    expect(page.locator("#bar strong")).to_have_text("fresh")
    expect(page.locator("main")).not_to_contain_text("hook")
    for name, told in (("Map", "util.py"), ("Symbols", "def helper"), ("Health", "completed")):
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.locator("main")).to_contain_text(told)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert page.evaluate("getComputedStyle(document.querySelector('.top')).display") == "flex"
    assert problems == []
    context.close()


def test_without_an_index_the_page_says_what_to_do(browser: Browser, tmp_path: Path) -> None:
    repo = Repo(tmp_path / "bare")
    repo.init()
    repo.write("a.py", "def lonely(): pass\n")
    repo.commit("first")
    with serving(repo.path) as made:
        visitor = Visitor(browser, made, made.log_in())
        page = visitor.open("/")
        expect(page.locator(".empty")).to_contain_text("gitindex index")
        expect(page.locator("#bar strong")).to_have_text("not indexed")
        type_query(page, "lonely")
        expect(page.locator(".hits")).to_contain_text("lonely")
        expect(page.locator(".warning")).to_contain_text("live scan")
        visitor.open("/map")
        expect(page.locator(".empty")).to_contain_text("gitindex index")
        visitor.check()
        visitor.close()
    assert not (repo.path / ".git" / "gitindex").exists()


def test_a_damaged_store_says_what_to_do(browser: Browser, tmp_path: Path) -> None:
    repo = Repo(tmp_path / "damaged")
    repo.init()
    repo.write("a.py", "def lonely(): pass\n")
    repo.commit("first")
    repo.index()
    Path(repo.worktree.database).write_bytes(b"no database at all" * 400)
    with serving(repo.path) as made:
        visitor = Visitor(browser, made, made.log_in())
        page = visitor.open("/")
        expect(page.locator(".empty")).to_contain_text("gitindex index --force")
        expect(page.locator("#bar strong")).to_have_text("error")
        type_query(page, "lonely")
        expect(page.locator(".hits")).to_contain_text("lonely")
        visitor.close()


def test_a_detached_head_and_a_commit_that_is_not_indexed(browser: Browser, tmp_path: Path) -> None:
    repo = Repo(tmp_path / "detached")
    repo.init()
    repo.write("a.py", "def lonely(): pass\n")
    repo.commit("first")
    repo.index()
    repo.git("checkout", "-q", "--detach")
    with serving(repo.path) as made:
        visitor = Visitor(browser, made, made.log_in())
        page = visitor.open("/")
        expect(page.locator("#bar")).to_contain_text("detached HEAD")
        repo.write("b.py", "def later(): pass\n")
        repo.commit("second")
        expect(page.locator("#bar")).to_contain_text("HEAD is not in the index yet")
        visitor.check()
        visitor.close()


def test_a_repository_without_a_commit(browser: Browser, tmp_path: Path) -> None:
    repo = Repo(tmp_path / "nothing")
    repo.init()
    repo.index()
    with serving(repo.path) as made:
        visitor = Visitor(browser, made, made.log_in())
        page = visitor.page
        for target, told in (
            ("/", "There is no file here yet."),
            ("/map", "There is nothing to draw"),
            ("/time", "There is no commit yet."),
            ("/health", "no commit has been measured yet"),
        ):
            visitor.open(target)
            expect(page.locator("main")).to_contain_text(told)
        visitor.check()
        visitor.close()


def test_the_server_ends_and_the_page_says_so(browser: Browser, project: Repo) -> None:
    with serving(project.path) as made:
        visitor = Visitor(browser, made, made.log_in())
        visitor.open("/")
        expect(visitor.page.locator("#bar strong")).to_have_text("fresh")
    expect(visitor.page.locator("#bar")).to_contain_text("The server has ended")
    visitor.close()
