"""What `make test` does where programs are missing: it says so, and only CI fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import bring

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("setting", "code"), [("", 0), ("false", 0), ("true", 1)])
def test_what_cannot_be_had_is_named_and_fails_only_in_ci(
    tmp_path: Path, setting: str, code: int
) -> None:
    env = {"PATH": str(tmp_path), "GITINDEX_NO_INSTALL": "1", "CI": setting}
    done = subprocess.run(
        [sys.executable, "-m", "tests.bring"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code
    assert "not tested here: the page in a browser (install chromium)" in done.stderr
    assert "not tested here: the team's index (install postgresql)" in done.stderr
    assert done.stderr.endswith("CI is set: nothing may be missing\n") == bool(code)


@pytest.mark.parametrize("allowed", [True, False])
def test_without_root_only_a_sudo_that_asks_nothing_installs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: bool
) -> None:
    for name, body in (
        ("sudo", f'[ "$1" = -n ] || exit 1\nshift\n{"exec" if allowed else "false"} "$@"'),
        ("apt-get", f"echo $LC_ALL >> {tmp_path}/calls"),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    bring.install(["ripgrep"])
    calls = tmp_path / "calls"
    assert (calls.read_text() if calls.exists() else "") == ("C\n" if allowed else "")


def fake_apt(folder: Path, locked: int) -> list[str]:
    """A program that finds the lock held so many times, then an error of its own."""
    apt = folder / "apt-get"
    apt.write_text(
        f"#!/bin/sh\necho x >> {folder}/calls\n"
        f"if [ $(wc -l < {folder}/calls) -le {locked} ]; then\n"
        "  echo 'E: Could not get lock /var/lib/apt/lists/lock' >&2; exit 100\nfi\n"
        "echo 'E: Unable to locate package nosuch' >&2; exit 100\n"
    )
    apt.chmod(0o755)
    return [str(apt), "install", "nosuch"]


def test_apts_lock_is_waited_for_and_its_own_error_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    assert not bring.run_apt(fake_apt(tmp_path, 3), 600)
    assert (tmp_path / "calls").read_text().count("x") == 4
    assert capfd.readouterr().err == "E: Unable to locate package nosuch\n"


def test_a_lock_that_is_never_given_up_is_an_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert not bring.run_apt(fake_apt(tmp_path, 10**6), 0)
    assert "Could not get lock" in capfd.readouterr().err


def test_programs_that_are_missing_skip_their_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests import browser, postgres

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(postgres, "PLACES", f"{tmp_path}/*")
    monkeypatch.delenv("CHROMIUM", raising=False)
    with pytest.raises(pytest.skip.Exception, match="PostgreSQL"):
        postgres.Cluster()
    with pytest.raises(pytest.skip.Exception, match="chromium"):
        browser.launch(None)  # type: ignore[arg-type]
    assert not os.listdir(tmp_path)
