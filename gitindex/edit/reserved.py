"""Names that mean something to a language or its library: no symbol can take or lose them quietly."""

from __future__ import annotations

import keyword

from gitindex.languages.implicit_calls import called_without_name

_ECMA = """
arguments as async await break case catch class const continue debugger default delete do else enum eval
export extends false finally for function if implements import in instanceof interface let new null of
package private protected public return static super switch this throw true try typeof undefined var
void while with yield
"""
_GO = """
break case chan const continue default defer else fallthrough false for func go goto if import interface
iota map nil package range return select struct switch true type var
"""
_JAVA = """
abstract assert boolean break byte case catch char class const continue default do double else enum
extends false final finally float for goto if implements import instanceof int interface long native new
null package private protected public record return sealed short static strictfp super switch
synchronized this throw throws transient true try var void volatile while yield
"""
_WORDS = {
    "python": frozenset(keyword.kwlist),
    "go": frozenset(_GO.split()),
    "java": frozenset(_JAVA.split()),
    **dict.fromkeys(("javascript", "typescript", "tsx"), frozenset(_ECMA.split())),
}
_GO_LIBRARY = """
String GoString Error Format Scan Is As Unwrap Read Write Close Seek Len Less Swap Push Pop ServeHTTP
Lock Unlock MarshalJSON UnmarshalJSON MarshalText UnmarshalText MarshalBinary UnmarshalBinary MarshalXML
UnmarshalXML Value MarshalYAML UnmarshalYAML GobEncode GobDecode
"""
_JAVA_LIBRARY = """
equals hashCode clone finalize getClass notify notifyAll wait readObject writeObject readResolve
writeReplace readObjectNoData
"""
_CALLED = {"go": frozenset(_GO_LIBRARY.split()), "java": frozenset(_JAVA_LIBRARY.split())}


def is_word(language: str, name: str) -> bool:
    """Is it a word of the language itself?"""
    return name in _WORDS.get(language, ())


def is_called(language: str, name: str) -> bool:
    """Does the language or its library call a member of this name without being told to?"""
    return called_without_name(language, name) or name in _CALLED.get(language, ())
