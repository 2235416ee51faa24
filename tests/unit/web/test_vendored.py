"""The JavaScript of others that ships with the page is what the lock says, with its licences."""

from __future__ import annotations

import io
import zipfile

from tests.vendored import FOLDER, LOCK, checksum, read_lock

MOST_BYTES = 700_000


def test_every_vendored_file_has_the_sum_of_the_lock() -> None:
    kept = {file["name"]: file["sha256"] for package in read_lock() for file in package["files"]}
    found = {path.name: checksum(path.read_bytes()) for path in FOLDER.iterdir() if path != LOCK}
    assert found == kept


def test_every_vendored_package_keeps_its_licence() -> None:
    for package in read_lock():
        [licence] = [f["name"] for f in package["files"] if f["name"].endswith(".LICENSE")]
        text = (FOLDER / licence).read_text()
        assert "ermission" in text, licence
        assert len(package["sha256"]) == 64


def test_the_page_adds_little_to_the_wheel() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path in FOLDER.parents[1].rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                wheel.write(path)
    assert len(packed.getvalue()) <= MOST_BYTES


def test_nothing_is_fetched_from_elsewhere() -> None:
    ours = [p for p in FOLDER.parent.glob("*") if p.suffix in (".js", ".css")]
    assert len(ours) >= 2
    for path in ours:
        text = path.read_text()
        assert "http://" not in text, path
        assert "https://" not in text, path
        assert "@import" not in text, path
        assert "innerHTML" not in text, path
