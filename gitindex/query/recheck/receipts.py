"""Receipts out of any JSON that holds answers: one receipt, an answer, a list, verdicts of claims."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.view.footprint import ReadFootprint

MAX_RECEIPTS = 20_000
_FIELDS = ("treeId", "overlayDigest", "generation", "fingerprint")
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LABELS = ("claim", "name", "root", "query", "path")


class EarlierReceipt(NamedTuple):
    """One receipt; `label` says what the answer was about, where that is known."""

    tree: str
    digest: str | None
    fingerprint: str
    label: str
    named: bool  # the answer is about a tree asked for by its name: it never changes
    footprint: ReadFootprint | None  # None: the answer may depend on the whole tree


def parse_receipts(text: str) -> list[EarlierReceipt]:
    """Return the receipts of a text; refuses one that is malformed."""
    found = [receipt for value in _values(text) for receipt in _receipts(value, "", False)]
    if not found:
        raise _malformed("no receipt given")
    if len(found) > MAX_RECEIPTS:
        raise _malformed(f"{len(found)} receipts are too many: at most {MAX_RECEIPTS}")
    return found


def _values(text: str) -> Iterator[Any]:
    """Yield the JSON values of a text: one, or one per line."""
    try:
        yield json.loads(text)
        return
    except RecursionError:
        raise _malformed("not JSON") from None
    except ValueError:
        pass
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                raise _malformed(f"line {number} is not JSON") from None


def _receipts(value: Any, label: str, named: bool) -> Iterator[EarlierReceipt]:
    if isinstance(value, list):
        for one in value:
            yield from _receipts(one, label, named)
    elif not isinstance(value, dict):
        raise _malformed("not a receipt")
    elif isinstance(value.get("verdicts"), list):
        yield from _receipts(value["verdicts"], label, named)
    elif isinstance(value.get("receipt"), dict):
        freshness = value.get("freshness")
        at = isinstance(freshness, dict) and freshness.get("mode") == "at"
        yield from _receipts(value["receipt"], label or _label(value), at)
    else:
        yield _receipt(value, label, named)


def _label(answer: dict[str, Any]) -> str:
    return next(
        (str(answer[name])[:200] for name in _LABELS if isinstance(answer.get(name), str)), ""
    )


def _receipt(fields: dict[str, Any], label: str, named: bool) -> EarlierReceipt:
    if not all(name in fields for name in _FIELDS):
        raise _malformed("not a receipt")
    tree, digest, fingerprint = fields["treeId"], fields["overlayDigest"], fields["fingerprint"]
    texts = [value for value in (tree, digest, fingerprint) if value is not None]
    if not all(isinstance(one, str) for one in texts) or not _ID.fullmatch(str(tree)):
        raise _malformed("not a receipt: its tree is no id")
    footprint = fields.get("footprint")
    if footprint is None:
        return EarlierReceipt(tree, digest, fingerprint, label, named, None)
    try:
        if footprint.get("named"):
            return EarlierReceipt(tree, digest, fingerprint, label, True, None)
        return EarlierReceipt(tree, digest, fingerprint, label, named, ReadFootprint(footprint))
    except (ValueError, TypeError, AttributeError, KeyError):
        raise _malformed("not a receipt: its footprint is malformed") from None


def _malformed(message: str) -> GitIndexError:
    hint = "give the JSON of answers, or of their receipts, one per line or as a list"
    return GitIndexError(message, hint, Exit.USAGE)
