from collections.abc import Callable
from typing import Any

FORMAT: int

def terms_of_text(text: bytes, expand: Callable[[bytes], bytes], /) -> bytes: ...
def group_names(
    data: bytes,
    extra: list[int],
    references: list[Any],
    uses: dict[int, list[Any]],
    imports: list[int],
    defined: list[int],
    marks: list[int],
    /,
) -> tuple[dict[str, int], bytes] | None: ...
