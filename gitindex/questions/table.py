"""What the doors are made from: parameters, questions and commands as plain data.

Imports nothing that costs a prompt time; the engines are imported where a question runs.
"""

from __future__ import annotations

import os
from importlib import import_module

from gitindex.base.light_types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from gitindex.questions.here import Here as Here
    from gitindex.questions.ink import Ink as Ink

    Params = dict[str, Any]
    Answer = dict[str, Any]
    Row = dict[str, Any]
    Lines = Iterator[str]
else:  # for annotations only, which nobody evaluates: a question imports all it needs from here
    Here = Ink = Params = Answer = Row = Lines = dict

MAX_TEXT = 4_096


class Wire(NamedTuple):
    """A parameter over MCP, where it differs from the command line; None: the same."""

    name: str = ""
    help: str | None = None
    default: Any = None  # `...`: required
    least: float | None = None
    most: float | None = None
    hidden: bool = False  # accepted, but not in the schema: few callers want it
    kind: str = ""


SAME = Wire()


class Param(NamedTuple):
    """One parameter of a question or command, for every door."""

    name: str
    help: str
    kind: str = "text"  # text, words (joined), path, integer, number, flag, texts, fields (a map)
    default: Any = ""  # None: required
    flags: tuple[str, ...] = ()  # on the command line; none: an argument by position
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    complete: str = ""  # names, paths, kinds or languages; choices complete themselves
    metavar: str = ""
    wire: Wire | None = None  # None: not over MCP
    shell: bool = True  # False: not on the command line

    @property
    def wire_name(self) -> str:
        """Its name over MCP."""
        return (self.wire and self.wire.name) or self.name

    @property
    def empty(self) -> Any:
        """Its value where it is not given."""
        if self.kind in ("texts", "fields"):
            return list(self.default or ()) if self.kind == "texts" else {}
        return self.default


class Question(NamedTuple):
    """A question to the index: one file of this package, one row of every door."""

    name: str  # on the command line; the file is named after it
    about: str  # its first sentence is the summary
    params: tuple[Param, ...]
    ask: Callable[[Here, Params], Any]
    text: Callable[[Any, Ink], Iterable[str]]
    group: str = "Explore"  # of `gitindex help --all`; empty: not on the command line
    found: str = ""  # fields of an answer; exit code 1 if all of them are empty
    code: Callable[[Any, Params], int] | None = None  # where `found` is not enough
    trees: str = "at staged"  # other trees than the disk that it accepts, and "strict"
    probes: bool = False  # git probes the work tree while the engine is imported
    own_c: bool = False  # -C is not the folder, it has another meaning
    team: Callable[[Any, Params], tuple[str, list[Any]]] | None = None  # its query to a team server
    tool: str = ""  # its name over MCP; empty: not over MCP
    tells: str = ""  # its description there
    listed: bool = False  # among the tools that are listed by default
    pages: str = ""  # the list of its answer that `offset` and `limit` page through
    reach: int = 0  # most items to page through
    writes: bool = False
    kept: bool = False  # asks clients that defer tools to keep this one loaded
    fit: Callable[[Any, Params], Any] | None = None  # what an agent's context has room for
    example: dict[str, Any] = {}  # noqa: RUF012 - the arguments of the documentation's call

    def given(self, **params: Any) -> Params:
        """Return these parameters, and the defaults of all others."""
        return {param.name: param.empty for param in self.params} | params


class Command(NamedTuple):
    """A command that is no question: it sets up, runs, repairs or serves."""

    name: str
    about: str
    params: tuple[Param, ...]
    run: str  # MODULE:FUNCTION; it is called with the parameters and returns an exit code
    group: str = ""  # empty: for programs, not in help
    repo: bool = True  # takes --repo
    json: bool = True  # takes --json
    raw: bool = False  # all that follows its first word is one argument's
    prints: bool = False  # prints itself and takes `as_json`; else the door prints what it returns


def summary_of(about: str) -> str:
    """Return the first sentence of a text, without its end where others follow."""
    first = about.split("\n\n")[0].replace("\n", " ")
    ends = [at for mark in ".?" if (at := first.find(f"{mark} ")) >= 0]
    return first[: min(ends) + 1] if ends else first


class Declared(NamedTuple):
    """A command or question as a table has it."""

    group: str
    name: str
    marks: dict[str, str]
    about: str
    tells: str
    params: tuple[Param, ...]


