"""What `with a as b` binds: the result of `a.__enter__()`, as its class declares it."""

from __future__ import annotations

import pytest

from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import open_tree
from tests.support import Repo

LIBRARY = """\
import typing
from contextlib import contextmanager
T = typing.TypeVar("T", bound="Client")
class Response:
    def json(self): pass
class Client:
    def __enter__(self: T) -> T: return self
    async def __aenter__(self) -> typing.Self: return self
    def get(self) -> Response: return Response()
    async def fetch(self) -> Response: return Response()
class Special(Client):
    def own(self): pass
class Lock:
    def __enter__(self) -> Response: return Response()
class Silent:
    def __enter__(self): return self
    def own(self): pass
@contextmanager
def opened(): yield Silent()
"""
PROGRAM = """\
import lib
def synchronous():
    with lib.Client() as client:
        client.get().json()
async def asynchronous():
    async with lib.Client() as client, lib.Lock():
        response = await client.fetch()
    response.json()
def subclass():
    with lib.Special() as special:
        special.own()
def another():
    with lib.Lock() as response:
        response.json()
def undeclared():
    with lib.Silent() as silent, lib.opened() as other:
        silent.own()
        other.own()
"""


@pytest.mark.parametrize(
    ("symbol", "bound", "open_lines"),
    [
        ("lib.py#Response.json", [4, 8, 14], []),
        ("lib.py#Client.get", [4], []),
        ("lib.py#Client.fetch", [7], []),
        ("lib.py#Special.own", [11], [17, 18]),
        ("lib.py#Silent.own", [], [17, 18]),
    ],
)
def test_with_binds_what_enter_is_declared_to_return(
    repo: Repo, symbol: str, bound: list[int], open_lines: list[int]
) -> None:
    repo.write("lib.py", LIBRARY)
    repo.write("app.py", PROGRAM)
    repo.commit()
    repo.index()
    with open_tree(repo.worktree, ".") as view:
        answer = find_references(view, ReferenceQuery(symbol))
    assert [place["line"] for place in answer["references"]] == bound
    assert {place["why"] for place in answer["possible"]} <= {"receiver"}
    assert [place["line"] for place in answer["possible"]] == open_lines
