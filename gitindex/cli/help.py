"""Help and manual pages from the table; typer explains single commands."""

from __future__ import annotations

import sys

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.base.version import __version__
from gitindex.cli.commands import FRONT, GROUP_HELP, GROUPS, all_commands, find_command
from gitindex.cli.parse import shown_name, shown_range
from gitindex.questions.table import shell_params, summary_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TextIO

    from gitindex.questions.table import Command, Param, Question


ABOUT = "A code index of a git repository that is always fresh, and can prove it."
OPTIONS = (
    ("--version", "Print the version."),
    ("-C DIR", "Run as if started in this folder."),
    ("--full-name", "Print paths from the root of the work tree."),
    ("-h, --help", "Show this message and exit."),
)
WIDTH = 78


def show_help(command: list[str], everything: bool = False, man: bool = False) -> int:
    """Explain a command, the front page, or all commands by group."""
    if man:
        return show_page(command)
    if not command:
        if everything:
            _print(sys.stdout, _all())
        else:
            print_front(sys.stdout)
        return int(Exit.OK)
    one, inner = _named(command)
    if one is None:
        _print(sys.stdout, _group(command[0], inner))
    else:
        _explain(one, inner)
    return int(Exit.OK)


def _named(command: list[str]) -> tuple[Question | Command | None, list[Question | Command]]:
    """Return what the words name, and the commands below that name."""
    one, name = find_command(command), " ".join(command)
    if one is None and name not in GROUP_HELP:
        raise GitIndexError(f"no such command: {command[-1]}", "see `gitindex --help`", Exit.USAGE)
    return one, commands_of(name)


def print_front(stream: TextIO) -> None:
    """Print the front page."""
    rows = [(name, summary_of(find_command([name]).about)) for name in FRONT.split()]  # type: ignore[union-attr]
    lines = [*_head(), "", "Commands:", *_table(rows)]
    _print(
        stream, [*lines, "", "`gitindex help --all` lists all commands, `help NAME` explains one."]
    )


def known_names() -> list[str]:
    """Return the first words of all commands that help lists."""
    return list(dict.fromkeys(one.name.split()[0] for one in all_commands()))


def commands_of(name: str) -> list[Question | Command]:
    """Return the commands below a name."""
    return [one for one in all_commands() if one.name.startswith(f"{name} ")]


def grouped() -> dict[str, dict[str, str]]:
    """Return by group the first words of commands and their summaries."""
    found: dict[str, dict[str, str]] = {group: {} for group in GROUPS}
    for one in all_commands():
        first, _, rest = one.name.partition(" ")
        about = summary_of(GROUP_HELP[first] if rest and first in GROUP_HELP else one.about)
        if not rest or first in GROUP_HELP:
            found[one.group][first] = about
    return found


def usage(one: Question | Command) -> str:
    """Return the line that shows how a command is written."""
    pieces = [f"gitindex {one.name}", "[OPTIONS]"]
    for param in shell_params(one):
        if not param.flags:
            name = shown_name(param)
            bare = name if name.startswith("[") else f"[{name}]"
            pieces.append(f"{{{name}}}" if param.default is None else bare)
    return " ".join(pieces)


def option_name(param: Param) -> str:
    """Return the flags of an option as help shows them, short ones first."""
    if not param.flags:
        return shown_name(param)
    flags = ", ".join(sorted(param.flags, key=lambda flag: flag.startswith("--")))
    return flags if param.kind == "flag" else f"{flags} {shown_name(param)}"


def _head() -> list[str]:
    options = _table(list(OPTIONS))
    return [
        "Usage: gitindex [OPTIONS] COMMAND [ARGS]...",
        "",
        f"  {ABOUT}",
        "",
        "Options:",
        *options,
    ]


def _all() -> Iterator[str]:
    yield from _head()
    for group, rows in grouped().items():
        yield from ("", f"{group}:", *_table(list(rows.items())))


def _group(name: str, inner: list[Question | Command]) -> list[str]:
    about = [f"  {line}" for line in _wrap(GROUP_HELP[name], WIDTH - 2)]
    line = f"Usage: gitindex {name} [OPTIONS] COMMAND [ARGS]..."
    return [line, "", *about, *_commands(inner)]


def _commands(inner: list[Question | Command]) -> list[str]:
    """Return what follows the help of a name that has commands below it."""
    rows = [(each.name.partition(" ")[2], summary_of(each.about)) for each in inner]
    return ["", "Commands:", *_table(rows)] if rows else []


def _table(rows: list[tuple[str, str]]) -> list[str]:
    """Return two columns, the second one wrapped."""
    wide = min(max((len(name) for name, _ in rows), default=0), 30)
    lines = []
    for name, about in rows:
        first, *rest = _wrap(about, WIDTH - wide - 4)
        lines.append(f"  {name:<{wide}}  {first}".rstrip())
        lines += [f"  {'':<{wide}}  {line}" for line in rest]
    return lines


