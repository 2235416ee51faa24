"""Destinations of packs: a folder, an HTTPS address, an object store, a git remote."""

from __future__ import annotations

import os
import shutil
import subprocess
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any
from urllib.parse import urlsplit

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.extras import missing_extra
from gitindex.base.worktree import Worktree
from gitindex.git.command import clean_env, git_program, try_git
from gitindex.git.settings import user_setting
from gitindex.sharing.pack_file import MAX_PACK, NAME, SIGNATURE

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
    """A place that stores files by name: each pack, and its signature beside it."""

    place: str  # its address, for messages

    @abstractmethod
    def stored(self) -> Iterable[str]:
        """Return the names of the files there; some may be of other programs."""

    @abstractmethod
    def get(self, name: str, target: str) -> bool:
        """Copy a file from there; False if there is none of this name."""

    @abstractmethod
    def put(self, path: str) -> None:
        """Copy a file to there."""

    @abstractmethod
    def delete(self, name: str) -> None:
        """Remove a file that may be there."""

    def names(self) -> list[str]:
        """Return the names of the packs there."""
        return sorted(filter(NAME.fullmatch, self.stored()))

    def pull(self, name: str, folder: str) -> str:
        """Copy a pack, and its signature if it has one, into a folder; return the pack's path."""
        target = os.path.join(folder, name)
        if not self.get(name, target):
            raise _unreachable(self.place, "the pack is gone")
        self.get(name + SIGNATURE, target + SIGNATURE)
        return target

    def push(self, path: str) -> None:
        """Upload a pack and its signature; the pack last: once it is visible, so is the other."""
        for file in (path + SIGNATURE, path):
            if os.path.exists(file):
                self.put(file)

    def remove(self, name: str) -> None:
        """Remove a pack, then its signature: without this it would be refused."""
        self.delete(name)
        self.delete(name + SIGNATURE)


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
    if named.startswith("git:"):
        return _GitRefs(worktree, named.removeprefix("git:"), scratch)
    path = os.path.expanduser(named)
    if os.path.isabs(path):
        is_git = all(os.path.exists(os.path.join(path, part)) for part in ("HEAD", "objects"))
        return _GitRefs(worktree, path, scratch) if is_git else _Folder(path)
    return _GitRefs(worktree, named, scratch)


class _Folder(Destination):
    def __init__(self, path: str) -> None:
        self.place = path

    def stored(self) -> Iterable[str]:
        try:
            return os.listdir(self.place)
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise _unreachable(self.place, error.strerror or "cannot be read") from error

    def get(self, name: str, target: str) -> bool:
        try:
            with open(os.path.join(self.place, name), "rb") as file:
                _copy(file, target)
        except FileNotFoundError:
            return False
        return True

    def put(self, path: str) -> None:
        os.makedirs(self.place, exist_ok=True)
        target = os.path.join(self.place, os.path.basename(path))
        shutil.copyfile(path, f"{target}.part")
        os.replace(f"{target}.part", target)
        self._write_listing()

    def delete(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(self.place, name))
            self._write_listing()

    def _write_listing(self) -> None:
        listing = os.path.join(self.place, LISTING)
        with open(f"{listing}.part", "w", encoding="ascii") as file:
            file.writelines(f"{name}\n" for name in self.names())
        os.replace(f"{listing}.part", listing)


