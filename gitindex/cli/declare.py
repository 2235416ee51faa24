"""Commands of click, declared by the signature of a function.

A parameter is `Annotated[TYPE, option(...)]` or `Annotated[TYPE, argument(...)]` and has its default
where Python has it. The signature is read when a command is run or explained, so that a list of all
commands costs nothing but their names and summaries. Not typer: since 0.29 it imports pydantic to parse
any command line (docs/benchmarks.md, "Cold start").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import UnionType
from typing import Any, NamedTuple, get_args, get_origin

import click

Complete = Callable[[str], list[str]]
"""What a shell offers for the beginning of a word."""


class Declaration(NamedTuple):
    """An option (it has names) or an argument of a command."""

    names: tuple[str, ...]
    help: str
    metavar: str | None = None
    complete: Complete | None = None
    callback: Callable[[Any], Any] | None = None
    at_least: float | None = None
    at_most: float | None = None
    eager: bool = False


def option(
    *names: str,
    help: str,
    metavar: str | None = None,
    complete: Complete | None = None,
    callback: Callable[[Any], Any] | None = None,
    min: float | None = None,
    max: float | None = None,
    eager: bool = False,
) -> Declaration:
    """An option of these names."""
    return Declaration(names, help, metavar, complete, callback, min, max, eager)


def argument(
    *,
    help: str,
    metavar: str | None = None,
    complete: Complete | None = None,
    min: float | None = None,
) -> Declaration:
    """A word that stands by itself."""
    return Declaration((), help, metavar, complete, at_least=min)


class _Declared(click.Command):
    """A command that reads its parameters from its function when they are asked for."""

    _read: list[click.Parameter] | None = None

    @property
    def params(self) -> list[click.Parameter]:
        if self._read is None:
            self._read = [] if self.callback is None else list(_parameters(self.callback))
        return self._read

    @params.setter
    def params(self, given: list[click.Parameter]) -> None:
        assert not given, "parameters are declared by the function"

    def invoke(self, ctx: click.Context) -> Any:
        for name, value in ctx.params.items():
            if isinstance(value, tuple):
                ctx.params[name] = list(value)
        return super().invoke(ctx)


class Verb(_Declared):
    """One command."""


class VerbGroup(_Declared, click.Group):
    """Commands under one name."""

    command_class = Verb

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)  # in the order of their declaration


VerbGroup.group_class = VerbGroup


def _parameters(function: Callable[..., Any]) -> Iterator[click.Parameter]:
    """What the function's signature declares."""
    from inspect import Parameter, signature
    from typing import get_type_hints

    hints = get_type_hints(function, include_extras=True)
    for name, parameter in signature(function).parameters.items():
        kind, declared = get_args(hints[name])
        optional = parameter.default is not Parameter.empty
        yield _build(name, kind, declared, parameter.default if optional else ...)


def _build(name: str, kind: Any, told: Declaration, default: Any) -> click.Parameter:
    """One parameter of click. `...` is no default, as in a stub: the word must be given."""
    if get_origin(kind) is UnionType:  # TYPE | None
        kind = get_args(kind)[0]
    many = get_origin(kind) is list
    shared: dict[str, Any] = {
        "type": _type(str if many else kind, told),
        "metavar": told.metavar,
        "help": told.help,
        "callback": _called(told.callback),
        "shell_complete": _offered(told.complete),
        "required": default is ...,
        "is_eager": told.eager,
    }
    if not many and default is not ...:
        shared["default"] = default
    if not told.names:
        return click.Argument([name], nargs=-1 if many else 1, **shared)
    if kind is bool:
        shared["is_flag"] = True
        del shared["type"]
    shown = kind is not bool and default not in ("", None, ...) and not many
    return click.Option([*told.names, name], multiple=many, show_default=shown, **shared)


def _type(kind: Any, told: Declaration) -> Any:
    """The type of one word; a range where the declaration has bounds."""
    if told.at_least is None and told.at_most is None:
        return kind
    if kind is int:
        least, most = told.at_least, told.at_most
        return click.IntRange(
            None if least is None else int(least), None if most is None else int(most)
        )
    return click.FloatRange(told.at_least, told.at_most)


def _called(given: Callable[[Any], Any] | None) -> Callable[..., Any] | None:
    return None if given is None else lambda _context, _parameter, value: given(value)


def _offered(given: Complete | None) -> Callable[..., list[str]] | None:
    return None if given is None else lambda _context, _parameter, typed: given(typed)
