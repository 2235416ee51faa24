"""Builds native/*.c where there is a C compiler. Without one the package works the same, in Python."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

LIBRARY = Path("gitindex", "base", "_compiled.abi3.so")
SECONDS = 300
CROSS_TARGETS = {  # wheel platform (GITINDEX_PLATFORM) → target of zig's C compiler, `pip install ziglang`
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_2_x86_64": "x86_64-linux-musl",
    "musllinux_1_2_aarch64": "aarch64-linux-musl",
}


class AddressHook(MetadataHookInterface):
    """Names the repository that a release is built from; no address is written down that may be another's."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the project's addresses, where a job of GitHub or GITINDEX_ADDRESS says them."""
        server, name = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
        address = os.environ.get("GITINDEX_ADDRESS") or (server and name and f"{server}/{name}")
        metadata["urls"] = {"Source": address} if address else {}


class CompiledHook(BuildHookInterface[Any]):
    """Puts the library into the wheel; of an editable install, beside its sources."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, or say why not: an install never fails for it, a release wheel does."""
        if os.environ.get("GITINDEX_PURE"):
            return
        root = Path(self.root)
        self._made = tempfile.TemporaryDirectory()
        library = Path(self._made.name, LIBRARY.name)
        cross = os.environ.get("GITINDEX_PLATFORM", "")
        failure = compile_library(root, library, compiler=_cross_compiler(cross) if cross else ())
        if failure and cross:
            raise RuntimeError(f"no wheel for {cross}: {failure}")
        if failure:
            self.app.display_info(f"gitindex is installed without its compiled part: {failure}")
        elif version == "editable":
            _replace(library, root / LIBRARY)
        else:
            platform = cross or sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["tag"] = f"cp311-abi3-{platform}"
            build_data["pure_python"] = False
            build_data["force_include"][os.fspath(library)] = os.fspath(LIBRARY)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was built."""
        del version, build_data, artifact_path
        if hasattr(self, "_made"):
            self._made.cleanup()


def _cross_compiler(platform: str) -> tuple[str, ...]:
    if platform not in CROSS_TARGETS:
        raise RuntimeError(f"GITINDEX_PLATFORM is one of {', '.join(CROSS_TARGETS)}")
    return (
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        "-target",
        CROSS_TARGETS[platform],
        "-s",
        "-fno-sanitize=undefined",
    )


def _host_compiler() -> list[str]:
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[:1]
    if sys.platform == "darwin":  # symbols of the interpreter are found when it loads the library
        compiler += ["-undefined", "dynamic_lookup"]
    return compiler


def compile_library(root: Path, target: Path, *flags: str, compiler: Sequence[str] = ()) -> str:
    """Compile the sources below `root`; returns why it failed, empty where it did not."""
    include = f"-I{sysconfig.get_path('include')}"
    sources = sorted(map(os.fspath, (root / "native").glob("*.c")))
    argv = [
        *(compiler or _host_compiler()),
        "-O2",
        "-shared",
        "-fPIC",
        "-pthread",
        "-ffp-contract=off",  # sums are the same as Python's
        *flags,
        include,
        *sources,
        "-o",
        os.fspath(target),
    ]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return "" if done.returncode == 0 else (done.stderr.strip() or "the compiler failed")[-300:]


def _replace(made: Path, target: Path) -> None:
    """In one step: a running process may have the old one loaded."""
    beside = target.with_suffix(f".{os.getpid()}")
    beside.write_bytes(made.read_bytes())
    os.replace(beside, target)
