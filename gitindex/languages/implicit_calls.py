"""Definitions that syntax calls without their name: operators, `with`, `new`, loops. Pure.

A search for the name does not find such calls, so an answer about them is never complete.
"""

from __future__ import annotations

_CONSTRUCTORS = frozenset(
    {"__init__", "__new__", "__construct", "constructor", "initialize", "init"}
)
"""Called by using the class."""
_ECMA = "constructor toString valueOf toJSON then next return throw"
_BY_SYNTAX = {
    "javascript": _ECMA,
    "typescript": _ECMA,
    "tsx": _ECMA,
    "java": "toString equals hashCode clone finalize close iterator hasNext next main readObject"
    " writeObject readResolve writeReplace",
    "csharp": "ToString Dispose DisposeAsync GetEnumerator MoveNext Current GetAwaiter Deconstruct Main"
    " Configure ConfigureServices Invoke InvokeAsync",
    "kotlin": "plus minus times div rem rangeTo inc dec not unaryMinus unaryPlus get set invoke contains"
    " compareTo equals hashCode toString iterator hasNext next getValue setValue provideDelegate close main",
    "scala": "apply unapply update map flatMap foreach withFilter toString main",
    "rust": "drop deref deref_mut fmt next into_iter from into add sub mul div rem neg not index index_mut"
    " eq ne cmp partial_cmp add_assign sub_assign mul_assign div_assign main poll",
    "ruby": "initialize initialize_copy to_s to_str to_proc to_a to_ary to_h to_hash inspect hash eql? each"
    " call coerce method_missing respond_to_missing? inherited included extended prepended",
    "swift": "init deinit callAsFunction subscript",
    "go": "init main",
    "c": "main",
    "cpp": "main begin end",
    "dart": "toString hashCode call main",
}
_NAMES = {language: frozenset(names.split()) for language, names in _BY_SYNTAX.items()}
_SPECIAL = frozenset({"python", "php", "lua"})
"""In these languages, names that start with two underscores are reserved."""


def called_without_name(language: str, name: str) -> bool:
    """Can syntax call a definition of this name?"""
    if language in _SPECIAL and name.startswith("__"):
        return language != "python" or name.endswith("__")
    return name in _NAMES.get(language, ())


def is_constructor(name: str) -> bool:
    """Is it called by using its class?"""
    return name in _CONSTRUCTORS
