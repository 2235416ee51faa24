# ruff: noqa: E501 — sources read better on one line
"""Declared types exclude the members of other types, in the languages that declare them."""

from __future__ import annotations

import pytest

from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import open_tree
from tests.support import Repo

PROGRAMS = {
    "a.kt": "class Foo {\n  fun run() = 1\n}\nclass Bar {\n  fun run() = 2\n}\nfun use(x: Foo, y: Bar) {\n  x.run()\n  y.run()\n}\n",
    "a.cs": "class Foo {\n  public int run() => 1;\n}\nclass Bar {\n  public int run() => 2;\n}\nclass Use { void Go(Foo x, Bar y) {\n  x.run();\n  y.run();\n} }\n",
    "a.rs": "struct Foo; impl Foo {\n  fn run(&self) {}\n}\nstruct Bar; impl Bar {\n  fn run(&self) {}\n}\nfn go(x: &Foo, y: Box<Bar>) {\n  x.run();\n  y.run();\n}\n",
    "a.cpp": "struct Foo {\n  int run();\n};\nstruct Bar {\n  int run();\n};\nint use(Foo *x, Bar &y) {\n  x->run();\n  y.run();\n}\n",
    "a.swift": "class Foo {\n  func run() {}\n}\nstruct Bar {\n  func run() {}\n}\nfunc use(x: Foo, y: Bar) {\n  x.run()\n  y.run()\n}\n",
    "a.scala": "class Foo {\n  def run(): Int = 1\n}\nclass Bar {\n  def run(): Int = 2\n}\nobject Use { def go(x: Foo, y: Bar): Unit = {\n  x.run()\n  y.run()\n} }\n",
    "a.php": "<?php class Foo {\n  function run() {}\n}\nclass Bar {\n  function run() {}\n}\nfunction go(Foo $x, Bar $y) {\n  $x->run();\n  $y->run();\n}\n",
    "a.dart": "class Foo {\n  void run() {}\n}\nclass Bar {\n  void run() {}\n}\nvoid go() { Foo x = make(); Bar y = make();\n  x.run();\n  y.run();\n}\n",
    "a.c": "struct foo {\n  int run;\n};\nstruct bar {\n  int run;\n};\nint go(struct foo *x, struct bar y) {\n  x->run = 1;\n  return y.run;\n}\n",
}


@pytest.mark.parametrize("path", PROGRAMS)
def test_a_declared_type_excludes_other_types(repo: Repo, path: str) -> None:
    repo.index_files({path: PROGRAMS[path]})
    with open_tree(repo.worktree, ".") as view:
        answer = find_references(view, ReferenceQuery(f"{path}:2"))
    assert [row["line"] for row in answer["references"]] == [8]
    assert answer["accounted"]["elsewhere"] == 2
    assert answer["complete"]


OPEN = {
    "an extension where no overload fits": (
        "a.cs",
        "class Foo {\n  public int Run() => 1;\n}\nstatic class Ext {\n"
        "  public static int Run(this Foo f, int x) => 3;\n}\nclass Use { void Go(Foo f) { f.Run(1); } }\n",
        5,
    ),
    "a pointer with an arrow of its own": (
        "a.cpp",
        "struct Bar {\n  int run();\n};\nstruct Opt {\n  Bar *operator->();\n  int run();\n};\n"
        "int go(Opt o) { return o->run(); }\n",
        2,
    ),
    "an import inside of a function": (
        "a.rs",
        "mod m {\n  pub fn go() {}\n}\nfn a(go: i32) { { use m::go; go() } }\n",
        2,
    ),
    "a constant in a pattern": (
        "a.rs",
        "\nconst limit: i32 = 3;\nfn d(n: i32) -> i32 { match n { limit => 1, x => x } }\n",
        2,
    ),
    "a member in a macro": (
        "a.rs",
        "struct Foo; impl Foo {\n  fn run(&self) -> i32 { 1 }\n}\n"
        'fn t(run: i32, x: Foo) { println!("{}", x.run()); }\n',
        2,
    ),
    "a conditional access": (
        "a.cs",
        "class Foo {\n  public Foo next;\n  void Go(Foo x, int next) { x?.next.Go(x, 1); }\n}\n",
        2,
    ),
    "an operator": (
        "a.scala",
        "class Foo {\n  def run(x: Int): Int = 1\n}\nobject U { def go(x: Foo, run: Int): Int = { x run 1 } }\n",
        2,
    ),
    "a type parameter": (
        "a.rs",
        "trait Tr {\n  fn act(&self);\n}\nfn gen<T: Tr>(t: T) { t.act() }\n",
        2,
    ),
    "a call beside a variable": ("a.kt", "\nfun run() = 1\nfun top(run: Int) = run()\n", 2),
    "a lambda with a receiver": (
        "a.kt",
        "class Foo {\n  fun close() {}\n}\nclass Bar {\n  fun close() {}\n"
        "  fun go(x: Foo) {\n    x.apply {\n      this.close()\n    }\n  }\n}\n",
        2,
    ),
    "a global variable": (
        "a.php",
        "<?php\n$limit = 1;\nfunction go() {\n  global $limit;\n  $limit = 2;\n}\n",
        2,
    ),
}


@pytest.mark.parametrize("case", OPEN)
def test_what_declared_types_do_not_decide_stays_open(repo: Repo, case: str) -> None:
    path, text, line = OPEN[case]
    repo.index_files({path: text})
    with open_tree(repo.worktree, ".") as view:
        answer = find_references(view, ReferenceQuery(f"{path}:{line}"))
    counts = answer["accounted"]
    assert not answer["absent"]
    assert counts["references"] + counts["possible"] + counts["unlikely"]


PASSED = (
    "export class Source {\n  run() {}\n}\nexport class Other {\n  run() {}\n}\n"
    "export function operate(init: (it: Source, other?: Other) => void) {}\n"
    "export class Kept { constructor(init?: (this: Kept, it: Source) => void) {} }\n"
    "operate((it, other) => {\n  it.run();\n  other.run();\n});\n"
    "new Kept(function (it) {\n  it.run();\n});\n"
    "export function all(found: Source[]) {\n  found.forEach((it) => it.run());\n}\n"
    "declare function open(init: any): void;\nopen((it) => it.run());\n"
)


def test_what_a_function_passes_to_a_callback_has_the_declared_type(repo: Repo) -> None:
    repo.index_files({"a.ts": PASSED})
    with open_tree(repo.worktree, ".") as view:
        answer = find_references(view, ReferenceQuery("a.ts:2", everything=True))
    assert [row["line"] for row in answer["references"]] == [10, 14, 17]
    assert [row["line"] for row in answer["unlikely"]] == [11]
    assert [row["line"] for row in answer["possible"]] == [20]
