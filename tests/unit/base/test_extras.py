"""A hint installs a missing library where this very process looks for it."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from gitindex.base import extras


@pytest.mark.parametrize(
    ("prefix", "pip", "active", "hint"),
    [
        (
            "/opt/pipx/gitindex",
            True,
            False,
            "pipx inject gitindex 'gitindex[web]'",
        ),
        ("/h/.cache/uv/archive-v0/x1", False, False, "uvx --from 'gitindex[web]' gitindex …"),
        (
            "/h/uv/tools/gitindex",
            False,
            False,
            "uv pip install --python /p/bin/python 'gitindex[web]'",
        ),
        ("/work/.venv", True, True, "pip install 'gitindex[web]'"),
        (
            "/h/.cache/pre-commit/repo1/py_env",
            True,
            False,
            "/p/bin/python -m pip install 'gitindex[web]'",
        ),
    ],
)
def test_the_command_is_of_this_environment(
    prefix: str, pip: bool, active: bool, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = f"{prefix}/pipx_metadata.json" if "pipx" in prefix else ""
    monkeypatch.setattr("os.path.exists", noted.__eq__)
    monkeypatch.setattr(sys, "prefix", prefix)
    monkeypatch.setattr(sys, "executable", "/p/bin/python")
    monkeypatch.setattr(extras, "find_spec", lambda _: object() if pip else None)
    monkeypatch.setattr(extras, "_origin", str)
    monkeypatch.setenv("VIRTUAL_ENV", prefix if active else "")
    assert extras.install_hint("web") == hint


@pytest.mark.parametrize(
    ("noted", "address"),
    [
        (None, ""),
        ('{"url": "file:///w/g.whl", "archive_info": {}}', " @ file:///w/g.whl"),
        (
            '{"url": "https://h/g", "vcs_info": {"vcs": "git", "commit_id": "abc"}}',
            " @ git+https://h/g@abc",
        ),
    ],
    ids=["registry", "wheel", "git"],
)
def test_uvx_takes_the_copy_that_runs(
    noted: str | None, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Copy:
        def read_text(self, name: str) -> str | None:
            return noted

    monkeypatch.setattr(sys, "prefix", "/h/.cache/uv/archive-v0/x1")
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: Copy())
    assert extras.install_hint("web") == f"uvx --from 'gitindex[web]{address}' gitindex …"


def test_all_means_every_extra_that_a_user_can_have() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    known = project["optional-dependencies"]
    [everything] = known["all"]
    assert set(everything[len("gitindex[") : -1].split(",")) == known.keys() - {
        "all",
        "dev",
        "release",
    }
