"""The team's index through every door and in every bad state: what is said, and what is never waited for."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from gitindex.base.errors import GitIndexError
from gitindex.sharing import diagnosis, team_questions
from gitindex.sharing.server import Unavailable, close_idle, connected
from tests.mcp_client import Inside
from tests.postgres import Cluster, children
from tests.support import Repo
from tests.team import asked_of_team, configure, join, push, see


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def published(cluster: Cluster, database: str, sources: tuple[Repo, Repo]) -> tuple[Repo, Repo]:
    for repo in sources:
        join(cluster, database, repo)
        push(repo)
    return sources


def test_agents_ask_the_team(
    cluster: Cluster,
    database: str,
    published: tuple[Repo, Repo],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    library, _ = published
    configure(monkeypatch, library, cluster.url(database, "ci"))
    client = Inside(str(library.path), tmp_path / "mcp")
    for tool, asked in (
        ("find_symbols", {"name": "helper"}),
        ("find_references", {"symbol": "helper"}),
        ("call_graph", {"symbol": "helper"}),
        ("search_codebase", {"query": "helper"}),
        ("grep_codebase", {"pattern": "def helper"}),
    ):
        answer = client.ask(tool, path=str(library.path), scope="team", **asked)
        assert answer["status"] == "ok", (tool, answer)
        hits = answer["team"]["hits"]
        assert {hit["repo"] for hit in hits} == {"program"}, tool
        assert "complete" not in answer["team"], "what a writer published certifies nothing"
        alone = client.ask(tool, path=str(library.path), **asked)
        del answer["team"]
        assert alone == answer, "the local half is what it is without a team"
    library.write(
        "pkg/base.py", "def helper(x):\n    return x + 1\n\n\ndef lonely():\n    return 1\n"
    )
    answer = client.ask("impact", path=str(library.path), scope="team")
    library.git("checkout", "-q", "--", ".")
    assert {hit["repo"] for hit in answer["team"]["hits"]} == {"program"}
    cluster.run(database, "DROP FUNCTION gitindex.gi_definitions(text, int)")  # half migrated
    away = client.ask("find_symbols", path=str(library.path), scope="team", name="helper")
    assert away["status"] == "unavailable"
    assert "gi_definitions" in away["reason"]
    assert [s["path"] for s in away["symbols"]] == ["pkg/base.py"], "the local half is there"


def test_the_tier_is_what_the_importing_file_says(
    cluster: Cluster, database: str, published: tuple[Repo, Repo], tmp_path: Path
) -> None:
    """All of these files import the package; only where the name comes from it the tier says so."""
    user = Repo(tmp_path / "user")
    user.init()
    user.write("bound.py", "from pkg.base import helper\n\nhelper(1)\n")
    user.write("module.py", "import pkg.base\n\npkg.base.helper(1)\n")
    user.write("other.py", "import pkg.base\nfrom elsewhere import helper\n\nhelper(1)\n")
    user.write("own.py", "import pkg.base\n\n\ndef helper():\n    pass\n\n\nhelper()\n")
    user.write("app.ts", "import { helper } from 'pkg/base';\nhelper(1);\n")
    user.commit("first")
    user.index()
    join(cluster, database, user)
    push(user)
    hits = asked_of_team(cluster, database, "ci", team_questions.references, "helper")
    tiers = {hit["path"]: hit["tier"] for hit in hits if hit["repo"] == "user"}
    assert tiers == {
        "bound.py": "package",
        "module.py": "package",
        "app.ts": "package",
        "other.py": "name",
        "own.py": "name",
    }
    order = [hit["tier"] for hit in hits]
    assert order == sorted(order, key="package name".index)


def test_many_candidates_are_bounded(
    cluster: Cluster, database: str, published: tuple[Repo, Repo], tmp_path: Path
) -> None:
    many = Repo(tmp_path / "many")
    many.init()
    for number in range(230):
        many.write(f"f{number}.py", f"from pkg.base import helper\n\nhelper({number})\n")
    many.commit("first")
    many.index()
    join(cluster, database, many)
    push(many)
    with connected(cluster.url(database, "ci")) as server:
        found = team_questions.references(server, "helper", 10_000)
        shown = team_questions.references(server, "helper", 50)
    assert len({(hit["repo"], hit["path"]) for hit in found}) == team_questions.CANDIDATES
    assert len(shown) == 51, "one more than asked for says that there are more"


def test_doctor_says_what_is_wrong_and_metrics_are_for_administrators(
    cluster: Cluster, database: str, sources: tuple[Repo, Repo]
) -> None:
    library, _ = sources
    join(cluster, database, library)
    push(library)
    see(cluster, database, library.path.name, "alice")
    rows = {row["check"]: row for row in diagnosis.diagnose(cluster.url(database, "alice"))}
    assert rows["identity"]["detail"] == "alice"
    assert rows["rights"]["detail"] == "gi_reader"
    assert rows["repositories"] == {"check": "repositories", "ok": True, "detail": "1 visible"}
    blind = {row["check"]: row["ok"] for row in diagnosis.diagnose(cluster.url(database, "bob"))}
    assert (blind["server"], blind["repositories"]) == (True, False)
    away = diagnosis.diagnose("postgresql://alice@127.0.0.1:9/code")
    assert [(row["check"], row["ok"]) for row in away] == [("server", False)]
    figures = dict(
        line.split() for line in diagnosis.metrics_text(cluster.url(database)).splitlines()
    )
    assert float(figures["gitindex_team_database_bytes"]) > 1e6
    with pytest.raises(GitIndexError, match="refused"):
        diagnosis.metrics_text(cluster.url(database, "alice"))


def test_the_fleet_is_seen_by_who_opted_in_and_by_members(
    cluster: Cluster, database: str, sources: tuple[Repo, Repo], monkeypatch: pytest.MonkeyPatch
) -> None:
    library, program = sources
    configure(monkeypatch, library, cluster.url(database, "ci"))
    for repo, options in ((library, ["--fleet"]), (program, [])):
        done = repo.gitindex("team", "join", *options)
        assert done.returncode == 0, done.stderr
        assert repo.gitindex("team", "push").returncode == 0
    rows = library.answer("team", "status")["fleet"]
    lag = rows[0].pop("lagMs")
    assert 0 < lag < 600_000
    assert rows == [{"repo": "library", "state": "fresh", "installations": 1}]
    assert "library: 1 fresh" in library.gitindex("team", "status").stdout
    with psycopg.connect(cluster.url(database)) as admin:
        held = admin.execute("SELECT to_jsonb(f) FROM gitindex.gi_fleet f").fetchall()
    assert "helper" not in str(held)
    assert str(library.path) not in str(held)
    configure(monkeypatch, library, cluster.url(database, "bob"))
    assert library.gitindex("team", "leave").returncode == 0
    assert library.answer("team", "status")["fleet"] == [], "no member of it"


def test_an_administrator_adds_members_as_the_page_says(
    cluster: Cluster, database: str, published: tuple[Repo, Repo], monkeypatch: pytest.MonkeyPatch
) -> None:
    library, _ = published
    configure(monkeypatch, library, cluster.url(database, "boss"))
    add = ("team", "members", "library", "--add", "alice")
    refused = library.gitindex(*add)
    assert refused.returncode == 4, "a clone keeps the address it joined with"
    assert "`gitindex team doctor` says who you are" in refused.stderr
    assert library.gitindex("team", "leave").returncode == 0
    done = library.gitindex(*add)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done; only members of a repository see the list\n"
    configure(monkeypatch, library, cluster.url(database, "alice"))
    assert "alice" in library.gitindex("team", "members", "library").stdout


def test_a_server_that_refuses_is_unavailable(
    cluster: Cluster, database: str, published: tuple[Repo, Repo]
) -> None:
    for user, statement, said in (
        ("carol", "ALTER ROLE carol NOLOGIN", "not permitted to log in"),
        ("carol", "ALTER ROLE carol LOGIN CONNECTION LIMIT 0", "too many connections"),
        ("stranger", "SELECT 1", "does not exist"),
    ):
        cluster.run(database, statement)
        with pytest.raises(Unavailable, match=said), connected(cluster.url(database, user)):
            pass
        for name in os.listdir(os.environ["XDG_STATE_HOME"] + "/gitindex"):
            os.unlink(os.path.join(os.environ["XDG_STATE_HOME"], "gitindex", name))
    cluster.run(database, "ALTER ROLE carol CONNECTION LIMIT -1")
    cluster.run("postgres", f"ALTER DATABASE {database} ALLOW_CONNECTIONS false")
    close_idle()
    with (
        pytest.raises(Unavailable, match="not currently accepting"),
        connected(cluster.url(database, "ci")),
    ):
        pass


def test_a_server_that_freezes_during_a_question_is_left(
    cluster: Cluster, database: str, published: tuple[Repo, Repo]
) -> None:
    """All of its processes stop after the connection stands: its own deadline does not run either."""
    url, stopped = cluster.url(database, "ci"), list[int]()
    try:
        with pytest.raises(Unavailable, match="no answer within"):
            _freeze_and_ask(cluster, url, stopped)
        with pytest.raises(Unavailable, match="tried"), connected(url):
            pass
    finally:
        _signal_all(stopped, signal.SIGCONT)


def _signal_all(pids: list[int], number: signal.Signals) -> None:
    """Send a signal to processes; one that served a connection before may have ended."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _freeze_and_ask(cluster: Cluster, url: str, stopped: list[int]) -> None:
    with connected(url, 100) as server:
        assert cluster.process is not None
        stopped += [cluster.process.pid, *children(cluster.process.pid)]
        _signal_all(stopped, signal.SIGSTOP)
        team_questions.definitions(server, "helper", 5)


