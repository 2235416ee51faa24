"""Fall back to a live scan of the files on disk if there is no usable index. Creates nothing."""

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
    """Return the index's answer, or a live scan's answer with the gate's envelope under `gate`.

    A closed gate is raised, not scanned around, while an index is being built, must be rebuilt,
    or a strict answer is required; a scan never answers for another tree. `upgraded`: also scan if
    the index was made by another version of gitindex, for people who should not wait for a rebuild.
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
