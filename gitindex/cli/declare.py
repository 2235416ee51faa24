"""Commands of typer whose signatures are read only when a command is run or explained.

A parameter is `Annotated[TYPE, option(...)]` or `Annotated[TYPE, argument(...)]`, with an ordinary
Python default. `typer.Typer` reads the signatures of all commands before it can list one of them;
here listing all commands reads only their names and summaries (docs/benchmarks.md, "Cold start").
Since 0.26 typer vendors click and exports a part of it: only this module imports the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import Any

import typer
from typer._click.exceptions import NoArgsIsHelpError, UsageError
from typer._click.formatting import wrap_text
from typer._click.globals import get_current_context
from typer.core import TyperCommand, TyperGroup
from typer.main import get_callback, get_params_convertors_ctx_param_name_from_function
from typer.models import ArgumentInfo, OptionInfo

__all__ = [
    "NoArgsIsHelpError",
    "UsageError",
    "Verb",
    "VerbGroup",
    "argument",
    "get_current_context",
    "option",
    "wrap_text",
]

Complete = Callable[[str], list[str]]
"""Returns the completions of a prefix."""
Function = Callable[..., Any]


def option(
    *names: str,
    help: str,
    metavar: str | None = None,
    complete: Complete | None = None,
    callback: Callable[[Any], Any] | None = None,
    min: float | None = None,
    max: float | None = None,
    eager: bool = False,
) -> OptionInfo:
    """Declare an option with these names."""
    declared: OptionInfo = typer.Option(
        *names,
        help=help,
        metavar=metavar,
        autocompletion=complete,
        callback=callback,
        min=min,
        max=max,
        is_eager=eager,
    )
    return declared


def argument(
    *,
    help: str,
    metavar: str | None = None,
    complete: Complete | None = None,
    min: float | None = None,
) -> ArgumentInfo:
    """Declare a positional argument."""
    declared: ArgumentInfo = typer.Argument(
        help=help, metavar=metavar, autocompletion=complete, min=min, show_default=False
    )
    return declared


class _ReadWhenAsked:
    """A command that reads its parameters from its function on first use."""

    callback: Function | None
    _read: list[Any] | None = None

    @property
    def params(self) -> list[Any]:
        if self._read is None:
            function = self.callback
            read, convertors, context = get_params_convertors_ctx_param_name_from_function(function)
            self._read = [*map(_with_metavar, read)]
            self.callback = get_callback(
                callback=function,
                params=read,
                convertors=convertors,
                context_param_name=context,
                pretty_exceptions_short=False,
            )
        return self._read

    @params.setter
    def params(self, given: list[Any]) -> None:
        assert not given, "parameters are declared by the function"


def _with_metavar(parameter: Any) -> Any:
    """Return the parameter with the placeholder that help shows for its value: NAME, TEXT or N."""
    if parameter.metavar is None:
        if parameter.param_type_name == "argument":
            parameter.metavar = parameter.name.upper() + ("..." if parameter.nargs == -1 else "")
        elif not parameter.is_flag:
            parameter.metavar = "TEXT" if parameter.type.name == "str" else "N"
    return parameter


class Verb(_ReadWhenAsked, TyperCommand):
    """One command."""


class VerbGroup(_ReadWhenAsked, TyperGroup):
    """Commands under one name."""

    def __init__(self, name: str, **settings: Any) -> None:
        settings.setdefault("no_args_is_help", not settings.get("invoke_without_command"))
        super().__init__(name=name, rich_markup_mode=None, **settings)

    def command(self, name: str = "", **settings: Any) -> Callable[[Function], Verb]:
        """Declare a command of this group by a function."""
        return lambda function: self._add(Verb, name, function, settings)

    def group(self, name: str, **settings: Any) -> Callable[[Function], VerbGroup]:
        """Declare a group inside this one; the function takes the options of the group."""
        return lambda function: self._add(VerbGroup, name, function, settings)

    def _add(self, kind: Any, name: str, function: Function, settings: dict[str, Any]) -> Any:
        settings.setdefault("help", cleandoc(function.__doc__ or ""))
        if kind is Verb:
            settings["rich_markup_mode"] = None
        made = kind(name or function.__name__.replace("_", "-"), callback=function, **settings)
        self.add_command(made)
        return made

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(self.commands)  # in declaration order
