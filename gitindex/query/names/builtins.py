"""Built-in names of languages: an unbound bare name of this list is the built-in."""

from __future__ import annotations

import builtins

_ECMA_NAMES = """
Array ArrayBuffer BigInt Boolean Buffer DataView Date Error EvalError Function Infinity Intl JSON Map Math NaN
Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String Symbol SyntaxError TypeError
URIError WeakMap WeakSet arguments clearInterval clearTimeout console decodeURI decodeURIComponent encodeURI
encodeURIComponent globalThis isFinite isNaN parseFloat parseInt queueMicrotask setImmediate setInterval
setTimeout structuredClone undefined
"""
_ECMA = frozenset(_ECMA_NAMES.split())
_PYTHON = frozenset(dir(builtins)) | {
    "__file__",
    "__path__",
    "WindowsError",
    "unicode",
    "reveal_type",
}

BUILTINS: dict[str, frozenset[str]] = {
    "python": _PYTHON,
    "javascript": _ECMA,
    "typescript": _ECMA,
    "tsx": _ECMA,
}
