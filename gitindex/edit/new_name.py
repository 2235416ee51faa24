"""What a new name means already, beyond the files with places of the old one."""

from __future__ import annotations

import keyword
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.pattern import compile_later
from gitindex.edit.patch import RenamePlace
from gitindex.languages.facts import Use
from gitindex.languages.implicit_calls import called_without_name
from gitindex.query.names.finder import Finder
from gitindex.query.names.model import ECMA, Definition, FileNames
from gitindex.query.names.names import BUILTINS

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


_IDENTIFIER = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_SHARED = frozenset({"go", "java"})
"""Languages where the files of a folder share their names."""
_SHOWN = compile_later(rb"\{[^{}]*[^{}=!<>]=\s*(?:![rsa])?(?::[^{}]*)?\}")


def check_new(new: str, old: str, language: str) -> None:
    """Raise unless a name can be given: Python reads names in their NFKC form."""
    named = bool(_IDENTIFIER.fullmatch(new)) and not is_word(language, new)
    if language == "python":
        named = named and new.isidentifier() and unicodedata.normalize("NFKC", new) == new
    if not named:
        hint = "a name has letters, digits and _, does not begin with a digit, and is no keyword"
        raise GitIndexError(f"not a name: {safe_text(new)}", hint, Exit.USAGE)
    if new == old:
        raise GitIndexError("the new name is the old one", "give another one", Exit.USAGE)


Clash = tuple[str, str]
"""A place (`PATH:LINE`, `PATH`, or empty) and why the new name clashes there."""


def clashes(
    finder: Finder, family: list[Definition], places: list[RenamePlace], new: str
) -> Iterator[Clash]:
    """Yield files where the new name is used already, and a symbol that has it."""
    yield from _used(finder, places, new)
    for d in finder.project.definitions(new):
        if any(_scope(d) == _scope(one) for one in family):
            yield "", f"{d.path}#{d.qualified} exists already"


def _used(finder: Finder, places: list[RenamePlace], new: str) -> Iterator[Clash]:
    used = finder.project.places(new, {place.path for place in places})
    for path, found in sorted(used.items()):
        yield f"{path}:{found[0].line + 1}", f"{new} is used there already"


def _scope(definition: Definition) -> tuple[str, str]:
    return definition.path, definition.qualified.rpartition(".")[0]


def taken(
    finder: Finder, family: list[Definition], places: list[RenamePlace], new: str
) -> list[Clash]:
    """Return why a symbol with the new name would be another one, or hide one."""
    old, source = family[0].name, finder.project.source(family[0].path)
    language = source.language if source is not None else ""
    reasons = list(_members(finder, family, new))
    if language != "python":
        return [*reasons, *_of_language(finder, family, places, new, language)]
    paths = {place.path for place in places}
    if not any(map(finder.binder.is_member, family)):
        if new.startswith("_") and not old.startswith("_"):
            reasons += _starred_from(finder, family)
        reasons += [*starred(finder, paths, new), *_submodules(finder, paths, new)]
    elif new.startswith("__") or old.startswith("__"):
        special = new if new.startswith("__") else old
        reasons.append(("", f"{special} is special in a class"))
    if old.startswith("test") and not new.startswith("test"):
        reasons.append(("", "test runners look for names that begin with test"))
    return [*reasons, *_shown(finder, places)]


def _of_language(
    finder: Finder, family: list[Definition], places: list[RenamePlace], new: str, language: str
) -> Iterator[Clash]:
    """Yield what Go, Java and JavaScript make of a name."""
    old, member = family[0].name, any(map(finder.binder.is_member, family))
    called = [name for name in (old, new) if is_called(language, name)]
    if called and (member or language == "go"):
        yield "", f"{called[0]} is called by {language} itself, or by its library"
    if language in _SHARED:
        yield from _packaged(finder, family, new)
    if language == "go":
        yield from _seen_otherwise(family, places, member, new)
    if language == "java" and any(map(_is_file, family)):
        yield family[0].path, "the file of a class of Java is called like it"
    if language in ECMA and not member:
        yield from _passed_on(finder, family, new)


def _seen_otherwise(
    family: list[Definition], places: list[RenamePlace], member: bool, new: str
) -> Iterator[Clash]:
    """Yield the places outside of the package, where the case of a name of Go changes."""
    homes = {os.path.dirname(d.path) for d in family}
    changes = family[0].name[:1].isupper() != new[:1].isupper()
    for place in places if changes else ():
        if os.path.dirname(place.path) not in homes or member:
            yield f"{place.path}:{place.line + 1}", "the case of a name of Go says who sees it"


