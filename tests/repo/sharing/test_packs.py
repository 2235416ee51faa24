"""Packs: the same facts for the same tree, adopted only when everything about them holds."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.sharing import packs
from gitindex.sharing.create import derive_root
from gitindex.sharing.pack_file import BadPack, read_manifest, sign, unpack
from gitindex.store.blobs import dump
from gitindex.store.connection import open_reader
from gitindex.store.lexical import LexicalReader
from gitindex.store.name_index import name_index_faults
from gitindex.store.other_databases import open_other, schema_text
from gitindex.store.text_index import listed_words
from tests.packs import (
    SIGNER,
    Team,
    adopted,
    certificate,
    fill,
    make_key,
    pull,
    quietly,
    rewrite,
    unverified,
    verify_all,
    without_name,
)
from tests.support import Repo, wait_for


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Team:
    made = Team(tmp_path_factory.mktemp("team"))
    made.make()
    return made


@pytest.fixture(autouse=True)
def _configured(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(team.home))


def _name_indexes(repo: Repo) -> list[tuple[str, ...]]:
    database = open_reader(repo.worktree.database)
    assert database is not None
    with contextlib.closing(database):
        listed = schema_text(database)
        assert name_index_faults(database) == []
    found = [row for row in listed if row[1].endswith("_by_name") or row[1] == "name_blobs"]
    assert {row[2] for row in found} >= {"definitions", "name_blobs"}
    return found


def _facts(repo: Repo) -> list[str]:
    database = open_reader(repo.worktree.database)
    assert database is not None
    try:
        return list(dump(database))
    finally:
        database.close()


@pytest.mark.parametrize("collected", [False, True])
def test_a_pack_holds_the_facts_of_its_tree_and_nothing_else(
    team: Team, tmp_path: Path, collected: bool
) -> None:
    """Another branch leaves no trace, while it is indexed and after its facts were removed."""
    other = team.clone(f"elsewhere/{collected}")
    other.write("unpushed.py", "def secret_of_another_branch():\n    pass\n")
    other.git("checkout", "-q", "-b", "unpushed")
    other.commit("unpushed")
    other.index()
    other.git("checkout", "-q", "main")
    other.index()
    if collected:
        other.git("branch", "-q", "-D", "unpushed")
        assert other.gitindex("gc").returncode == 0
    one, two = team.pack(tmp_path / "one"), team.pack(tmp_path / "two", other)
    assert one.name == two.name
    manifests, documents = [], []
    for pack in (one, two):
        folder = tmp_path / f"{pack.parent.name}.open"
        folder.mkdir()
        manifests.append(unpack(str(pack), str(folder)))
        reader = LexicalReader(str(folder / "lexical"))
        documents.append({key: reader.terms_among([key], "body") for key in reader.blob_ids()})
        parts = [_words(folder / "facts.db"), *map(Path.read_bytes, _files(folder))]
        held = b"".join(parts)
        assert b"lonely" in held
        assert b"secret_of" not in held
        assert b"unpushed" not in held
        assert str(team.folder).encode() not in held
    assert manifests[0].merkle_root == manifests[1].merkle_root
    assert documents[0] == documents[1]
    assert one.with_name(f"{one.name}.sig").exists()


def _words(path: Path) -> bytes:
    """The words for grep, which are compressed."""
    with contextlib.closing(open_other(str(path))) as database:
        return " ".join(listed_words(database)).encode()


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_clone_is_fresh_without_extracting_anything(team: Team, tmp_path: Path) -> None:
    team.pack(tmp_path / "dest")
    clone = team.clone("plain")
    found = adopted(clone, tmp_path / "dest")
    assert (found.signer, found.whole) == (SIGNER, True)
    assert clone.verdict().code == 0
    assert clone.extracted() == 0
    clone.assert_published()
    assert _facts(clone) == _facts(team.origin)
    assert _name_indexes(clone) == _name_indexes(team.origin), "made here: a pack has none"
    told = certificate(clone, "lonely")
    assert told["complete"] is False
    assert told["trust"] == {"imported": found.blobs, "verified": 0, "signer": SIGNER}
    status = clone.gitindex("status").stdout
    assert f"signed by {SIGNER}: 0 of {found.blobs} verified" in status
    verify_all(clone)
    told = certificate(clone, "lonely")
    assert told["complete"] is True
    assert "trust" not in told
    assert "pack" not in clone.gitindex("status").stdout
    assert not os.listdir(Path(clone.worktree.store, "incoming"))
    assert pull(clone, tmp_path / "dest").outcome == "taken_before"


def test_every_fact_counts_in_the_root(team: Team, tmp_path: Path) -> None:
    """Whatever is changed in a pack's database, its Merkle root is another one."""
    folder = tmp_path / "open"
    folder.mkdir()
    manifest = unpack(str(team.pack(tmp_path / "dest")), str(folder))
    database = open_other(str(folder / "facts.db"))
    assert derive_root(database) == manifest.merkle_root
    without_name("helper")(folder)
    roots = {manifest.merkle_root, derive_root(database)}
    changes = [
        f'UPDATE {table} SET "{name}"={value}'
        for table in (
            "blobs",
            "definitions",
            "occurrences",
            "scopes",
            "imports",
            "exports",
            "names",
            "shapes",
        )
        for name, kind in database.rows("SELECT name, type FROM pragma_table_info(?)", table)
        if name not in ("id", "blob_id", "ordinal", "name_id", "shape_id")
        if (table, name) != ("occurrences", "names")  # such a value could not be read
        for longer in [f"CAST(coalesce(\"{name}\", '') || 'x' AS {kind})"]
        for value in [f'"{name}"+1' if kind == "INTEGER" else longer]
    ]
    assert len(changes) > 20
    for change in changes:
        database.run(change)
        roots.add(derive_root(database))
    assert len(roots) == len(changes) + 2
    database.close()


