"""Repositories at the limits, with filters, large configurations and names of secrets.

What an answer says of itself is compared with the bytes on disk: an exact one shows every line that holds a
word, one that leaves something out says so, a certificate misses no use, nothing of a secret is in an answer
or in the store, and no reader starts a program of the repository. Limits are lowered at random: what they
leave out is the same at every size (I-43).
"""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gitindex.base.errors import GitIndexError
from gitindex.freshness import envelope
from gitindex.git import interface as trees  # its limit is of the entries of trees
from gitindex.query.grep.grep import GrepQuery, grep
from gitindex.query.grep.pattern import GrepPattern
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.query.search.search import search
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import open_tree
from tests.support import Repo
from tests.torture import Clock

WORD, SECRET = "needle_word", "hidden_credential"
EXECUTED = "executed"
SECRETS = (
    *(".env", ".env.production", "prod.env", "id_rsa", "deploy_rsa", "server.key", "tls.pem"),
    *("store.jks", "debug.keystore", "vault.kdbx", "keystore.properties", "local.settings.json"),
    *(".npmrc", ".pypirc", ".netrc", ".pgpass", ".htpasswd", ".git-credentials", ".s3cfg"),
    *(".kube/config", ".docker/config.json", ".aws/credentials", ".ssh/known", ".gnupg/keys"),
    *("credentials.json", "client_secret_1.json", "service-account.json", "secrets.yml"),
    *("terraform.tfstate", "prod.tfvars", "wp-config.php", "proftpdpasswd", "signing_key"),
)
"""File names of the rules of shhgit and gitleaks, and of GitHub's templates; written down here again."""
NOT_NAMES = frozenset({"wp-config.php", "terraform.tfstate", "prod.tfvars", "proftpdpasswd"})
"""Programs, and files that only may hold a secret: their names say nothing."""
PARTS = ("definitions", "references", "possible")
WIDE = "wide.txt"
"""Of two bytes for each character: not what git counts, but shown. Encodings make more of them."""
ATTRIBUTES = (
    *("text", "-text", "text=auto", "eol=crlf", "eol=lf", "text=auto eol=crlf", "ident", "-ident"),
    *("filter=user", "filter=own", "-filter", "filter=missing", "working-tree-encoding=latin-1"),
    *("working-tree-encoding=UTF-16", "working-tree-encoding=UTF-16LE", "crlf", "text ident"),
)
SMUDGES = ("tr a-z A-Z", "sed s/x/needle_word/", "sed s/needle_word/gone/", "cat", "rev")
CLEANS = ("tr A-Z a-z", "sed s/needle_word/x/", "cat", "rev")
CONVERTED = (("a", "py"), ("b", "py"), ("c", "txt"), ("d", "md"))
Kind = Callable[[Repo, random.Random], None]


def _repeated(repo: Repo, rng: random.Random) -> None:
    """The same folder many times, with a use of the word in each."""
    for number in range(rng.choice([3, 30, 260])):
        repo.write(f"cases/{number}/deep/use.py", f"from lib import {WORD}\n\n{WORD}()\n")


def _same_size_filter(repo: Repo, _rng: random.Random) -> None:
    """The disk holds other bytes of the same size than the blob, and git's stat data say clean."""
    repo.git("config", "--global", "filter.up.smudge", "tr a-z A-Z")
    repo.git("config", "--global", "filter.up.clean", "tr A-Z a-z")
    repo.write("h.txt", f"{WORD} = 1\n")
    repo.commit()
    repo.write(".gitattributes", "h.txt filter=up\n")
    repo.commit()
    (repo.path / "h.txt").unlink()
    repo.git("checkout", "-q", "h.txt")
    repo.git("rm", "-q", ".gitattributes")
    repo.git("commit", "-qm", "no filter")


def _big_config(repo: Repo, rng: random.Random) -> None:
    """A filter that must not run, behind more text than a careless reader reads."""
    repo.write("conv.py", f"{WORD} = 2\n")
    repo.commit()
    filler = "# " + "x" * 98 + "\n"
    section = f'[filter "evil"]\n\tclean = touch {repo.path.parent}/{EXECUTED}; cat\n'
    with open(repo.path / ".git/config", "a") as file:
        file.write(filler * rng.choice([1, 9_000, 12_000, 45_000]) + section)
    (repo.path / ".git/info/attributes").write_text("conv.py filter=evil\n")
    repo.write("conv.py", f"{WORD} = 3\n")