class _Web(Destination):
    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
            raise GitIndexError("packs are read over https only", "use https://", Exit.USAGE)
        self.place = address.rstrip("/")

    def stored(self) -> Iterable[str]:
        with self._open(LISTING) as found:
            return found.read(MAX_LISTING).decode("ascii", "replace").split() if found else ()

    def get(self, name: str, target: str) -> bool:
        with self._open(name) as found:
            if found is not None:
                _copy(found, target)
            return found is not None

    def put(self, path: str) -> None:
        raise _read_only(path)

    def delete(self, name: str) -> None:
        raise _read_only(name)

    @contextmanager
    def _open(self, name: str) -> Iterator[IO[bytes] | None]:
        request = urllib.request.Request(f"{self.place}/{name}")  # noqa: S310 - checked above
        opener = urllib.request.build_opener(_SameScheme)
        try:
            with opener.open(request, timeout=CONNECT_SECONDS) as found:
                yield found
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise _unreachable(self.place, f"HTTP status {error.code}") from error
            yield None
        except (OSError, ValueError) as error:
            raise _unreachable(self.place, str(error)) from error


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
    """Each file is a ref to a blob.

    Git runs in a temporary repository, without the configuration of this clone.
    """

    def __init__(self, worktree: Worktree, remote: str, scratch: str) -> None:
        named = try_git(worktree.root, "config", "--get", f"remote.{remote}.url").output
        self.place = os.fsdecode(named.removesuffix(b"\n")) or remote
        if self.place.startswith("-") or "::" in self.place:
            raise GitIndexError("not a git remote", "name a remote or its address", Exit.USAGE)
        if self.place.startswith((".", "/")) and not os.path.isabs(self.place):
            self.place = os.path.normpath(os.path.join(worktree.root, self.place))
        self._scratch = os.path.join(scratch, "git")
        self._root = worktree.root
        self._ready = False
        self._refs: set[str] = set()

    def stored(self) -> Iterable[str]:
        listed = self._git("ls-remote", "--refs", self.place, f"{REFS}*").decode("ascii", "replace")
        self._refs = {line.rpartition(REFS)[2] for line in listed.splitlines()}
        return self._refs

    def get(self, name: str, target: str) -> bool:
        if name not in (self._refs or self.stored()):
            return False
        ref = REFS + name
        self._git("fetch", "-q", "--no-tags", self.place, f"+{ref}:{ref}")
        if int(self._git("cat-file", "-s", ref)) > MAX_PACK:
            raise _unreachable(self.place, "the pack is too large")
        with open(target, "xb") as file:
            self._run(["cat-file", "blob", ref], file.fileno())
        return True

    def put(self, path: str) -> None:
        oid = self._git("hash-object", "-w", "--", os.path.abspath(path)).decode().strip()
        self._git("push", "-q", self.place, f"+{oid}:{REFS}{os.path.basename(path)}")

    def delete(self, name: str) -> None:
        if name in (self._refs or self.stored()):
            self._git("push", "-q", self.place, f":{REFS}{name}")

    def _git(self, *args: str) -> bytes:
        return self._run(list(args), subprocess.PIPE)

    def _run(self, args: list[str], stdout: int) -> bytes:
        env = _network_env()
        git = [git_program(env), "-c", "core.compression=0", "-c", "core.hooksPath=/dev/null"]
        git += ["-c", "core.bigFileThreshold=1m", "-c", "gc.auto=0"]
        if not self._ready:
            form = try_git(self._root, "rev-parse", "--show-object-format").output.decode().strip()
            made = ["init", "-q", "--bare", f"--object-format={form or 'sha1'}", self._scratch]
            subprocess.run([*git, *made], env=env, check=True, capture_output=True)
            self._ready = True
        try:
            done = subprocess.run(
                [*git, "-C", self._scratch, *args],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=subprocess.PIPE,
                env=env,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise _unreachable(self.place, "git did not answer") from error
        if done.returncode:
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["git failed"]
            raise _unreachable(self.place, lines[0].removeprefix("fatal: "))
        return done.stdout or b""


def _network_env() -> dict[str, str]:
    """Return the environment of a git with network access: user's agent and helpers, no prompt."""
    env = clean_env()
    env["GIT_ALLOW_PROTOCOL"] = "file:git:http:https:ssh"
    return env


def _copy(source: IO[bytes], target: str) -> None:
    size = 0
    with open(target, "xb") as file:
        while chunk := source.read(1 << 20):
            size += len(chunk)
            if size > MAX_PACK:
                raise GitIndexError("the pack is larger than any pack may be")
            file.write(chunk)


def _read_only(name: str) -> GitIndexError:
    hint = "name the folder that the web server serves"
    return GitIndexError(f"{os.path.basename(name)}: an https destination is read only", hint)


def _unreachable(where: str, why: str) -> GitIndexError:
    return GitIndexError(
        f"cannot use {safe_text(where)} for packs: {safe_text(why)}", "check the destination"
    )


class ObjectStore(Destination):
    """A bucket, or the part of one below a prefix."""

    def __init__(self, address: str) -> None:
        self.place = address
        self._bucket, _, prefix = address.removeprefix("s3://").partition("/")
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        if not self._bucket:
            raise GitIndexError("the address names no bucket", "s3://BUCKET/PREFIX", Exit.USAGE)
        self._client, self._errors = _connect()

    def stored(self) -> Iterable[str]:
        return self._sizes("")

    def get(self, name: str, target: str) -> bool:
        size = self._sizes(name).get(name)
        if size is not None and size > MAX_PACK:
            raise _unreachable(self.place, "the pack is larger than any pack may be")
        with self._checked():
            if size is not None:
                self._client.download_file(self._bucket, self._prefix + name, target)
        return size is not None

    def put(self, path: str) -> None:
        with self._checked():
            key = self._prefix + os.path.basename(path)
            self._client.upload_file(path, self._bucket, key)

    def delete(self, name: str) -> None:
        with self._checked():
            self._client.delete_object(Bucket=self._bucket, Key=self._prefix + name)

    def _sizes(self, start: str) -> dict[str, int]:
        """Return the sizes of the objects whose names start like this."""
        with self._checked():
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=self._prefix + start
            )
            rows = [row for page in pages for row in page.get("Contents", ())]
        return {row["Key"].removeprefix(self._prefix): row["Size"] for row in rows}

    @contextmanager
    def _checked(self) -> Iterator[None]:
        try:
            yield
        except self._errors as error:
            raise GitIndexError(
                f"cannot use {safe_text(self.place)} for packs: {safe_text(str(error))}",
                "check the address, AWS_ENDPOINT_URL_S3 and the credentials",
            ) from error


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
