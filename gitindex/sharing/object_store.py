"""Packs in an object store (`s3://bucket/prefix`); the only module that imports boto3.

Endpoint, region and credentials come from where AWS's own tools look: the environment and `~/.aws`.
"""

from __future__ import annotations

import os
from typing import Any

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.extras import missing_extra
from gitindex.sharing.destination import CONNECT_SECONDS, Destination
from gitindex.sharing.manifest import NAME
from gitindex.sharing.pack_file import MAX_PACK
from gitindex.sharing.signature import SUFFIX


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
        for suffix in (SUFFIX, ""):  # the pack last: once it is visible its signature is there
            if os.path.exists(path + suffix):
                key = self._prefix + os.path.basename(path) + suffix
                try:
                    self._client.upload_file(path + suffix, self._bucket, key)
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
        return [key for key in (name, name + SUFFIX) if key in sizes]

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
