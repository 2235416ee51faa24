"""Signatures by `ssh-keygen -Y`, as in git: an allowed-signers file lists who may sign."""

from __future__ import annotations

import os
import subprocess

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.git.command import FALLBACK_PATH, clean_env, find_program
from gitindex.sharing.manifest import BadPack

NAMESPACE = "gitindex-pack"
SUFFIX = ".sig"
TIMEOUT_SECONDS = 120.0
MAX_SIGNATURE = 1 << 16


def sign(pack: str, key: str) -> str:
    """Sign a pack with a key file or a key of the agent; return the signature's path."""
    signature = pack + SUFFIX
    if os.path.exists(signature):
        os.unlink(signature)
    done = _run(["-Y", "sign", "-f", os.path.expanduser(key), "-n", NAMESPACE, pack])
    if done.returncode or not os.path.exists(signature):
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        said = safe_text(lines[-1]) if lines else "no reason given"
        raise GitIndexError(f"the pack could not be signed: {said}", "check gitindex.pack.key")
    return signature


def find_signer(pack: str, allowed: str) -> str:
    """Return who signed a pack; empty if it is unsigned. BadPack if the signature is invalid."""
    signature = pack + SUFFIX
    try:
        found = os.lstat(signature)
    except FileNotFoundError:
        return ""
    if not os.path.isfile(signature) or os.path.islink(signature) or found.st_size > MAX_SIGNATURE:
        raise BadPack("its signature is not a file")
    if not allowed or not os.path.isfile(os.path.expanduser(allowed)):
        return ""  # no allowed signers: counts as unsigned
    allowed = os.path.expanduser(allowed)
    named = _run(["-Y", "find-principals", "-s", signature, "-f", allowed])
    lines = named.stdout.decode("utf-8", "replace").splitlines()
    if named.returncode or not lines:
        raise BadPack("it is signed by a key that is not among the allowed signers")
    signer = lines[0].strip()
    with open(pack, "rb") as data:
        done = _run(
            ["-Y", "verify", "-f", allowed, "-I", signer, "-n", NAMESPACE, "-s", signature],
            data.fileno(),
        )
    if done.returncode:
        raise BadPack("its signature does not hold")
    return signer


def _run(args: list[str], stdin: int = subprocess.DEVNULL) -> subprocess.CompletedProcess[bytes]:
    env = clean_env()
    program = find_program("ssh-keygen", env.get("PATH", FALLBACK_PATH))
    if program is None:
        raise GitIndexError("ssh-keygen was not found", "install OpenSSH", Exit.ERROR)
    try:
        return subprocess.run(
            [program, *args],
            stdin=stdin,
            capture_output=True,
            env=env,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GitIndexError("ssh-keygen did not answer", "check gitindex.pack.key") from error
