"""The language server in a real Neovim, set up by the template that users copy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import TIMEOUT, Repo

TEMPLATE = Path(__file__).parents[3] / "templates" / "editors" / "nvim.lua"
ASK = """
vim.wait(60000, function() return #vim.lsp.buf_get_clients() > 0 end)
local function ask(method, more)
  local at = vim.tbl_extend('force', vim.lsp.util.make_position_params(0, 'utf-16'), more or {})
  local found = vim.lsp.buf_request_sync(0, method, at, 60000)
  for _, one in pairs(found or {}) do return one.result end
end
vim.api.nvim_win_set_cursor(0, {3, 0})
local found = {
  definition = ask('textDocument/definition'),
  references = ask('textDocument/references', { context = { includeDeclaration = false } }),
  hover = ask('textDocument/hover'),
  symbols = ask('workspace/symbol', { query = 'hlpr' }),
}
vim.fn.writefile({ vim.json.encode(found) }, 'found.json')
vim.cmd('qa!')
"""


def test_neovim_asks_by_the_template(repo: Repo, tmp_path: Path) -> None:
    nvim = shutil.which("nvim")
    if nvim is None:
        pytest.skip("Neovim is not installed")
    repo.write("lib/__init__.py", "")
    repo.write("lib/util.py", "def helper():\n    return 42\n")
    repo.write("app.py", "from lib.util import helper\n\nhelper()\n")
    repo.commit()
    repo.index()
    (tmp_path / "ask.lua").write_text(ASK)
    done = subprocess.run(
        [nvim, "--headless", "-u", TEMPLATE, "app.py", "-c", f"luafile {tmp_path / 'ask.lua'}"],
        cwd=repo.path,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    answer = (repo.path / "found.json").read_text() if done.returncode == 0 else ""
    assert answer, done.stderr
    found = json.loads(answer)
    [definition] = found["definition"]
    assert definition["uri"].endswith("/lib/util.py")
    assert [place["range"]["start"]["line"] for place in found["references"]] == [0, 2]
    assert "def helper()" in found["hover"]["contents"]["value"]
    assert found["symbols"][0]["name"] == "helper"
