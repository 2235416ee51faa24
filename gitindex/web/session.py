"""Server state between requests, and the one path from question to envelope. Writes nothing."""

from __future__ import annotations

import gc
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any, NamedTuple, TypeVar

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import refusal, refused, safe_text
from gitindex.base.system import resident_bytes
from gitindex.base.worktree import Worktree
from gitindex.query.names.memory import Memory
from gitindex.query.search.memory import SearchMemory
from gitindex.questions.browse import resolve_path
from gitindex.questions.here import Here, Memories
from gitindex.questions.table import Question
from gitindex.store.lexical import return_memory, trim_memory
from gitindex.view.overlay import FactsMemory
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import TreeChoice, TreeView
from gitindex.web.highlight import Highlighter

MAX_TEXT = 4_096
"""Maximum number of characters of a parameter, as for MCP."""
MAX_VALUES = 32
MAX_MADE = 4
"""Maximum number of trees whose map is cached."""
MAX_RESIDENT = 120 << 20
"""Beyond this many bytes of the process, what is known of names is forgotten after the answer."""
LARGE_RESIDENT = 80 << 20
LONG_SECONDS = 0.2
"""After an answer of so much CPU, or in so large a process, what it left in the heap goes back:
a comparison leaves megabytes, and what is freed later is cut to pieces by the next answers."""
T = TypeVar("T")

Answer = dict[str, Any]


class WebQuestion(NamedTuple):
    """One request: the rest of its path, and its parameters."""

    path: str = ""
    values: Mapping[str, list[str]] = {}
    problem: str = ""  # why it is refused; `values` holds what can be shown

    @classmethod
    def read(cls, path: str, values: Mapping[str, list[str]]) -> WebQuestion:
        """Return the question without values that no answer takes: the only check of their form."""
        problems = {name: why for name, found in values.items() if (why := _problem(name, found))}
        kept = {name: found for name, found in values.items() if name not in problems}
        why = _problem("path", [path])
        return cls("" if why else path, kept, why or next(iter(problems.values()), ""))

    def text(self, name: str, default: str = "") -> str:
        """Return the last value of a parameter."""
        return (self.many(name) or [default])[-1]

    def many(self, name: str) -> list[str]:
        """Return all values of a parameter that are not empty."""
        return [value for value in self.values.get(name, []) if value]

    def number(self, name: str, default: int, most: int) -> int:
        """Return a whole number of 1 or more."""
        value = self.text(name)
        if not value:
            return default
        if not value.isascii() or not value.isdigit() or not 1 <= int(value[:9]) <= most:
            raise GitIndexError(f"`{name}` must be between 1 and {most}", code=Exit.USAGE)
        return int(value)

    @property
    def choice(self) -> TreeChoice:
        """Return the requested tree."""
        return TreeChoice(at=self.text("at"))


def _problem(name: str, values: list[str]) -> str:
    """Return why values of a parameter are refused; empty where they are not."""
    shown = safe_text(name[:64])
    if len(values) > MAX_VALUES or any(len(value) > MAX_TEXT for value in (name, *values)):
        return f"`{shown}` is too long"
    return f"`{shown}` holds a NUL character" if any("\0" in v for v in (name, *values)) else ""


class PageHere(Here):
    """Where a page asks: at the root, and for all its questions of one tree."""

    may_write = False

    def __init__(
        self, session: WebSession, choice: TreeChoice, memories: Memories, stack: ExitStack
    ) -> None:
        super().__init__(session.worktree.root, choice, memories, session.worktree)
        self._session, self._stack = session, stack
        self.kept = session.kept
        self._view: TreeView | None = None

    def ask(self, question: Question, **params: Any) -> Answer:
        """Ask a question of the table."""
        return dict(question.ask(self, question.given(**params)))

    @contextmanager
    def tree(self) -> Iterator[TreeView]:
        """Yield the tree of this page; it is closed with the page."""
        if self._view is None:
            self._view = self._stack.enter_context(super().tree())
        yield self._view

    def inside(self, file: str) -> str:
        """Return a path of the tree, also for one in the escaped form that answers show."""
        if "\\" in file:
            with self.tree() as view:
                return resolve_path(view, file)
        return file.rstrip("/")

    def remember(self, kind: str, view: TreeView, make: Callable[[TreeView], T]) -> T:
        """Return what `make` makes of a tree, cached for the last few trees."""
        return self._session.remember(kind, view, make)


