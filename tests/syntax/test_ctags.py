"""Our definitions against universal-ctags on real packages, both ways, per language.

Sources: this environment's own packages for Python, and the folder `GITINDEX_CORPUS` for the rest;
`python -m tests.syntax.corpus FOLDER` fills one from pip and npm.
"""

import os
import shutil
import subprocess
import sysconfig

import pytest

from tests.syntax.agreement import PARSERS, compare, report

TARGET = 0.98
ENOUGH = 100
"""Definitions below which a share says nothing."""


def _is_universal() -> bool:
    """Other programs are called ctags too."""
    if shutil.which("ctags") is None:
        return False
    command = ["ctags", "--version"]
    said = subprocess.run(command, capture_output=True, timeout=30, check=False).stdout
    return said.startswith(b"Universal Ctags")


@pytest.mark.skipif(not _is_universal(), reason="universal-ctags is not installed")
@pytest.mark.parametrize("language", PARSERS)
def test_agreement(language: str) -> None:
    folders = [os.environ.get("GITINDEX_CORPUS", "")]
    if language == "python":
        purelib = sysconfig.get_paths()["purelib"]
        folders = [os.path.join(purelib, name) for name in ("_pytest", "pip/_internal")]
    result = compare(language, [folder for folder in folders if folder])
    if result.theirs < ENOUGH:
        pytest.skip(f"no sources of {language}: set GITINDEX_CORPUS")
    shown = report(language, result)
    print(shown)
    assert result.found_share() >= TARGET, shown
    assert result.confirmed_share() >= TARGET, shown
