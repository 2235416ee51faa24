"""Names of types from languages and their libraries, grouped by how they are evaluated."""

from __future__ import annotations

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
