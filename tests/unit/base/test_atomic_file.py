"""Files that other processes read: replaced whole, private, without litter; read without following."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gitindex.base import atomic_file
from gitindex.base.atomic_file import (
    MOMENT_SECONDS,
    FileAccess,
    FileTooLarge,
    Staging,
    read_small,
    read_start,
    remove,
    sweep_temporaries,
    sync_dir,
    write_atomic,
)
from tests.support import TIMEOUT


@pytest.mark.parametrize("durable", [True, False], ids=["durable", "quick"])
@pytest.mark.parametrize("data", [b"", b"x", b"\0\xff" * 70_000], ids=len)
def test_written_bytes_are_read_back(tmp_path: Path, data: bytes, durable: bool) -> None:
    path = str(tmp_path / "file")
    for old in (b"longer than the new one" * 9, data):
        write_atomic(path, old, durable)
    assert read_small(path) == data
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.promise("I-36")
def test_file_is_private_and_new_under_any_umask(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"open to all")
    path.chmod(0o666)
    old = os.umask(0)
    try:
        write_atomic(str(path), b"private")
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"theirs")
    (tmp_path / "file").symlink_to(outside)
    write_atomic(str(tmp_path / "file"), b"ours")
    assert outside.read_bytes() == b"theirs"
    assert not (tmp_path / "file").is_symlink()


@pytest.mark.promise("I-28")
def test_failed_replace_keeps_the_old_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inside").write_bytes(b"")
    with pytest.raises(OSError, match="folder"):
        write_atomic(str(tmp_path / "folder"), b"data")
    assert os.listdir(tmp_path) == ["folder"]


def test_missing_folder_is_an_oserror(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomic(str(tmp_path / "gone" / "file"), b"data")


FILL = """
import resource, signal, sys
from gitindex.base.atomic_file import write_atomic
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_atomic(sys.argv[1], b"n" * 5000)
except OSError as error:
    print(error.errno)
"""


def test_write_that_does_not_fit_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomic(str(path), b"old")
    done = subprocess.run(
        [sys.executable, "-c", FILL, str(path)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=True,
    )
    assert done.stdout == "27\n"  # EFBIG
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


WRITERS = """
import itertools, os, sys
from gitindex.base.atomic_file import write_atomic
name = sys.argv[2].encode()
for n in itertools.count():
    write_atomic(sys.argv[1], name * (n % 150 * 50 + 1), durable=False)
    if n >= 150 and os.path.exists(sys.argv[3]):
        break
