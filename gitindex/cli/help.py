"""Help and manual pages from the table; typer explains single commands."""

from __future__ import annotations

import sys

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.base.version import __version__
from gitindex.cli.commands import FRONT, GROUP_HELP, GROUPS, all_commands, find_command
from gitindex.cli.parse import shown_name
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
    one = find_command(command)
    if one is None and (len(command) > 1 or command[0] not in GROUP_HELP):
        raise GitIndexError(f"no such command: {command[-1]}", "see `gitindex --help`", Exit.USAGE)
    inner = commands_of(command[0]) if len(command) == 1 else []
    if one is not None and not inner:
        _explain(one)
    else:
        _print(sys.stdout, _group(command[0], one, inner))
    return int(Exit.OK)


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


def _group(name: str, one: Question | Command | None, inner: list[Any]) -> Iterator[str]:
    yield f"Usage: {usage(one) if one else f'gitindex {name} [OPTIONS] COMMAND [ARGS]...'}"
    about = one.about if one else GROUP_HELP[name]
    yield from ("", *(f"  {line}" for line in _wrap(about, WIDTH - 2)))
    if one is not None:
        rows = [(option_name(param), param.help) for param in shell_params(one)]
        yield from ("", "Options:", *_table([*rows, OPTIONS[-1]]))
    rows = [(each.name.partition(" ")[2], summary_of(each.about)) for each in inner]
    yield from ("", "Commands:", *_table(rows))


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


def _explain(one: Question | Command) -> None:
    """Let typer print the help of one command, from a function with the table's options.

    Arguments are described here: typer adds the names of Python's types to them.
    """
    import inspect

    import typer

    shown = shell_params(one)
    made = []
    for param in shown:
        if param.flags:
            kind = _type_of(param)
            settings: dict[str, Any] = {"help": param.help, "show_default": bool(param.default)}
            if kind in (int, float):
                settings |= {"min": param.least, "max": param.most, "show_default": True}
            if param.kind != "flag":
                settings["metavar"] = shown_name(param)
            default: Any = ... if param.default is None else param.default or _absent(param)
            declared = typer.Option(default, *_click_names(param), **settings)
            only = inspect.Parameter.KEYWORD_ONLY
            made.append(inspect.Parameter(param.name, only, default=declared, annotation=kind))

    def command(**_: Any) -> None:
        """Never called."""

    command.__signature__ = inspect.Signature(made)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in made}
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    about = one.about if "~/" not in one.about else one.about.replace("\n\n", "\n\n\b\n")
    rows = _table([(shown_name(param), param.help) for param in shown if not param.flags])
    names = {"help_option_names": ["-h", "--help"]}
    words = usage(one).partition(f"gitindex {one.name} ")[2]
    text = "\n\n\b\n".join([about, *(["\n".join(rows)] if rows else [])])
    app.command(help=text, options_metavar=words, context_settings=names)(command)
    app(["--help"], prog_name=f"gitindex {one.name}", standalone_mode=False)


def _click_names(param: Param) -> list[str]:
    pair = param.kind == "flag" and len(param.flags) == 2 and param.flags[1].startswith("--no-")
    return ["/".join(param.flags)] if pair else list(param.flags)


def _absent(param: Param) -> Any:
    return [] if param.kind in _MANY else param.default


def _type_of(param: Param) -> Any:
    single = {"integer": int, "number": float, "flag": bool}.get(param.kind, str)
    return list[str] if param.kind in _MANY else single


_MANY = ("texts", "words", "fields")


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
        for one in sorted((one for one in shown if one.group == group), key=_by_first):
            yield from _section(one)
    yield from (".SH SEE ALSO", "git(1), rg(1)")


def _by_first(one: Question | Command) -> str:
    return one.name


def _page(command: list[str]) -> Iterator[str]:
    one, name = find_command(command), " ".join(command)
    if one is None and name not in GROUP_HELP:
        raise GitIndexError(f"no such command: {command[-1]}", "see `gitindex --help`", Exit.USAGE)
    about = one.about if one else GROUP_HELP[name]
    line = usage(one) if one else f"gitindex {name} [OPTIONS] COMMAND [ARGS]..."
    yield from _top(f"gitindex-{name.replace(' ', '-')}", about, line)
    if one is not None:
        yield from _options(one)
    inner = commands_of(name)
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
