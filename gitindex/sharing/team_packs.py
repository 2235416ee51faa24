"""Packs on the team's server: everyone who sees a repository may pull, its writers may push."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from gitindex.base.errors import GitIndexError
from gitindex.base.worktree import Worktree
from gitindex.sharing.destination import Destination
from gitindex.sharing.manifest import NAME
from gitindex.sharing.membership import find_repository, read_membership
from gitindex.sharing.pack_file import MAX_PACK
from gitindex.sharing.server import Server, address, connected
from gitindex.sharing.signature import MAX_SIGNATURE, SUFFIX

PART = 1 << 20
TRANSFER_MS = 300_000


class TeamPacks(Destination):
    """The packs of this clone's repository, in parts; part 0 is the signature."""

    def __init__(self, worktree: Worktree) -> None:
        own = read_membership(worktree)
        self._worktree = worktree
        self._url = own.url if own else address(worktree)

    def names(self) -> list[str]:
        """Return the names of the packs there."""
        with self._opened() as (server, repo):
            rows = server.rows("SELECT name FROM gi_packs(%s)", repo)
        return sorted(name for (name,) in rows if NAME.fullmatch(name))

    def pull(self, name: str, folder: str) -> str:
        """Copy a pack, and its signature if it has one, into a folder; return the pack's path."""
        target = os.path.join(folder, name)
        with self._opened() as (server, repo):
            signature = _part(server, repo, name, 0)
            if signature and len(signature) <= MAX_SIGNATURE:
                with open(target + SUFFIX, "xb") as file:
                    file.write(signature)
            with open(target, "xb") as file:
                number = 1
                while (data := _part(server, repo, name, number)) and file.tell() <= MAX_PACK:
                    file.write(data)
                    number += 1
        if number == 1:
            raise GitIndexError("the pack is gone from the team's server", "pull again")
        return target

    def push(self, path: str) -> None:
        """Upload a pack and its signature in one transaction."""
        with self._opened() as (server, repo), server.transaction():
            pack = server.rows("SELECT gi_put_pack(%s, %s)", repo, os.path.basename(path))[0][0]
            for number, data in _parts(path):
                server.rows("SELECT gi_put_pack_part(%s, %s, %s)", pack, number, data)

    @contextmanager
    def _opened(self) -> Iterator[tuple[Server, int]]:
        with connected(self._url, TRANSFER_MS, patient=True) as server:
            yield server, find_repository(self._worktree, server)


def _part(server: Server, repo: int, name: str, number: int) -> bytes:
    found = server.rows("SELECT gi_get_pack(%s, %s, %s)", repo, name, number)[0][0]
    return bytes(found or b"")


def _parts(path: str) -> Iterator[tuple[int, bytes]]:
    if os.path.exists(path + SUFFIX):
        with open(path + SUFFIX, "rb") as signature:
            yield 0, signature.read()
    with open(path, "rb") as file:
        number = 0
        while data := file.read(PART):
            number += 1
            yield number, data
