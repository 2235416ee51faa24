"""The files of a lexical index: finds torn ones, and names segments by their content."""

from __future__ import annotations

import json
import os

from gitindex.store.seal import META, footer_fits, is_lexical_sealed

MANAGED = ".managed.json"


def make_canonical(folder: str) -> list[str]:
    """Rename the segments of an index that is not open anywhere; return its file names.

    Tantivy names a segment at random. Here its name is a digest of its files, and both lists of
    segments are sorted.
    """
    path = os.path.join(folder, META)
    with open(path, encoding="utf-8") as file:
        meta = json.load(file)
    for segment in meta["segments"]:
        old = _file_name(segment["segment_id"])
        files = sorted(name for name in os.listdir(folder) if name.partition(".")[0] == old)
        new = _digest(folder, files)[:32]
        segment["segment_id"] = "-".join((new[:8], new[8:12], new[12:16], new[16:20], new[20:]))
        for name in files:
            renamed = f"{new}.{name.partition('.')[2]}"
            os.rename(os.path.join(folder, name), os.path.join(folder, renamed))
    meta["segments"].sort(key=lambda segment: segment["segment_id"])
    held = {_file_name(segment["segment_id"]) for segment in meta["segments"]}
    files = sorted(name for name in os.listdir(folder) if name.partition(".")[0] in held)
    _write(path, meta)
    _write(os.path.join(folder, MANAGED), [META, *files])
    for name in os.listdir(folder):
        if name not in (META, MANAGED, *files):
            os.unlink(os.path.join(folder, name))
    return [MANAGED, META, *files]


def torn_file(store: str) -> str:
    """Return a file that a killed writer or a power cut left torn; empty if there is none.

    If the seal is closed it vouches for the files. Else Tantivy's own footers are checked.
    """
    folder = os.path.join(store, "lexical")
    if is_lexical_sealed(store) or not os.path.exists(os.path.join(folder, META)):
        return ""
    try:
        with open(os.path.join(folder, META), encoding="utf-8") as file:
            held = {_file_name(one["segment_id"]) for one in json.load(file)["segments"]}
    except (ValueError, KeyError, TypeError):
        return META
    files = [name for name in os.listdir(folder) if name.partition(".")[0] in held]
    for name in sorted(files):
        with open(os.path.join(folder, name), "rb") as data:
            if not footer_fits(data.read()):
                return name
    gone = held - {name.partition(".")[0] for name in files}
    return f"{min(gone)}.store" if gone else ""


def _file_name(segment_id: str) -> str:
    """Return the name of a segment's files: its UUID without hyphens. ValueError if it is none.

    Without `uuid`, which costs every runner 5 ms.
    """
    digits = str.replace(segment_id, "-", "").lower()
    if len(digits) != 32:
        raise ValueError("not the id of a segment")
    return f"{int(digits, 16):032x}"


def _digest(folder: str, names: list[str]) -> str:
    import hashlib  # lazily: OpenSSL, for packs only

    digest = hashlib.sha256()
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            digest.update(
                name.partition(".")[2].encode() + hashlib.file_digest(file, "sha256").digest()
            )
    return digest.hexdigest()


def _write(path: str, value: object) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
