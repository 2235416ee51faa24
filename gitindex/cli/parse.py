"""Parses a command line by the table. Imports nothing: every command pays for it."""

from __future__ import annotations

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.light_types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from gitindex.questions.table import Command, Param, Params, Question


class HelpWanted(Exception):
    """`--help` was among the options."""


class _Line:
    """The words of one command line, and what they gave so far."""

    def __init__(self, name: str, params: list[Param], args: list[str]) -> None:
        self.name = name
        self.by_flag = {flag: param for param in params for flag in param.flags}
        self.args = args
        self.at = 0
        self.words: list[str] = []
        self.values: Params = {param.name: param.empty for param in params}
        self.given: set[str] = set()

    def read(self) -> None:
        while self.at < len(self.args):
            arg = self.args[self.at]
            self.at += 1
            if arg == "--":
                self.words += self.args[self.at :]
                return
            if arg in ("--help", "-h") and arg not in self.by_flag:
                raise HelpWanted
            if arg.startswith("--"):
                self._long(arg)
            elif arg.startswith("-") and len(arg) > 1:
                self._short(arg)
            else:
                self.words.append(arg)

    def _long(self, arg: str) -> None:
        flag, equals, value = arg.partition("=")
        begun = [known for known in self.by_flag if known.startswith(flag)]
        if len(begun) == 1:  # as in git: as much of an option as no other begins with
            flag = begun[0]
        param = self._param(flag)
        if param.kind == "flag":
            if equals:
                raise self.wrong(f"Option {flag!r} does not take a value.")
            self.values[param.name] = not (flag.startswith("--no-") and len(param.flags) > 1)
        else:
            self._take(param, flag, value if equals else None)

    def _short(self, arg: str) -> None:
        """Read combined flags, `-il`, and a value without a blank, `-C1`."""
        for at in range(1, len(arg)):
            flag = f"-{arg[at]}"
            param = self._param(flag)
            if param.kind != "flag":
                self._take(param, flag, arg[at + 1 :] or None)
                return
            self.values[param.name] = True

    def _param(self, flag: str) -> Param:
        param = self.by_flag.get(flag)
        if param is None:
            from difflib import get_close_matches

            near = get_close_matches(flag, self.by_flag) or [
                known for known in self.by_flag if len(flag) > 2 and known.startswith(flag)
            ]
            meant = f" (Possible options: {', '.join(sorted(near))})" if near else ""
            raise self.wrong(f"No such option: {flag}{meant}")
        return param

    def _take(self, param: Param, flag: str, value: str | None) -> None:
        if value is None:
            if self.at >= len(self.args):
                raise self.wrong(f"Option {flag!r} requires an argument.")
            value = self.args[self.at]
            self.at += 1
        read = self.convert(param, value)
        if param.kind in ("texts", "fields"):
            earlier = self.values[param.name] if param.name in self.given else []
            self.values[param.name] = [*earlier, read]
        else:
            self.values[param.name] = read
        self.given.add(param.name)

    def convert(self, param: Param, value: str) -> Any:
        """Return a value of the parameter's kind; refuses one that it cannot have."""
        hint = " / ".join(f"'{flag}'" for flag in param.flags) or f"'{shown_name(param)}'"
        if param.choices and value not in param.choices:
            problem = f"one of {', '.join(param.choices)}"
            raise self.wrong(f"Invalid value for {hint}: {problem}")
        if param.kind == "fields":
            name, _, rest = value.partition("=")
            return name, rest
        if param.kind not in ("integer", "number"):
            return value
        try:
            number = int(value) if param.kind == "integer" else float(value)
        except ValueError:
            kind = "integer" if param.kind == "integer" else "number"
            raise self.wrong(
                f"Invalid value for {hint}: {value!r} is not a valid {kind}."
            ) from None
        least, most = bounds(param)
        if not least <= number <= most:
            problem = f"{value} is not in the range {shown_range(param)}."
            raise self.wrong(f"Invalid value for {hint}: {problem}")
        return number

    def place(self, positions: list[Param]) -> None:
        """Give the words to the arguments, in their order."""
        words = self.words
        for param in positions:
            if param.kind in ("texts", "words"):
                taken, words = words, []
            else:
                taken, words = words[:1], words[1:]
            if not taken:
                if param.default is None:
                    raise self.wrong(f"Missing argument {shown_name(param)!r}.")
                continue
            values = [self.convert(param, word) for word in taken]
            if param.kind == "words":
                self.values[param.name] = " ".join(values)
            else:
                self.values[param.name] = values if param.kind == "texts" else values[0]
        if words:
            raise self.wrong(f"Got unexpected extra argument(s) ({' '.join(words)})")

    def wrong(self, message: str) -> GitIndexError:
        return GitIndexError(message, f"see `gitindex {self.name} --help`", Exit.USAGE)


def parse(one: Question | Command, args: list[str]) -> Params:
    """Return the value of every parameter; raises HelpWanted, or what is wrong in one line."""
    from gitindex.questions.table import Command, shell_params

    params = shell_params(one)
    line = _Line(one.name, params, args)
    if isinstance(one, Command) and one.raw and args[:1] != ["--help"] and args[:1] != ["-h"]:
        line.words = args[1:] if args[:1] == ["--"] else args
    else:
        line.read()
    line.place([param for param in params if not param.flags])
    for param in params:
        if param.flags and param.default is None and param.name not in line.given:
            raise line.wrong(f"Missing option '{param.flags[0]}'.")
    return line.values


def shown_name(param: Param) -> str:
    """Return what help calls a parameter's value."""
    if param.metavar:
        return param.metavar
    if not param.flags:
        return param.name.upper() + ("..." if param.kind in ("texts", "words") else "")
    return "N" if param.kind in ("integer", "number") else "TEXT"


def bounds(param: Param) -> tuple[float, float]:
    """Return the least and the greatest number; a huge one for no bound."""
    least = -(1 << 62) if param.least is None else param.least
    return least, (1 << 62) if param.most is None else param.most


def shown_range(param: Param) -> str:
    """Return the bounds of a number as help shows them."""
    if param.least is None:
        return "" if param.most is None else f"x<={param.most}"
    return f"x>={param.least}" if param.most is None else f"{param.least}<=x<={param.most}"