def test_a_frozen_server_costs_a_hook_nothing(
    cluster: Cluster, database: str, published: tuple[Repo, Repo]
) -> None:
    """A commit in a joined clone ends, and a local answer comes, while the server is frozen."""
    library, _ = published
    assert library.gitindex("install").returncode == 0
    assert cluster.process is not None
    cluster.process.send_signal(signal.SIGSTOP)
    try:
        library.git("commit", "-q", "--allow-empty", "-m", "while it is frozen")
        assert library.answer("symbols", "lonely")["symbols"]
    finally:
        cluster.process.send_signal(signal.SIGCONT)
    library.git("reset", "-q", "--hard", "HEAD~1")
    library.wait_idle()
    assert library.gitindex("uninstall").returncode == 0


@pytest.fixture
def secure(cluster: Cluster, tmp_path: Path) -> Iterator[tuple[int, Path]]:
    """The same server over TLS: its port, and a folder with the certificates of two authorities."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name in ("ours", "theirs"):
        _authority(tmp_path, name)
    files = {"cert": tmp_path / "server.crt", "key": tmp_path / "server.key"}
    for name, source in files.items():
        cluster.give(cluster.folder / f"server.{name}", source.read_bytes())
    settings = {f"ssl_{name}_file": str(cluster.folder / f"server.{name}") for name in files}
    cluster.kill()
    cluster.start(listen_addresses="127.0.0.1", port=str(port), ssl="on", **settings)
    yield port, tmp_path
    cluster.kill()
    cluster.start()


def _authority(folder: Path, name: str) -> None:
    """An authority, and a certificate of it for `localhost`: the server gets that of `ours`."""
    key, crt = folder / f"{name}.key", folder / f"{name}.crt"
    new = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
    ]
    ask = [*new, "-keyout", str(key), "-out", str(crt), "-days", "2", "-subj", f"/CN={name}"]
    subprocess.run(ask, check=True, capture_output=True, timeout=300)
    if name == "ours":
        leaf = [*new, "-keyout", str(folder / "server.key"), "-out", str(folder / "server.crt")]
        leaf += ["-days", "2", "-subj", "/CN=localhost", "-CA", str(crt), "-CAkey", str(key)]
        subprocess.run(leaf, check=True, capture_output=True, timeout=300)


def test_a_wrong_certificate_is_unavailable(
    database: str,
    secure: tuple[int, Path],
    monkeypatch: pytest.MonkeyPatch,
    sources: tuple[Repo, Repo],
) -> None:
    port, folder = secure
    base = f"host=localhost hostaddr=127.0.0.1 port={port} dbname={database} user=ci sslmode=verify-full"
    good, bad = (f"{base} sslrootcert={folder}/{name}.crt" for name in ("ours", "theirs"))
    with connected(good, patient=True) as server:
        assert server.rows("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == [(True,)]
    for url, said in (
        (bad, "certificate verify failed"),
        (good.replace("host=localhost", "host=db.example.com"), "does not match host name"),
        (f"{base} sslrootcert={folder}/none.crt", "none.crt"),
    ):
        with pytest.raises(Unavailable, match=said), connected(url):
            pass
    library, _ = sources
    configure(monkeypatch, library, bad)
    local = {"status": "ok", "symbols": ["mine"]}
    started = time.thread_time()
    answer = team_questions.add_team(library.worktree, local, "definitions", ["x"], 5)
    assert time.thread_time() - started < 5
    assert (answer["status"], answer["symbols"]) == ("unavailable", ["mine"])
    assert "certificate verify failed" in answer["reason"]
