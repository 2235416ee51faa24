"""Names the command that adds an optional library to the environment that this process runs in."""

from __future__ import annotations

import json
import os
import sys
from importlib.util import find_spec

from gitindex.base.errors import Exit, GitIndexError


def missing_extra(what: str, extra: str) -> GitIndexError:
    """Return the error for `what` if the libraries of this extra are not installed."""
    return GitIndexError(f"{what} needs the extra `{extra}`", install_hint(extra), Exit.USAGE)


def install_hint(extra: str) -> str:
    """Return a command that installs the extra where this very process would find it.

    Every form resolves `gitindex[…]` against the copy that is installed, so it also works for one
    that came from a checkout or an address instead of a registry; uvx makes another copy.
    """
    package, prefix = f"'gitindex[{extra}]'", sys.prefix.replace(os.sep, "/")
    if os.path.exists(f"{prefix}/pipx_metadata.json"):  # wherever PIPX_HOME is
        return f"pipx inject {os.path.basename(prefix)} {package}"
    if "/uv/archive-" in prefix:  # uvx: the environment is a cache entry
        return f"uvx --from 'gitindex[{extra}]{_origin()}' gitindex …"
    if find_spec("pip") is None:  # environments of uv, of `uv tool` and of prek have none
        return f"uv pip install --python {sys.executable} {package}"
    if os.environ.get("VIRTUAL_ENV", "") == sys.prefix:
        return f"pip install {package}"
    return f"{sys.executable} -m pip install {package}"


def _origin() -> str:
    """Return ` @ ADDRESS` of a copy that came from no registry (PEP 610); else an empty text."""
    from importlib.metadata import PackageNotFoundError, distribution  # 10 ms

    try:
        noted = json.loads(distribution("gitindex").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return ""
    if not noted:
        return ""
    vcs = noted.get("vcs_info")
    return f" @ {vcs['vcs']}+{noted['url']}@{vcs['commit_id']}" if vcs else f" @ {noted['url']}"
