"""Addresses of servers, remotes and packs: what they mean, and what is refused in them."""

from __future__ import annotations

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.base.vocabulary import FactsStatus
from gitindex.base.worktree import Worktree
from gitindex.languages.facts import BlobFacts, Import
from gitindex.sharing.destination import open_destination
from gitindex.sharing.membership import canonical_url
from gitindex.sharing.pack_file import merkle_root
from gitindex.sharing.packages import import_roots
from gitindex.sharing.server import address, sslmode_of

NOWHERE = Worktree("/", "/", "/", "main")


@pytest.mark.parametrize(
    ("named", "mode"),
    [
        ("postgresql://a@db.example.com/code", "verify-full"),
        ("postgresql://a@localhost/code", "prefer"),
        ("postgresql://a@127.0.0.1:5433/code", "prefer"),
        ("host=db.example.com dbname=code", "verify-full"),
        ("host=/run/postgresql dbname=code", "verify-full"),
        ("service=team", "verify-full"),
        ("postgresql://db.example.com/code?sslmode=require&application_name=y", "require"),
        ("host=db sslmode=verify-ca", "verify-ca"),
    ],
)
def test_certificates_are_checked_unless_nobody_is_in_between(named: str, mode: str) -> None:
    assert sslmode_of(named) == mode


@pytest.mark.parametrize("named", ["postgresql://a:b@db/code", "host=db password=secret"])
def test_a_password_is_not_kept(named: str) -> None:
    with pytest.raises(GitIndexError, match="holds a password"):
        address(NOWHERE, named)


@pytest.mark.parametrize(
    "url",
    [
        "https://user@Host.example/Team/App.git",
        "git@host.example:team/app.git",
        "ssh://git@host.example/team/app",
        "https://host.example/team/app/",
    ],
)
def test_one_repository_has_one_address(url: str) -> None:
    assert canonical_url(url) == "host.example/team/app"


def test_packs_come_over_https_only() -> None:
    with pytest.raises(GitIndexError, match="https only"):
        open_destination(NOWHERE, "http://example.com/packs", "/nowhere")


def test_imports_name_packages() -> None:
    def roots(language: str, *modules: str) -> set[str]:
        rows = tuple(Import(module, (), 0, 0) for module in modules)
        return import_roots(BlobFacts(language, FactsStatus.PARSED, 1, imports=rows))

    assert roots("python", "pkg.base", "os") == {"pkg", "os"}
    assert roots("typescript", "@team/lib/deep", "./near", "react/jsx") == {"@team/lib", "react"}
    assert "example.com/team/lib" in roots("go", "example.com/team/lib/sub")


def test_the_merkle_root_depends_on_every_leaf() -> None:
    leaves = [(f"{number:040x}", "e", bytes([number]) * 32) for number in range(5)]
    root = merkle_root(leaves)
    assert root == merkle_root(reversed(leaves))
    for number in range(5):
        changed = list(leaves)
        changed[number] = (changed[number][0], "e", b"x" * 32)
        assert merkle_root(changed) != root
    assert merkle_root(leaves[:-1]) != root