def _attributes(repo: Repo, rng: random.Random) -> None:
    """Attributes and filters at random, in force, changed and gone; files are checked out and edited."""
    repo.git("config", "--global", "filter.user.smudge", rng.choice(SMUDGES))
    repo.git("config", "--global", "filter.user.clean", rng.choice(CLEANS))
    if rng.random() < 0.5:
        executed = f"touch {repo.path.parent}/{EXECUTED}; cat"
        repo.git("config", "filter.own.smudge", "sed s/^/own./")
        repo.git("config", "filter.own.clean", executed)
    names = [f"conv/{kind}{n}.{end}" for n in range(3) for kind, end in rng.sample(CONVERTED, 3)]
    for name in names:
        repo.write(name, f"# $Id$ é\n{WORD} = 'x'\nother = {rng.random()}\n")
    repo.commit()
    for _ in range(rng.randint(1, 4)):
        where = rng.choice([".gitattributes", "conv/.gitattributes", ".git/info/attributes"])
        rows = rng.sample(ATTRIBUTES, rng.randint(0, 3))
        repo.write(where, "".join(f"{rng.choice(['*.py', '*.txt', '*'])} {row}\n" for row in rows))
        if rng.random() < 0.7:
            repo.git("add", "-A", check=False)  # an encoding may not fit
            repo.git("commit", "-qm", "attributes", check=False)
        for name in rng.sample(names, 4):
            path = repo.path / name
            step = rng.choice(["checkout", "edit", "clean", "index"])
            if step == "checkout":
                path.unlink(missing_ok=True)
                repo.git("checkout", "-q", "--", name, check=False)
            elif step == "edit":
                repo.write(name, path.read_bytes() + f"{WORD}()\n".encode())
            elif step == "clean":  # what some filter takes for the blob
                repo.write(name, path.read_bytes().swapcase().replace(b"$ID", b"$Id"))
            else:
                repo.index()


def _secrets(repo: Repo, rng: random.Random) -> None:
    for name in rng.sample(sorted(set(SECRETS) - NOT_NAMES), 8):
        folder = rng.choice(["", "deploy/", "a b/ü/"])
        repo.write(folder + name, f"password = {SECRET}\n")
    repo.git("add", "-f", "-A")
    repo.git("commit", "-qm", "secrets")
    repo.write(rng.choice(["new/.env", "id_ed25519", ".ssh/other"]), f"{SECRET}\n")


def _edits(repo: Repo, rng: random.Random) -> None:
    """Edits that are not committed: more than an answer overlays, where limits are low."""
    for number in range(rng.choice([2, 25, 60])):
        repo.write(f"edit{number}.py", f"{WORD} = {number}\n")
    repo.write("lib.py", f"def {WORD}():\n    return {rng.random()}\n")


