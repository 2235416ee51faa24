"""Built-in names of languages: an unbound bare name is the built-in, a method may be one of its types."""

from __future__ import annotations

import builtins
import io

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

_JAVA_NAMES = """
AutoCloseable Boolean Byte CharSequence Character Class ClassCastException ClassLoader Cloneable Comparable
Double Enum Error Exception Float IllegalArgumentException IllegalStateException IndexOutOfBoundsException
Integer Iterable Long Math NullPointerException Number NumberFormatException Object Runnable Runtime
RuntimeException Short String StringBuffer StringBuilder System Thread ThreadLocal Throwable
UnsupportedOperationException Void
"""
"""Of java.lang, without names that a package may well have, too: Module, Process, Record."""

BUILTINS: dict[str, frozenset[str]] = {
    "python": _PYTHON,
    "javascript": _ECMA,
    "typescript": _ECMA,
    "tsx": _ECMA,
    "java": frozenset(_JAVA_NAMES.split()),
}

_OWN_TYPES = (dict, list, set, str, bytes, int, io.TextIOWrapper, io.BytesIO)
_ECMA_METHODS = """
add apply at bind call catch charAt charCodeAt clear concat delete endsWith entries every exec filter
finally find findIndex flat flatMap forEach get has hasOwnProperty includes indexOf join keys lastIndexOf
map match next normalize pop push reduce repeat replace replaceAll reverse search set shift slice some sort
splice split startsWith substring test then toLowerCase toString toUpperCase trim unshift valueOf values
"""

METHODS: dict[str, frozenset[str]] = {
    "python": frozenset(n for t in _OWN_TYPES for n in dir(t) if not n.startswith("__")),
    **dict.fromkeys(("javascript", "typescript", "tsx"), frozenset(_ECMA_METHODS.split())),
}
"""Methods of a language's own strings, collections and files: no receiver is known by their names."""


_WRAPPERS_NAMES = """
Optional Annotated Final ClassVar Required NotRequired Awaitable Promise PromiseLike Readonly Partial
NonNullable ReadOnly InitVar Mapped
"""
WRAPPERS = frozenset(_WRAPPERS_NAMES.split())
"""Wrappers: the type argument is the type itself."""

_EACH_NAMES = """
list List Sequence MutableSequence Iterable Iterator Generator set Set FrozenSet frozenset Collection
deque Deque tuple Tuple Array Type ReadonlyArray AsyncIterator AsyncGenerator AsyncIterable ReadonlySet
"""
OF_EACH = frozenset(_EACH_NAMES.split())
"""Collections: the type argument is the type of an element."""

_PLAIN_NAMES = """
str int float bool bytes dict list set tuple complex string number boolean void never symbol bigint Array
Map Set Record Promise Date RegExp Error open len sorted range print repr frozenset bytearray Object JSON
Math String Number console document window process Buffer Symbol Reflect Proxy WeakMap WeakSet
"""
PLAIN = frozenset(_PLAIN_NAMES.split())
"""Types whose instances have no members in the tree."""