"""


@pytest.mark.promise("I-25")
def test_f18_four_writers_never_tear_a_file(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    path, enough = str(tmp_path / "files" / "file"), tmp_path / "enough"
    write_atomic(path, b"a")
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITERS, path, name, str(enough)])
        for name in ("a", "b", "c", "d")
    ]
    reads = 0
    while any(writer.poll() is None for writer in writers):
        data = read_small(path)
        assert data
        assert data == data[:1] * len(data)
        assert len(data) % 50 == 1
        reads += 1
        if reads == 1000:
            enough.touch()
    assert [writer.wait(TIMEOUT) for writer in writers] == [0, 0, 0, 0]
    assert reads >= 1000
    assert os.listdir(tmp_path / "files") == ["file"]


def test_absent_file_is_none_and_other_troubles_are_raised(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "plain")
    assert read_small(str(tmp_path / "gone")) is None
    assert read_small(str(tmp_path / "plain" / "below")) is None
    assert read_small(f"{tmp_path}/nul\0") is None
    with pytest.raises(OSError, match="symbolic links"):
        read_small(str(tmp_path / "link"))
    with pytest.raises(IsADirectoryError):
        read_small(str(tmp_path))


def test_reading_never_hangs_and_never_takes_more_than_the_limit(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert read_small(str(tmp_path / "pipe")) == b""
    (tmp_path / "big").write_bytes(b"y" * 5000)
    assert read_start(str(tmp_path / "big"), limit=1000) == b"y" * 1000
    for endless in (str(tmp_path / "big"), "/dev/zero"):
        with pytest.raises(FileTooLarge):
            read_small(endless, limit=1000)


def test_no_descriptor_leaks(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        write_atomic(path, b"x")
        read_small(path)
        sync_dir(str(tmp_path))
    assert len(os.listdir("/proc/self/fd")) == before


def test_remove_is_idempotent(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    remove(str(tmp_path / "file"))
    remove(str(tmp_path / "file"))
    assert os.listdir(tmp_path) == []


def test_a3_a_scratch_folder_on_another_file_system(tmp_path: Path) -> None:
    """EXDEV: one temporary file beside the target, and none where the folder is gone."""
    ours = os.stat(tmp_path).st_dev
    others = [f for f in ("/dev/shm", "/tmp") if os.path.isdir(f) and os.stat(f).st_dev != ours]
    if not others:
        pytest.skip("no second file system")
    write_atomic(str(tmp_path / "a"), b"one", staging=Staging(others[0]))
    assert (tmp_path / "a").read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["a"]
    with pytest.raises(FileNotFoundError):
        write_atomic(str(tmp_path / "gone/a"), b"one", staging=Staging(others[0]))
    assert not (tmp_path / "gone").exists()
    assert not [name for name in os.listdir(others[0]) if name.startswith(f".a.{os.getpid()}-")]


def test_a_failure_that_is_not_of_two_file_systems_is_raised(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    (tmp_path / "a").mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomic(str(tmp_path / "a"), b"one", staging=Staging(str(tmp_path / "scratch")))
    assert os.listdir(tmp_path / "scratch") == []


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_a_mode_is_set_whatever_the_umask(tmp_path: Path, mode: int) -> None:
    before = os.umask(0o077)
    try:
        write_atomic(str(tmp_path / "a"), b"one", access=FileAccess(mode))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode


def test_a14_temporaries_of_the_dead_are_swept(tmp_path: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", "echo $$"], capture_output=True, text=True, check=True, timeout=TIMEOUT
    )
    dead, alive = done.stdout.strip(), os.getpid()
    names = {
        "dead": f".a.{dead}-ab.tmp",
        "alive": f".a.{alive}-ab.tmp",
        "nameless": ".a.tmp",
        "ours": "a.tmp",
        "other": ".a",
    }
    now = (tmp_path / "clock").write_text("") or (tmp_path / "clock").stat().st_mtime
    for name in names.values():
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (now, now - MOMENT_SECONDS - 5))
    new = tmp_path / f".b.{dead}-ab.tmp"
    new.write_text("")
    sweep_temporaries(str(tmp_path), 1_000.0)
    left = set(os.listdir(tmp_path))
    assert left == {*names.values(), new.name, "clock"} - {names["dead"]}
    sweep_temporaries(str(tmp_path), 1.0)
    assert set(os.listdir(tmp_path)) == {"a.tmp", ".a", "clock", new.name}
    sweep_temporaries(str(tmp_path / "missing"), 1.0)


def test_a_scratch_folder_that_is_gone_is_no_reason_to_write_beside(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomic(str(tmp_path / "a"), b"one", staging=Staging(str(tmp_path / "gone")))
    assert os.listdir(tmp_path) == []


def test_a_file_and_its_folder_are_synced_unless_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = list[str]()
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.readlink(f"/proc/self/fd/{fd}")))
    write_atomic(str(tmp_path / "a"), b"one", durable=False)
    assert synced == []
    write_atomic(str(tmp_path / "a"), b"one")
    assert [os.path.dirname(synced[0]), synced[1]] == [str(tmp_path)] * 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_is_given_to_its_owner(tmp_path: Path) -> None:
    write_atomic(str(tmp_path / "a"), b"one", access=FileAccess(owner=(12345, 23456)))
    found = (tmp_path / "a").stat()
    assert (found.st_uid, found.st_gid) == (12345, 23456)


def test_a14_a_temporary_that_is_a_link_to_nothing_is_swept(tmp_path: Path) -> None:
    link = tmp_path / ".a.tmp"
    link.symlink_to("nothing")
    os.utime(link, (1, 1), follow_symlinks=False)
    sweep_temporaries(str(tmp_path), 1.0)
    assert os.listdir(tmp_path) == []


def test_the_last_word_before_the_rename(tmp_path: Path) -> None:
    """The old bytes are still in place, the new ones have no name yet; an error leaves it so."""
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def look() -> None:
        assert [p.name for p in tmp_path.iterdir()] == ["file"]
        assert path.read_bytes() == b"old"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomic(str(path), b"new", staging=Staging(ready=look))
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"old"


def test_i45_a_file_that_was_removed_is_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with pytest.raises(FileNotFoundError):
        write_atomic(str(path), b"new", existing=True)
    path.write_bytes(b"old")
    with pytest.raises(FileNotFoundError):
        write_atomic(str(path), b"new", existing=True, staging=Staging(ready=path.unlink))
    assert list(tmp_path.iterdir()) == []


def test_without_nameless_files_a_temporary_has_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_TMPFILE")
    path = tmp_path / "file"
    named: list[str] = []
    write_atomic(
        str(path), b"new", staging=Staging(ready=lambda: named.extend(os.listdir(tmp_path)))
    )
    assert [name.endswith(".tmp") for name in named] == [True]
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"new", ["file"])


@pytest.mark.promise("I-45")
def test_i45_a_file_that_is_removed_in_the_last_moment_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`rm` comes after the last look at the file, before its replacement is in place."""
    path = tmp_path / "status"
    path.write_bytes(b"old")
    link = os.link

    def removed_meanwhile(*args: Any, **named: Any) -> None:
        link(*args, **named)
        path.unlink()

    monkeypatch.setattr(os, "link", removed_meanwhile)
    with pytest.raises(FileNotFoundError):
        write_atomic(str(path), b"new", existing=True)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("exchanges", [True, False])
def test_an_existing_file_is_replaced_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchanges: bool
) -> None:
    if not exchanges:  # a file system, or a C library, without it
        monkeypatch.setattr(atomic_file, "exchange", lambda *_: False)
    (tmp_path / "store").mkdir()
    path = tmp_path / "status"
    path.write_bytes(b"old")
    with path.open("rb") as reader:
        write_atomic(str(path), b"new", existing=True, staging=Staging(str(tmp_path / "store")))
        assert reader.read() == b"old", "who has it open reads on"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path / "store") == []
    path.unlink()
    path.symlink_to("elsewhere")
    write_atomic(str(path), b"newer", existing=True, staging=Staging(str(tmp_path / "store")))
    assert (path.is_symlink(), path.read_bytes()) == (False, b"newer")
