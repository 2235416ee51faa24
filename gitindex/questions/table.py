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

MAX_TEXT = 4_096
MAX_NUMBER = 1 << 31


class Wire(NamedTuple):
    """A parameter over MCP, where it differs from the command line; None: the same."""

    name: str = ""
    help: str | None = None
    default: Any = None  # `...`: required
    least: float | None = None
    most: float | None = None
    hidden: bool = False  # accepted, but not in the schema: few callers want it
    kind: str = ""
    also: tuple[str, ...] = ()  # other names that are accepted


SAME = Wire()
BARE = Wire(help="")
"""Over MCP without a description: its name says it."""


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
    short_repo: bool = True  # is -C the folder, or has it another meaning?
    team: Callable[[Any, Params], tuple[str, list[Any]]] | None = None  # its query to a team server
    tool: str = ""  # its name over MCP; empty: not over MCP
    tells: str = ""  # its description there
    listed: bool = False  # among the tools that are listed by default
    pages: str = ""  # the list of its answer that `offset` and `limit` page through
    reach: int = 0  # most items to page through
    reads: bool = True
    kept: bool = False  # asks clients that defer tools to keep this one loaded
    fit: Callable[[Any, Params], Any] | None = None  # what an agent's context has room for
    example: dict[str, Any] = {}  # noqa: RUF012 - the arguments of the documentation's call

    @property
    def summary(self) -> str:
        """The first sentence."""
        return summary_of(self.about)

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

    @property
    def summary(self) -> str:
        """The first sentence."""
        return summary_of(self.about)


def summary_of(about: str) -> str:
    """Return the first sentence of a text, without its end where others follow."""
    first = about.split("\n\n")[0].replace("\n", " ")
    ends = [at for mark in ".?" if (at := first.find(f"{mark} ")) >= 0]
    return first[: min(ends) + 1] if ends else first


def argument(name: str, help: str, default: Any = None, **more: Any) -> Param:
    """Return a parameter that is given by its position."""
    return Param(name, help, default=default, **more)


def option(flags: str, name: str, help: str, kind: str = "text", **more: Any) -> Param:
    """Return a parameter that is given by flags."""
    more.setdefault("default", {"flag": False, "texts": (), "integer": 0}.get(kind, ""))
    return Param(name, help, kind, flags=tuple(flags.split()), **more)


def wired(name: str, help: str = "", kind: str = "text", **more: Any) -> Param:
    """Return a parameter that only MCP has."""
    more.setdefault("default", {"flag": False, "integer": 0}.get(kind, ""))
    wire = more.pop("wire", SAME)
    return Param(name, help, kind, wire=wire, shell=False, **more)


def number(
    flags: str,
    name: str,
    help: str,
    default: int = 0,
    least: int | None = None,
    most: int | None = None,
    **more: Any,
) -> Param:
    """Return an option that takes an integer."""
    return option(flags, name, help, "integer", default=default, least=least, most=most, **more)


def choice(
    flags: str, name: str, choices: str, help: str = "", default: str | None = None, **more: Any
) -> Param:
    """Return an option that takes one of some words: the first one, if it is not given."""
    words = tuple(choices.split())
    help = help or f"{', '.join(words[:-1])} or {words[-1]}."
    default = words[0] if default is None else default
    return option(flags, name, help, default=default, choices=words, **more)


def between(help: str, wire: Wire | None = None) -> Param:
    """Return the argument that names two commits."""
    return argument("between", help, "", metavar="[A..B]", most=512, wire=wire)


def limit(what: str, default: int, most: int, agents: int = 0, least: int = 1) -> Param:
    """Return the parameter that limits an answer; `agents` is the default over MCP, if it is there."""
    wire = Wire(help="", default=agents, least=1, most=min(most, 200)) if agents else None
    flags = "--limit -m" if what.startswith("Lines") else "--limit -m -n"
    return number(flags, "limit", f"{what} at most.", default, least, most, wire=wire)


AT = option("--at", "at", "Answer for this commit, tag or branch.", most=256, wire=BARE)
STAGED = option("--staged", "staged", "Answer for the tree that is staged.", "flag")
STRICT = option("--strict", "strict", "Refuse to answer while a job runs.", "flag")
TEAM = option("--team", "team", "Ask the team's other repositories, too.", "flag")
LINKED = option("--linked", "linked", "Ask the linked local repositories, too.", "flag")
JSON = option("--json", "as_json", "Print the structured answer.", "flag")
REPO = option("--repo -C", "path", "A folder inside the work tree.", default=".")
SYMBOL = argument(
    "symbol",
    "A name, a qualified name, FILE:LINE, a node's id, or a file.",
    complete="names",
    most=512,
    wire=Wire(help="NAME, CLASS.NAME, FILE#NAME or FILE:LINE:COLUMN"),
)
LINES = (
    number("--from", "first", "The first line.", 1, 1),
    number("--to", "last", "The last line; 0: all."),
)
_CHOICES = {"at": AT, "staged": STAGED, "strict": STRICT}


def shell_params(one: Question | Command) -> list[Param]:
    """Return what the command line takes: the parameters, the tree, the folder, and `--json`."""
    params = [param for param in one.params if param.shell]
    if isinstance(one, Command):
        return [*params, *((REPO,) if one.repo else ()), *((JSON,) if one.json else ())]
    known = {param.name for param in params}
    repo = REPO if one.short_repo else REPO._replace(flags=("--repo",))
    params += [_CHOICES[name] for name in one.trees.split() if name not in known]
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