class WebSession:
    """One worktree and the caches that make the next answer cheap."""

    def __init__(self, worktree: Worktree) -> None:
        return_memory()
        self.worktree = worktree
        self.lexical = SearchMemory()
        self.names = Memory()
        self._named = False
        self.highlighter = Highlighter()
        self.hook_cost: dict[str, float] | None = None
        self.asked_at = 0.0
        self.kept: dict[str, Any] = {}  # by questions, for their next time
        self._facts = FactsMemory()
        self._made: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
        self._naming = threading.Lock()
        self._making = threading.Lock()

    @contextmanager
    def page(self, choice: TreeChoice, names: bool = False) -> Iterator[PageHere]:
        """Yield the place of one page's questions: they see one tree, opened once.

        `names`: they follow names; that cache serves one thread at a time.
        """
        with self._naming if names else nullcontext(), ExitStack() as stack:
            binding = self.names if names else None
            self._named |= names
            yield PageHere(self, choice, Memories(self._facts, self.lexical, binding), stack)

    def ask(self, question: Question, choice: TreeChoice, **params: Any) -> Answer:
        """Ask one question of the table that follows no names."""
        with self.page(choice) as here:
            return here.ask(question, **params)

    def shrink(self, is_long: bool) -> None:
        """Give back what an answer left; what is known of names, too, where the process is large.

        Not before the answer is over: until then it holds all of that.
        """
        resident = resident_bytes()
        forgets = self._named and resident > MAX_RESIDENT
        if forgets:
            self._named, self.names = False, Memory()
        if forgets or is_long:
            _give_back()
        elif resident > LARGE_RESIDENT:
            trim_memory()

    def rest(self) -> None:
        """Forget what was cached: nobody has asked for a while. The next answer reads it again."""
        with self._naming, self._making:
            self.names, self.lexical = Memory(), SearchMemory()
            self._facts = FactsMemory()
            self.kept.clear()
            self._made.clear()
            self.highlighter.close()
            _give_back()

    def remember(self, kind: str, view: TreeView, make: Callable[[TreeView], T]) -> T:
        """Return what `make` makes of a tree, cached for the last few trees."""
        overlay = view.overlay
        key = (kind, overlay.source, overlay.tree, overlay.digest)
        with self._making:
            if key not in self._made:
                self._made[key] = make(view)
                if len(self._made) > MAX_MADE:
                    self._made.popitem(last=False)
            found: T = self._made[key]
            return found


def _give_back() -> None:
    gc.collect()
    trim_memory()


class WebPage(NamedTuple):
    """One page: computes the envelope of its answer, and renders it as HTML."""

    name: str
    title: str
    answer: Callable[[WebSession, WebQuestion], Answer]
    render: Callable[[WebQuestion, Answer], str]
    only_shown: tuple[str, ...] = ()  # fields for the page that JSON leaves out
    tail: bool = False  # its URL ends in a path
    refuses: bool = False  # it renders a refusal itself, below its form
    scripts: tuple[str, ...] = ()


def ask(page: WebPage, session: WebSession, request: WebQuestion) -> Answer:
    """Answer one request; always returns an envelope, never raises."""
    session.asked_at = time.monotonic()
    began = time.thread_time()
    if request.problem:
        return refused(GitIndexError(request.problem, "ask for less", Exit.USAGE))
    try:
        return page.answer(session, request)
    except GateClosed as closed:
        return closed.envelope
    except GitIndexError as error:
        return refused(error)
    except OSError as error:
        return refusal("error", error.strerror or "input/output error", "try again")
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 — the door: a panic in Rust is no Exception
        return refusal("error", f"internal error ({type(error).__name__})", "please report it")
    finally:
        session.shrink(time.thread_time() - began > LONG_SECONDS)
