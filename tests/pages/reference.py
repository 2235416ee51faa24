"""The reference pages: commands, settings, JSON and languages, from the tables that the product runs on."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import gitindex.questions
from gitindex.base import answers, errors, vocabulary
from gitindex.cli.commands import GROUPS, all_commands
from gitindex.cli.help import OPTIONS, option_name, usage
from gitindex.git.settings import SETTINGS
from gitindex.languages.table import LANGUAGES
from gitindex.questions.table import Command, Param, Question, parameter, shell_params
from tests.pages import DOCS, table, with_generated

COMMON = {
    param.flags[0]: param
    for param in map(parameter, ("repo", "json", "at", "staged", "strict", "team"))
}
"""Options that mean the same everywhere: explained once."""
MAX_NUMBER = 1 << 31
"""A bound from here on is none."""


def commands_page() -> str:
    """Every command with its arguments and options, by group."""
    parts = []
    for group in GROUPS:
        parts.append(f"## {group}")
        for one in sorted((one for one in all_commands() if one.group == group), key=_name):
            parts += [f"### `{one.name}`", f"```text\n{usage(one)}\n```", _about(one.about)]
            rows = [_row(p) for p in shell_params(one) if not _is_common(p)]
            if rows:
                parts.append(table(["argument or option", "meaning", "default"], rows))
            taken = [p.flags[0] for p in shell_params(one) if _is_common(p)]
            if taken:
                parts.append("Also: " + ", ".join(f"`{flag}`" for flag in taken) + ".")
    head = [
        "## Options of every command",
        table(["option", "meaning"], [[f"`{name}`", told] for name, told in OPTIONS]),
        "These mean the same wherever a command takes them:",
        table(["option", "meaning"], [[f"`{option_name(p)}`", p.help] for p in COMMON.values()]),
        "## Exit codes",
        table(["code", "meaning"], [[str(int(code)), told] for code, told in _exit_codes()]),
    ]
    return "\n\n".join([*head, *parts])


def _is_common(param: Param) -> bool:
    return any(flag in COMMON and COMMON[flag].name == param.name for flag in param.flags)


def _name(one: Question | Command) -> str:
    return one.name


def _about(text: str) -> str:
    """Paragraphs; one of several lines keeps them."""
    parts = [part.strip("\n") for part in text.split("\n\n")]
    return "\n\n".join(f"```text\n{part}\n```" if "\n" in part else part for part in parts)


def _row(param: Param) -> list[str]:
    default = "required" if param.default is None else param.default
    if param.kind == "flag" or not default or isinstance(default, (tuple, list)):
        default = ""
    told = param.help
    if param.choices and not all(choice in told for choice in param.choices):
        told += f" One of {', '.join(param.choices)}."
    if param.kind in ("integer", "number") and param.least:
        bounded = param.most is not None and param.most < MAX_NUMBER
        told += (
            f" ({param.least:g} to {param.most:g})" if bounded else f" (at least {param.least:g})"
        )
    return [
        f"`{option_name(param)}`",
        told,
        f"{default:g}" if isinstance(default, float) else str(default),
    ]


def _exit_codes() -> Iterator[tuple[errors.Exit, str]]:
    for code, comment in _members(errors, "Exit"):
        yield (
            errors.Exit(int(code)),
            comment or "wrong use of the command line" * (code == "2") or "error",
        )


def settings_page() -> str:
    """The keys of git's configuration."""
    rows = [
        [f"`gitindex.{s.name}`", s.meaning, f"`{s.default}`" * bool(s.default)] for s in SETTINGS
    ]
    return table(["key", "meaning", "default"], rows)


def json_page() -> str:
    """The fields of every answer, and every closed set of words."""
    parts = ["## Answers"]
    for name, about, bases, fields in _typed_dicts():
        inherits = (
            f" Also the fields of {', '.join(f'`{base}`' for base in bases)}." if bases else ""
        )
        parts += [f"### {name}", f"{about}{inherits}"]
        if fields:
            parts.append(table(["field", "type", ""], fields))
    parts.append("## Words")
    for name, cls in inspect.getmembers(vocabulary, inspect.isclass):
        if cls.__module__ == vocabulary.__name__:
            rows = [[f"`{value}`", comment] for value, comment in _members(vocabulary, name)]
            parts += [f"### {name}", inspect.getdoc(cls) or "", table(["value", "meaning"], rows)]
    return "\n\n".join(parts)


def _members(module: object, name: str) -> Iterator[tuple[str, str]]:
    """The values of an enumeration and the comments beside them."""
    source = inspect.getsource(getattr(module, name))
    for value, comment in re.findall(r"^    [A-Z_]+ = (.+?)(?:  # (.+))?$", source, re.MULTILINE):
        yield value.strip("\"'"), comment


def _typed_dicts() -> Iterator[tuple[str, str, list[str], list[list[str]]]]:
    folder = Path(gitindex.questions.__file__).parent
    known = {"TypedDict"}
    for path in [Path(answers.__file__), *sorted(folder.glob("*.py"))]:
        source = path.read_text()
        for node in ast.parse(source).body:
            if not isinstance(node, ast.ClassDef):
                continue
            bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
            if not known & {*bases}:
                continue
            known.add(node.name)
            about = (ast.get_docstring(node) or "").replace("\n", " ")
            yield node.name, about, [b for b in bases if b != "TypedDict"], _fields(node, source)


def _fields(node: ast.ClassDef, source: str) -> list[list[str]]:
    lines = source.splitlines()
    rows = []
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            kind = " ".join(ast.unparse(item.annotation).split())
            optional = re.fullmatch(r"NotRequired\[(.*)\]", kind)
            last = lines[(item.end_lineno or item.lineno) - 1]
            comment = last.partition("  # ")[2]
            told = "; ".join(filter(None, ["may be absent" * bool(optional), comment]))
            rows.append([f"`{item.target.id}`", f"`{optional[1] if optional else kind}`", told])
    return rows


def languages_page() -> str:
    """How the files of each language are recognised."""
    rows = []
    for language in LANGUAGES:
        files = [f"`.{ext}`" for ext in language.extensions.split()]
        files += [f"`{name}`" for name in language.names.split()]
        first = ", ".join(f"`{name}`" for name in language.interpreters.split())
        rows.append([language.name, " ".join(files), first, f"`{language.dist}`"])
    return table(["language", "extensions and names", "interpreters", "grammar"], rows)


PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands_page,
    "settings.md": settings_page,
    "json.md": json_page,
    "languages.md": languages_page,
}


def render(name: str) -> str:
    """A page with its generated part as it should be now."""
    return with_generated((DOCS / name).read_text(), PAGES[name]())
