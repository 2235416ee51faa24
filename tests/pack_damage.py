"""Ways to spoil a pack: its bytes, its manifest, its members; and facts that lie."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from gitindex.sharing.pack_file import DATABASE, Manifest, Member
from tests.packs import in_database, rewrite, without_name

Change = Callable[[Path], None]


class Mutation(NamedTuple):
    """One way to spoil a pack; `signed`: by the owner of an allowed key, so only checks can see it."""

    name: str
    apply: Callable[[Path, Path, random.Random], None]


def mutations(seed: int, count: int) -> list[Mutation]:
    """Every kind once, then bytes at random until there are so many."""
    kinds = [*_file_mutations(), *_member_mutations(), *_manifest_mutations()]
    rng = random.Random(seed)
    while len(kinds) < count:
        kinds.append(random_mutation(rng))
    return kinds


def random_mutation(rng: random.Random) -> Mutation:
    """Bytes at a random place, of the pack, of its signature, or of a member that is signed again."""
    at, kind = rng.random(), rng.choice(("flip", "flip", "gone", "twice", "signature", "member"))
    apply = {"signature": _in_signature, "member": _in_member}.get(kind, _in_pack)
    return Mutation(f"{kind} at {at:.6f}", apply(at, kind))


def _file_mutations() -> list[Mutation]:
    def cut(pack: Path, _key: Path, rng: random.Random) -> None:
        data = pack.read_bytes()
        pack.write_bytes(data[: rng.randrange(len(data))])

    def grow(pack: Path, _key: Path, _rng: random.Random) -> None:
        with pack.open("ab") as file:
            file.write(b"more")

    def empty(pack: Path, _key: Path, _rng: random.Random) -> None:
        pack.write_bytes(b"")

    def link(pack: Path, _key: Path, _rng: random.Random) -> None:
        other = pack.with_suffix(".other")
        pack.rename(other)
        pack.symlink_to("/etc/passwd")

    def no_signature(pack: Path, _key: Path, _rng: random.Random) -> None:
        Path(f"{pack}.sig").unlink()

    def other_signature(pack: Path, _key: Path, _rng: random.Random) -> None:
        Path(f"{pack}.sig").write_text(
            "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n"
        )

    def large_signature(pack: Path, _key: Path, _rng: random.Random) -> None:
        Path(f"{pack}.sig").write_bytes(b"x" * (1 << 17))

    def head(pack: Path, _key: Path, _rng: random.Random) -> None:
        data = pack.read_bytes()
        pack.write_bytes(data[:6] + b"99999999999 9 0\n" + data[6:])

    named = {f.__name__: f for f in (cut, grow, empty, link, no_signature)}
    named |= {f.__name__: f for f in (other_signature, large_signature, head)}
    return [Mutation(name, apply) for name, apply in named.items()]


def _in_pack(where: float, kind: str) -> Callable[[Path, Path, random.Random], None]:
    def apply(pack: Path, _key: Path, _rng: random.Random) -> None:
        pack.write_bytes(_changed(pack.read_bytes(), where, kind))

    return apply


def _in_signature(where: float, _kind: str) -> Callable[[Path, Path, random.Random], None]:
    def apply(pack: Path, _key: Path, _rng: random.Random) -> None:
        signature = Path(f"{pack}.sig")
        signature.write_bytes(_changed(signature.read_bytes(), where, "flip"))

    return apply


def _in_member(where: float, _kind: str) -> Callable[[Path, Path, random.Random], None]:
    """One byte of a segment of the search documents, signed by an allowed key."""

    def change(folder: Path) -> None:
        names = sorted(os.listdir(folder / "lexical"))
        path = folder / "lexical" / names[int(where * len(names))]
        path.write_bytes(_changed(path.read_bytes(), where * len(names) % 1, "flip"))

    return _rewriting(change, _same)


def _changed(data: bytes, where: float, kind: str) -> bytes:
    at = int(where * len(data))
    end = min(len(data), at + 1 + at % 7)
    if kind == "gone":
        return data[:at] + data[end:]
    if kind == "twice":
        return data[:end] + data[at:]
    return data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1 :]


def _member_mutations() -> list[Mutation]:
    """Signed with an allowed key: what is wrong is inside."""
    changes: dict[str, Change] = {
        "a trigger": in_database(
            "CREATE TRIGGER t AFTER INSERT ON files BEGIN DELETE FROM files; END"
        ),
        "a view": in_database("CREATE VIEW v AS SELECT 1"),
        "a table": in_database("CREATE TABLE extra (x)"),
        "an index": in_database("CREATE INDEX extra ON blobs (language)"),
        "a column": in_database("ALTER TABLE blobs ADD COLUMN extra"),
        "a dropped table": in_database("DROP TABLE decision_cache"),
        "another version": in_database("PRAGMA user_version=99"),
        "a worktree": in_database(
            "INSERT INTO worktrees (name, root, generation) VALUES ('main', x'2f', 7)"
        ),
        "a decision": in_database(
            "INSERT INTO decision_cache VALUES (1, 'a', 'b', '{}', '{}', '{}', 0)"
        ),
        "fewer blobs": in_database(
            "PRAGMA foreign_keys=OFF", "DELETE FROM blobs WHERE id=(SELECT max(id) FROM blobs)"
        ),
        "an orphan": in_database(
            "PRAGMA foreign_keys=OFF", "INSERT INTO exports VALUES (999999, 0, 'x')"
        ),
        "more documents": in_database("UPDATE repo_state SET lexical_docs=lexical_docs+1"),
        "no state": in_database("DELETE FROM repo_state"),
        "a text that is a number": in_database("UPDATE blobs SET lexical='many'"),
        "pages": _damage_pages,
        "not a database": lambda folder: _write(folder / DATABASE, b"no database" * 900),
        "an empty database": lambda folder: _write(folder / DATABASE, b""),
        "no segments": _without_segments,
        "meta that is no JSON": lambda folder: _write(folder / "lexical/meta.json", b"{"),
        "an unknown member": lambda folder: _write(folder / "lexical/evil.so", b"x"),
        "a hidden member": lambda folder: _write(folder / "lexical/.bashrc", b"x"),
        "a cut segment": _cut_segment,
    }
    return [Mutation(name, _rewriting(change, _same)) for name, change in changes.items()]


def _rewriting(
    change: Change, edit: Callable[[Manifest], Manifest]
) -> Callable[[Path, Path, random.Random], None]:
    def apply(pack: Path, key: Path, _rng: random.Random) -> None:
        rewrite(pack, key, change, edit)

    return apply


def _manifest_mutations() -> list[Mutation]:
    def renamed(name: str) -> Callable[[Manifest], Manifest]:
        def edit(manifest: Manifest) -> Manifest:
            first, *rest = manifest.members
            return manifest._replace(members=(Member(name, first.frame), *rest))

        return edit

    edits: dict[str, Callable[[Manifest], Manifest]] = {
        "another tree": lambda m: m._replace(tree="0" * 40),
        "a tree that is none": lambda m: m._replace(tree="../../etc"),
        "more blobs": lambda m: m._replace(blobs=m.blobs + 1),
        "negative blobs": lambda m: m._replace(blobs=-1),
        "another fingerprint": lambda m: m._replace(
            fingerprint=m.fingerprint._replace(extractorVersion="0")
        ),
        "a root that is none": lambda m: m._replace(merkle_root="x"),
    }
    found = [Mutation(name, _rewriting(_nothing, edit)) for name, edit in edits.items()]
    names = ("../facts.db", "/etc/passwd", "lexical/../../x", "lexical", "facts.db\0x", "")
    for name in names:
        found.append(Mutation(f"member {name!r}", _with_manifest(renamed(name))))

    def resized(size: int) -> Callable[[Manifest], Manifest]:
        def edit(manifest: Manifest) -> Manifest:
            first, *rest = manifest.members
            frame = first.frame._replace(size=size)
            return manifest._replace(members=(Member(first.name, frame), *rest))

        return edit

    for size in (0, 10, 1 << 20, 1 << 40, -5):
        found.append(Mutation(f"size {size}", _with_manifest(resized(size))))
    found.append(Mutation("a member twice", _with_manifest(_twice)))
    found.append(Mutation("no members", _with_manifest(lambda m: m._replace(members=()))))
    found.append(Mutation("a bomb", _bomb))
    return found


def _with_manifest(
    edit: Callable[[Manifest], Manifest],
) -> Callable[[Path, Path, random.Random], None]:
    """Replace the manifest alone, members as they are, and sign."""
    import io

    from gitindex.sharing.pack_file import MAGIC, compress, read_manifest, render, sign

    def apply(pack: Path, key: Path, _rng: random.Random) -> None:
        manifest = read_manifest(str(pack))
        data = pack.read_bytes()
        body = data[len(data) - sum(m.frame.packed for m in manifest.members) :]
        head = io.BytesIO()
        told = compress(io.BytesIO(render(edit(manifest))), head)
        line = b"%d %d %s\n" % (told.size, told.packed, told.sha256.encode())
        pack.write_bytes(MAGIC + line + head.getvalue() + body)
        Path(f"{pack}.sig").unlink()
        sign(str(pack), str(key))

    return apply


def _bomb(pack: Path, key: Path, rng: random.Random) -> None:
    """A member that says ten bytes and holds a gigabyte of zeros, well compressed."""
    import zstandard

    def edit(manifest: Manifest) -> Manifest:
        first, *rest = manifest.members
        return manifest._replace(members=(Member(first.name, first.frame._replace(size=10)), *rest))

    def grow(folder: Path) -> None:
        with (folder / DATABASE).open("wb") as file:
            file.truncate(64 << 20)

    assert zstandard
    rewrite(pack, key, grow, _same)
    _with_manifest(edit)(pack, key, rng)


def _twice(manifest: Manifest) -> Manifest:
    return manifest._replace(members=(*manifest.members, manifest.members[0]))


def _same(manifest: Manifest) -> Manifest:
    return manifest


def _nothing(_folder: Path) -> None:
    """Members stay as they are."""


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _damage_pages(folder: Path) -> None:
    data = bytearray((folder / DATABASE).read_bytes())
    for at in range(4096 * 2, len(data), 4096 * 3):
        data[at : at + 8] = b"\xff" * 8
    (folder / DATABASE).write_bytes(data)


def _without_segments(folder: Path) -> None:
    meta = json.loads((folder / "lexical/meta.json").read_text())
    meta["segments"] = []
    (folder / "lexical/meta.json").write_text(json.dumps(meta))


def _cut_segment(folder: Path) -> None:
    for name in os.listdir(folder / "lexical"):
        if name.endswith((".store", ".term")):
            path = folder / "lexical" / name
            path.write_bytes(path.read_bytes()[:-40])


def poisons(path: Path, rng: random.Random) -> list[tuple[str, Change]]:
    """Facts that lie, each a well-formed database with our schema: 40 kinds and more.

    Every column of every facts table is changed in a random row, and rows of each are removed.
    """
    found: list[tuple[str, Change]] = []
    connection = sqlite3.connect(path)
    try:
        for table in ("definitions", "occurrences", "imports", "exports", "documents"):
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            (rows,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
            if not rows:
                continue
            found.append((f"no {table}", in_database(f"DELETE FROM {table}")))
            at = rng.randrange(rows)
            gone = f"DELETE FROM {table} WHERE {_row(table, columns, at)}"
            found.append((f"{table} {at} gone", in_database(gone)))
            found += _changed_columns(table, columns, rows, rng)
        for table in ("blobs", "shapes"):
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            (rows,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
            found += _changed_columns(table, columns, rows, rng)
    finally:
        connection.close()
    found += [(f"no places of {name}", without_name(name)) for name in ("helper", "run")]
    return [*_lying_halves(), *found, *_renamed_names()]


def _lying_halves() -> list[tuple[str, Change]]:
    """Facts as they are, but search documents or the words for grep are those of another text."""
    return [("search documents", _lying_documents), ("words for grep", _lying_words)]


def _lying_documents(folder: Path) -> None:
    from gitindex.store.lexical import LexicalReader, LexicalWriter

    lexical = folder / "lexical"
    reader = LexicalReader(str(lexical))
    writer = LexicalWriter(str(folder / "new"))
    for number, (key, blob_id) in enumerate(sorted(reader.blob_ids().items())):
        body, names = (" ".join(reader.terms_among([key], field)) for field in ("body", "names"))
        writer.add(key, blob_id, body if number else "lies and nothing else", names)
    writer.commit()
    writer.close()
    for lock in (folder / "new").glob(".tantivy*"):
        lock.unlink()
    shutil.rmtree(lexical)
    (folder / "new").rename(lexical)


def _lying_words(folder: Path) -> None:
    from gitindex.store.connection import open_writer

    database = open_writer(str(folder / DATABASE))
    with database.write():
        database.run("UPDATE text_words SET words=?", b" lies and nothing else ")
    database.close()


def _row(table: str, columns: list[tuple[object, ...]], at: int) -> str:
    """A condition that holds for one row."""
    listed = ",".join(str(column[1]) for column in columns if column[5])
    return f"({listed})=(SELECT {listed} FROM {table} ORDER BY {listed} LIMIT 1 OFFSET {at})"


def _changed_columns(
    table: str, columns: list[tuple[object, ...]], rows: int, rng: random.Random
) -> list[tuple[str, Change]]:
    found: list[tuple[str, Change]] = []
    keys = [str(column[1]) for column in columns if column[5]]
    for _, name, kind, *_rest in columns:
        if name in (
            *keys,
            "oid",
            "extractor",
            "lexical",
            "name_id",
            "shape_id",
            "language",
        ):
            continue
        value = {"INTEGER": f'"{name}"+1', "BLOB": f"X'0001' || {name}"}.get(
            str(kind), f"\"{name}\" || 'x'"
        )
        if name == "after":
            value = "coalesce(after, '') || '('"  # NULL || 'x' would be no change
        if name in ("names", "topics") and kind == "TEXT":
            value = '\'[["evil", "evil"]]\'' if name == "names" else "'[\"evil\"]'"
        if name == "status":
            value = "CASE status WHEN 'lexical' THEN 'partial' ELSE 'lexical' END"
        at = rng.randrange(rows)
        statement = f'UPDATE {table} SET "{name}"={value} WHERE {_row(table, columns, at)}'
        found.append((f"{table}.{name} {at}", in_database(statement)))
    return found


def _renamed_names() -> list[tuple[str, Change]]:
    names = ("helper", "lonely", "run", "Worker0", "Worker1", "start", "x")
    return [
        (f"name {name}", in_database(f"UPDATE names SET text='evil_{name}' WHERE text='{name}'"))
        for name in names
    ]
