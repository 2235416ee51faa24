"""Destinations of packs: a folder, an HTTPS address, an object store, a git remote, the team's server."""

from __future__ import annotations

import os
import shutil
import subprocess
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.extras import missing_extra
from gitindex.base.worktree import Worktree
from gitindex.git.command import clean_env, git_program, try_git
from gitindex.git.settings import user_setting
from gitindex.sharing.membership import find_repository, read_membership
from gitindex.sharing.pack_file import MAX_PACK, MAX_SIGNATURE, NAME, SIGNATURE
from gitindex.sharing.server import Server, address, connected

LISTING = "packs.txt"
"""Lists the names of the packs in a folder, one per line, because a web server may not list it."""
REFS = "refs/gitindex/packs/"
TIMEOUT_SECONDS = 600.0
"""One git command with a remote: a pack of 200 MB over a slow line."""
CONNECT_SECONDS = 20.0
"""A destination that does not answer ends a pull in CI after this long."""
MAX_LISTING = 4 << 20
"""A hostile web server must not fill the memory: 70,000 names of packs."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Destination(ABC):
    """A place that stores packs by name."""

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of the packs there."""

    @abstractmethod
    def pull(self, name: str, folder: str) -> str:
        """Copy a pack, and its signature if it has one, into a folder; return the pack's path."""

    @abstractmethod
    def push(self, path: str) -> None:
        """Upload a pack and its signature."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove a pack and its signature."""


def configured(worktree: Worktree, given: str) -> str:
    """Return the given destination, else that of the user's own configuration."""
    named = given or user_setting(worktree, "gitindex.pack.dest")
    if not named:
        raise GitIndexError(
            "no destination for packs",
            "`git config --global gitindex.pack.dest DEST`, or name one",
            Exit.USAGE,
        )
    return named


def open_destination(worktree: Worktree, named: str, scratch: str) -> Destination:
    """Open a destination by name. `scratch` is an empty folder for a temporary git repository."""
    if named.startswith(("https://", "http://")):
        return _Web(named)
    if named.startswith("s3://"):
        return ObjectStore(named)
    if named == "team":
        return TeamPacks(worktree)
    if named.startswith("git:"):
        return _GitRefs(worktree, named.removeprefix("git:"), scratch)
    path = os.path.expanduser(named)
    if os.path.isabs(path):
        is_git = all(os.path.exists(os.path.join(path, part)) for part in ("HEAD", "objects"))
        return _GitRefs(worktree, path, scratch) if is_git else _Folder(path)
    return _GitRefs(worktree, named, scratch)


class _Folder(Destination):
    def __init__(self, path: str) -> None:
        self._path = path

    def names(self) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self._path) if NAME.fullmatch(name))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _unreachable(self._path, error.strerror or "cannot be read") from error

    def pull(self, name: str, folder: str) -> str:
        target = os.path.join(folder, name)
        for suffix in ("", SIGNATURE):
            source = os.path.join(self._path, name + suffix)
            if not suffix or os.path.exists(source):
                with open(source, "rb") as file:
                    _copy(file, target + suffix)
        return target

    def push(self, path: str) -> None:
        os.makedirs(self._path, exist_ok=True)
        for suffix in (SIGNATURE, ""):  # the pack last: once it is visible its signature is there
            if os.path.exists(path + suffix):
                target = os.path.join(self._path, os.path.basename(path) + suffix)
                shutil.copyfile(path + suffix, f"{target}.part")
                os.replace(f"{target}.part", target)
        self._write_listing()

    def remove(self, name: str) -> None:
        for suffix in ("", SIGNATURE):  # the pack first: without its signature it would be refused
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(self._path, name + suffix))
        self._write_listing()

    def _write_listing(self) -> None:
        listing = os.path.join(self._path, LISTING)
        with open(f"{listing}.part", "w", encoding="ascii") as file:
            file.writelines(f"{name}\n" for name in self.names())
        os.replace(f"{listing}.part", listing)


