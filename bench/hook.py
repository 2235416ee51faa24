"""The hook: CPU that `git commit` and `git switch` pay in the foreground."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from bench.harness import Row, Used, round_robin
from bench.scratch import Bench, Repo, small_repo

ROUNDS = 15
EXIT_0 = "#!/bin/sh\nexit 0\n"


def measure(bench: Bench) -> list[Row]:
    folder = bench.folder("hook")
    repos = {name: small_repo(folder / name) for name in ("none", "exit 0", "not opted in", "ours")}
    for repo in repos.values():
        repo.git("switch", "-q", "-c", "other")
        for i in range(10):
            repo.write(f"pkg{i}/mod{i}.py", f"VALUE = {i}\n")
        repo.commit()
    repos["exit 0"].hook_all(EXIT_0)
    repos["ours"].install()
    _hooks_only(repos["ours"], repos["not opted in"])
    rows = []
    for verb, operate in (("commit", _commits()), ("switch", _switch)):
        rows += _rows(verb, _compare(repos, operate))
    return rows


def _compare(repos: dict[str, Repo], operate: Callable[[Repo], Used]) -> dict[str, float]:
    """Median CPU milliseconds per variant; ours twice a round: starting a runner, then with it."""
    ours = repos["ours"]

    def spawning() -> Used:
        used = operate(ours)
        ours.settle()
        return used

    def live() -> Used:
        used = operate(ours)
        ours.settle()
        ours.stop_runner()
        return used

    def plain(repo: Repo) -> Callable[[], Used]:
        return lambda: operate(repo)

    variants = {name: plain(repo) for name, repo in repos.items() if repo is not ours}
    variants |= {"starts a runner": spawning, "runner alive": live}
    return {name: used.cpu for name, used in round_robin(variants, ROUNDS).items()}


def _rows(verb: str, cpu: dict[str, float]) -> list[Row]:
    rows = []
    none, peer = cpu["none"], cpu["exit 0"]
    for name in ("runner alive", "starts a runner", "not opted in"):
        whole, added = f"git {verb}, {name}", f"git {verb}, {name}: added by the hook"
        rows.append(Row(whole, cpu[name], "ms", peer, "exit 0 hook", most_ratio=1.5))
        rows.append(Row(added, cpu[name] - none, "ms", peer - none, "exit 0 hook", most=2.5))
    return [*rows, Row(f"git {verb}, no hook", none, "ms")]


def _commits() -> Callable[[Repo], Used]:
    numbers = count(1000)

    def commit(repo: Repo) -> Used:
        repo.write("pkg0/mod0.py", f"VALUE = {next(numbers)}\n")
        return repo.measure("commit", "-q", "-a", "-m", "x")

    return commit


def _switch(repo: Repo) -> Used:
    here = repo.git("symbolic-ref", "--short", "HEAD")
    return repo.measure("switch", "-q", "main" if here == "other" else "other")


def _hooks_only(source: Repo, target: Repo) -> None:
    """Our hook files in a repository that has no store."""
    target.hook_all("")
    for hook in (target.path / ".git/hooks").iterdir():
        hook.write_bytes((source.path / ".git/hooks" / hook.name).read_bytes())