def test_the_user_may_let_signed_facts_certify(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team.pack(tmp_path / "dest")
    clone = team.clone("certify")
    adopted(clone, tmp_path / "dest")
    clone.git("config", "gitindex.pack.certify", "signed")
    assert certificate(clone, "lonely")["complete"] is False, "the repository's own file counts"
    monkeypatch.setenv("HOME", team.home_with(tmp_path / "home", "certify = signed"))
    assert certificate(clone, "lonely")["complete"] is True


def test_a_pack_of_an_ancestor_leaves_only_the_difference(team: Team, tmp_path: Path) -> None:
    team.pack(tmp_path / "dest")
    clone = team.clone("ahead")
    clone.write("pkg/new.py", "from pkg.base import lonely\n\nlonely()\n")
    clone.commit("one more")
    found = pull(clone, tmp_path / "dest")
    assert found.distance == 1
    assert clone.extracted() == 1
    clone.assert_published()
    verify_all(clone)
    assert unverified(clone) == 0


def test_a_store_with_facts_takes_only_facts(team: Team, tmp_path: Path) -> None:
    team.pack(tmp_path / "dest")
    clone = team.clone("held")
    clone.git("checkout", "-q", "--orphan", "empty")
    clone.git("rm", "-q", "-rf", ".")
    clone.write("mine.py", "def mine():\n    pass\n")
    clone.commit("mine")
    clone.index()
    clone.git("checkout", "-q", "main")
    found = adopted(clone, tmp_path / "dest")
    assert not found.whole
    assert clone.verdict().code == 0
    assert clone.extracted() == 1
    assert unverified(clone) == found.blobs
    verify_all(clone)
    assert unverified(clone) == 0
    assert clone.gitindex("verify", "--full").returncode == 0


def test_an_unsigned_pack_is_refused(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = team.pack(tmp_path / "dest", signed=False)
    clone = team.clone("unsigned")
    with pytest.raises(BadPack, match="not signed by an allowed signer"):
        pull(clone, tmp_path / "dest")
    clone.git("config", "gitindex.pack.trust", "any")
    with pytest.raises(BadPack):
        packs.verify_file(clone.worktree, str(pack))
    monkeypatch.setenv("HOME", team.home_with(tmp_path / "home", "trust = any"))
    found = adopted(clone, tmp_path / "dest")
    assert (found.signer, found.whole) == ("", False)
    assert clone.verdict().code == 0
    assert clone.extracted() == 0
    verify_all(clone)
    assert clone.gitindex("verify", "--full").returncode == 0


def test_a_key_that_nobody_allowed_is_refused(team: Team, tmp_path: Path) -> None:
    pack = team.pack(tmp_path / "dest", signed=False)
    make_key(tmp_path / "stranger")
    sign(str(pack), str(tmp_path / "stranger"))
    with pytest.raises(BadPack, match="not among the allowed signers"):
        pull(team.clone("stranger"), tmp_path / "dest")


def test_another_version_is_a_miss(team: Team, tmp_path: Path) -> None:
    pack = team.pack(tmp_path / "dest")
    stem, suffix = pack.name.rsplit("-", 1)[0], pack.suffix
    pack.rename(pack.with_name(f"{stem}-00000000{suffix}"))
    clone = team.clone("version")
    assert pull(clone, tmp_path / "dest").outcome == "none"
    assert [p.usable for p in packs.list_packs(clone.worktree, str(tmp_path / "dest"))] == [False]


def test_wrong_facts_drop_the_import_and_note_the_signer(team: Team, tmp_path: Path) -> None:
    pack = team.pack(tmp_path / "dest")
    rewrite(pack, team.key, without_name("helper"), lambda m: m)
    clone = team.clone("poisoned")
    adopted(clone, tmp_path / "dest")
    assert clone.verdict().code == 0
    told = certificate(clone, "helper")
    assert told["complete"] is False
    verify_all(clone)
    assert clone.verdict().code != 0, "a rejected pack is served as fresh"
    clone.index()
    assert _facts(clone) == _facts(team.origin)
    assert certificate(clone, "helper")["totalReferences"] == 8
    assert f"a pack signed by {SIGNER} had wrong facts" in clone.gitindex("status").stdout
    with pytest.raises(BadPack, match="wrong facts before"):
        pull(clone, tmp_path / "dest")


def test_git_refs_carry_packs(team: Team, tmp_path: Path) -> None:
    hub = tmp_path / "hub.git"
    subprocess.run(["git", "init", "-q", "--bare", str(hub)], check=True, timeout=300)
    packs.push(team.origin.worktree, "HEAD", str(hub), str(team.key), quietly)
    clone = team.clone("refs")
    clone.git("remote", "add", "hub", str(hub))
    for dest in (str(hub), "git:hub", f"file://{hub}"):
        assert len(packs.list_packs(clone.worktree, dest)) == 1
    assert adopted(clone, "hub").whole
    assert clone.extracted() == 0


def test_a_web_server_carries_packs(team: Team, tmp_path: Path) -> None:
    packs.push(team.origin.worktree, "HEAD", str(tmp_path / "www"), str(team.key), quietly)
    clone = team.clone("web")
    with _served(tmp_path / "www") as address:
        assert adopted(clone, address).whole
        with pytest.raises(GitIndexError, match="read only"):
            packs.push(team.origin.worktree, "HEAD", address, "", quietly)
    with pytest.raises(GitIndexError, match="cannot use"):
        pull(team.clone("offline"), address)
    with pytest.raises(GitIndexError, match="https only"):
        pull(clone, "http://example.com/packs")


@pytest.mark.parametrize("kind", ["folder", "git"])
def test_packs_that_no_ref_reaches_are_removed(team: Team, tmp_path: Path, kind: str) -> None:
    origin = team.clone("gc-" + kind)
    origin.index()
    dest = str(tmp_path / "packs")
    if kind == "git":
        subprocess.run(["git", "init", "-q", "--bare", dest], check=True)
    kept = packs.push(origin.worktree, "HEAD", dest, str(team.key), quietly).name
    origin.git("checkout", "-q", "-b", "side")
    origin.write("side.py", "def aside():\n    return 1\n")
    origin.commit("aside")
    origin.index()
    gone = packs.push(origin.worktree, "HEAD", dest, str(team.key), quietly).name
    assert packs.collect_garbage(origin.worktree, dest, dry_run=False) == []
    origin.git("checkout", "-q", "-")
    origin.git("branch", "-q", "-D", "side")
    assert packs.collect_garbage(origin.worktree, dest, dry_run=True) == [gone]
    assert len(packs.list_packs(origin.worktree, dest)) == 2, "a dry run removes nothing"
    done = origin.gitindex("pack", "gc", "--from", dest)
    assert (done.returncode, done.stdout.splitlines()) == (0, [gone, "1 pack removed"])
    assert [pack.name for pack in packs.list_packs(origin.worktree, dest)] == [kept]
    if kind == "folder":
        assert sorted(os.listdir(dest)) == sorted([kept, f"{kept}.sig", "packs.txt"])


def test_a_delta_is_small_and_completes_its_base(team: Team, tmp_path: Path) -> None:
    """A push of five files has at most 50 KB, and a new clone is fresh without extracting anything."""
    origin = team.clone("delta-origin")
    origin.index()
    dest = str(tmp_path / "packs")
    first = packs.push(origin.worktree, "HEAD", dest, str(team.key), quietly, delta=True)
    assert first.base == "", "there was none to build on"
    for number in range(5):
        origin.write(f"five{number}.py", f"def five{number}():\n    return {number}\n" * 40)
    origin.commit("five files")
    origin.index()
    second = packs.push(origin.worktree, "HEAD", dest, str(team.key), quietly, delta=True)
    assert (second.base, second.blobs) == (first.tree, 5)
    assert os.path.getsize(os.path.join(dest, second.name)) <= 50_000
    empty, filled = (Repo(tmp_path / name) for name in ("empty", "filled"))
    for clone in (empty, filled):
        subprocess.run(["git", "clone", "-q", origin.path, clone.path], check=True)
    assert pull(empty, dest).distance == 0
    assert empty.extracted() == 0
    assert empty.verdict().code == 0
    filled.git("checkout", "-q", "HEAD~1")
    filled.index()
    filled.git("checkout", "-q", "-")
    before = filled.extracted()
    assert pull(filled, dest).adopted is not None
    assert filled.extracted() == before, "the delta alone was enough"
    assert _facts(filled) == _facts(empty)


def test_a_shallow_clone_removes_no_pack(team: Team, tmp_path: Path) -> None:
    subprocess.run(
        ["git", "clone", "-q", "--depth=1", f"file://{team.origin.path}", tmp_path / "shallow"],
        check=True,
    )
    with pytest.raises(GitIndexError, match="shallow"):
        packs.collect_garbage(Repo(tmp_path / "shallow").worktree, str(tmp_path), dry_run=False)


def test_the_statement_names_the_tree_and_the_bytes(team: Team, tmp_path: Path) -> None:
    done = team.origin.gitindex("pack", "create", "-o", str(tmp_path), "--statement", "--json")
    answer = json.loads(done.stdout)
    statement = json.loads(Path(answer["file"] + ".intoto.json").read_text())
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    tree, pack = statement["subject"]
    assert tree["digest"] == {"gitTree": team.origin.git("rev-parse", "HEAD^{tree}").strip()}
    digest = hashlib.sha256(Path(answer["file"]).read_bytes()).hexdigest()
    assert pack["digest"] == {"sha256": digest}
    assert statement["predicate"]["merkleRoot"]


def test_seed_goes_on_without_a_pack(team: Team, tmp_path: Path) -> None:
    clone = team.clone("seedless")
    done = clone.gitindex("index", "--seed", str(tmp_path / "nowhere"))
    assert done.returncode == 0, done.stderr
    assert "no pack of an ancestor" in done.stderr
    assert clone.state() == "fresh"


def test_a_clone_from_a_template_pulls_before_its_first_index(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packs.push(team.origin.worktree, "HEAD", str(tmp_path / "dest"), str(team.key), quietly)
    home = team.home_with(tmp_path / "home", f"dest = {tmp_path / 'dest'}")
    monkeypatch.setenv("HOME", home)
    template = tmp_path / "template"
    done = team.origin.gitindex("template", "--temporary", str(template))
    assert done.returncode == 0, done.stderr
    target = tmp_path / "clone"
    clone = ["git", "clone", "-q", f"--template={template}", str(team.origin.path), str(target)]
    subprocess.run(clone, check=True, timeout=300)
    repo = Repo(target)
    repo.wait_fresh()
    assert repo.extracted() == 0, repo.log()
    wait_for(lambda: not unverified(repo), 300, repo.log)
    repo.wait_idle()


def test_a_partial_clone_keeps_what_git_lacks_unverified(team: Team, tmp_path: Path) -> None:
    team.pack(tmp_path / "dest")
    target = tmp_path / "partial"
    team.origin.git("config", "uploadpack.allowFilter", "true")
    subprocess.run(
        [
            "git",
            "clone",
            "-q",
            "--no-checkout",
            "--filter=blob:none",
            f"file://{team.origin.path}",
            str(target),
        ],
        check=True,
        timeout=300,
    )
    clone = Repo(target)
    adopted(clone, tmp_path / "dest")
    verify_all(clone)
    assert unverified(clone) > 0
    assert certificate(clone, "lonely")["complete"] is False


def test_unverified_facts_are_not_passed_on(team: Team, tmp_path: Path) -> None:
    team.pack(tmp_path / "dest")
    clone = team.clone("middle")
    adopted(clone, tmp_path / "dest")
    with pytest.raises(GitIndexError, match="not verified yet"):
        team.pack(tmp_path / "again", clone)
    done = clone.gitindex("pack", "check")
    assert done.returncode == 0, done.stderr
    packed = (team.pack(tmp_path / "again", clone), next((tmp_path / "dest").glob("*.gixp")))
    assert len({read_manifest(str(pack)).merkle_root for pack in packed}) == 1


def test_a_branch_that_is_not_indexed_has_no_pack(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    fill(repo)
    repo.index()
    repo.write("new.py", "x = 1\n")
    repo.commit("new")
    with pytest.raises(GitIndexError, match="not indexed: 1 blob of that commit"):
        packs.create(repo.worktree, "HEAD", str(tmp_path), "", quietly)


@pytest.mark.parametrize("missing", ["library", "folder"])
def test_a_pack_that_cannot_be_written_leaves_nothing(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    before = set(os.listdir(team.origin.worktree.store))
    output = tmp_path / ("a.gixp" if missing == "library" else "none/a.gixp")
    if missing == "library":
        monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises((GitIndexError, OSError), match=r"extra `pack`|No such file"):
        packs.create(team.origin.worktree, "HEAD", str(output), "", quietly)
    assert os.listdir(tmp_path) == []
    assert set(os.listdir(team.origin.worktree.store)) == before


@contextlib.contextmanager
def _served(folder: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Nothing to say."""

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *args: Quiet(*args, directory=str(folder))
    )
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
