"""`python -m tests.picture`: the pictures of README.md from real runs: a terminal, and the page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree as Xml

from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser import Visitor, WebServer, launch, serving
from tests.pages import IMAGES, ROOT
from tests.support import TIMEOUT, Repo, stop_runners
from tests.terminal import on_a_terminal

PICTURE = IMAGES / "web.png"
TERMINAL = IMAGES / "terminal.svg"
NEOVIM = IMAGES / "neovim.svg"
expect.set_options(timeout=120_000)  # pictures are taken beside other work, too
EDITED = "gitindex/freshness/verdict.py"
QUERY = "freshness verdict"
SHOP = {
    "shop/price.py": "TAX_PERCENT = 19\n\n\ndef net_price(cents):\n"
    '    """The price of an item, with its tax."""\n'
    "    return cents + cents * TAX_PERCENT // 100\n\n\ndef old_price(cents):\n    return cents\n",
    "shop/cart.py": "from shop.price import net_price\n\n\nclass Cart:\n    def __init__(self):\n"
    "        self.items = []\n\n    def total(self):\n"
    "        return sum(net_price(cents) for _, cents in self.items)\n",
}
EDIT = "\n\ndef gross_price(cents):\n    return cents\n"
SCREEN = (
    ("status",),
    ("search", "net", "price", "of", "an", "item", "-n", "1"),
    ("refs", "net_price"),
    ("refs", "old_price"),
    (),  # the edit
    ("symbols", "gross_price"),
    ("status",),
)
ASK_IN_NEOVIM = """
vim.o.columns, vim.o.lines, vim.o.number = 96, 18, true
vim.wait(60000, function() return #vim.lsp.buf_get_clients() > 0 end)
vim.fn.search('net_price')
vim.lsp.buf.references()
vim.wait(60000, function() return #vim.fn.getqflist() > 0 end)
vim.cmd('cclose | copen 3 | wincmd p | normal! gg')
vim.cmd('wincmd p | redraw!')
local lines = {}
for row = 1, vim.o.lines do
  local cells = {}
  for column = 1, vim.o.columns do cells[column] = vim.fn.screenstring(row, column) end
  lines[row] = table.concat(cells)
end
vim.fn.writefile(lines, '../screen')
vim.cmd('qa!')
"""
"""What is on the screen after the references of a name were asked for."""
COLOURS = {
    "31": "#f87171",
    "32": "#4ade80",
    "33": "#fbbf24",
    "34": "#60a5fa",
    "35": "#c084fc",
    "36": "#22d3ee",
}
LOOK = ROOT / "build/pictures"
"""Where the pages are kept that somebody looks at before a release."""
WIDTHS = (1280, 768, 400)
SIX = {
    "home": "/",
    "search": "/?q=freshness+verdict",
    "file": f"/file/{EDITED}",
    "symbol": f"/symbol/{EDITED}%23judge",
    "map": "/map",
    "time": "/time",
    "health": "/health",
}
WIDE, HIGH, PAD = 7.8, 18, 16


def take_the_terminal() -> None:
    """Run the commands on a pseudo-terminal and keep what they print."""
    with tempfile.TemporaryDirectory() as top:
        repo = Repo(Path(top, "shop"))
        repo.init()
        for name, text in SHOP.items():
            repo.write(name, text)
        repo.commit("a cart")
        repo.index()
        lines = []
        for args in SCREEN:
            if args:
                said = (
                    on_a_terminal(repo, *args, COLUMNS="96", PAGER="cat", GIT_PAGER="cat")
                    .replace("\r", "")
                    .rstrip("\n")
                )
                lines += [f"\x1b[1m$ gitindex {' '.join(args)}\x1b[0m", *said.split("\n"), ""]
            else:
                repo.write("shop/price.py", SHOP["shop/price.py"] + EDIT)
                lines += ["\x1b[1m$ echo 'def gross_price(cents): …' >> shop/price.py\x1b[0m", ""]
        stop_runners(Path(top))
    TERMINAL.write_text(as_svg(lines[:-1]))


def take_neovim() -> None:
    """Ask for references in Neovim, set up by the template, and keep its screen."""
    with tempfile.TemporaryDirectory() as top:
        repo = Repo(Path(top, "shop"))
        repo.init()
        for name, text in SHOP.items():
            repo.write(name, text)
        repo.commit("a cart")
        repo.index()
        script = Path(top, "ask.lua")
        script.write_text(ASK_IN_NEOVIM)
        template = ROOT / "templates/editors/nvim.lua"
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        subprocess.run(
            ["nvim", "--headless", "-u", template, "shop/price.py", "-c", f"luafile {script}"],
            cwd=repo.path,
            env={**os.environ, "PATH": path},
            check=True,
            timeout=TIMEOUT,
        )
        lines = [line.rstrip() for line in Path(top, "screen").read_text().split("\n")]
        NEOVIM.write_text(as_svg("\n".join(lines).rstrip().split("\n")))
        stop_runners(Path(top))


def as_svg(lines: list[str]) -> str:
    """Text with the escape sequences of colours as a picture."""
    wide = max(len(re.sub(r"\x1b\[[\d;]*m", "", line)) for line in lines) * WIDE + 2 * PAD
    high = len(lines) * HIGH + 2 * PAD
    svg = Xml.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "width": f"{wide:.0f}"})
    svg.set("viewBox", f"0 0 {wide:.0f} {high:.0f}")
    svg.set("font-family", "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace")
    svg.set("font-size", "13")
    Xml.SubElement(
        svg, "rect", {"width": f"{wide:.0f}", "height": f"{high:.0f}", "rx": "8", "fill": "#0f172a"}
    )
    for number, line in enumerate(lines):
        place = {"x": str(PAD), "y": str(PAD + number * HIGH + 13), "fill": "#e2e8f0"}
        text = Xml.SubElement(svg, "text", {**place, "xml:space": "preserve"})
        style: dict[str, str] = {}
        for codes, words in re.findall(
            r"(?:\x1b\[([\d;]*)m)?([^\x1b]*)", line.replace("\x1b[m", "\x1b[0m")
        ):
            for code in codes.split(";"):
                if code in ("0", "22", "39"):
                    style = {}
                elif code == "1":
                    style["font-weight"] = "bold"
                elif code == "2":
                    style["fill"] = "#94a3b8"
                elif code in COLOURS:
                    style["fill"] = COLOURS[code]
            if words:
                Xml.SubElement(text, "tspan", style).text = words
    return Xml.tostring(svg, encoding="unicode") + "\n"


def take_the_page() -> None:
    """Index a clone of this repository, edit a file, search, and keep what Chromium shows."""
    LOOK.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as top:
        repo = Repo(Path(top, "gitindex"))
        subprocess.run(["git", "clone", "-q", "-b", "main", ROOT, repo.path], check=True)
        repo.index()
        edited = repo.path / EDITED
        edited.write_text(edited.read_text() + "\n# edited a moment ago\n")
        with serving(repo.path) as server, sync_playwright() as driver:
            browser = launch(driver)
            visitor = Visitor(
                browser, server, server.log_in(), viewport={"width": 1280, "height": 720}
            )
            page = visitor.open("/")
            page.locator("#q").press_sequentially(QUERY)
            expect(page.locator(".hit").first).to_be_visible()
            expect(page.locator("#bar")).to_contain_text("1 edited path")
            expect(page.locator(".source.edited").first).to_be_visible()
            page.screenshot(path=str(PICTURE), caret="initial")
            visitor.check()
            for width in WIDTHS:
                for scheme in ("light", "dark"):
                    _take_all(browser, server, visitor, width, scheme)
            browser.close()
        stop_runners(Path(top))


def _take_all(browser: Browser, server: WebServer, first: Visitor, width: int, scheme: str) -> None:
    cookie = "; ".join(f"{one['name']}={one['value']}" for one in first.context.cookies())
    size = {"width": width, "height": 900}
    visitor = Visitor(browser, server, cookie, viewport=size, color_scheme=scheme)
    for name, target in SIX.items():
        page = visitor.open(target)
        page.wait_for_timeout(1_500)
        page.screenshot(path=str(LOOK / f"{name}-{width}-{scheme}.png"))
    visitor.context.close()


if __name__ == "__main__":
    take_the_terminal()
    take_neovim()
    take_the_page()