def _packaged(finder: Finder, family: list[Definition], new: str) -> Iterator[Clash]:
    """Yield files of the same package that have the new name: they share one scope."""
    homes = {os.path.dirname(d.path) for d in family if not finder.binder.is_member(d)}
    for path, found in sorted(finder.project.places(new).items() if homes else ()):
        if os.path.dirname(path) in homes:
            yield f"{path}:{found[0].line + 1}", f"{new} is used in the package already"


def _passed_on(finder: Finder, family: list[Definition], new: str) -> Iterator[Clash]:
    """Yield what JavaScript has under the new name: itself, or where a star passes all names on."""
    project = finder.project
    if new in BUILTINS["javascript"]:
        yield "", f"the language has {new}, too"
    if not project.definitions(new):
        return
    for path in sorted({user for d in family for user in project.importing(d.path)}):
        source = project.source(path)
        for item in source.stars if source is not None else ():
            yield f"{path}:{item.line + 1}", f"the star may pass {new} on already"


def _is_file(definition: Definition) -> bool:
    stem = os.path.splitext(os.path.basename(definition.path))[0]
    return definition.parent < 0 and definition.qualified == stem


def module_taken(
    finder: Finder, home: FileNames, places: list[RenamePlace], new: str
) -> Iterator[Clash]:
    """Yield why a module with the new name would be another one, or hide one."""
    project = finder.project
    for path, found in sorted(project.places(new).items()):
        if any(p.use == Use.IMPORT for p in found):
            yield path, f"{new} is imported there already"
    folder = os.path.dirname(home.path)
    package = project.source(os.path.join(folder, "__init__.py"))
    if package is not None:
        brought = package.stars and project.definitions(new)
        if brought or project.places(new, [package.path]):
            yield package.path, f"the package has {new}, too"
    yield from starred(finder, {p.path for p in places}, new)
    yield from _used(finder, places, new)


def starred(finder: Finder, paths: Iterable[str], new: str) -> Iterator[Clash]:
    """Yield files where a star brings the new name in, or would."""
    project, defined = finder.project, bool(finder.project.definitions(new))
    for path in sorted({*paths, *project.places(new)}):
        source = project.source(path)
        if source is None or source.language != "python" or not source.stars:
            continue
        if defined or path not in paths:
            yield f"{path}:{source.stars[0].line + 1}", f"the star may bring {new} in"


def _starred_from(finder: Finder, family: list[Definition]) -> Iterator[Clash]:
    """Yield files with a star from a module of the symbol: a star leaves out names like `_x`."""
    project = finder.project
    for path in sorted({user for d in family for user in project.importing(d.path)}):
        source = project.source(path)
        for item in source.stars if source is not None else ():
            yield f"{path}:{item.line + 1}", "a star leaves out names that begin with _"


def _members(finder: Finder, family: list[Definition], new: str) -> Iterator[Clash]:
    """Yield files of classes above or below that have the new name: it may be their member's."""
    classes = finder.binder.types.classes
    owners = [owner for d in family if (owner := classes.class_of(d)) is not None]
    below = [one for owner in owners for one in (owner, *finder.dispatch.descendants(owner))]
    kin = {up.path for one in below for up in classes.ancestors(one)[0]}
    for path, found in sorted(finder.project.places(new, kin).items() if kin else ()):
        yield f"{path}:{found[0].line + 1}", f"{new} may be a member of a class above or below"


def _submodules(finder: Finder, paths: Iterable[str], new: str) -> Iterator[Clash]:
    """Yield packages whose submodule the new name would hide."""
    for path in sorted(paths):
        folder, name = os.path.split(path)
        at = os.path.join(finder.view.worktree.root, folder, new)
        if name == "__init__.py" and any(map(os.path.lexists, (at, f"{at}.py", f"{at}.pyi"))):
            yield path, f"the package has a module {new}"


def _shown(finder: Finder, places: list[RenamePlace]) -> Iterator[Clash]:
    """Yield places that show the name as text: `f"{name=}"`."""
    project = finder.project
    for place in places:
        at = project.offset(place.path, place.line, place.column)
        data = project.text(place.path)
        first, last = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        line = data[first : last if last >= 0 else len(data)]
        if any(m.start() < at - first < m.end() for m in _SHOWN.finditer(line)):
            yield f"{place.path}:{place.line + 1}", "the text `name=` is shown there"