def _large(repo: Repo, rng: random.Random) -> None:
    """A text that is larger than what is indexed, the word at its end."""
    size = rng.choice([1 << 20, 5 << 20])
    repo.write(rng.choice(["large.txt", "large.py"]), "x = 1\n" * (size // 6) + f"{WORD}\n")
    repo.commit()


def _binary(repo: Repo, rng: random.Random) -> None:
    repo.write("late.bin", f"{WORD}\n".encode() + b"x\n" * 5_000 + b"\0\n" + WORD.encode())
    repo.write(WIDE, f"{WORD}\n".encode("utf-16"))
    repo.commit()


KINDS: tuple[Kind, ...] = (
    *(_repeated, _same_size_filter, _attributes, _big_config, _secrets, _edits, _large, _binary),
)


@contextmanager
def _limits(rng: random.Random) -> Iterator[bool]:
    """Lower some limits; True if one is low."""
    chosen = {
        (trees, "MAX_ENTRIES"): [200, 400],  # commit messages alone compare 26 paths
        (envelope, "MAX_PATHS"): [10],
        (envelope, "MAX_EXTRACTED"): [5],
        (envelope, "MAX_BYTES"): [100],
    }
    low = [where for where in chosen if rng.random() < 0.3]
    kept = [getattr(*where) for where in low]
    for where in low:
        setattr(*where, rng.choice(chosen[where]))
    try:
        yield bool(low)
    finally:
        for where, value in zip(low, kept, strict=True):
            setattr(*where, value)


def _on_disk(repo: Repo) -> Counter[tuple[str, int]]:
    """How often each line holds the word, by the bytes of every file that git would show."""
    listed = repo.git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    found: Counter[tuple[str, int]] = Counter()
    for path in filter(None, listed):
        data = (repo.path / path).read_bytes() if (repo.path / path).is_file() else b""
        if b"\0" not in data[:8000]:
            for number, line in enumerate(data.split(b"\n"), 1):
                found[path, number] = line.count(WORD.encode())
    return +found


def _is_wide(repo: Repo, path: str) -> bool:
    return (repo.path / path).read_bytes()[:2] in (b"\xff\xfe", b"\xfe\xff")


def _check(repo: Repo, clock: Clock) -> None:
    """Ask, and compare what the answers say of themselves with the disk."""
    places = _on_disk(repo)
    real = set(places)
    with open_tree(repo.worktree, ".") as view:
        lines: Any = grep(view, GrepQuery(GrepPattern(WORD, fixed=True)))
        uses: Any = find_references(view, ReferenceQuery(WORD, limit=10_000))
        hits: Any = search(view, SECRET, 50)
        leaked: Any = grep(view, GrepQuery(GrepPattern(SECRET, fixed=True)))
    shown = {(row["path"], row["line"]) for row in lines["results"]}
    wide = {place for place in shown - real if _is_wide(repo, place[0])}
    assert shown - real <= wide, ("not on disk", shown - real - wide)
    missing = real - shown
    state = lines["freshness"]
    named = sum(lines["notSearched"].values())
    if len({path for path, _ in missing}) > named:
        assert not state["exact"], ("exact without", sorted(missing)[:5], state)
        assert state.get("leftOut"), ("left out and not counted", state)
        clock.count("left out")
    if uses["accountedFor"]:
        listed = {(row["path"], row["line"]) for part in PARTS for row in uses[part]}
        unlisted = sorted(real - listed)[:5], uses["accounted"]
        assert uses["accounted"]["total"] == places.total(), ("accounted for without", unlisted)
        clock.count("accounted for")
    assert not leaked["results"], ("a secret is shown", leaked["results"])
    assert not any(SECRET in row["snippet"] for row in hits["results"]), hits


def _assert_not_stored(repo: Repo) -> None:
    for folder, _, names in os.walk(repo.worktree.store):
        for name in names:
            data = Path(folder, name).read_bytes()
            assert SECRET.encode() not in data, (folder, name)


def policies(clock: Clock, rng: random.Random, folder: Path) -> None:
    """One to three kinds at once, with limits as they are or lower."""
    config = Path(os.environ["HOME"], ".gitconfig")
    before = config.read_bytes()
    while clock.goes_on():
        repo = Repo(folder / f"r{clock.counts['cases']}" / "repo")
        kinds = rng.sample(KINDS, rng.randint(1, 3))
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        try:
            repo.init()
            repo.write("lib.py", f"def {WORD}():\n    return 1\n")
            repo.commit()
            for kind in sorted(kinds, key=lambda kind: (kind is _attributes, kind is _big_config)):
                kind(repo, rng)
            executed = repo.path.parent / EXECUTED
            executed.unlink(missing_ok=True)  # git itself may run it
            with _limits(rng) as low:
                repo.index()
                _check(repo, clock)
            _assert_not_stored(repo)
            assert not executed.exists(), "a reader ran a filter of the repository"
            clock.count("limits lowered", int(low))
        except (AssertionError, GitIndexError, GateClosed) as error:
            raise AssertionError(f"{names}: {error!r}") from error
        finally:
            config.write_bytes(before)
        for kind in kinds:
            clock.count(kind.__name__.strip("_").replace("_", " "))
        clock.count()
        shutil.rmtree(repo.path.parent)
