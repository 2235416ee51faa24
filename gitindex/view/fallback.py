"""An answer all the same: where there is no index to ask, the files on disk are. Creates nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from gitindex.base.errors import StoreError
from gitindex.base.vocabulary import GateStatus
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import NOW, TreeChoice

Answer = TypeVar("Answer", bound=Mapping[str, Any])


def served_or_scanned(
    ask: TreeChoice,
    serve: Callable[[], Answer],
    scan: Callable[[str], Answer],
    upgraded: bool = False,
) -> Answer:
    """The index's answer, or that of a live scan, with what the gate said under `gate`.

    The gate's word stands while an index is being built, must be rebuilt, or is insisted on; and
    no scan of the disk answers for another tree. `upgraded`: a person asks, who is not to wait until
    the index is rebuilt for the gitindex that is installed now.
    """
    try:
        return serve()
    except GateClosed as closed:
        missing = closed.envelope["status"] == GateStatus.NOT_INDEXED
        if ask != NOW or not (missing or (upgraded and closed.outdated)):
            raise
        return cast("Answer", {**scan(closed.envelope["message"]), "gate": closed.envelope})
    except (StoreError, OSError) as error:
        if ask != NOW:
            raise
        message = str(error)
        if isinstance(error, StoreError):
            message = f"{error.message}; {error.hint}" if error.hint else error.message
        gate = {"status": "error", "message": message}
        return cast("Answer", {**scan(message), "gate": gate})
