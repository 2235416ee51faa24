# ruff: noqa: E501 — sources read better on one line
"""What must not be taken for a proof: a receiver whose class only seems to be known.

Every case has two classes, A and B, with a method of one name. A line that ends in the mark may
call the method of B, so an answer about B that says `complete` must list it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import open_tree
from tests.support import Repo

PYTHON = [
    "x = A() if '' else B()\nx.name()  # B",
    "x = None or B() or A()\nx.name()  # B",
    "def f(c):\n    x = A() or c\n    x.name()  # B",
    "def f():\n    b = A()\n    return lambda y: B()\nf()(A()).name()  # B",
    "def f():\n    x = A()\n    def g():\n        nonlocal x\n        x = B()\n    g()\n    x.name()  # B",
    "x = A()\ndef f():\n    global x\n    x = B()\ndef g():\n    x.name()  # B",
    "class K:\n    def __init__(self):\n        self.y = A()\n    def set(self, v):\n        self.y = v\n"
    "    def go(self):\n        self.y.name()  # B",
    "class K:\n    y = A()\n    def go(self):\n        self.y.name()  # B\nK.y = B()",
    "class K:\n    def __init__(self, y=A()):\n        self.y = y\n    def go(self):\n        self.y.name()  # B",
    "def f(x=A()):\n    x.name()  # B\nf(B())",
    "def f(x=A):\n    x().name()  # B\nf(B)",
    "def f(c):\n    x = A()\n    for x in [B()]:\n        pass\n    x.name()  # B",
    "class C(A):\n    def __enter__(self):\n        return B()\n    def __exit__(self, *a):\n        pass\n"
    "with C() as x:\n    x.name()  # B",
    "def swap(c):\n    return B\n@swap\nclass C(A):\n    pass\nC().name()  # B",
    "class C(A):\n    def __new__(cls):\n        return B()\nC().name()  # B",
    "class M(type):\n    def __call__(cls):\n        return B()\nclass C(A, metaclass=M):\n    pass\nC().name()  # B",
    "def f() -> A:\n    return B()\nx = f()\nx.name()  # B\nf().name()  # B",
    "def f(x: A):\n    x.name()  # B",
    "def f(a, b):\n    a(b(')').x, A()).name()  # B",
    "class C(A):\n    def go(self):\n        super(D, self).name()  # B\nclass D(B):\n    pass",
    "class C(A):\n    @staticmethod\n    def go(o):\n        o.name()  # B\nC.go(B())",
    "class C(A):\n    def go(self):\n        return lambda self: self.name()  # B\nC().go()(B())",
    "def f():\n    global A\n    A = B\ndef g():\n    A().name()  # B",
]
TYPESCRIPT = [
    "let x = new A();\nif (x) x = new B() as any;\nx.name(); // B",
    "const x: any = '' ? new A() : new B();\nx.name(); // B",
    "const x: any = null || new B();\nx.name(); // B",
    "const a = new A();\nconst f: any = null;\nf?.(a).name(); // B\nf(1)(a).name(); // B\n[f][0](a).name(); // B",
    "function f(x: any = new A()) {\n  x.name(); // B\n}\nf(new B());",
    "class K {\n  y: any = new A();\n  go() {\n    this.y.name(); // B\n  }\n}\nnew K().y = new B();",
    "function f(x: A) {\n  x.name(); // B\n}",
    "const a = new A();\nconst b: any = new B();\nb // a\n  .name(); // B",
    "const a = new A();\nconst f = (s: string): any => new B();\nf(')' /* ( */).name(); // B",
    "const { x } = { x: new B() };\nx.name(); // B",
    "function C() { return new B(); }\nnew (C as any)().name(); // B",
    "class C extends A {\n  go() {\n    return new (class extends B {\n      run() {\n        this.name(); // B\n        super.name(); // B\n      }\n    })();\n  }\n}",
]
GO = [
    "func getA(s string) *A { return nil }\nfunc getB(s string) *B { return nil }\n"
    'func use() { getA(getB(")").Name()) } // B',
    "func take(f func() *A) *B { return nil }\nfunc use() { take(nil).Name() } // B",
    "func make2() func() *B { return nil }\nfunc use() { make2()().Name() } // B",
    'type S struct { x *B "x *A" }\nfunc use(s S) { s.x.Name() } // B',
    "func two() (*A, *B) { return nil, nil }\nfunc use() { _, b := two(); b.Name() } // B",
    "type W struct { *B }\nfunc use(w W) { w.Name() } // B",
    "type Alias = B\nfunc use(x *Alias) { x.Name() } // B",
    "func same[T any](t T) T { return t }\nfunc use() { same(&B{}).Name() } // B",
    "func use(i any) { switch v := i.(type) { case *A: _ = v; case *B: v.Name() } } // B",
    "func use() { A := func() *B { return nil }; A().Name() } // B",
]
JAVA = [
    "class C { static A a(String s) { return null; } static B b(String s) { return null; }\n"
    '  void use() { a(b(")").name()); } // B\n}',
    "class C { void use(A a, B b) {\n    b // a\n      .name(); // B\n} }",
    "class D { <T> B get() { return null; } }\nclass C { <T> A get() { return null; }\n"
    "  void use(D d) { d.<String>get().name(); } // B\n}",
    "class C { A f(int x) { return null; } B f(String x) { return null; }\n"
    '  void use() { f("").name(); } // B\n}',
    "class C<T extends B> { T t; void use() { t.name(); } // B\n}",
    "class C { <A extends B> void use(A a) { a.name(); } // B\n}",
    "class C { java.util.function.Supplier<B> a; void use() { a.get().name(); } // B\n}",
    "class C { void name() { } B use() { return new B() { void go() {\n    name(); // B\n} }; } }",
    "class C extends A { B use() { return new B() { void go() {\n    this.name(); // B\n    super.name(); // B\n} }; } }",
    "class C { void name() { } class D extends B { void go() {\n    name(); // B\n} } }",
    "class C { B name; void use() { name.name(); } // B\n}",
    "class C { class A extends B { } void use(A a) { a.name(); } // B\n}",
]
CASES = {
    "py": ("class A:\n    def name(self):\n        pass\nclass B:\n    def name(self):\n        pass\n", PYTHON),
    "ts": ("export class A { name() {} }\nexport class B { name() {} }\n", TYPESCRIPT),
    "go": ("package m\ntype A struct{}\ntype B struct{}\nfunc (a *A) Name() {}\nfunc (b *B) Name() {}\n", GO),
    "java": ("package m;\nclass A { void name() { } }\nclass B { void name() { } }\n", JAVA),
}  # fmt: skip


@pytest.mark.parametrize("ending", CASES)
def test_a_receiver_that_only_seems_to_be_known_proves_nothing(tmp_path: Path, ending: str) -> None:
    repo = Repo(tmp_path / "repo")
    repo.init()
    head, cases = CASES[ending]
    marked: dict[str, set[int]] = {}
    for number, case in enumerate(cases):
        path = f"c{number}/m.{ending}"  # a package each, and a method with a name of its own
        text = f"{head}{case}\n".replace("name", f"name{number}").replace("Name", f"Name{number}")
        repo.write(path, text)
        lines = text.splitlines()
        marked[path] = {at + 1 for at, line in enumerate(lines) if line.endswith((" // B", "# B"))}
        assert marked[path]
    repo.commit()
    repo.index()
    certified = 0
    with open_tree(repo.worktree, ".") as view:
        for number, path in enumerate(marked):
            called = f"Name{number}" if ending == "go" else f"name{number}"
            told = find_references(view, ReferenceQuery(f"{path}#B.{called}"))
            listed = {row["line"] for row in told["references"]}
            missing = marked[path] - listed if told["complete"] else set()
            assert not missing, (cases[number], told["references"])
            certified += told["complete"]
    assert certified or ending in ("py", "ts")