def entries(table: str) -> Iterator[Declared]:
    """Yield what a table declares.

    `GROUP: NAME | marks`, then what help says, `> ` what MCP says, and a row for each parameter:
    `FLAGS | NAME and what differs from a text | help | over MCP`. FLAGS are `*` for an argument, `mcp`
    for one that only MCP has, `-` for one that no door has; a name alone is a row of SHARED.
    What differs: kind, `=`default (`!` required), least..most, one/of/these, <METAVAR>, @completion. Over
    MCP: the name and what differs there, `: ` and the help; `same` if nothing does. `.` begins a paragraph.
    """
    made: Declared | None = None
    for line in _joined(table):
        if line[:1] != " ":
            if made is not None:
                yield made
            head, _, marks = line.partition(" | ")
            group, _, name = head.rpartition(": ")
            values = dict(mark.partition("=")[::2] for mark in marks.split())
            made = Declared(group, name, values, "", "", ())
        elif made is not None and line.startswith("    "):
            made = made._replace(params=(*made.params, parameter(line.strip())))
        elif made is not None and line.startswith("  > "):
            made = made._replace(tells=f"{made.tells} {line[4:]}".strip())
        elif made is not None:
            said = made.about + ("\n" if made.about else "") + line.strip().removeprefix(".")
            made = made._replace(about=said)
    if made is not None:
        yield made


def _joined(table: str) -> Iterator[str]:
    """Yield the lines; one that begins with `+ ` goes on with the one before."""
    last = ""
    for line in table.strip("\n").split("\n"):
        if line.lstrip().startswith("+ "):
            last += line.strip()[1:]
            continue
        if last:
            yield last
        last = line.rstrip()
    if last:
        yield last


def parameter(row: str) -> Param:
    """Return the parameter of one row of a table, or of SHARED by its name."""
    flags, spec, *rest = SHARED.get(row, row).split(" | ")
    name, *words = spec.split()
    fields = _differences(words)
    kind = fields.get("kind", "text")
    absent = None if flags == "*" else ABSENT.get(kind, "")
    default = fields.setdefault("default", absent)
    if isinstance(default, str) and kind in _TYPES:
        fields["default"] = _TYPES[kind](default)
    if len(rest) > 1:
        fields["wire"] = _wire(rest[1])
    elif flags == "mcp":
        fields["wire"] = Wire(default=... if default is None else None)
    if flags in ("mcp", "-"):
        fields |= {"shell": False} | ({"default": absent} if default is None else {})
    elif flags != "*":
        fields["flags"] = tuple(flags.split())
    return Param(name, "".join(rest[:1]), **fields)


def _wire(text: str) -> Wire:
    """Return what differs over MCP; without a colon the help is the same."""
    given, colon, help = f"{text} ".partition(": ")
    words = given.split()
    plain = [word for word in words if word.replace("_", "").isalnum() and word not in _KINDS]
    fields = _differences([word for word in words if word not in plain])
    if "default" in fields:
        default = fields["default"]
        fields["default"] = ... if default is None else int(default)
    name = "".join(word for word in plain if word not in ("same", "hidden"))
    return Wire(name, help.strip() if colon else None, hidden="hidden" in plain, **fields)


