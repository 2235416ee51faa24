"""Our definitions against universal-ctags on real packages, both ways, per language.

Sources: this environment's own packages for Python, packages of npm and Debian for the rest; the
folder `GITINDEX_CORPUS` instead, where it is set.
"""

import os
import shutil
import subprocess
import sysconfig

import pytest

from tests.ctags.agreement import PARSERS, compare, report
from tests.ctags.corpus import fetched

TARGET = 0.98
ENOUGH = 100
"""Definitions below which a share says nothing."""


def _is_universal() -> bool:
    """Other programs are called ctags too."""
    if shutil.which("ctags") is None:
        return False
    command = ["ctags", "--version"]
    said = subprocess.run(command, capture_output=True, timeout=300, check=False).stdout
    return said.startswith(b"Universal Ctags")


@pytest.mark.skipif(not _is_universal(), reason="universal-ctags is not installed")
@pytest.mark.parametrize("language", PARSERS)
def test_agreement(language: str) -> None:
    result = compare(language, _folders(language))
    if result.theirs < ENOUGH:
        pytest.skip(f"no sources of {language}: no registry in reach has any; set GITINDEX_CORPUS")
    shown = report(language, result)
    print(shown)
    assert result.found_share() >= TARGET, shown
    assert result.confirmed_share() >= TARGET, shown


def _folders(language: str) -> list[str]:
    given = os.environ.get("GITINDEX_CORPUS")
    if given:
        return [given]
    if language == "python":
        purelib = sysconfig.get_paths()["purelib"]
        return [os.path.join(purelib, name) for name in ("_pytest", "pip/_internal")]
    folder = fetched(language)
    return [folder] if folder else []