class _Web(Destination):
    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
            raise GitIndexError("packs are read over https only", "use https://", Exit.USAGE)
        self._address = address.rstrip("/")

    def names(self) -> list[str]:
        found = self._get(LISTING)
        if found is None:
            return []
        with found:
            listed = found.read(MAX_LISTING).decode("ascii", "replace").split()
        return sorted(name for name in listed if NAME.fullmatch(name))

    def pull(self, name: str, folder: str) -> str:
        target = os.path.join(folder, name)
        for suffix in ("", SIGNATURE):
            found = self._get(name + suffix)
            if found is not None:
                with found:
                    _copy(found, target + suffix)
            elif not suffix:
                raise _unreachable(self._address, "the pack is gone")
        return target

    def push(self, path: str) -> None:  # noqa: ARG002 - no path can be put there
        raise _read_only()

    def remove(self, name: str) -> None:  # noqa: ARG002 - none can be removed
        raise _read_only()

    def _get(self, name: str) -> urllib.request._UrlopenRet | None:
        request = urllib.request.Request(f"{self._address}/{name}")  # noqa: S310 - checked above
        opener = urllib.request.build_opener(_SameScheme)
        try:
            return opener.open(request, timeout=CONNECT_SECONDS)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise _unreachable(self._address, f"HTTP status {error.code}") from error
        except (OSError, ValueError) as error:
            raise _unreachable(self._address, str(error)) from error


class _SameScheme(urllib.request.HTTPRedirectHandler):
    """Follows redirects to https only."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: object,
        code: int,
        msg: str,
        headers: object,
        newurl: str,
    ) -> urllib.request.Request | None:
        if not newurl.startswith("https://"):
            return None
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


class _GitRefs(Destination):
    """Each pack is a ref to a tree with the pack and its signature.

    Git runs in a temporary repository, without the configuration of this clone.
    """

    def __init__(self, worktree: Worktree, remote: str, scratch: str) -> None:
        named = try_git(worktree.root, "config", "--get", f"remote.{remote}.url").output
        self._url = os.fsdecode(named.removesuffix(b"\n")) or remote
        if self._url.startswith("-") or "::" in self._url:
            raise GitIndexError("not a git remote", "name a remote or its address", Exit.USAGE)
        if self._url.startswith((".", "/")) and not os.path.isabs(self._url):
            self._url = os.path.normpath(os.path.join(worktree.root, self._url))
        self._scratch = os.path.join(scratch, "git")
        self._root = worktree.root
        self._ready = False

    def names(self) -> list[str]:
        listed = self._git("ls-remote", "--refs", self._url, f"{REFS}*").decode("ascii", "replace")
        found = [line.rpartition(REFS)[2] for line in listed.splitlines()]
        return sorted(name for name in found if NAME.fullmatch(name))

    def pull(self, name: str, folder: str) -> str:
        ref = REFS + name
        self._git("fetch", "-q", "--no-tags", "--depth=1", self._url, f"+{ref}:{ref}")
        listed = self._git("ls-tree", "--name-only", ref).decode("ascii", "replace").split()
        target = os.path.join(folder, name)
        for suffix in ("", SIGNATURE):
            if "pack" + suffix in listed:
                self._write_blob(f"{ref}:pack{suffix}", target + suffix)
        if not os.path.exists(target):
            raise _unreachable(self._url, "the ref holds no pack")
        return target

    def push(self, path: str) -> None:
        rows = []
        for suffix in ("", SIGNATURE):
            if os.path.exists(path + suffix):
                oid = self._git("hash-object", "-w", "--", os.path.abspath(path + suffix))
                rows.append(f"100644 blob {oid.decode().strip()}\tpack{suffix}\n")
        tree = self._git("mktree", stdin="".join(rows).encode()).decode().strip()
        self._git("push", "-q", self._url, f"+{tree}:{REFS}{os.path.basename(path)}")

    def remove(self, name: str) -> None:
        self._git("push", "-q", self._url, f":{REFS}{name}")

    def _write_blob(self, name: str, target: str) -> None:
        size = int(self._git("cat-file", "-s", name))
        if size > MAX_PACK:
            raise _unreachable(self._url, "the pack is too large")
        with open(target, "xb") as file:
            self._run(["cat-file", "blob", name], b"", file.fileno())

    def _git(self, *args: str, stdin: bytes = b"") -> bytes:
        return self._run(list(args), stdin, subprocess.PIPE)

    def _run(self, args: list[str], stdin: bytes, stdout: int) -> bytes:
        env = _network_env()
        git = [git_program(env), "-c", "core.compression=0", "-c", "core.hooksPath=/dev/null"]
        git += ["-c", "core.bigFileThreshold=1m", "-c", "gc.auto=0"]
        if not self._ready:
            form = try_git(self._root, "rev-parse", "--show-object-format").output.decode().strip()
            made = [
                *git,
                "init",
                "-q",
                "--bare",
                f"--object-format={form or 'sha1'}",
                self._scratch,
            ]
            subprocess.run(made, env=env, check=True, capture_output=True)
            self._ready = True
        try:
            done = subprocess.run(
                [*git, "-C", self._scratch, *args],
                input=stdin,
                stdout=stdout,
                stderr=subprocess.PIPE,
                env=env,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise _unreachable(self._url, "git did not answer") from error
        if done.returncode:
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["git failed"]
            raise _unreachable(self._url, lines[0].removeprefix("fatal: "))
        return done.stdout or b""


def _network_env() -> dict[str, str]:
    """Return the environment of a git with network access: user's agent and helpers, no prompt."""
    env = clean_env()
    env["GIT_ALLOW_PROTOCOL"] = "file:git:http:https:ssh"
    return env


