"""The words of paths in memory find what a scan of every path finds."""

from __future__ import annotations

import random

from gitindex.query.search.memory import MAX_PATHS, PathTexts


def _slowly(paths: list[bytes], needles: list[tuple[str, float]], limit: int) -> list[bytes]:
    sums = {
        path: round(sum(share for n, share in needles if n.encode() in path.lower()), 9)
        for path in paths
    }
    found = [path for path in paths if sums[path]]
    return sorted(found, key=lambda path: (-sums[path], len(path), path))[:limit]


def test_paths_that_contain_most_come_first() -> None:
    dice = random.Random(7)
    words = ["cache", "Flush", "cacheflush", "http2", "é", "naïve", "re", "queries"]
    paths = list(
        {
            dice.choice("/._-").join(dice.choices(words, k=dice.randint(1, 4))).encode()
            for _ in range(300)
        }
    )
    index = PathTexts(paths)
    for _ in range(200):
        needles = [
            (
                dice.choice(["cach", "flush", "http", "quer", "na", "é", "ïve", "nosuch"]),
                dice.random(),
            )
            for _ in range(dice.randint(1, 4))
        ]
        limit = dice.choice((1, 7, 50))
        assert index.best(needles, limit) == _slowly(paths, needles, limit)


def test_no_paths_have_no_words() -> None:
    assert PathTexts([]).best([("a", 1.0)], 5) == []


def test_a_common_word_counts_beside_a_rare_one() -> None:
    common = [b"test/%d.py" % number for number in range(MAX_PATHS + 10)]
    long = b"test/folder/of/a/rare/name.py"
    assert PathTexts([*common, long]).best([("test", 0.3), ("rare", 0.7)], 1) == [long]
    assert PathTexts([*common, b"rare", long]).best([("rare", 0.2), ("test", 0.1)], 1) == [long]
