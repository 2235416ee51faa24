"""Regular expressions that are compiled when they are first used.

Compiling the fifty on the way of a cold `gitindex search` took a sixth of it; most are not used.
"""

from __future__ import annotations

from gitindex.base.light_types import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from typing import Any, AnyStr


class LazyPattern:
    """Behaves like the compiled pattern. Each method is looked up once, and is then its own."""

    def __init__(self, source: Any, flags: int) -> None:
        self.given = (source, flags)

    def __getattr__(self, name: str) -> Any:
        import re  # lazily: a prompt that needs no pattern pays for none

        method = getattr(re.compile(*self.given), name)
        setattr(self, name, method)
        return method


def compile_later(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that `re` compiles at its first use; for constants of modules."""
    return LazyPattern(source, flags)  # type: ignore[return-value]
