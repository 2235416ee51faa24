"""References and callers: warm in one process, against `git grep` of the same word."""

from __future__ import annotations

import os
import time

from bench.harness import GITINDEX, Row, percentile, round_robin, run
from bench.scratch import Bench, Repo
from gitindex.base.vocabulary import Direction
from gitindex.base.worktree import find_worktree
from gitindex.query.callgraph.answer import GraphQuery, call_graph
from gitindex.query.names.memory import Memory
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import TreeView, open_tree

NAMES = (
    "JSONDecoder",
    "heappush",
    "namedtuple",
    "Popen",
    "urlopen",
    "HTTPServer",
    "StringIO",
    "dedent",
    "OrderedDict",
    "lru_cache",
    "Thread",
    "gettext",
    "ArgumentParser",
    "TemporaryDirectory",
    "nosuchnameatall",
    "shlex",
    "getaddrinfo",
    "wraps",
    "Fraction",
    "unhexlify",
)
COMMON = (
    *("slugify", "get_object_or_404", "render", "redirect", "HttpResponse", "HttpRequest"),
    *("JsonResponse", "reverse", "resolve", "now", "timezone", "make_aware", "force_str"),
    *("gettext_lazy", "mark_safe", "format_html", "cached_property", "import_string"),
    *("Paginator", "ValidationError", "ImproperlyConfigured", "ObjectDoesNotExist", "CharField"),
    *("IntegerField", "ForeignKey", "Model", "QuerySet", "Manager", "TestCase"),
    *("override_settings", "namedtuple", "deque", "partial", "contextmanager", "Enum", "Path"),
)
"""Names that many files use: of Django, and of the standard library."""
REPEATS = 5
ROUNDS = 5


def measure(bench: Bench) -> list[Row]:
    """Milliseconds of CPU for one answer, certificate included; the tree is open already."""
    repo = bench.indexed()
    common = _asked_first(repo)
    memory = Memory()
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        for name in NAMES:
            _references(view, name, memory)
        references = [_references(view, n, memory) for _ in range(REPEATS) for n in NAMES]
        callers = [_callers(view, n, memory) for _ in range(REPEATS) for n in NAMES]
    variants = {
        "refs": lambda: run([*GITINDEX, "refs", "Popen"], repo.path, codes=(0, 1)),
        "grep": lambda: run(["git", "grep", "-n", "-w", "Popen"], repo.path, codes=(0, 1)),
    }
    cold = {name: used.cpu for name, used in round_robin(variants, ROUNDS).items()}
    return [
        Row(
            "refs, warm, p50",
            percentile(references, 0.5),
            "ms",
            cold["grep"],
            "git grep -w",
            most=5,
        ),
        Row("  p99", percentile(references, 0.99), "ms", cold["grep"], "git grep -w"),
        Row(
            "callers, warm, p50",
            percentile(callers, 0.5),
            "ms",
            cold["grep"],
            "git grep -w",
            most=5,
        ),
        Row("  p99", percentile(callers, 0.99), "ms", cold["grep"], "git grep -w"),
        Row("a common name asked first, p50", percentile(common, 0.5), "ms", most=5),
        Row("  p90", percentile(common, 0.9), "ms"),
        Row("gitindex refs, cold", cold["refs"], "ms", cold["grep"], "git grep -w"),
    ]


def _asked_first(repo: Repo) -> list[float]:
    """Return what each common name that the tree defines takes, asked for once in one process."""
    memory = Memory()
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        _references(view, "nosuchnameatall", memory)
        defined = (
            "SELECT 1 FROM {names} n JOIN {symbols} s ON s.name_id=n.id WHERE n.text=? LIMIT 1"
        )
        names = [name for name in COMMON if view.rows(defined, name)]
        return [_references(view, name, memory) for name in names]


def _references(view: TreeView, name: str, memory: Memory) -> float:
    started = time.process_time()
    find_references(view, ReferenceQuery(name), memory)
    return 1000 * (time.process_time() - started)


def _callers(view: TreeView, name: str, memory: Memory) -> float:
    started = time.process_time()
    call_graph(view, GraphQuery(name, Direction.CALLERS), memory)
    return 1000 * (time.process_time() - started)
