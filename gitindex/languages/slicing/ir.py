"""One function in language-neutral form: statements that define and use variables. Only values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import NamedTuple, TypeAlias


class StatementKind(StrEnum):
    """How a statement affects the order of execution."""

    ENTRY = "entry"  # the head of a function, or one parameter
    SIMPLE = "simple"  # continues with the next one
    BRANCH = "branch"  # `body` or `otherwise`
    LOOP = "loop"  # `body` then `last`, repeatedly; `otherwise` when its test fails
    SWITCH = "switch"  # one of `cases`
    CASE = "case"  # the head of a case or of a handler
    TRY = "try"  # `body`, one of the handlers in `cases`, `otherwise`, and finally `last`
    BLOCK = "block"  # only its body, which a labelled break can leave
    RETURN = "return"
    RAISE = "raise"
    BREAK = "break"
    CONTINUE = "continue"
    GOTO = "goto"
    FALL = "fall"  # into the next case


JUMPS = frozenset(
    (
        StatementKind.RETURN,
        StatementKind.RAISE,
        StatementKind.BREAK,
        StatementKind.CONTINUE,
        StatementKind.GOTO,
        StatementKind.FALL,
    )
)


class Trait(Enum):
    """Variants of a statement kind."""

    ENDLESS = auto()  # a loop without a test
    TESTED_LAST = auto()  # a loop that runs before its first test
    COMPLETE = auto()  # a switch with a default, a try that catches everything
    FALLS = auto()  # a switch whose cases fall through
    UNBROKEN = auto()  # a switch that a break does not leave
    MAY_RAISE = auto()


class TextSpan(NamedTuple):
    """A piece of text; lines and byte columns from 0, the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    def holds(self, line: int, column: int) -> bool:
        """Does the span contain this place?"""
        start, end = (self.line, self.column), (self.end_line, self.end_column)
        return start <= (line, column) < end


class VariableRead(NamedTuple):
    """A read of a variable. A captured one happens later, when a closure runs."""

    variable: int
    name: str
    span: TextSpan
    captured: bool = False


class VariableWrite(NamedTuple):
    """A write of a variable. A weak one keeps part of the old value."""

    variable: int
    name: str
    span: TextSpan
    weak: bool = False
    early: bool = False  # part of an expression: the rest of the statement may see it
    captured: bool = False  # done by a closure


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """One step; `span` is its own text without nested blocks."""

    id: int
    kind: StatementKind
    span: TextSpan
    definitions: tuple[VariableWrite, ...] = ()
    uses: tuple[VariableRead, ...] = ()
    body: Block = ()
    otherwise: Block = ()
    last: Block = ()  # finally; the update of a counting loop
    cases: tuple[Block, ...] = ()  # each begins with its CASE
    label: str = ""  # of this statement; for a jump, its target
    traits: frozenset[Trait] = frozenset()


Block: TypeAlias = tuple[Statement, ...]


class Unit(NamedTuple):
    """A function, the body of a class, or the top level of a file."""

    name: str
    kind: str  # function, class, module
    span: TextSpan
    body: Block