def _differences(words: list[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for word in words:
        mark, rest = word[0], word[1:]
        if word in _KINDS:
            fields["kind"] = word
        elif mark == "=":
            fields["default"] = rest
        elif word == "!":
            fields["default"] = None
        elif mark == "<":
            fields["metavar"] = rest[:-1].replace("_", " ")
        elif mark == "@":
            fields["complete"] = rest.replace(",", " ")
        elif ".." in word:
            fields |= {
                k: _number(v) for k, v in zip(("least", "most"), word.split(".."), strict=True)
            }
        else:
            fields["choices"] = tuple(word.split("/"))
    return fields


def _number(text: str) -> float | None:
    return None if not text else float(text) if "." in text else int(text)


_KINDS = frozenset({"text", "words", "path", "integer", "number", "flag", "texts", "fields"})
_TYPES: dict[str, Any] = {"integer": int, "number": float, "flag": bool, "texts": tuple}
ABSENT: dict[str, Any] = {"flag": False, "texts": (), "fields": (), "integer": 0}
"""The value of an option that is not given."""


def questions(table: str, *functions: tuple[Any, ...]) -> tuple[Question, ...]:
    """Return the questions that a table declares, each with its `ask`, `text` and `code`."""
    return tuple(
        _question(entry, ask, text, code=code[0] if code else None)
        for entry, (ask, text, *code) in zip(entries(table), functions, strict=True)
    )


def question(table: str, ask: Any, text: Any = None, **more: Any) -> Question:
    """Return the question that a table declares; without `text` for doors that print none."""
    return _question(next(entries(table)), ask, text, **more)


def _question(entry: Declared, ask: Any, text: Any, **more: Any) -> Question:
    group, name, marks, about, tells, params = entry
    fields: dict[str, Any] = {
        mark: value.replace(",", " ") for mark, value in marks.items() if value
    } | {mark: True for mark, value in marks.items() if not value}
    if "trees" not in marks:
        fields["trees"] = "at staged" if any(param.name == "at" for param in params) else ""
    fields["reach"] = int(marks.get("reach", 0))
    return Question(name, about, params, ask, text, group, tells=tells, **fields, **more)


SHARED = {
    "at": "--at | at ..256 | Answer for this commit, tag or branch. | :",
    "staged": "--staged | staged flag | Answer for the tree that is staged.",
    "strict": "--strict | strict flag | Refuse to answer while a job runs.",
    "team": "--team | team flag | Ask the team's other repositories, too.",
    "linked": "--linked | linked flag | Ask the linked local repositories, too.",
    "json": "--json | as_json flag | Print the structured answer.",
    "repo": "--repo -C | path =. | A folder inside the work tree.",
    "symbol": "* | symbol ..512 @names | A name, a qualified name, FILE:LINE, a node's id, or a file."
    " | : NAME, CLASS.NAME, FILE#NAME or FILE:LINE:COLUMN",
    "below": "--path | below path @paths | Only in this file or folder of the tree.",
    "within": "--path | below path @paths | Only in this file or folder of the tree."
    " | within: file or folder",
    "file": "* | file path | A file of the tree.",
    "first": "--from | first integer =1 1.. | The first line.",
    "last": "--to | last integer | The last line; 0: all.",
    "depth": "--depth -d | depth integer =1 1..10 | Steps to follow. | :",
    "nodes": "--limit -m -n | limit integer =100 1..2000 | Nodes at most. | =50 1..200:",
    "note_limit": "--note-limit | note_limit integer =50 0..2000 | Notes at most. | noteLimit =20 ..200:",
    "notes": "--notes | notes flag | List the notes, not only how many.",
    "change": "--staged | staged flag | Of what is staged, against HEAD.",
    "sarif": "--format | form =text text/json/sarif | text, json or sarif.",
    "version_file": "--version-file | version_file | The file that holds the version.",
    "changelog": "--changelog | changelog | The changelog; any that is called so if left out.",
}
"""Parameters of several questions, by the name that a table calls them."""
JSON, REPO, TEAM, LINKED = map(parameter, ("json", "repo", "team", "linked"))


def shell_params(one: Question | Command) -> list[Param]:
    """Return what the command line takes: the parameters, the tree, the folder, and `--json`."""
    params = [param for param in one.params if param.shell]
    if isinstance(one, Command):
        return [*params, *((REPO,) if one.repo else ()), *((JSON,) if one.json else ())]
    known = {param.name for param in params}
    repo = REPO if not one.own_c else REPO._replace(flags=("--repo",))
    params += [parameter(name) for name in one.trees.split() if name not in known]
    return [*params, repo, *((TEAM, LINKED) if one.team else ()), JSON]


def find_question(words: Iterable[str]) -> Question | None:
    """Return the question of this name: from the file of its first word, without reading the others."""
    import gitindex.questions as package

    name = " ".join(words)
    stem = name.partition(" ")[0].replace("-", "_")
    if stem.isidentifier():
        for folder in package.__path__:
            if os.path.exists(os.path.join(folder, f"{stem}.py")):
                return next((one for one in _questions_of(stem) if one.name == name), None)
    return None


def all_questions() -> Iterator[Question]:
    """Yield every question, by the name of its file."""
    import gitindex.questions as package

    files = {file for folder in package.__path__ for file in os.listdir(folder)}
    for file in sorted(files):
        if file.endswith(".py"):
            yield from _questions_of(file[:-3])


def _questions_of(stem: str) -> tuple[Question, ...]:
    """Return the questions of one file: QUESTIONS, or the only one as QUESTION."""
    module = import_module(f"gitindex.questions.{stem}")
    questions: tuple[Question, ...] = getattr(module, "QUESTIONS", ())
    return questions or ((module.QUESTION,) if hasattr(module, "QUESTION") else ())
