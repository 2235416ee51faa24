"""What `base/system.py` promises about processes and files."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitindex.base.system import end_when_removed, is_alive, try_lock


def _removed(watched: Path) -> None:
    watched.rmdir()


def _changed(watched: Path) -> None:
    watched.chmod(0o700)
    (watched / "came").touch()
    (watched / "came").unlink()


@pytest.mark.parametrize(("happens", "ends"), [(_removed, True), (_changed, False)])
def test_i45_a_process_ends_with_a_folder_and_with_nothing_less(
    tmp_path: Path, happens: Callable[[Path], None], ends: bool
) -> None:
    """By the kernel's signal: it never gets to run what comes next."""
    watched, reached = tmp_path / "watched", tmp_path / "reached"
    watched.mkdir(mode=0o755)
    ready, started = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        end_when_removed([str(tmp_path / "missing"), str(watched)])
        os.write(started, b"x")
        while os.path.exists(watched) and not (tmp_path / "over").exists():
            time.sleep(0.001)
        reached.touch()
        os._exit(0)
    os.read(ready, 1)
    happens(watched)
    if not ends:
        (tmp_path / "over").touch()
    _, status = os.waitpid(child, 0)
    assert (os.WIFSIGNALED(status), reached.exists()) == (ends, not ends)
    assert not ends or os.WTERMSIG(status) == signal.SIGIO
    os.close(ready)
    os.close(started)


def test_numbers_that_no_process_has_are_not_alive() -> None:
    assert is_alive(os.getpid())
    assert not is_alive(1 << 80)


def test_a_lock_that_another_descriptor_holds_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    with path.open() as one, path.open() as two:
        assert try_lock(one.fileno())
        assert not try_lock(two.fileno())