def _wrap(text: str, width: int) -> list[str]:
    """Break a text at blanks; `textwrap` would import `re`, a third of the front page's time."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


def _print(stream: TextIO, lines: Any) -> None:
    stream.write("\n".join(lines) + "\n")


def _explain(one: Question | Command, inner: list[Question | Command]) -> None:
    """Let typer lay out the help of one command, from a function with the table's options.

    Arguments and the commands below it are described here: typer knows neither.
    """
    import inspect

    import typer

    made, arguments = [], []
    for param in shell_params(one):
        if not param.flags:
            arguments.append((shown_name(param), param.help))
            continue
        is_flag = param.kind == "flag"
        declared: Any = typer.Option(
            ... if param.default is None else is_flag and param.default,
            *_typer_names(param),
            help=_help_of(param),
            metavar=None if is_flag else shown_name(param),
            show_default=is_flag and bool(param.default),
        )
        kind, only = bool if is_flag else str, inspect.Parameter.KEYWORD_ONLY
        made.append(inspect.Parameter(param.name, only, default=declared, annotation=kind))

    def command(**_: Any) -> None:
        """Never called."""

    command.__signature__ = inspect.Signature(made)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in made}
    about = one.about if "~/" not in one.about else one.about.replace("\n\n", "\n\n\b\n")
    text = "\n\n\b\n".join([about, *(["\n".join(_table(arguments))] if arguments else [])])
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    words = usage(one).partition(f"gitindex {one.name} ")[2]
    app.command(help=text, options_metavar=words)(command)
    shown = typer.main.get_command(app)
    context = typer.Context(shown, info_name=f"gitindex {one.name}", help_option_names=HELP)
    _print(sys.stdout, [context.get_help(), *_commands(inner)])


HELP = ["-h", "--help"]


def _help_of(param: Param) -> str:
    """Return the help of an option, with its default and bounds."""
    is_number = param.kind in ("integer", "number")
    has_default = param.kind != "flag" and (param.default or (is_number and param.default == 0))
    notes = [f"default: {param.default}"] if has_default else []
    notes += [shown_range(param)] if is_number and shown_range(param) else []
    return f"{param.help}  [{'; '.join(notes)}]" if notes else param.help


def _typer_names(param: Param) -> list[str]:
    pair = param.kind == "flag" and len(param.flags) == 2 and param.flags[1].startswith("--no-")
    return ["/".join(param.flags)] if pair else list(param.flags)


ALIAS = ".so man1/git-index.1\n"
"""The page of `man gitindex`."""


def show_page(command: list[str]) -> int:
    """Show the manual page in `man`; print its source if there is no terminal or no `man`."""
    import shutil
    import subprocess

    text = manual_page(command)
    if not sys.stdout.isatty() or shutil.which("man") is None:
        sys.stdout.write(text)
        return 0
    return subprocess.run(["man", "-l", "-"], input=text.encode(), check=False).returncode


def manual_page(command: list[str] | None = None) -> str:
    """The page of one command, or of all of them."""
    return "\n".join(_page(command) if command else _whole()) + "\n"


def _whole() -> Iterator[str]:
    yield from _top("git-index", ABOUT, "gitindex [OPTIONS] COMMAND [ARGS]...")
    for name, about in OPTIONS[:-1]:
        yield from (".TP", f".B {_safe(name)}", _safe(about))
    shown = [*all_commands()]
    for group in GROUPS:
        yield f".SH {_safe(group.upper())}"
        for one in sorted((one for one in shown if one.group == group), key=lambda one: one.name):
            yield from _section(one)
    yield from (".SH SEE ALSO", "git(1), rg(1)")


def _page(command: list[str]) -> Iterator[str]:
    (one, inner), name = _named(command), " ".join(command)
    about = one.about if one else GROUP_HELP[name]
    line = usage(one) if one else f"gitindex {name} [OPTIONS] COMMAND [ARGS]..."
    yield from _top(f"gitindex-{name.replace(' ', '-')}", about, line)
    if one is not None:
        yield from _options(one)
    if inner:
        yield ".SH COMMANDS"
        for each in inner:
            yield from _section(each)
    yield from (".SH SEE ALSO", "git(1), rg(1)")


def _top(title: str, about: str, line: str) -> Iterator[str]:
    yield f'.TH "{title.upper()}" 1 "" "gitindex {__version__}" "gitindex manual"'
    yield from (".SH NAME", f"{_safe(title)} \\- {_safe(summary_of(about))}")
    yield from (".SH SYNOPSIS", f".B {_safe(line)}")
    yield from (".SH DESCRIPTION", *_text(about))


def _section(one: Question | Command) -> Iterator[str]:
    """A command as a part of a longer page."""
    yield f".SS {_safe(usage(one))}"
    yield from _text(one.about)
    yield from _options(one)


def _options(one: Question | Command) -> Iterator[str]:
    for param in shell_params(one):
        yield from (".TP", f".B {_safe(option_name(param))}", _safe(param.help))


def _text(text: str) -> Iterator[str]:
    """Render paragraphs; one of several lines keeps them."""
    for number, paragraph in enumerate(text.split("\n\n")):
        if number:
            yield ".PP"
        lines = paragraph.splitlines()
        if len(lines) > 1:
            yield from (".nf", *(_safe(line.strip()) for line in lines), ".fi")
        else:
            yield from map(_safe, lines)


def _safe(text: str) -> str:
    """Escape text for troff."""
    shown = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...").replace("`", "\\(ga")
    return f"\\&{shown}" if shown.startswith((".", "'")) else shown
