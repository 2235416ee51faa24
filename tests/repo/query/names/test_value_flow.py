"""What a call runs where a variable, a parameter, a result or an element stands for a function."""

from __future__ import annotations

import pytest

from gitindex.base.vocabulary import Direction
from gitindex.query.callgraph.answer import GraphQuery, call_graph
from gitindex.query.names.memory import Memory
from gitindex.view.tree import open_tree
from tests.support import Repo

PYTHON = """\
import functools
import lib
def a(): pass
def b(): pass
class K:
    def __init__(self, f):
        self.f = f
    def use(self):
        self.f()
    def __call__(self): pass
    def __enter__(self): return self
    def __exit__(self, *x): pass
    def __iter__(self): return self
    def __next__(self): pass
    def __len__(self): return 1
    def __getitem__(self, i): pass
    def __add__(self, o): pass
    def __contains__(self, o): pass
class Child(K): pass
def assigned():
    x = a
    x()
def parameter(f):
    f()
def caller():
    parameter(b)
    parameter(f=a)
def give():
    return a
def result():
    give()()
    g = give()
    g()
def elements():
    d = {"a": a, "b": b}
    d["b"]()
def first():
    [a, b][0]()
def stored():
    d = {}
    d["k"] = b
    d["k"]()
def deco(fn):
    def inner():
        fn()
    return inner
@deco
def decorated(): pass
def calls_decorated():
    decorated()
def made():
    K(a)
def made_by_child():
    Child(a)
def called():
    k = K(a)
    k()
def entered():
    with K(b): pass
def looped():
    for i in K(b): pass
def measured(k: K):
    len(k)
def indexed(k: K):
    k[1]
def added(k: K):
    k + 1
def contained(k: K):
    1 in k
def chosen(c):
    h = a if c else b
    h()
every = [a, b]
def each():
    for f in every:
        f()
alias = b
def by_alias():
    alias()
def by_module():
    lib.variable()
def several():
    p, q = a, b
    q()
def default(f=a):
    f()
def part():
    functools.partial(a, 1)()
"""
SCRIPT = """\
import { target, table } from './k.js'
function a() {}
const x = a
function aliased() { x() }
function received(f) { f() }
function gives() { received(a) }
const d = { k: a, m: target }
function member() { d.k() }
function item() { d['m']() }
function elsewhere() { table.go() }
function mk() { return a }
function returned() { mk()() }
function kept() { const g = mk(); g() }
class C {
  constructor(f) { this.f = f }
  run() { this.f() }
}
function built() { new C(target) }
"""
FILES = {
    "m.py": PYTHON,
    "lib.py": "def target(): pass\nvariable = target\n",
    "j.js": SCRIPT,
    "k.js": "export function target() {}\nexport const table = { go: target }\n",
}


@pytest.fixture(scope="module")
def flowing(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Only to be read: indexed once."""
    repo = Repo(tmp_path_factory.mktemp("flow") / "repo")
    repo.init()
    return repo.index_files(FILES)


MEMORY = Memory()

CASES = {
    "m.py#assigned": "m.py#a",
    "m.py#parameter": "m.py#a m.py#b",
    "m.py#K.use": "m.py#a m.py#b",
    "m.py#result": "m.py#a m.py#give",
    "m.py#elements": "m.py#b",
    "m.py#first": "m.py#a",
    "m.py#stored": "m.py#b",
    "m.py#deco.inner": "m.py#decorated",
    "m.py#calls_decorated": "m.py#deco.inner m.py#decorated",
    "m.py#made": "m.py#K m.py#K.__init__",
    "m.py#made_by_child": "m.py#Child m.py#K.__init__",
    "m.py#called": "m.py#K m.py#K.__call__ m.py#K.__init__",
    "m.py#entered": "m.py#K m.py#K.__enter__ m.py#K.__exit__ m.py#K.__init__",
    "m.py#looped": "m.py#K m.py#K.__init__ m.py#K.__iter__ m.py#K.__next__",
    "m.py#measured": "m.py#K.__len__",
    "m.py#indexed": "m.py#K.__getitem__",
    "m.py#added": "m.py#K.__add__",
    "m.py#contained": "m.py#K.__contains__",
    "m.py#chosen": "m.py#a m.py#b",
    "m.py#each": "m.py#a m.py#b",
    "m.py#by_alias": "m.py#b",
    "m.py#by_module": "lib.py#target",
    "m.py#several": "m.py#b",
    "m.py#default": "m.py#a",
    "m.py#part": "m.py#a",
    "j.js#aliased": "j.js#a",
    "j.js#received": "j.js#a",
    "j.js#member": "j.js#a",
    "j.js#item": "k.js#target",
    "j.js#elsewhere": "k.js#target",
    "j.js#returned": "j.js#a j.js#mk",
    "j.js#kept": "j.js#a j.js#mk",
    "j.js#C.run": "k.js#target",
    "j.js#built": "j.js#C j.js#C.constructor",
}


@pytest.mark.parametrize("asked", CASES)
def test_what_a_call_runs(flowing: Repo, asked: str) -> None:
    with open_tree(flowing.worktree, ".") as view:
        graph = call_graph(view, GraphQuery(asked, direction=Direction.CALLEES), MEMORY)
    assert sorted({edge["to"] for edge in graph["edges"]}) == sorted(CASES[asked].split())
    kinds = {node["id"]: node["kind"] for node in graph["nodes"]}
    assert not {"variable", "constant", "field"} & {kinds[e["to"]] for e in graph["edges"]}