def _copy(source: object, target: str) -> None:
    size = 0
    with open(target, "xb") as file:
        while chunk := source.read(1 << 20):  # type: ignore[attr-defined]
            size += len(chunk)
            if size > MAX_PACK:
                raise GitIndexError("the pack is larger than any pack may be")
            file.write(chunk)


def _read_only() -> GitIndexError:
    return GitIndexError(
        "an https destination is read only", "name the folder that the web server serves"
    )


def _unreachable(where: str, why: str) -> GitIndexError:
    return GitIndexError(
        f"cannot use {safe_text(where)} for packs: {safe_text(why)}", "check the destination"
    )


class ObjectStore(Destination):
    """A bucket, or the part of one below a prefix."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._bucket, _, prefix = address.removeprefix("s3://").partition("/")
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        if not self._bucket:
            raise GitIndexError("the address names no bucket", "s3://BUCKET/PREFIX", Exit.USAGE)
        self._client, self._errors = _connect()

    def names(self) -> list[str]:
        try:
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=self._prefix
            )
            keys = [row["Key"] for page in pages for row in page.get("Contents", ())]
        except self._errors as error:
            raise self._failed(error) from error
        return sorted(
            name for key in keys if NAME.fullmatch(name := key.removeprefix(self._prefix))
        )

    def pull(self, name: str, folder: str) -> str:
        target = os.path.join(folder, name)
        stored = self._keys_of(name)
        if name not in stored:
            raise self._unusable("the pack is gone")
        for key in stored:
            try:
                self._client.download_file(
                    self._bucket, self._prefix + key, os.path.join(folder, key)
                )
            except self._errors as error:
                raise self._failed(error) from error
        return target

    def push(self, path: str) -> None:
        for suffix in (SIGNATURE, ""):  # the pack last: once it is visible its signature is there
            if os.path.exists(path + suffix):
                key = self._prefix + os.path.basename(path) + suffix
                try:
                    self._client.upload_file(path + suffix, self._bucket, key)
                except self._errors as error:
                    raise self._failed(error) from error

    def remove(self, name: str) -> None:
        """Remove a pack and its signature."""
        keys = [{"Key": self._prefix + name + suffix} for suffix in ("", SIGNATURE)]
        try:
            self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": keys})
        except self._errors as error:
            raise self._failed(error) from error

    def _keys_of(self, name: str) -> list[str]:
        """Return the keys of a pack and of its signature that are stored, checked for their size."""
        try:
            listed = self._client.list_objects_v2(Bucket=self._bucket, Prefix=self._prefix + name)
        except self._errors as error:
            raise self._failed(error) from error
        sizes = {
            row["Key"].removeprefix(self._prefix): row["Size"] for row in listed.get("Contents", ())
        }
        if any(size > MAX_PACK for size in sizes.values()):
            raise self._unusable("the pack is larger than any pack may be")
        return [key for key in (name, name + SIGNATURE) if key in sizes]

    def _failed(self, error: BaseException) -> GitIndexError:
        return self._unusable(str(error))

    def _unusable(self, why: str) -> GitIndexError:
        return GitIndexError(
            f"cannot use {safe_text(self._address)} for packs: {safe_text(why)}",
            "check the address, AWS_ENDPOINT_URL_S3 and the credentials",
        )


def _connect() -> tuple[Any, tuple[type[Exception], ...]]:
    """Return a client with bounded waits, and the errors that it raises."""
    try:
        import boto3
        from boto3.exceptions import Boto3Error
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError as error:
        raise missing_extra("an object store", "s3") from error
    errors = (Boto3Error, BotoCoreError, ClientError, OSError, ValueError)
    try:
        bounded = Config(connect_timeout=CONNECT_SECONDS, retries={"max_attempts": 2})
        region = os.environ.get("AWS_REGION") or None  # boto3 reads AWS_DEFAULT_REGION only
        return boto3.client("s3", config=bounded, region_name=region), errors
    except errors as error:
        raise GitIndexError(
            f"cannot use an object store: {safe_text(str(error))}", "see ~/.aws/config"
        ) from error


PART = 1 << 20
"""PostgreSQL keeps a value in memory whole, several times."""
TRANSFER_MS = 300_000
"""A pack of 200 MB in parts, over a slow line."""


class TeamPacks(Destination):
    """The packs of this clone's repository, in parts; part 0 is the signature."""

    def __init__(self, worktree: Worktree) -> None:
        own = read_membership(worktree)
        self._worktree = worktree
        self._url = own.url if own else address(worktree)

    def names(self) -> list[str]:
        """Return the names of the packs there."""
        with self._opened() as (server, repo):
            rows = server.rows("SELECT name FROM gi_packs(%s)", repo)
        return sorted(name for (name,) in rows if NAME.fullmatch(name))

    def pull(self, name: str, folder: str) -> str:
        """Copy a pack, and its signature if it has one, into a folder; return the pack's path."""
        target = os.path.join(folder, name)
        with self._opened() as (server, repo):
            signature = _part(server, repo, name, 0)
            if signature and len(signature) <= MAX_SIGNATURE:
                with open(target + SIGNATURE, "xb") as file:
                    file.write(signature)
            with open(target, "xb") as file:
                number = 1
                while (data := _part(server, repo, name, number)) and file.tell() <= MAX_PACK:
                    file.write(data)
                    number += 1
        if number == 1:
            raise GitIndexError("the pack is gone from the team's server", "pull again")
        return target

    def push(self, path: str) -> None:
        """Upload a pack and its signature in one transaction."""
        with self._opened() as (server, repo), server.transaction():
            pack = server.rows("SELECT gi_put_pack(%s, %s)", repo, os.path.basename(path))[0][0]
            for number, data in _parts(path):
                server.rows("SELECT gi_put_pack_part(%s, %s, %s)", pack, number, data)

    def remove(self, name: str) -> None:
        """Remove a pack and its signature."""
        with self._opened() as (server, repo):
            server.rows("SELECT gi_drop_pack(%s, %s)", repo, name)

    @contextmanager
    def _opened(self) -> Iterator[tuple[Server, int]]:
        with connected(self._url, TRANSFER_MS, patient=True) as server:
            yield server, find_repository(self._worktree, server)


def _part(server: Server, repo: int, name: str, number: int) -> bytes:
    found = server.rows("SELECT gi_get_pack(%s, %s, %s)", repo, name, number)[0][0]
    return bytes(found or b"")


def _parts(path: str) -> Iterator[tuple[int, bytes]]:
    if os.path.exists(path + SIGNATURE):
        with open(path + SIGNATURE, "rb") as signature:
            yield 0, signature.read()
    with open(path, "rb") as file:
        number = 0
        while data := file.read(PART):
            number += 1
            yield number, data
