# ruff: noqa: E501 — sources read better on one line
"""Programs written to mislead: an answer that says `complete` lists every line that is marked.

In a case, NAME is the asked-for name (one of its own in every case), PKG the folder of the case. A line
that ends in USE refers to the first definition of NAME in the first file, one that ends in CALL calls it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gitindex.base.vocabulary import Direction
from gitindex.query.callgraph.answer import GraphQuery, call_graph
from gitindex.query.names.memory import Memory
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import open_tree
from tests.support import Repo

Case = tuple[str, dict[str, str]]  # what is asked, the files

# fmt: off
PYTHON: list[Case] = [
    ("A.NAME", {"a.py": "class A:\n    def NAME(self):\n        pass\nclass B(A):\n    pass\nclass C(B):\n    def NAME(self):\n        super().NAME()  # CALL\n", "b.py": "from PKG.a import C\nclass D(C):\n    def go(self):\n        self.NAME()\n"}),
    ("Mixin.NAME", {"a.py": "class Mixin:\n    def NAME(self):\n        pass\n", "b.py": "class Base:\n    def run(self):\n        self.NAME()  # CALL\n", "c.py": "from PKG.a import Mixin\nfrom PKG.b import Base\nclass Both(Base, Mixin):\n    pass\nBoth().run()\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "b.py": "from PKG.a import NAME as other  # USE\n", "c.py": "from PKG import b\nb.other()  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "__init__.py": "from PKG.a import *\n", "d.py": "from PKG import NAME  # USE\nNAME()  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "b.py": "import PKG.a\ngetattr(PKG.a, 'NAME')()  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "b.py": "import PKG.a as m\nx = [m]\nx[0].NAME()  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\ntable = {'k': NAME}  # USE\n", "b.py": "from PKG.a import table\ntable['k']()\n"}),
    ("NAME", {"a.py": "def NAME(f):\n    return f\n@NAME  # USE\ndef g():\n    pass\n", "b.py": "import PKG.a\n@PKG.a.NAME  # USE\ndef h():\n    pass\n"}),
    ("P.NAME", {"a.py": "from dataclasses import dataclass, replace\n@dataclass\nclass P:\n    NAME: int\np = P(NAME=1)  # USE\nq = replace(p, NAME=2)  # USE\n", "b.py": "def f(p):\n    match p:\n        case object(NAME=n):  # USE\n            return n\n"}),
    ("A.NAME", {"a.py": "class A:\n    @property\n    def NAME(self):\n        return 1\n    @NAME.setter  # USE\n    def NAME(self, v):\n        pass\n", "b.py": "def f(a):\n    a.NAME += 1  # USE\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\ndef outer(NAME):\n    def inner():\n        return NAME()\n    return inner\ndef other():\n    def inner():\n        return NAME()  # CALL\n    return inner\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\ndef f():\n    for NAME in ():\n        pass\n    NAME\ndef g():\n    try:\n        NAME()  # CALL\n    except ValueError as e:\n        pass\nclass K:\n    NAME = 1\n    def m(self):\n        return NAME()  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "b.py": "try:\n    from PKG.a import NAME  # USE\nexcept ImportError:\n    NAME = None\nif NAME:  # USE\n    NAME()  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "b.py": "import importlib\nm = importlib.import_module('PKG.a')\nm.NAME()  # CALL\n"}),
    ("A.NAME", {"a.py": "class A:\n    NAME = 1\n", "b.py": "from PKG.a import A\nclass B(A):\n    x = A.NAME  # USE\n    def f(self):\n        return self.NAME  # USE\n"}),
    ("A.NAME", {"a.py": "class A:\n    @classmethod\n    def NAME(cls):\n        return cls\n    @classmethod\n    def make(cls):\n        return cls.NAME()  # CALL\n", "b.py": "import PKG.a\nK = PKG.a.A\ndef f(kind=K):\n    kind.NAME()  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "b.py": "def f():\n    import PKG.a as NAME\n    NAME.NAME()  # CALL\n"}),
    ("NAME", {"a.py": "class NAME:\n    pass\n", "b.py": "from __future__ import annotations\nfrom PKG import a\ndef f(x: 'a.NAME') -> list[a.NAME]:  # USE\n    return isinstance(x, a.NAME)  # USE\n"}),
    ("A.NAME", {"a.py": "class A:\n    def NAME(self):\n        pass\n", "b.py": "from PKG.a import A\nfrom functools import partial\nrun = partial(A.NAME, A())  # USE\nsorted([A()], key=A.NAME)  # USE\n"}),
    ("A.NAME", {"a.py": "class A:\n    def NAME(self):\n        pass\n    alias = NAME  # USE\n", "b.py": "from PKG.a import A\nA().alias()\n"}),
    ("A.NAME", {"a.py": "class A:\n    def NAME(self):\n        pass\n", "b.py": "class W:\n    def __init__(self, inner):\n        self.inner = inner\n    def __getattr__(self, name):\n        return getattr(self.inner, name)\n", "c.py": "from PKG.a import A\nfrom PKG.b import W\nw = W(A())\nw.NAME()  # CALL\n"}),
    ("NAME", {"a.py": "NAME = 1\ndef f():\n    global NAME\n    NAME = 2  # USE\ndef g():\n    NAME = 3\n    return NAME\n", "b.py": "from PKG import a\na.NAME = 4  # USE\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "b.py": "from PKG.a import NAME  # USE\nx = [NAME() for _ in range(3)]  # CALL\ny = {NAME: 1 for NAME in range(2)}\nz = (lambda NAME: NAME)(1)\nif (n := NAME()):  # CALL\n    pass\n"}),
    ("A.NAME", {"a.py": "class A:\n    def NAME(self):\n        pass\nclass B(A):\n    def go(self):\n        type(self).NAME(self)  # CALL\n        self.__class__.NAME(self)  # CALL\n", "b.py": "from operator import attrgetter, methodcaller\nattrgetter('NAME')  # USE\nmethodcaller('NAME')  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "b.py": "from PKG import a as one\ntwo = one\ntwo.NAME()  # CALL\nclass K:\n    mod = one\n    def f(self):\n        self.mod.NAME()  # CALL\n"}),
    ("NAME", {"a.py": "import functools\n@functools.singledispatch\ndef NAME(x):\n    pass\n@NAME.register  # USE\ndef _(x: int):\n    pass\n", "b.py": "from .a import NAME as n  # USE\nn(1)  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "sub/__init__.py": "from ..a import NAME  # USE\n__all__ = ['NAME']  # USE\n", "c.py": "from PKG.sub import *\nNAME()  # CALL\n"}),
    ("NAME", {"a.py": "if True:\n    def NAME():\n        return 1\nelse:\n    def NAME():\n        return 2\n", "b.py": "from PKG import a\nwith open('x') as a2, open('y') as NAME:\n    a.NAME()  # CALL\n"}),
    ("A.NAME", {"a.py": "class A:\n    def __init__(self):\n        self.NAME = 1\n    NAME = 0\n", "b.py": "from PKG.a import A\ndef f():\n    a = A()\n    a.NAME = 2  # USE\n    del a.NAME  # USE\n"}),
    ("A.NAME", {"a.py": "from typing import NamedTuple\nclass A(NamedTuple):\n    NAME: int\na = A(NAME=1)  # USE\nb = a._replace(NAME=2)  # USE\n", "b.py": "def f(x):\n    return x.NAME  # USE\n"}),
    ("A.NAME", {"a.py": "class A:\n    def NAME(self):\n        pass\n", "b.py": "from PKG.a import A\ndef make():\n    class A:\n        def NAME(self):\n            pass\n    return A()\nmake().NAME()\ndef real():\n    return A()\nreal().NAME()  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "b.py": "import PKG.a\nvars(PKG.a)['NAME']()  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\ndef f():\n    def NAME():\n        pass\n    class C:\n        def m(self):\n            NAME()\n    return NAME\nclass D:\n    def NAME(self):\n        NAME()  # CALL\n"}),
    ("P.NAME", {"a.py": "from dataclasses import dataclass\nclass Base:\n    def __init__(self, NAME):\n        pass\n@dataclass\nclass P(Base):\n    NAME: int\nP(NAME=1)  # USE\nBase(NAME=2)\ndef make(**kw):\n    return P(**kw)\nmake(NAME=3)  # USE\nclass K:\n    def __init__(self, **kw):\n        self.p = P(**kw)\nK(NAME=4)  # USE\n"}),
    ("P.NAME", {"a.py": "class P:\n    NAME = 0\n    def __init__(self, NAME):\n        self.NAME = NAME  # USE\n", "b.py": "from PKG.a import P\np = P(NAME=1)\nprint(p.NAME)  # USE\nQ = P\nQ(NAME=2)\n"}),
    ("B.NAME", {"b.py": "class B:\n    def NAME(self):\n        pass\nclass A:\n    def NAME(self):\n        pass\nclass M(type):\n    def __call__(cls):\n        return B()\nclass Base(metaclass=M):\n    pass\nclass C(Base, A):\n    pass\ndef f():\n    x = C()\n    x.NAME()  # CALL\n"}),
    ("B.NAME", {"b.py": "class B:\n    def NAME(self):\n        pass\nclass A:\n    def NAME(self):\n        pass\ndef swap(c):\n    return B\n@ (swap)\nclass C(A):\n    pass\ndef f():\n    x = C()\n    x.NAME()  # CALL\n"}),
    ("B.NAME", {"b.py": "class B:\n    def NAME(self):\n        pass\nclass A:\n    def NAME(self):\n        pass\nclass C(*[B], A):\n    def go(self):\n        self.NAME()  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\ncode = 'x = NAME()'  # USE\nexec(code)\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\ndef f(g=lambda NAME: NAME()):\n    NAME()  # CALL\ndef h(NAME=[NAME for _ in '']):  # USE\n    NAME()\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\nglobals()['NAME']()  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "b.py": "import sys\nimport PKG.a\nsys.modules['PKG.a'].NAME()  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "b.py": "__import__('PKG.a').a.NAME()  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "b.py": "def __getattr__(name):\n    from PKG import a\n    return getattr(a, name)\n", "c.py": "from PKG.b import NAME  # USE\nNAME()  # CALL\nfrom PKG import b\nb.NAME()  # CALL\n"}),
    ("M.NAME", {"a.py": "class M(type):\n    def NAME(cls):\n        pass\nclass A(metaclass=M):\n    pass\nA.NAME()  # CALL\n"}),
    ("M.NAME", {"a.py": "class M(type):\n    def NAME(cls):\n        pass\nclass Base:\n    def NAME(self):\n        pass\nclass A(Base, metaclass=M):\n    pass\nclass B(metaclass=M):\n    def go(cls):\n        return type(cls).NAME()  # CALL\n"}),
    ("NAME", {"b.py": "def NAME():\n    pass\n", "a.py": "def NAME():\n    pass\n", "c.py": "from PKG.a import *\nfrom PKG.b import *\nNAME()  # CALL\n"}),
    ("NAME", {"b.py": "def NAME():\n    pass\n", "a.py": "def NAME():\n    pass\n", "c.py": "from PKG.a import NAME\nfrom PKG.b import *\nNAME()  # CALL\n"}),
    ("NAME", {"b.py": "def NAME():\n    pass\n", "c.py": "def NAME():\n    pass\nfrom PKG.b import *\nNAME()  # CALL\n"}),
    ("NAME", {"b.py": "def NAME():\n    pass\n", "a.py": "__all__ = ['x']\nx = 1\ndef NAME():\n    pass\n", "c.py": "from PKG.b import *\nfrom PKG.a import *\nNAME()  # CALL\n"}),
    ("NAME", {"b.py": "def NAME():\n    pass\n", "a.py": "def NAME():\n    pass\n", "c.py": "try:\n    from PKG.a import NAME\nexcept ImportError:\n    from PKG.b import NAME  # USE\nNAME()  # CALL\n"}),
    ("NAME", {"b.py": "def NAME():\n    pass\n", "a.py": "def NAME():\n    pass\n", "c.py": "from PKG.a import NAME\ndef f():\n    global NAME\n    from PKG.b import NAME  # USE\ndef g():\n    NAME()  # CALL\n"}),
    ("NAME", {"b.py": "def NAME():\n    pass\n", "a.py": "def NAME():\n    pass\ndef use():\n    NAME()  # CALL\n", "c.py": "from PKG import a, b\na.NAME = b.NAME  # USE\na.NAME()  # CALL\n"}),
    ("B.NAME", {"b.py": "class B:\n    def NAME(self):\n        pass\nclass A:\n    def NAME(self):\n        pass\nA.NAME = B.NAME  # USE\nA().NAME()  # CALL\n"}),
    ("B.NAME", {"b.py": "class B:\n    def NAME(self):\n        pass\nclass A:\n    def NAME(self):\n        pass\n", "c.py": "from PKG.b import A, B\ndef f():\n    x = A()\n    x.__class__ = B\n    x.NAME()  # CALL\n"}),
    ("B.NAME", {"b.py": "class B:\n    def NAME(self):\n        pass\nclass A:\n    def NAME(self):\n        pass\n    def __getattribute__(self, n):\n        return getattr(B(), n)\ndef f():\n    x = A()\n    x.NAME()  # CALL\n"}),
    ("B.NAME", {"b.py": "class B:\n    def NAME(self):\n        pass\nclass A:\n    def NAME(self):\n        pass\n    def go(self):\n        self.NAME()  # CALL\ndef mix(base):\n    class C(base, A):\n        pass\n    return C\nmix(B)().go()\n"}),
    ("B.NAME", {"b.py": "class B:\n    def NAME(self):\n        pass\nclass A:\n    def NAME(self):\n        pass\n    def go(self):\n        self.NAME()  # CALL\n", "c.py": "import PKG.b as m\nR = m.B\nclass C(R, m.A):\n    pass\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "c.py": "class K:\n    from PKG.a import NAME  # USE\n    def go(self):\n        K.NAME()  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\nclass K:\n    NAME = 1\n    xs = [NAME() for _ in range(3)]  # CALL\n    ys = [y for y in [NAME]]\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\nx = f\"{NAME()}\"  # CALL\ny = f\"{1:{NAME()}}\"  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\nexec('NAME()')  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "b.py": "from PKG import a\neval('a.NAME(1)')  # CALL\n"}),
    ("P.NAME", {"a.py": "class P:\n    NAME = 0\n    def __init__(self, x=lambda y, NAME: 0, **kw):\n        self.__dict__.update(kw)\nP(NAME=1)  # USE\n"}),
    ("P.NAME", {"a.py": "class P:\n    NAME = 0\n    def __init__(self, x=')', y='NAME', **kw):\n        self.__dict__.update(kw)\nP(NAME=1)  # USE\n"}),
    ("P.NAME", {"a.py": "class P:\n    NAME = 0\n    def __init__(self, *, x: 'a, NAME' = 0, **kw):\n        self.__dict__.update(kw)\nP(NAME=1)  # USE\n"}),
    ("P.NAME", {"a.py": "class P:\n    NAME = 0\n    def __init__(self, NAME, /, **kw):\n        self.__dict__.update(kw)\nP(1, NAME=1)  # USE\n"}),
    ("NAME", {"__init__.py": "def NAME():\n    pass\n", "NAME.py": "def run():\n    pass\n", "b.py": "from PKG import NAME  # USE\nNAME()  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "b.py": "from PKG import a\nclass K:\n    def __init__(self):\n        self.__dict__.update(a.__dict__)\nK().NAME()  # CALL\n"}),
    ("A.NAME", {"a.py": "class A:\n    def NAME(self):\n        pass\nclass B:\n    def __init__(self):\n        self.NAME = A().NAME  # USE\n    def go(self):\n        self.NAME()  # CALL\n"}),
    ("A.NAME", {"a.py": "class A:\n    def NAME(self):\n        pass\nclass B:\n    def NAME(self):\n        pass\n", "b.py": "from PKG.a import A, B\nfor K in (A, B):\n    k = K()\n    k.NAME()  # CALL\n"}),
    ("A.NAME", {"a.py": "class A:\n    def NAME(self):\n        pass\nclass B:\n    def NAME(self):\n        pass\n", "b.py": "from PKG.a import B\nimport PKG.a\nPKG.a.B = PKG.a.A\ndef f():\n    from PKG.a import B\n    x = B()\n    x.NAME()  # CALL\n"}),
    ("A.NAME", {"a.py": "class A:\n    def NAME(self):\n        pass\nclass B:\n    def NAME(self):\n        pass\n", "b.py": "import PKG.a\nsetattr(PKG.a, 'B', PKG.a.A)\ndef f():\n    from PKG.a import B\n    x = B()\n    x.NAME()  # CALL\n"}),
    ("A.NAME", {"a.py": "class A:\n    def NAME(self):\n        pass\nclass B:\n    def NAME(self):\n        pass\nif A:\n    B = A\ndef f():\n    x = B()\n    x.NAME()  # CALL\n"}),
    ("A.NAME", {"a.py": "class A:\n    def NAME(self):\n        pass\n", "b.py": "from PKG.a import A\nclass B(A):\n    def NAME(self):\n        pass\n    def go(self):\n        super(B, self).NAME()  # CALL\n        super(__class__, self).NAME()  # CALL\n"}),
    ("A.NAME", {"a.py": "class A:\n    def NAME(self):\n        pass\nclass B:\n    def NAME(self):\n        pass\n    def go(self):\n        self = A()\n        self.NAME()  # CALL\n"}),
    ("A.NAME", {"a.py": "class A:\n    def NAME(self):\n        pass\nclass Meta(type):\n    def mro(cls):\n        return [cls, A, B, object]\nclass B:\n    def NAME(self):\n        pass\nclass C(B, metaclass=Meta):\n    def go(self):\n        self.NAME()  # CALL\n"}),
    ("A.NAME", {"a.py": "from abc import ABC\nclass A:\n    def NAME(self):\n        pass\nclass B:\n    def NAME(self):\n        pass\n@lambda c: A\nclass C(B):\n    pass\ndef f():\n    x = C()\n    x.NAME()  # CALL\n"}),
    ("A.NAME", {"a.py": "class A:\n    def NAME(self):\n        pass\nclass B:\n    def NAME(self):\n        pass\nclass C(B):\n    def __init_subclass__(cls):\n        cls.NAME = A.NAME  # USE\nclass D(C):\n    pass\nD().NAME()  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\ndef f():\n    exec('NAME = 1')\n    return locals()['NAME']\ndef g():\n    del globals()['NAME']  # USE\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "b.py": "import PKG.a as q\nfrom unittest import mock\nwith mock.patch.object(q, 'NAME'):  # USE\n    pass\nmock.patch('PKG.a.NAME')  # USE\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "b.py": "from pkgutil import resolve_name\nresolve_name('PKG.a:NAME')()  # CALL\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\n", "b.py": "from PKG import a\nfor key in ('NAME', 'x'):  # USE\n    getattr(a, key)()\n"}),
    ("NAME", {"a.py": "def NAME():\n    pass\ndef f(x):\n    match x:\n        case NAME.y:  # USE\n            pass\n    type NAME2 = NAME  # USE\n"}),
    ("NAME", {"a.py": "class NAME:\n    pass\ndef f[T: NAME](x: T) -> T:  # USE\n    return x\nclass G[NAME]:\n    def m(self, x: NAME):\n        pass\ny: NAME  # USE\n"}),
    ("A.NAME", {"a.py": "class A:\n    def NAME(self):\n        pass\nclass B:\n    def NAME(self):\n        pass\n", "b.py": "from PKG.a import A, B\ndef f():\n    x = B()\n    locals()['x'] = A()\n    with x as y:\n        y.NAME()  # CALL\n"}),
    ("A.NAME", {"a.py": "class A:\n    NAME = 1\n    def __init__(self):\n        pass\n    def copy(self, **kw):\n        new = A()\n        vars(new).update(kw)\nA().copy(NAME=2)  # USE\n"}),
]
TYPESCRIPT: list[Case] = [
    ("NAME", {"a.ts": "export function NAME() {}\n", "b.ts": "export { NAME as other } from './a'; // USE\n", "c.ts": "import { other } from './b';\nother(); // CALL\n"}),
    ("NAME", {"a.ts": "export default function NAME() {}\n", "b.ts": "import anything from './a';\nanything(); // CALL\n"}),
    ("NAME", {"a.ts": "export namespace N { export function NAME() {} }\nN.NAME(); // CALL\n", "b.ts": "import { N } from './a';\nN.NAME(); // CALL\nimport M = N;\nM.NAME(); // CALL\n"}),
    ("Box.NAME", {"a.ts": "export interface Box { NAME: number }\nexport interface Box { other: number }\n", "b.ts": "import { Box } from './a';\nexport function f(b: Box) { const { NAME } = b; return NAME; } // USE\nconst c: Box = { NAME: 1, other: 2 }; // USE\n"}),
    ("Shape.NAME", {"a.ts": "export interface Shape { NAME(): void }\n", "b.ts": "import { Shape } from './a';\nexport class Round implements Shape { NAME() {} }\n", "c.ts": "import { Round } from './b';\nnew Round().NAME(); // CALL\n"}),
    ("A.NAME", {"a.ts": "export class A { NAME() {} }\n", "b.ts": "import { A } from './a';\nexport class B<T extends A> { constructor(private t: T) {} go() { this.t.NAME(); } } // CALL\n"}),
    ("A.NAME", {"a.ts": "export class A { NAME = () => 1; }\n", "b.ts": "import { A } from './a';\nconst { NAME } = new A(); // USE\nNAME();\n"}),
    ("NAME", {"a.ts": "export function NAME() {}\n", "index.ts": "export * from './a';\n", "b.ts": "import * as all from '.';\nall.NAME(); // CALL\nconst { NAME: x } = all; // USE\n"}),
    ("NAME", {"a.ts": "export enum NAME { X }\nexport namespace NAME { export const y = 1; }\n", "b.ts": "import { NAME } from './a'; // USE\nlet v: NAME = NAME.X; // USE\n"}),
    ("NAME", {"a.ts": "export const NAME = 1;\nexport type NAME = number;\n", "b.ts": "import type { NAME } from './a'; // USE\nlet v: NAME; // USE\n"}),
    ("NAME", {"a.ts": "export function NAME() {}\nexport function f(NAME: number) { return () => NAME; }\nexport function g() { { const NAME = 1; } return NAME(); } // CALL\nexport function h() { var k = NAME; return k(); } // USE\n"}),
    ("NAME", {"a.ts": "export const NAME = 1;\n", "b.ts": "import { NAME } from './a'; // USE\nexport const o = { NAME }; // USE\nexport const p = { NAME: 2 };\n"}),
    ("A.NAME", {"a.ts": "export class A { NAME() {} }\n", "b.ts": "import { A } from './a';\ntype K = keyof A;\nconst a = new A();\na['NAME'](); // CALL\n"}),
    ("A.NAME", {"a.ts": "export abstract class A { abstract NAME(): void; run() { this.NAME(); } } // CALL\n", "b.ts": "import { A } from './a';\nexport class B extends A { NAME() {} }\nexport class C extends B { NAME() { super.NAME(); } }\n"}),
    ("A.NAME", {"a.ts": "export class A { get NAME() { return 1; } set NAME(v) {} }\n", "b.ts": "import { A } from './a';\nconst a = new A();\na.NAME += 1; // USE\na?.NAME; // USE\n"}),
    ("A.NAME", {"a.ts": "export class A { NAME() {} }\n", "b.ts": "import { A } from './a';\nexport function f({ NAME }: A) { return NAME; } // USE\nfor (const { NAME: n } of [new A()]) n(); // USE\nlet g: any; ({ NAME: g } = new A()); // USE\nconst { x: { NAME } } = { x: new A() }; // USE\n"}),
    ("NAME", {"a.ts": "export function NAME() {}\n", "b.ts": "import('./a').then(m => m.NAME()); // CALL\nexport async function f() { const { NAME } = await import('./a'); NAME(); } // CALL\n"}),
    ("NAME", {"a.ts": "export function NAME() {}\n", "b.ts": "import * as a from './a';\nexport const api = { ...a };\napi.NAME(); // CALL\nfunction take({ NAME }: any) { NAME(); } // USE\ntake(a);\n"}),
    ("NAME", {"a.ts": "export type NAME = number;\n", "b.ts": "let v: import('./a').NAME; // USE\ntype T = typeof import('./a');\n"}),
    ("A.NAME", {"a.ts": "export class A { NAME() {} }\ndeclare module './a' { interface A { more(): void } }\n", "b.ts": "import { A } from './a';\nA.prototype.NAME.call(null); // USE\nlet k: A['NAME']; // USE\nlet p: Pick<A, 'NAME'>; // USE\n"}),
    ("NAME", {"a.ts": "function NAME() {}\nexport = NAME; // USE\n", "b.ts": "import q = require('./a');\nq(); // CALL\n"}),
    ("A.NAME", {"a.ts": "export class A { NAME(x: number): void; NAME(x: string): void; NAME(x: any) {} }\n", "b.ts": "import { A as Z } from './a';\nlet z: Z | undefined = new Z();\nz?.NAME(1); // CALL\nz!.NAME(''); // CALL\n(z as any).NAME(2); // CALL\n"}),
    ("A.NAME", {"a.ts": "export class A { constructor(public NAME: number) {} f() { return this.NAME; } } // USE\n", "b.ts": "import { A } from './a';\nexport const make = (a: A) => ({ ...a, NAME: a.NAME }); // USE\n"}),
    ("NAME", {"a.ts": "export function NAME() {}\n", "b.ts": "function f(a = NAME()) { var NAME = 1; return NAME; } // CALL\nimport { NAME } from './a'; // USE\n"}),
    ("NAME", {"a.ts": "export function NAME() {}\n", "b.ts": "import { NAME } from './a'; // USE\nfunction f<NAME>(x: NAME) {\n return NAME(); } // CALL\n"}),
    ("NAME", {"a.ts": "export function NAME() {}\n", "b.ts": "import { NAME } from './a'; // USE\nconst x = class NAME {};\nNAME(); // CALL\nconst y = function NAME() { };\nNAME(); // CALL\nfor (const NAME of [1]) {}\nNAME(); // CALL\nswitch (1) { case 1: let NAME = 1; }\nNAME(); // CALL\ntry {} catch (NAME) {}\nNAME(); // CALL\n"}),
    ("B.NAME", {"a.ts": "export class B { NAME() {} }\nexport class A { constructor() { return new B() as any; } NAME() {} }\nconst x = new A();\nx.NAME(); // CALL\n"}),
    ("B.NAME", {"a.ts": "export class B { NAME() {} }\nexport class A { NAME() {} }\n(A.prototype as any).NAME = B.prototype.NAME; // USE\nconst x = new A();\nx.NAME(); // CALL\n"}),
    ("NAME", {"a.ts": "namespace N { export function NAME() {} }\nexport = N;\n", "b.ts": "import { NAME } from './a'; // USE\nNAME(); // CALL\nimport n = require('./a');\nn.NAME(); // CALL\n"}),
    ("NAME", {"src/a.ts": "export function NAME() {}\n", "tsconfig.json": "{ /* c */ \"compilerOptions\": { \"baseUrl\": \".\", \"paths\": { \"@app/*\": [\"src/*\"], }, } }\n", "src/b.ts": "import { NAME } from '@app/a'; // USE\nNAME(); // CALL\n"}),
    ("NAME", {"src/fs.ts": "export function NAME() {}\n", "tsconfig.json": "{ \"compilerOptions\": { \"baseUrl\": \"src\" } }\n", "src/b.ts": "import { NAME } from 'fs'; // USE\nNAME(); // CALL\n"}),
    ("NAME", {"src/a.ts": "export function NAME() {}\n", "package.json": "{ \"name\": \"me\", \"imports\": { \"#x\": \"./src/a.ts\" } }\n", "src/b.ts": "import { NAME } from '#x'; // USE\nNAME(); // CALL\n"}),
    ("NAME", {"p/one/src/a.ts": "export function NAME() {}\n", "p/one/package.json": "{ \"name\": \"@w/one\", \"main\": \"src/a.ts\" }\n", "p/two/b.ts": "import { NAME } from '@w/one'; // USE\nNAME(); // CALL\n"}),
    ("Box.NAME", {"a.ts": "export class Box { }\nexport interface Box { NAME(): void }\nexport function go(b: Box) { b.NAME(); } // CALL\n", "b.ts": "import { Box } from './a';\nnew Box().NAME(); // CALL\ndeclare module './a' { interface Box { other(): void } }\n"}),
    ("W.NAME", {"a.ts": "export {};\ndeclare global { interface W { NAME(): void } }\n", "b.ts": "export function f(w: W) { w.NAME(); } // CALL\n"}),
    ("NAME", {"a.ts": "export function NAME() {}\nexport namespace NAME { export const x = 1; }\n", "b.ts": "import { NAME } from './a'; // USE\nNAME.x; // USE\ntype T = typeof NAME; // USE\nlet u: keyof typeof NAME; // USE\n"}),
    ("A.NAME", {"a.ts": "export class A { #NAME() {} NAME() { this.#NAME(); } }\n", "b.ts": "import { A } from './a';\nnew A().NAME(); // CALL\n"}),
    ("NAME", {"a.tsx": "export function NAME() { return null; }\n", "b.tsx": "import { NAME } from './a'; // USE\nimport * as ns from './a';\nexport const x = <NAME />; // USE\nexport const y = <ns.NAME>text</ns.NAME>; // USE\n"}),
    ("NAME", {"a.ts": "export function NAME() {}\n", "b.ts": "export function NAME() {}\n", "c.ts": "export * from './a';\nexport { NAME } from './b';\n", "d.ts": "export * from './a'; export * as z from './b';\n", "e.ts": "import { NAME } from './d'; // USE\nNAME(); // CALL\n"}),
    ("NAME", {"a.ts": "export function NAME() {}\n", "b.ts": "import { NAME } from './a'; // USE\nexport class K { [NAME()] = 1; // CALL\n x = `${NAME()}`; // CALL\n static { NAME(); } // CALL\n}\n"}),
    ("NAME", {"a.ts": "export function NAME(): any {}\n", "b.ts": "import { NAME } from './a'; // USE\n@NAME() // CALL\nclass K { @NAME() x = 1; // CALL\n}\n"}),
    ("NAME", {"a.ts": "export const NAME = 1;\n", "b.ts": "import * as a from './a';\nimport c = a.NAME; // USE\nexport import d = a.NAME; // USE\n"}),
    ("NAME", {"a.ts": "export interface NAME { x: number }\n", "b.ts": "/// <reference path=\"./a.ts\" />\nimport type * as t from './a';\nlet v: t.NAME; // USE\nfunction g(NAME: t.NAME): NAME is any { return true; } // USE\n"}),
    ("NAME", {"a.ts": "declare function NAME(): void;\n", "b.ts": "NAME(); // CALL\n"}),
    ("NAME", {"a.ts": "function NAME() {}\n", "b.ts": "{ let NAME = 1; }\nNAME(); // CALL\nglobalThis.NAME(); // CALL\n"}),
    ("B.NAME", {"a.ts": "export class B { NAME() {} }\nexport class A { NAME() {} }\nfunction f(x: A | B) { if (x instanceof A) x.NAME(); else x.NAME(); } // CALL\n"}),
    ("B.NAME", {"a.ts": "export class B { NAME() {} }\nexport class A { NAME() {} }\nlet K = A as any; K = B;\nconst x = new K();\nx.NAME(); // CALL\n"}),
    ("B.NAME", {"a.ts": "export class B { NAME() {} }\nexport let A = class { NAME() {} } as any;\nA = B;\nconst x = new A();\nx.NAME(); // CALL\n"}),
    ("B.NAME", {"a.ts": "class A { NAME() {} }\nclass B { NAME() {} }\nfunction dec(c: any): any { return B; }\n@dec class C extends A {}\nconst x = new C();\nx.NAME(); // CALL\n"}),
    ("B.NAME", {"a.ts": "class A { NAME() {} }\nclass B { NAME() {} }\nconst x = new A();\nObject.setPrototypeOf(x, B.prototype);\nx.NAME(); // CALL\n"}),
]
JAVASCRIPT: list[Case] = [
    ("NAME", {"a.js": "function NAME() {}\nmodule.exports = { NAME };  // USE\n", "b.js": "const { NAME: x } = require('./a'); // USE\nx(); // CALL\n"}),
    ("NAME", {"a.js": "exports.NAME = function NAME() {};\n", "b.js": "require('./a').NAME(); // CALL\nconst m = require('./a');\nconst k = 'NAME';\nm[k]();\n"}),
    ("A.NAME", {"a.js": "export class A { NAME() {} }\n", "b.js": "import { A } from './a.js';\nexport const Mixed = (Base) => class extends Base { go() { this.NAME(); } }; // CALL\nexport class C extends Mixed(A) {}\n"}),
    ("A.NAME", {"a.js": "export class A { static NAME() {} static go() { this.NAME(); } } // CALL\n", "b.js": "import { A as B } from './a.js';\nB.NAME(); // CALL\nconst f = B.NAME; // USE\n"}),
    ("NAME", {"a.js": "export let NAME = () => 1;\nfunction f() { NAME = () => 2; } // USE\nexport function g(a, { NAME } = {}) { return NAME; }\n", "b.js": "import { NAME } from './a.js'; // USE\nlabel: for (;;) { NAME(); break label; } // CALL\n"}),
    ("o.NAME", {"a.js": "export const o = { NAME() {}, go() { this.NAME(); } }; // CALL\n", "b.js": "import { o } from './a.js';\no.NAME(); // CALL\nconst { NAME } = o; // USE\n"}),
    ("NAME", {"a.js": "export function NAME() {}\nexport { NAME as default };  // USE\n", "b.js": "import d from './a.js';\nd(); // CALL\nimport { default as e } from './a.js';\ne(); // CALL\n"}),
    ("NAME", {"a.js": "function NAME() {}\nmodule.exports.run = NAME; // USE\nglobal.NAME = NAME; // USE\n", "b.js": "const a = require('./a');\na.run(); // CALL\n"}),
    ("A.NAME", {"a.js": "export class A { NAME() {} }\n", "b.js": "import { A } from './a.js';\nclass B extends A { NAME() {} }\nconst list = [new A(), new B()];\nfor (const x of list) x.NAME(); // CALL\nlist.map(({ NAME }) => NAME); // USE\n"}),
    ("NAME", {"a.js": "export function NAME() {}\n", "b.js": "export { NAME as default } from './a.js'; // USE\n", "c.js": "import f from './b.js';\nf(); // CALL\nexport { default as g } from './b.js';\n", "d.js": "import { g } from './c.js';\ng(); // CALL\n"}),
    ("NAME", {"a.js": "const NAME = () => 1;\nexport default NAME; // USE\n", "b.js": "export { default } from './a.js';\nexport * as ns from './a.js';\n", "c.js": "import h, { ns } from './b.js';\nh(); // CALL\nns.default(); // CALL\n"}),
    ("NAME", {"a.js": "export function NAME() {}\n", "b.js": "const o = {};\no.NAME = function () {};\nexport * from './a.js';\n", "c.js": "import { NAME } from './b.js'; // USE\nNAME(); // CALL\n"}),
    ("NAME", {"a.js": "function NAME() {}\nmodule.exports = { NAME }; // USE\n", "b.js": "const a = require('./a');\nconst o = { x() {}, y() {} };\no.NAME = a.NAME; // USE\nmodule.exports = o;\n", "c.js": "const { NAME } = require('./b'); // USE\nNAME(); // CALL\n"}),
    ("NAME", {"a.js": "exports.other = 1;\nfunction NAME() {}\nexports.NAME = NAME; // USE\n", "b.js": "Object.assign(exports, require('./a'));\n", "c.js": "require('./b').NAME(); // CALL\nconst { NAME } = require('./b'); // USE\nNAME();\n"}),
    ("NAME", {"a.js": "function NAME() {}\nmodule.exports = { NAME }; // USE\n", "b.js": "module.exports = { ...require('./a'), other: 1 };\n", "c.js": "const b = require('./b');\nb.NAME(); // CALL\n"}),
    ("NAME", {"a.js": "function NAME() {}\nmodule.exports = { NAME }; // USE\n", "c.js": "const { NAME = () => 1 } = require('./a'); // USE\nNAME(); // CALL\n"}),
    ("NAME", {"a.js": "function NAME() {}\nmodule.exports = { sub: { NAME } }; // USE\n", "c.js": "const { sub: { NAME } } = require('./a'); // USE\nNAME(); // CALL\nrequire('./a').sub.NAME(); // CALL\n"}),
    ("NAME", {"a.js": "function NAME() {}\nmodule.exports = { NAME }; // USE\n", "c.js": "const a = require('./a');\na[`NAME`](); // CALL\nwith (a) { NAME(); } // CALL\n"}),
    ("NAME", {"a.js": "function NAME() {}\nmodule.exports = { NAME }; // USE\n", "c.js": "const { NAME } = require('./a'); // USE\neval('NAME()'); // CALL\n"}),
    ("NAME", {"a.js": "function NAME() {}\nmodule.exports = { NAME }; // USE\n", "c.js": "let m;\nm = require('./a');\nm.NAME(); // CALL\nlet NAME;\n({ NAME } = require('./a')); // USE\nNAME(); // CALL\n"}),
    ("A.NAME", {"a.js": "function A() {}\nA.prototype.NAME = function () {};\nmodule.exports = A;\n", "b.js": "const A = require('./a');\nnew A().NAME(); // CALL\n"}),
    ("NAME", {"a.js": "exports.NAME = function () {};\n", "b.js": "const { NAME } = require('./a'); // USE\nNAME(); // CALL\nfunction f(NAME) { NAME(); }\n"}),
    ("NAME", {"a.js": "exports.NAME = () => 1;\nexports.go = () => exports.NAME(); // CALL\n", "b.js": "require('./a').NAME(); // CALL\n"}),
    ("NAME", {"a.js": "module.exports.NAME = function () {};\n", "b.js": "import { NAME } from './a.js'; // USE\nNAME(); // CALL\n"}),
    ("NAME", {"a.js": "function NAME() {}\n", "b.js": "function f() { if (0) { var x = NAME(); } } // CALL\nvar NAME2 = NAME; // USE\n"}),
    ("NAME", {"a.js": "export function NAME() {}\n", "b.js": "import { NAME } from './a.js'; // USE\nfunction f() { 'use strict'; { function NAME() {} } return NAME(); } // CALL\n"}),
    ("NAME", {"a.js": "export function NAME() {}\n", "b.js": "import { NAME } from './a.js'; // USE\nexport const f = (x = NAME()) => { let NAME = 1; return NAME; }; // CALL\nexport class K { m(x = NAME()) { const NAME = 2; } } // CALL\n"}),
    ("NAME", {"a.mjs": "export function NAME() {}\n", "b.cjs": "import('./a.mjs').then(({ NAME }) => NAME()); // USE\n"}),
    ("o.NAME", {"a.js": "const o = { 'NAME': function () {} };\no.NAME(); // CALL\no['NAME'](); // CALL\nmodule.exports = o;\n", "b.js": "const { NAME } = require('./a'); // USE\n"}),
    ("NAME", {"a.js": "function NAME() {}\nfunction make() { return { NAME }; } // USE\nmake().NAME(); // CALL\nconst { NAME: q } = make(); // USE\n"}),
    ("A.NAME", {"a.js": "class A { NAME() {} }\nclass B { NAME() {} }\nconst K = { A: B, B: A };\nconst x = new K.B();\nx.NAME(); // CALL\n"}),
    ("A.NAME", {"a.js": "class A { NAME() {} }\nclass B { NAME() {} }\nB.prototype = A.prototype;\nconst x = new B();\nx.NAME(); // CALL\n"}),
    ("A.NAME", {"a.js": "class A { NAME() {} }\nclass B { NAME() {} }\nconst x = new B();\nx.NAME = A.prototype.NAME; // USE\nx.NAME(); // CALL\n"}),
    ("A.NAME", {"a.js": "class A { NAME() {} }\nclass B { NAME() {} run() { [1].forEach(function () { this.NAME(); }, new A()); } } // CALL\n"}),
    ("NAME", {"a.js": "export const NAME = () => 1;\n", "b.js": "import * as a from './a.js';\nconst k = Object.keys(a);\nfor (const key of ['NAME']) a[key](); // USE\n"}),
]
GO: list[Case] = [
    ("A.NAME", {"a.go": "package p\ntype A struct{}\nfunc (a A) NAME() {}\ntype B struct{ A }\ntype C struct{ *B }\nfunc use(c C) { c.NAME() } // CALL\n"}),
    ("I.NAME", {"a.go": "package p\ntype I interface{ NAME() }\ntype T struct{}\nfunc (t T) NAME() {}\nfunc use(i I) { i.NAME() } // CALL\nfunc other() { T{}.NAME() } // CALL\n"}),
    ("A.NAME", {"a.go": "package p\ntype A struct{}\nfunc (a *A) NAME() {}\nvar f = (*A).NAME // USE\nfunc use(a *A) { g := a.NAME; g() } // USE\n"}),
    ("A.NAME", {"a.go": "package p\ntype A struct{ NAME int }\nvar x = A{NAME: 1} // USE\nvar y = []A{{NAME: 2}} // USE\nvar z = map[string]*A{\"k\": {NAME: 3}} // USE\nfunc use(a A) { a.NAME++ } // USE\n"}),
    ("NAME", {"a.go": "package p\nfunc NAME() {}\nfunc use() { if NAME := 1; NAME > 0 { _ = NAME }; NAME() } // CALL\n", "b.go": "package p\nvar v = NAME // USE\n"}),
    ("NAME", {"a.go": "package p\nfunc NAME[T any](t T) T { return t }\nfunc use() { NAME[int](1); f := NAME[string]; _ = f } // CALL\n"}),
    ("A.NAME", {"a.go": "package p\ntype A struct{}\nfunc (a A) NAME() {}\ntype D A\ntype E = A\nfunc use(e E) { e.NAME() } // CALL\nfunc gen[T interface{ NAME() }](t T) { t.NAME() } // CALL\nfunc all() { gen(A{}) }\n"}),
    ("NAME", {"a.go": "package p\nfunc NAME() {}\n", "a_test.go": "package p_test\nimport . \"m/PKG\"\nfunc use() { NAME() } // CALL\n", "go.mod": "module m/PKG\n"}),
    ("A.NAME", {"a.go": "package p\ntype A struct{}\nfunc (a A) NAME() {}\nfunc make1() (A, error) { return A{}, nil }\nfunc use() { a, err := make1(); _ = err; func() { a.NAME() }() } // CALL\nfunc ch(c chan A) { (<-c).NAME(); for a := range c { a.NAME() } } // CALL\n"}),
    ("A.NAME", {"a.go": "package p\ntype A struct{}\nfunc (a *A) NAME() {}\nfunc use(a *A, m map[string]*A, s []*A) { go a.NAME(); defer m[\"x\"].NAME(); s[0].NAME() } // CALL\nfunc lit() { (&A{}).NAME(); new(A).NAME() } // CALL\n"}),
    ("I.NAME", {"a.go": "package p\ntype I interface{ NAME() }\ntype J interface{ I }\ntype S struct{ J }\nfunc use(s S, j J) { s.NAME(); j.NAME() } // CALL\nvar f = I.NAME // USE\n"}),
    ("A.NAME", {"a.go": "package p\ntype A struct{ NAME func() }\nfunc use(a A) { a.NAME() } // CALL\ntype B struct{ A }\nfunc two(b *B) { b.NAME = nil; b.A.NAME() } // CALL\n"}),
    ("A.NAME", {"a.go": "package p\ntype A struct{}\nfunc (A) NAME() {}\nfunc use(x interface{}) { if a, ok := x.(A); ok { a.NAME() } } // CALL\nfunc anon(x interface{ NAME() }) { x.NAME() } // CALL\n"}),
    ("A.NAME", {"a.go": "package p\ntype A struct{ NAME string }\nfunc use() {\n\ttests := []struct {\n\t\tNAME string\n\t\ta A\n\t}{{NAME: \"x\", a: A{NAME: \"y\"}}} // USE\n\tfor _, tc := range tests {\n\t\t_ = tc.NAME\n\t\t_ = tc.a.NAME // USE\n\t}\n}\n"}),
    ("A.NAME", {"a.go": "package p\ntype A struct{}\nfunc (A) NAME() {}\nfunc use() {\n\ttests := []struct {\n\t\tA\n\t\tx int\n\t}{{A: A{}}}\n\tfor _, tc := range tests {\n\t\ttc.NAME() // CALL\n\t}\n\tall := []A{{}}\n\tfor _, a := range all {\n\t\ta.NAME() // CALL\n\t}\n\tall[0].NAME() // CALL\n}\n"}),
    ("NAME", {"a.go": "package p\ntype NAME struct{}\nfunc use() {\n\t_ = struct{ NAME }{NAME: NAME{}} // USE\n\tvar t []struct{ *NAME } // USE\n\tfor _, x := range t {\n\t\t_ = x.NAME // USE\n\t}\n}\n"}),
    ("NAME", {"b.go": "package p\nfunc NAME() {}\n", "a.go": "package p\ntype T struct{}\nfunc (t T) NAME() {}\nfunc use() { NAME() } // CALL\n"}),
    ("NAME", {"a_linux.go": "package p\nfunc NAME() {}\n", "go.mod": "module m\n", "a_windows.go": "package p\nfunc NAME() {}\n", "b.go": "package p\nfunc use() { NAME() } // CALL\n"}),
    ("NAME", {"go-foo/a.go": "package foo\nfunc NAME() {}\n", "go.mod": "module example.com/m\n", "b/b.go": "package b\nimport \"example.com/m/go-foo\"\nfunc use() { foo.NAME() } // CALL\n"}),
    ("NAME", {"foo/a.go": "package foo\nfunc NAME() {}\n", "go.mod": "module example.com/m/v2\n", "b/b.go": "package b\nimport \"example.com/m/v2/foo\"\nfunc use() { foo.NAME() } // CALL\n"}),
    ("NAME", {"a.go": "package foo\nfunc NAME() {}\n", "go.mod": "module example.com/foo/v3\n", "b/b.go": "package b\nimport \"example.com/foo/v3\"\nfunc use() { foo.NAME() } // CALL\n"}),
    ("T.NAME", {"a.go": "package p\ntype T struct{}\nfunc (T) NAME() {}\ntype U struct{}\nfunc (U) NAME() {}\nfunc use(x func(func(T) bool)) { for t := range x { t.NAME() } } // CALL\n"}),
    ("T.NAME", {"a.go": "package p\nimport fmt \"fmt\"\ntype T struct{}\nfunc (T) NAME() {}\nfunc use(fmt T) { fmt.NAME() } // CALL\nvar _ = fmt.Sprint\n", "go.mod": "module m\n"}),
    ("T.NAME", {"a.go": "package p\ntype T struct{}\nfunc (T) NAME() {}\ntype A struct{}\nfunc (A) NAME() {}\nfunc use() { type A struct{ T }; var a A; a.NAME() } // CALL\n"}),
    ("T.NAME", {"a.go": "package p\ntype T struct{}\nfunc (T) NAME() {}\ntype U struct{}\nfunc (U) NAME() {}\nvar x, y = U{}, T{}\nfunc use() { y.NAME() } // CALL\nfunc two() (a U, b T) { b.NAME(); return } // CALL\nfunc three(a, b T, c U) { a.NAME() } // CALL\n"}),
    ("T.NAME", {"a.go": "package p\ntype T struct{}\nfunc (T) NAME() {}\ntype U struct{}\nfunc (U) NAME() {}\nfunc (u U) Get() T { return T{} }\nfunc use(u U) { x := u.Get(); x.NAME(); u.Get().NAME() } // CALL\n"}),
    ("T.NAME", {"a.go": "package p\ntype T struct{}\nfunc (T) NAME() {}\ntype G[X any] struct{ X X }\nfunc (G[X]) NAME() {}\nfunc use(g G[T]) { g.X.NAME() } // CALL\n"}),
    ("T.NAME", {"a.go": "package p\ntype T struct{}\nfunc (T) NAME() {}\ntype U struct{}\nfunc (U) NAME() {}\ntype W struct { U; in struct { T } }\nfunc use(w W) { w.in.NAME() } // CALL\n"}),
    ("T.NAME", {"a.go": "package p\ntype T struct{ NAME int }\ntype U struct{ NAME int }\nfunc use() { x := struct { T; a int }{}; _ = x.NAME } // USE\nfunc more() { var z struct { *T /* c */ }; _ = z.NAME } // USE\nfunc evenmore() { var z struct { a, b int; T `x:\"y z\"` }; _ = z.NAME } // USE\n"}),
    ("T.NAME", {"q/t.go": "package q\ntype T struct{ NAME int }\n", "go.mod": "module m\n", "a.go": "package p\nimport \"m/q\"\nfunc use() { var z struct { a int; q.T }; _ = z.NAME } // USE\nfunc gen() { var z struct { q.T /* x y */ }; _ = z.NAME } // USE\nfunc nl() { var z struct { /* a\n b */ q.T }; _ = z.NAME } // USE\n"}),
    ("G.NAME", {"a.go": "package p\ntype G[A, B any] struct{ NAME int }\nfunc use() { var z struct { G[int, string] }; _ = z.NAME } // USE\n"}),
    ("NAME", {"a.c": "void NAME(void) {}\n", "a.go": "package p\n// void NAME(void);\nimport \"C\"\nfunc use() { C.NAME() } // CALL\n"}),
    ("NAME", {"a.go": "package p\nimport \"C\"\n\n//export NAME\nfunc NAME() {}\n", "a.c": "extern void NAME(void);\nvoid go(void) {\n  NAME(); // CALL\n}\n"}),
    ("T.NAME", {"a.go": "package p\ntype T struct{}\nfunc (T) NAME() {}\ntype U struct{}\nfunc (U) NAME() {}\nfunc pick(b bool) interface{ NAME() } { return T{} }\nfunc use() { x := pick(true); x.NAME() } // CALL\ntype F func() T\nfunc ff(f F) { f().NAME() } // CALL\n"}),
    ("T.NAME", {"a.go": "package p\ntype T struct{}\nfunc (T) NAME() {}\ntype U struct{}\nfunc (U) NAME() {}\nfunc use(u U) { { u := T{}; u.NAME() }; if u := (T{}); true { u.NAME() } } // CALL\nfunc cl(u U) { f := func(u T) { u.NAME() }; f(T{}) } // CALL\n"}),
    ("T.NAME", {"a.go": "package p\nimport \"reflect\"\ntype T struct{}\nfunc (T) NAME() {}\nfunc use() { reflect.ValueOf(T{}).MethodByName(\"NAME\").Call(nil) } // CALL\n"}),
]
JAVA: list[Case] = [
    ("A.NAME", {"A.java": "package PKG;\npublic class A { public static void NAME() { } }\n", "B.java": "package PKG.b;\nimport static PKG.A.NAME; // USE\nclass B { void f() { NAME(); } } // CALL\n", "C.java": "package PKG.c;\nimport static PKG.A.*;\nclass C { void f() { NAME(); } } // CALL\n"}),
    ("A.NAME", {"A.java": "package PKG;\npublic class A { void NAME() { } class In { void go() { NAME(); A.this.NAME(); } } } // CALL\nclass B extends A { void go() { NAME(); Runnable r = this::NAME; } } // CALL\n"}),
    ("I.NAME", {"I.java": "package PKG;\ninterface I { void NAME(); }\nclass X implements I { public void NAME() { } }\nclass Y extends X { void go(X x) { x.NAME(); super.NAME(); } } // CALL\n"}),
    ("A.NAME", {"A.java": "package PKG;\nclass A { int NAME; A(int NAME) { this.NAME = NAME; } // USE\n  int get() { return NAME; } // USE\n  int loc() { int NAME = 1; return NAME; }\n}\nclass B extends A { B() { super(1); } int g() { return NAME; } } // USE\n"}),
    ("A.NAME", {"A.java": "package PKG;\nclass A<T> { T NAME() { return null; } }\nclass B { void f(A<A<String>> a) { a.NAME().NAME(); } } // CALL\nclass C { void f(java.util.List<A<String>> l) { l.forEach(a -> a.NAME()); l.stream().map(A::NAME); } } // CALL\n"}),
    ("A.NAME", {"A.java": "package PKG;\nrecord A(int NAME) { int two() { return NAME * 2; } } // USE\nclass B { int f(A a) { return a.NAME(); } } // CALL\n"}),
    ("E.NAME", {"E.java": "package PKG;\nenum E { NAME, OTHER; }\nclass B { int f(E e) { switch (e) { case NAME: return 1; } return E.NAME.ordinal(); } } // USE\n"}),
    ("A.NAME", {"A.java": "package PKG;\nclass A { void NAME() { } }\nclass B { A a = new A() { @Override void NAME() { super.NAME(); } }; void f() { a.NAME(); } } // CALL\nclass C { void f() { var x = new A(); x.NAME(); new A(){{ NAME(); }}; } } // CALL\n"}),
    ("I.NAME", {"I.java": "package PKG;\ninterface I { default void NAME() { } }\nclass A implements I { void go() { NAME(); I.super.NAME(); } } // CALL\nclass B { void f(A a) { a.NAME(); } } // CALL\n"}),
    ("O.In.NAME", {"O.java": "package PKG;\nclass O { static class In { static int NAME = 1; } int f() { return In.NAME; } } // USE\nclass P { int g() { return O.In.NAME; } } // USE\nclass Q extends O { int h() { return In.NAME; } } // USE\n"}),
    ("A.NAME", {"A.java": "package PKG;\nclass A { void NAME(int x) { } void NAME(String x) { } }\nclass B { void f(A a) { a.NAME(1); java.util.function.Consumer<String> c = a::NAME; } } // CALL\nclass C { A a; A get() { return a; } void g() { get().NAME(2); this.a.NAME(3); } } // CALL\n"}),
    ("A.NAME", {"A.java": "package PKG;\nabstract class A { abstract void NAME(); void run() { NAME(); } } // CALL\nclass B extends A { void NAME() { } }\nclass C extends B { void go() { Object NAME = this; NAME(); ((A) NAME).NAME(); } } // CALL\n"}),
    ("B.NAME", {"B.java": "package PKG;\nclass B { void NAME() { } }\nclass A { void NAME() { } }\nclass D { static class A extends B { } }\nclass C extends D { void f(A a) { a.NAME(); } } // CALL\n"}),
    ("B.NAME", {"B.java": "package PKG;\npublic class B { public void NAME() { } }\n", "q/A.java": "package PKG.q;\npublic class A extends PKG.B { }\n", "A.java": "package PKG;\nclass A { void NAME() { } }\n", "C.java": "package PKG;\nimport PKG.q.A;\nclass C { void f(A a) { a.NAME(); } } // CALL\n"}),
    ("B.NAME", {"B.java": "package PKG;\nclass B { void NAME() { } }\nclass A { void NAME() { } }\nclass C { void f(Object o) { if (o instanceof B b) b.NAME(); if (!(o instanceof B c)) return; c.NAME(); } } // CALL\nclass D { A b; void f(Object o) { if (!(o instanceof B b)) { return; }\n b.NAME(); } } // CALL\n"}),
    ("B.NAME", {"B.java": "package PKG;\nclass B { void NAME() { } }\nclass A { void NAME() { } }\nrecord R(B b) { }\nclass D { A b; void f(Object o) { switch (o) { case R(B b) -> b.NAME(); case B x when x != null -> x.NAME(); default -> { } } } } // CALL\n"}),
    ("B.NAME", {"B.java": "package PKG;\nclass B { void NAME() { } }\nclass A { void NAME() { } }\nclass P { B a; }\nclass D extends P { void f() { a.NAME(); this.a.NAME(); super.a.NAME(); } } // CALL\nclass E { A a; class I extends P { void f() { a.NAME(); } } } // CALL\n"}),
    ("B.NAME", {"B.java": "package PKG;\nclass B { void NAME() { } }\nclass A { void NAME() { } }\nclass D { A a; void f(java.util.List<B> l) { l.forEach(a -> a.NAME()); l.forEach(B::NAME); for (B a : l) a.NAME(); for (var a : l) a.NAME(); } } // CALL\n"}),
    ("B.NAME", {"B.java": "package PKG;\nclass B { void NAME() { } }\nclass A { void NAME() { } }\nclass D { A a; void f() throws Exception { try (R a = new R()) { a.b.NAME(); } } } // CALL\nclass R implements AutoCloseable { B b; public void close() { } }\n"}),
    ("B.NAME", {"B.java": "package PKG;\nclass B { void NAME() { } }\nclass A { void NAME() { } }\nclass D { A[] a; B[] b; void f() { b[0].NAME(); a.clone(); B[] c = new B[1]; c[0].NAME(); } } // CALL\n"}),
    ("B.NAME", {"B.java": "package PKG;\nclass B { void NAME() { } }\nclass A { void NAME() { } }\nclass D { <T extends B> T get(T t) { return t; } A get(String s) { return null; } void f() { get(new B()).NAME(); } } // CALL\n"}),
    ("B.NAME", {"B.java": "package PKG;\nclass B { void NAME() { } }\nclass A { void NAME() { } }\nclass G<T> { T x; T get() { return x; } }\nclass D { void f(G<B> g) { g.x.NAME(); g.get().NAME(); } } // CALL\nclass H extends G<B> { void f() { x.NAME(); get().NAME(); } } // CALL\n"}),
    ("B.NAME", {"B.java": "package PKG;\nclass B { void NAME() { } }\nclass D { void f() throws Exception { B.class.getDeclaredMethod(\"NAME\").invoke(null); } } // CALL\n"}),
    ("B.NAME", {"B.java": "package PKG;\nclass B { static void NAME() { } }\nclass A { static void NAME() { } }\nclass D { B A; void f() { A.NAME(); } } // CALL\n"}),
    ("B.NAME", {"B.java": "package PKG;\nclass B { int NAME; }\nclass A { int NAME; }\nclass D { int f(A a) { return ((B) (Object) a).NAME; } } // USE\nclass E extends B { class A2 { int f() { return NAME + E.this.NAME + E.super.NAME; } } } // USE\n"}),
    ("B.NAME", {"B.java": "package PKG;\nclass B { void NAME() { } }\n", "K.kt": "package PKG\nfun go(b: B) { b.NAME() } // CALL\n"}),
    ("I.NAME", {"I.java": "package PKG;\ninterface I { int NAME = 1; }\nclass A implements I { int f() { return NAME; } } // USE\nclass B { int f() { return A.NAME + new A().NAME; } } // USE\nenum E implements I { X { int g() { return NAME; } }; } // USE\n"}),
    ("B.NAME", {"B.java": "package PKG;\nclass B { void NAME() { } }\nclass A { void NAME() { } }\nclass D { A x() { return null; }\n class I extends J { void f() { x().NAME(); } } } // CALL\nclass J { B x() { return null; } }\n"}),
    ("B.NAME", {"B.java": "package PKG;\nclass B { void NAME() { } }\nclass A { void NAME() { } }\nclass D { void f() { class A extends B { } A a = new A(); a.NAME(); } } // CALL\nclass E { void f() { A a = new A(); { } Runnable r = () -> { var q = new B(); q.NAME(); }; } } // CALL\n"}),
    ("A.NAME", {"A.java": "package PKG;\nclass A { static int NAME() { return 1; } }\nclass D extends A { int f() { return NAME(); } } // CALL\nclass E { static class N extends A { } int f() { return N.NAME() + new N() { int g() { return NAME(); } }.g(); } } // CALL\n"}),
]
C: list[Case] = [
    ("NAME", {"a.c": "static int NAME(void) { return 1; }\n#define CALL1(x) x()\nint f(void) { return CALL1(NAME); } // CALL\n"}),
    ("NAME", {"a.c": "int NAME(void) { return 1; }\n", "b.c": "#define GO NAME() // USE\nint NAME(void);\nint f(void) { return GO; }\n"}),
    ("NAME", {"a.c": "int NAME(void) { return 1; }\n", "b.c": "#define RUN(n) n##x()\nextern int NAME(void); // USE\nint (*p)(void) = &NAME; // USE\nstruct s { int (*NAME)(void); } q = { .NAME = NAME }; // USE\n"}),
    ("NAME", {"a.c": "int NAME(int a) { return a; }\nint f(int NAME) { return NAME; }\nint g(void) { int x = NAME(1); { int NAME = 2; x += NAME; } return x + NAME(2); } // CALL\n"}),
    ("NAME", {"a.c": "typedef int NAME;\nint f(void) { NAME NAME = 1; return (int)sizeof(NAME); } // USE\nNAME g(void); // USE\n"}),
    ("NAME", {"a.c": "#ifdef X\nint NAME(void) { return 1; }\n#else\nint NAME(void) { return 2; }\n#endif\nint f(void) { return NAME(); } // CALL\n"}),
    ("NAME", {"a.c": "int NAME(void) { return 1; }\n", "x.S": "  .globl go\ngo: call NAME // CALL\n"}),
    ("NAME", {"a.c": "int NAME(void) { return 1; }\n", "b.c": "int f(void) { int r; __asm__(\"call NAME\" : \"=a\"(r)); return r; } // CALL\n"}),
]
RUST: list[Case] = [
    ("NAME", {"src/lib.rs": "pub fn NAME() {}\nmacro_rules! go { ($x:ident) => { $x() } }\nfn f() { go!(NAME); println!(\"{}\", NAME()); } // CALL\n"}),
    ("NAME", {"src/lib.rs": "pub mod a { pub fn NAME() {} }\npub use a::NAME as other; // USE\npub use a::{self as b, NAME}; // USE\nfn f() { other(); b::NAME(); } // CALL\n"}),
    ("T.NAME", {"src/lib.rs": "trait T { fn NAME(&self) {} }\nstruct S; impl T for S {}\nfn f(s: S) { s.NAME(); <S as T>::NAME(&s); T::NAME(&s); } // CALL\n"}),
    ("S.NAME", {"src/lib.rs": "struct S; impl S { fn NAME(&self) {} fn go(&self) { let f = Self::NAME; f(self); self.NAME() } } // CALL\nstruct W(S); impl std::ops::Deref for W { type Target = S; fn deref(&self) -> &S { &self.0 } }\nfn g(w: W) { w.NAME() } // CALL\n"}),
]
# fmt: on
LANGUAGES = {
    "py": PYTHON,
    "ts": TYPESCRIPT,
    "js": JAVASCRIPT,
    "go": GO,
    "java": JAVA,
    "c": C,
    "rs": RUST,
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_complete_answers_list_every_marked_line(tmp_path: Path, language: str) -> None:
    repo = Repo(tmp_path / "repo")
    repo.init()
    asked: list[tuple[str, set[tuple[str, int]], set[tuple[str, int]]]] = []
    for number, (symbol, files) in enumerate(LANGUAGES[language]):
        name, package = f"name{number}x", f"pkg{number}"
        used, called = set(), set()
        for file, raw in files.items():
            path = f"{package}/{file}".replace("NAME", name)
            text = raw.replace("NAME", name).replace("PKG", package)
            repo.write(path, text)
            for at, line in enumerate(text.splitlines(), 1):
                used |= {(path, at)} if line.endswith((" USE", " CALL")) else set()
                called |= {(path, at)} if line.endswith(" CALL") else set()
        home = f"{package}/{next(iter(files))}"
        asked.append((f"{home}#{symbol.replace('NAME', name)}", used, called))
    repo.commit()
    repo.index()
    wrong, memory = [], Memory()
    with open_tree(repo.worktree, ".") as view:
        for symbol, used, called in asked:
            told = find_references(view, ReferenceQuery(symbol, limit=500), memory)
            assert told["definitions"], symbol
            listed = {(r["path"], r["line"]) for r in told["references"]}
            if told["complete"] and used - listed:
                wrong.append(f"refs {symbol}: {sorted(used - listed)}")
            graph = call_graph(view, GraphQuery(symbol, Direction.CALLERS, limit=500), memory)
            sites = {(e["site"]["path"], e["site"]["line"]) for e in graph.get("edges", ())}
            if graph.get("complete") and called - sites:
                wrong.append(f"callers {symbol}: {sorted(called - sites)}")
    assert not wrong, "\n".join(wrong)


def test_nothing_is_proven_where_scopes_cannot_be_read(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "a.js": "export default function name() {}\n",
        "b.js": "import x from './a.js';\nx();\n",
    }
    files |= {"c.py": "def other():\n    pass\n\n\ndef f(other):\n    return other\n"}
    repo.index_files(files)
    for fault, complete in (("", True), ("crash:name()", False)):
        monkeypatch.setenv("GITINDEX_TEST_FAULT", fault)
        with open_tree(repo.worktree, ".") as view:
            assert find_references(view, ReferenceQuery("name"))["complete"] is complete
    for fault, complete in (("", True), ("crash:return other", False)):
        monkeypatch.setenv("GITINDEX_TEST_FAULT", fault)
        with open_tree(repo.worktree, ".") as view:
            assert find_references(view, ReferenceQuery("other"))["complete"] is complete
