"""Packs in an object store: a real S3 server on loopback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from gitindex.base.errors import Exit, GitIndexError
from gitindex.sharing import packs
from gitindex.sharing.destination import open_destination
from tests.packs import Team, adopted, pull, quietly

BUCKET = "packs"


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Team:
    made = Team(tmp_path)
    made.make()
    monkeypatch.setenv("HOME", str(made.home))
    return made


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[str]]:
    """A server with an empty bucket; the environment names it as AWS's own tools want it."""
    server = Path(sys.executable).with_name("moto_server")
    process = subprocess.Popen(
        [server, "-H", "127.0.0.1", "-p", "0"], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    address = ""
    while not address:
        line = process.stderr.readline()
        assert line, "the server ended"
        address = (re.findall(r"http://127\.0\.0\.1:\d+", line) or [""])[0]
    rest = threading.Thread(target=process.stderr.read, daemon=True)
    rest.start()
    for name, value in {
        "AWS_ENDPOINT_URL_S3": address,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "eu-west-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3", region_name="us-east-1")
    client.create_bucket(Bucket=BUCKET)
    yield process
    process.kill()
    process.wait()
    rest.join()
    process.stderr.close()


def test_a_bucket_carries_packs_below_a_prefix(
    team: Team, store: subprocess.Popen[str], tmp_path: Path
) -> None:
    dest = f"s3://{BUCKET}/a/team"
    packs.push(team.origin.worktree, "HEAD", dest, str(team.key), quietly)
    clone = team.clone("one")
    assert [row.distance for row in packs.list_packs(clone.worktree, dest)] == [0]
    assert packs.list_packs(clone.worktree, f"s3://{BUCKET}/other") == []
    assert adopted(clone, dest).whole
    assert clone.extracted() == 0
    listed = boto3.client("s3").list_objects_v2(Bucket=BUCKET)["Contents"]
    assert all(row["Key"].startswith("a/team/gitindex-") for row in listed)
    assert len(listed) == 2, "the pack and its signature"
    name = packs.list_packs(clone.worktree, dest)[0].name
    open_destination(clone.worktree, dest, str(tmp_path)).remove(name)
    assert "Contents" not in boto3.client("s3").list_objects_v2(Bucket=BUCKET)


def test_what_is_wrong_is_one_line(team: Team, store: subprocess.Popen[str]) -> None:
    clone = team.clone("one")
    with pytest.raises(GitIndexError, match="names no bucket") as refused:
        pull(clone, "s3://")
    assert refused.value.code is Exit.USAGE
    for dest in ("s3://no-such-bucket", "s3://Not_A_Bucket!/x"):
        done = clone.gitindex("pack", "list", "--from", dest)
        assert done.returncode == 4
        assert done.stderr.startswith(f"gitindex: cannot use {dest} for packs: ")
        assert done.stderr.count("\n") == 2
    store.kill()
    store.wait()
    with pytest.raises(GitIndexError, match="cannot use"):
        pull(clone, f"s3://{BUCKET}")
    assert "no pack" not in clone.gitindex("index").stderr
    assert clone.state() == "fresh"


def test_without_the_extra_it_says_what_to_install(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(GitIndexError, match="needs the extra `s3`"):
        pull(team.clone("one"), "s3://bucket")
    assert os.environ.get("AWS_ENDPOINT_URL_S3") is None
