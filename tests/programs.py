# ruff: noqa: E501 — sources read better on one line
"""Small random programs that hide, alias, re-export and override names, and record who called what.

Each function reports itself and the line that called it, so the language's own implementation is the
oracle: of a line that names a target and called it, an answer that says `complete` must know.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

Files = dict[str, str]
Scene = Callable[[random.Random, str, str], list[str]]


def python_programs(count: int, seed: int) -> Files:
    """Programs of Python; `main.py` runs them all and prints `target path:line`."""
    rng = random.Random(f"python {seed}")
    files: Files = {
        "hits.py": "import sys\n\n\ndef hit(what):\n    frame = sys._getframe(2)\n    print(what, frame.f_code.co_filename + ':' + str(frame.f_lineno))\n"
    }
    runs = []
    for number in range(count):
        folder, f, m = f"p{number}", f"fun{number}", f"met{number}"
        one = rng.random() < 0.5
        files[f"{folder}/__init__.py"] = ""
        files[f"{folder}/a.py"] = _lines(
            "from hits import hit",
            f"def {f}(*args):",
            f"    hit('{folder}/a.py#{f}')",
            f"def {f}_self():",
            f"    {f}()",
            "class Base:",
            f"    def {m}(self):",
            f"        hit('{folder}/a.py#Base.{m}')",
            "    def template(self):",
            f"        self.{m}()",
        )
        files[f"{folder}/b.py"] = _lines(
            "from hits import hit",
            rng.choice(
                [
                    f"from {folder}.a import Base",
                    f"from {folder}.a import Base as Root; Base = Root",
                ]
            ),
            *([f"def {f}(*args):", f"    hit('{folder}/b.py#{f}')"] if one else []),
            "class Child(Base):",
            f"    def {m}(self):",
            f"        hit('{folder}/b.py#Child.{m}')",
            "class Other:",
            f"    def {m}(self):",
            f"        hit('{folder}/b.py#Other.{m}')",
            *(["class Both(Other, Base):", "    pass"] if rng.random() < 0.5 else []),
        )
        files[f"{folder}/r.py"] = rng.choice(
            [
                f"from {folder}.a import {f}\n",
                f"from {folder}.a import *\n",
                f"from .a import {f} as {f}\n",
                f"try:\n    from {folder}.a import {f}\nexcept ImportError:\n    {f} = None\n",
            ]
        )
        imports = rng.choice(
            [
                (f"from {folder}.a import {f}", f),
                (f"from {folder}.a import {f} as al_{f}", f"al_{f}"),
                (f"import {folder}.a", f"{folder}.a.{f}"),
                (f"from {folder} import a", f"a.{f}"),
                (f"from {folder}.r import {f}", f),
                (f"import {folder}.r as res", f"res.{f}"),
                (f"from {folder}.r import *", f),
            ]
        )
        body = [
            imports[0],
            f"from {folder}.a import Base",
            f"from {folder} import b",
            f"from {folder}.b import Child, Other",
        ]
        scenes = rng.sample(PYTHON, 6)
        for at, scene in enumerate(scenes):
            body += [f"def scene{at}():", *("    " + text for text in scene(rng, f, m))]
        body += ["def plain():", f"    {imports[1]}()"]
        body += ["def run():", *(f"    scene{at}()" for at in range(len(scenes))), "    plain()"]
        files[f"{folder}/c.py"] = _lines(*body)
        runs += [f"import {folder}.c, {folder}.a", f"{folder}.c.run()", f"{folder}.a.{f}_self()"]
    files["main.py"] = _lines(*runs)
    return _apart(files)


PYTHON: list[Scene] = [
    lambda r, f, m: [f"def inner({f}):", f"    {f}()", "inner(lambda: None)"],
    lambda r, f, m: [f"{f} = lambda: None", f"{f}()"],
    lambda r, f, m: [
        f"[{f}() for {f} in [lambda: None]]",
        f"b.__dict__.get('x') or (lambda {f}: {f}())(len if False else (lambda: 0))",
    ],
    lambda r, f, m: [f"from {'p' + f[3:]}.a import {f}", f"{f}()"],
    lambda r, f, m: [f"def {f}():", "    pass", f"{f}()"],
    lambda r, f, m: ["try:", "    raise ValueError", f"except ValueError as {f}:", f"    {f}.args"],
    lambda r, f, m: [
        f"for {f} in [len]:",
        f"    {f}('')",
        f"with open('/dev/null') as {m}:",
        f"    {m}.read()",
    ],
    lambda r, f, m: [f"if (({f} := (lambda: 0))):", f"    {f}()"],
    lambda r, f, m: ["obj = Child()", f"obj.{m}()"],
    lambda r, f, m: ["obj = Base()", f"obj.{m}()", "Child().template()"],
    lambda r, f, m: [f"def use(thing): thing.{m}()", "use(Child())", "use(Other())"],
    lambda r, f, m: ["def use(thing: Base):", f"    thing.{m}()", "use(Child())"],
    lambda r, f, m: ["for obj in [Child(), Other()]:", f"    obj.{m}()"],
    lambda r, f, m: ["obj = Child() if len('x') else Other()", f"obj.{m}()"],
    lambda r, f, m: [
        "class Late(Child):",
        "    def go(self):",
        f"        super().{m}()",
        f"        Other.{m}(self)",
        "Late().go()",
    ],
    lambda r, f, m: [
        "class Holder:",
        "    def __init__(self): self.part = Child()",
        "    def go(self):",
        f"        self.part.{m}()",
        "Holder().go()",
    ],
    lambda r, f, m: ["getattr(b, 'Both', Child)().template()"],
    lambda r, f, m: [f"def keys({f}=None): return {f}", f"keys({f}=3)"],
    lambda r, f, m: ["def make():", "    return Child()", f"make().{m}()"],
    lambda r, f, m: ["pair = (Child(), Other())", "one, two = pair", f"one.{m}()", f"two.{m}()"],
    lambda r, f, m: [f"import {'p' + f[3:]}.a as mod", f"mod.{f}()", "other = mod", f"other.{f}()"],
    lambda r, f, m: [
        "from importlib import import_module",
        f"mod = import_module('{'p' + f[3:]}.a')",
        f"mod.{f}()",
    ],
    lambda r, f, m: [
        "def outer():",
        f"    {f} = 1",
        "    def nested():",
        f"        nonlocal {f}",
        f"        {f} = 2",
        "    nested()",
        "outer()",
    ],
    lambda r, f, m: [
        "class Scope:",
        f"    {f} = staticmethod(lambda: 0)",
        "    def go(self):",
        f"        return self.{f}()",
        "Scope().go()",
    ],
    lambda r, f, m: ["match Child():", f"    case {m}:", f"        {m}.{m}()"],
    lambda r, f, m: ["obj = Child() if '' else Other()", f"obj.{m}()"],
    lambda r, f, m: ["obj = '' and Child() or Other()", f"obj.{m}()"],
    lambda r, f, m: [
        "obj = Child()",
        "def change():",
        "    nonlocal obj",
        "    obj = Other()",
        "change()",
        f"obj.{m}()",
    ],
    lambda r, f, m: ["def use(thing=Child()):", f"    thing.{m}()", "use(Other())"],
    lambda r, f, m: ["def use(make=Child):", f"    make().{m}()", "use(Other)"],
    lambda r, f, m: [
        "class Holder: part = Child()",
        "def go(held):",
        f"    held.part.{m}()",
        "Holder.part = Other()",
        "go(Holder())",
    ],
    lambda r, f, m: ["pick = lambda x: lambda y: Other()", f"pick(1)(Child()).{m}()"],
    lambda r, f, m: ["def take(text, x=None): return Other()", f"take(')', Child()).{m}()"],
    lambda r, f, m: [
        "class Odd(Child):",
        "    def __new__(cls): return Other()",
        f"Odd().{m}()",
    ],
    lambda r, f, m: [
        "swap = lambda cls: Other",
        "@swap",
        "class Odd(Child): pass",
        f"Odd().{m}()",
    ],
    lambda r, f, m: [
        "class Odd(Child):",
        "    def __enter__(self): return Other()",
        "    def __exit__(self, *args): pass",
        "with Odd() as obj:",
        f"    obj.{m}()",
    ],
]


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"


_CLASSES = re.compile(r"\b(Base|Child|Other|Both|Late|Holder|Face)\b")


def _apart(files: Files) -> Files:
    """Every program has classes of its own: names of two programs never meet."""
    found: Files = {}
    for name, text in files.items():
        number = re.search(r"\bp(\d+)/", name)
        mark = rf"\g<1>{number.group(1)}" if number else r"\1"
        found[_CLASSES.sub(mark, name)] = _CLASSES.sub(mark, text)
    return found


def typescript_programs(count: int, seed: int) -> Files:
    """Programs of TypeScript; types stand in «…», so that plain JavaScript has the same lines."""
    rng = random.Random(f"typescript {seed}")
    files: Files = {
        "hits.ts": "export function hit(what«: string») {\n  const at = (new Error().stack || '').split('\\n')[3] || '';\n  const found = /([\\w/]+\\.m?[jt]s):(\\d+)/.exec(at.replace(process.cwd() + '/', ''));\n  console.log(what + ' ' + (found ? found[1] + ':' + found[2] : '?'));\n}\n"
    }
    runs = []
    for number in range(count):
        folder, f, m = f"p{number}", f"fun{number}", f"met{number}"
        files[f"{folder}/a.ts"] = _lines(
            "import { hit } from '../hits.ts';",
            f"export function {f}() {{ hit('{folder}/a.ts#{f}') }}",
            "export class Base {",
            f"  {m}() {{ hit('{folder}/a.ts#Base.{m}') }}",
            "  template() {",
            f"    this.{m}()",
            "  }",
            "}",
            *rng.choice([[f"export default {f}"], []]),
        )
        files[f"{folder}/b.ts"] = _lines(
            "import { hit } from '../hits.ts';",
            "import { Base } from './a.ts';",
            "export class Child extends Base {",
            f"  {m}() {{ hit('{folder}/b.ts#Child.{m}') }}",
            "}",
            "export class Other {",
            f"  {m}() {{ hit('{folder}/b.ts#Other.{m}') }}",
            "}",
            *(
                [f"export function {f}() {{ hit('{folder}/b.ts#{f}') }}"]
                if rng.random() < 0.5
                else []
            ),
        )
        files[f"{folder}/r.ts"] = rng.choice(
            [
                f"export {{ {f} }} from './a.ts';\n",
                "export * from './a.ts';\n",
                f"import {{ {f} }} from './a.ts';\nexport {{ {f} }};\n",
            ]
        )
        named, called = rng.choice(
            [
                (f"import {{ {f} }} from './a.ts';", f),
                (f"import {{ {f} as al_{f} }} from './a.ts';", f"al_{f}"),
                ("import * as space from './a.ts';", f"space.{f}"),
                (f"import {{ {f} }} from './r.ts';", f),
                ("import * as res from './r.ts';", f"res.{f}"),
            ]
        )
        body = [named, "import { Base } from './a.ts';", "import { Child, Other } from './b.ts';"]
        scenes = rng.sample(TYPESCRIPT, 6)
        for at, scene in enumerate(scenes):
            body += [f"function scene{at}() {{", *("  " + text for text in scene(rng, f, m)), "}"]
        body += ["export function run() {", *(f"  scene{at}();" for at in range(len(scenes)))]
        body += [f"  {called}();", "}"]
        files[f"{folder}/c.ts"] = _lines(*body)
        runs += [f"import {{ run as run{number} }} from './{folder}/c.ts';"]
    runs += [f"run{number}();" for number in range(count)]
    files["main.ts"] = _lines(*runs)
    return _apart(files)


TYPESCRIPT: list[Scene] = [
    lambda r, f, m: [
        f"const use = ({f}«: () => void») => {{",
        f"  {f}();",
        "};",
        "use(() => undefined);",
    ],
    lambda r, f, m: ["{", f"  const {f} = () => 0;", f"  {f}();", "}"],
    lambda r, f, m: [f"function {f}() {{}}", f"{f}();"],
    lambda r, f, m: [f"for (const {f} of [() => 0]) {{", f"  {f}();", "}"],
    lambda r, f, m: [f"const {{ {f} }} = {{ {f}: () => 0 }};", f"{f}();"],
    lambda r, f, m: ["const obj = new Child();", f"obj.{m}();"],
    lambda r, f, m: ["const obj«: Base» = new Child();", f"obj.{m}();"],
    lambda r, f, m: [
        f"const use = (thing«: any») => thing.{m}();",
        "use(new Child());",
        "use(new Other());",
    ],
    lambda r, f, m: ["new Child().template();"],
    lambda r, f, m: [
        "class Late extends Child {",
        "  go() {",
        f"    super.{m}();",
        "  }",
        "}",
        "new Late().go();",
    ],
    lambda r, f, m: [
        f"const use = (thing«: {{ {m}(): void }}») => {{",
        f"  thing.{m}();",
        "};",
        "use(new Child());",
        "use(new Other());",
    ],
    lambda r, f, m: ["const all = [new Child(), new Other()];", f"all.forEach(one => one.{m}());"],
    lambda r, f, m: [
        f"try {{ throw {{ {m}() {{}} }} }} catch ({f}«: any») {{",
        f"  {f}.{m}();",
        "}",
    ],
    lambda r, f, m: [
        "class Holder {",
        "  part = new Child();",
        "  go() {",
        f"    this.part.{m}();",
        "  }",
        "}",
        "new Holder().go();",
    ],
    lambda r, f, m: [f"const obj = {{ {m}() {{}}, go() {{", f"  this.{m}();", "} };", "obj.go();"],
    lambda r, f, m: ["const make = () => new Child();", f"make().{m}();"],
    lambda r, f, m: [f"const key = 'x'; const box«: any» = {{ {f}: 1 }};", f"box.{f};"],
    lambda r, f, m: [f"var {f} = () => 0;", f"{f}();"],
    lambda r, f, m: ["const obj = '' ? new Child() : new Other();", f"obj.{m}();"],
    lambda r, f, m: ["const obj = '' && new Child() || new Other();", f"obj.{m}();"],
    lambda r, f, m: ["let obj«: any» = new Child();", "obj = new Other();", f"obj.{m}();"],
    lambda r, f, m: [
        "const pick«: any» = (x«: any») => (y«: any») => new Other();",
        "const obj = new Child();",
        f"pick(1)(obj).{m}();",
        f"[pick][0](1)(obj).{m}();",
        f"pick?.(1)?.(obj).{m}();",
    ],
    lambda r, f, m: [
        "const use = (thing«: any» = new Child()) => {",
        f"  thing.{m}();",
        "};",
        "use(new Other());",
    ],
    lambda r, f, m: [
        "const take«: any» = (text«: any», x«: any») => new Other();",
        f"take(')' /* ( */, new Child()).{m}();",
    ],
    lambda r, f, m: [
        "class Holder {",
        "  part«: any» = new Child();",
        "  go() {",
        f"    this.part.{m}();",
        "  }",
        "}",
        "const held = new Holder();",
        "held.part = new Other();",
        "held.go();",
    ],
]


def go_programs(count: int, seed: int) -> Files:
    """Programs of Go, all in two packages: `lib` and the one that uses it."""
    rng = random.Random(f"go {seed}")
    files: Files = {
        "go.mod": "module m\n\ngo 1.19\n",
        "hits/hits.go": 'package hits\n\nimport (\n\t"fmt"\n\t"runtime"\n\t"strings"\n)\n\nfunc Hit(what string) {\n\t_, file, line, _ := runtime.Caller(2)\n\tparts := strings.Split(file, "/")\n\tfmt.Printf("%s %s:%d\\n", what, strings.Join(parts[len(parts)-2:], "/"), line)\n}\n',
    }
    runs = []
    for n in range(count):
        f, m = f"Fun{n}", f"Met{n}"
        files[f"lib/p{n}.go"] = _lines(
            "package lib",
            'import "m/hits"',
            f'func {f}() {{ hits.Hit("lib/p{n}.go#{f}") }}',
            f"type Base{n} struct{{}}",
            f'func (b *Base{n}) {m}() {{ hits.Hit("lib/p{n}.go#Base{n}.{m}") }}',
            f"type Child{n} struct{{ *Base{n} }}",
            f'func (c Child{n}) {m}() {{ hits.Hit("lib/p{n}.go#Child{n}.{m}") }}',
            f"type Other{n} struct{{}}",
            f'func (o Other{n}) {m}() {{ hits.Hit("lib/p{n}.go#Other{n}.{m}") }}',
            f"type Face{n} interface{{ {m}() }}",
            f"func Make{n}() *Base{n} {{ return &Base{n}{{}} }}",
        )
        alias = rng.choice(["lib", "al", "lib"])
        spec = '"m/lib"' if alias == "lib" else f'{alias} "m/lib"'
        body = ["package use", f"import {spec}"]
        scenes = rng.sample(GO, 6)
        for at, scene in enumerate(scenes):
            text = [t.replace("@", alias).replace("#", str(n)) for t in scene(rng, f, m)]
            body += [f"func scene{n}x{at}() {{", *("\t" + line for line in text), "}"]
        body += [f"func Run{n}() {{", *(f"\tscene{n}x{at}()" for at in range(len(scenes)))]
        body += [f"\t{alias}.{f}()", "}"]
        files[f"use/p{n}.go"] = _lines(*body)
        runs.append(f"\tuse.Run{n}()")
    files["main.go"] = _lines("package main", 'import "m/use"', "func main() {", *runs, "}")
    return files


GO: list[Scene] = [
    lambda r, f, m: [f"{f} := func() {{}}", f"{f}()"],
    lambda r, f, m: ["b := @.Make#()", f"b.{m}()", "_ = func(b string) string { return b }"],
    lambda r, f, m: [
        "b := @.Make#()",
        "func(b @.Other#) {",
        f"\tb.{m}()",
        "}(@.Other#{})",
        f"b.{m}()",
    ],
    lambda r, f, m: [
        "var i @.Face# = @.Other#{}",
        f"i.{m}()",
        "i = @.Child#{Base#: @.Make#()}",
        f"i.{m}()",
    ],
    lambda r, f, m: ["c := @.Child#{Base#: @.Make#()}", f"c.{m}()", f"c.Base#.{m}()"],
    lambda r, f, m: ["if c := (@.Other#{}); true {", f"\tc.{m}()", "}"],
    lambda r, f, m: ["for _, c := range []@.Face#{@.Other#{}, @.Make#()} {", f"\tc.{m}()", "}"],
    lambda r, f, m: [
        "var x interface{} = @.Other#{}",
        "switch c := x.(type) {",
        "case @.Other#:",
        f"\tc.{m}()",
        "}",
    ],
    lambda r, f, m: [f"type local struct{{ {f} int }}", f"v := local{{{f}: 1}}", f"_ = v.{f}"],
    lambda r, f, m: [
        f"use := func(i interface{{ {m}() }}) {{",
        f"\ti.{m}()",
        "}",
        "use(@.Other#{})",
        "use(@.Make#())",
    ],
    lambda r, f, m: ["o, c := @.Other#{}, @.Make#()", f"o.{m}()", f"c.{m}()"],
    lambda r, f, m: [
        "type deep struct{ @.Child# }",
        "d := deep{@.Child#{Base#: @.Make#()}}",
        f"d.{m}()",
    ],
    lambda r, f, m: [f"{f.lower()} := @.{f}", f"{f.lower()}()"],
    lambda r, f, m: ["all := map[string]@.Other#{}", f'all["x"].{m}()'],
    lambda r, f, m: ["p := &@.Other#{}", "{", "\tp := @.Make#()", f"\tp.{m}()", "}", f"p.{m}()"],
    lambda r, f, m: [
        "take := func(text string, b *@.Base#) @.Other# { return @.Other#{} }",
        f'take(")", @.Make#()).{m}()',
    ],
    lambda r, f, m: [
        "pick := func() func(*@.Base#) @.Other# { return func(*@.Base#) @.Other# { return @.Other#{} } }",
        "b := @.Make#()",
        f"pick()(b).{m}()",
    ],
    lambda r, f, m: [
        "two := func() (*@.Base#, @.Other#) { return @.Make#(), @.Other#{} }",
        "b, o := two()",
        f"o.{m}()",
        f"b.{m}()",
    ],
    lambda r, f, m: ["type alias = @.Other#", f"(&alias{{}}).{m}()"],
    lambda r, f, m: ["var x interface{} = @.Other#{}", f"x.(@.Other#).{m}()"],
]


def java_programs(count: int, seed: int) -> Files:
    """Programs of Java, a package each."""
    rng = random.Random(f"java {seed}")
    files: Files = {
        "Hits.java": 'public class Hits {\n  public static void hit(String what) {\n    StackTraceElement at = new Throwable().getStackTrace()[2];\n    String folder = at.getClassName().contains(".") ? at.getClassName().split("\\\\.")[1] + "/" : "";\n    System.out.println(what + " t/" + folder + at.getFileName() + ":" + at.getLineNumber());\n  }\n}\n'.replace(
            "public class", "package t;\npublic class"
        )
    }
    files = {f"t/{name}": text for name, text in files.items()}
    runs = []
    for n in range(count):
        home, f, m = f"t/p{n}", f"fun{n}", f"met{n}"
        head = [f"package t.p{n};", "import t.Hits;"]
        files[f"{home}/Base.java"] = _lines(
            *head,
            "public class Base {",
            f'  public static void {f}() {{ Hits.hit("{home}/Base.java#Base.{f}"); }}',
            f'  public void {m}() {{ Hits.hit("{home}/Base.java#Base.{m}"); }}',
            "  public void template() {",
            f"    {m}();",
            "  }",
            "}",
        )
        files[f"{home}/Child.java"] = _lines(
            *head,
            "public class Child extends Base implements Face {",
            f'  @Override public void {m}() {{ Hits.hit("{home}/Child.java#Child.{m}"); }}',
            "}",
        )
        files[f"{home}/Other.java"] = _lines(
            *head,
            "public class Other {",
            f"  public int {f} = 1;",
            f'  public void {m}() {{ Hits.hit("{home}/Other.java#Other.{m}"); }}',
            "}",
        )
        files[f"{home}/Face.java"] = _lines(*head, f"public interface Face {{ void {m}(); }}")
        body = [*head, *rng.choice([[f"import static t.p{n}.Base.{f};"], []])]
        static = len(body) > 2
        scenes = rng.sample(JAVA, 6)
        body.append("public class Use {")
        for at, scene in enumerate(scenes):
            body += [
                f"  static void scene{at}() {{",
                *("    " + t for t in scene(rng, f, m)),
                "  }",
            ]
        body += [
            "  public static void run() {",
            *(f"    scene{at}();" for at in range(len(scenes))),
        ]
        body += [f"    {f}();" if static else f"    Base.{f}();", "  }", "}"]
        files[f"{home}/Use.java"] = _lines(*body)
        runs.append(f"    t.p{n}.Use.run();")
    files["t/Main.java"] = _lines(
        "package t;",
        "public class Main {",
        "  public static void main(String[] a) {",
        *runs,
        "  }",
        "}",
    )
    return _apart(files)


JAVA: list[Scene] = [
    lambda r, f, m: [f"Runnable {f} = () -> {{}};", f"{f}.run();"],
    lambda r, f, m: ["Base b = new Child();", f"b.{m}();"],
    lambda r, f, m: ["Child b = new Child();", f"b.{m}();"],
    lambda r, f, m: ["Face b = new Child();", f"b.{m}();"],
    lambda r, f, m: ["var b = new Child();", f"b.{m}();"],
    lambda r, f, m: ["Other o = new Other();", f"o.{m}();", f"int x = o.{f};"],
    lambda r, f, m: ["new Child().template();"],
    lambda r, f, m: [
        f"new Base() {{ public void {m}() {{ }}",
        "  void go() {",
        f"    {m}();",
        f"    super.{m}();",
        "} }.go();",
    ],
    lambda r, f, m: [
        "class Both extends Other implements Face { }",
        "Face b = new Both();",
        f"b.{m}();",
    ],
    lambda r, f, m: ["for (Face b : new Face[] { new Child() }) {", f"  b.{m}();", "}"],
    lambda r, f, m: ["Object o = new Other();", "if (o instanceof Other x) {", f"  x.{m}();", "}"],
    lambda r, f, m: ["Runnable r = new Child()::" + m + ";", "r.run();"],
    lambda r, f, m: [f"{f}: while (true) {{", f"  break {f};", "}"],
    lambda r, f, m: [
        "java.util.List<Base> all = java.util.List.of(new Child());",
        f"all.forEach(b -> b.{m}());",
        "for (var b : all) {",
        f"  b.{m}();",
        "}",
    ],
    lambda r, f, m: [f"int {f} = 2;", f"int y = {f} + 1;"],
    lambda r, f, m: ["java.util.function.Supplier<Child> s = Child::new;", f"s.get().{m}();"],
    lambda r, f, m: [
        "class Taker {",
        "  Other take(String text, Base b) { return new Other(); }",
        "  Base take(int number) { return new Child(); }",
        "}",
        f'new Taker().take(")", new Base()).{m}();',
        f"new Taker().take(1).{m}();",
    ],
    lambda r, f, m: [
        "Object o = new Other();",
        f"((Other) o).{m}();",
        f"(/* Base */ new Child()).{m}();",
    ],
    lambda r, f, m: [
        "class Holder<T extends Other> {",
        "  T part;",
        "  void go() {",
        f"    part.{m}();",
        "  }",
        "}",
        "var held = new Holder<Other>();",
        "held.part = new Other();",
        "held.go();",
    ],
    lambda r, f, m: [
        "class Holder {",
        f"  void {m}() {{ }}",
        "  Other make() {",
        "    return new Other() { void go() {",
        f"      {m}();",
        "    } { go(); } };",
        "  }",
        "}",
        "new Holder().make();",
    ],
]


def hits_of(output: str) -> Iterator[tuple[str, str, int]]:
    """`target, path, line` of each call that was recorded."""
    for row in output.splitlines():
        target, _, place = row.partition(" ")
        path, _, line = place.rpartition(":")
        if line.isdigit():
            yield target, path, int(line)
