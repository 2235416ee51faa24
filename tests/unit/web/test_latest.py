"""One question at a time per tab; what waits gives way to what is newer."""

from __future__ import annotations

import asyncio
import threading

from gitindex.web.app import LatestWins


def test_a_newer_question_replaces_the_one_that_waits() -> None:
    async def walk() -> tuple[list[str | None], list[str]]:
        turns, begun, gate = LatestWins(), list[str](), threading.Event()

        def work(name: str) -> str:
            begun.append(name)
            assert gate.wait(60)
            return name

        first = asyncio.create_task(turns.run("tab", lambda: work("a")))
        while not begun:
            await asyncio.sleep(0)
        others = [
            asyncio.create_task(turns.run("tab", lambda name=name: work(name)))  # type: ignore[misc]
            for name in "bcd"
        ]
        await asyncio.sleep(0)
        gate.set()
        found = [await task for task in (first, *others)]
        turns.close()
        return found, begun

    found, begun = asyncio.run(walk())
    assert found == ["a", None, None, "d"]
    assert begun == ["a", "d"]


def test_other_tabs_and_a_failure_hold_up_nobody() -> None:
    async def walk() -> list[str | None]:
        turns = LatestWins()

        def fail() -> str:
            raise ValueError

        first = await asyncio.gather(turns.run("tab", fail), return_exceptions=True)
        assert isinstance(first[0], ValueError)
        again = await turns.run("tab", lambda: "again")
        both = await asyncio.gather(turns.run("x", lambda: "x"), turns.run("", lambda: "none"))
        turns.close()
        return [again, *both]

    assert asyncio.run(walk()) == ["again", "x", "none"]
