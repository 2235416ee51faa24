# ruff: noqa: E501 — sources read better on one line
"""The reference engine as a gate: what a staged rename leaves behind, in every language it knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitindex.query.impact.change import comparing, parse_range
from gitindex.query.impact.dangling import find_dangling
from tests.support import Repo

FILES = {
    "pkg/__init__.py": "from pkg.core import build\n",
    "pkg/core.py": "class Shape:\n    def area(self):\n        return 1\n\n    def twice(self):\n        return self.area() * 2\n\n\nclass Square(Shape):\n    pass\n\n\ndef build():\n    return Shape()\n\n\ndef local():\n    return build()\n",
    "pkg/use.py": "from pkg import build\nfrom pkg.core import Square\n\n\ndef main():\n    return build().area() + Square().area()\n\n\ndef loose(thing):\n    return thing.area()\n",
    "pkg/guarded.py": "try:\n    from pkg.core import build\nexcept ImportError:\n    build = None\n",
    "js/util.js": "function pad(s) { return s }\nmodule.exports = { pad }\n",
    "js/app.js": "const util = require('./util')\nmodule.exports = () => util.pad('a')\n",
    "ts/shape.ts": "export class Shape {\n  area(): number { return 1 }\n}\n",
    "ts/index.ts": "export { Shape } from './shape'\n",
    "ts/app.ts": "import { Shape } from './index'\nexport const x = new Shape().area()\n",
    "go.mod": "module example.com/m\n",
    "geo/shape.go": "package geo\n\ntype Shape struct{ Side int }\n\nfunc NewShape() *Shape { return &Shape{Side: 1} }\n\nfunc (s *Shape) Area() int { return s.Side }\n",
    "geo/use.go": "package geo\n\nfunc Total() int { return NewShape().Area() }\n",
    "cmd/main.go": 'package main\n\nimport "example.com/m/geo"\n\nfunc main() { _ = geo.NewShape() }\n',
    "src/lib.rs": "pub mod shape;\n\npub fn total() -> u32 {\n    shape::make().area()\n}\n",
    "src/shape.rs": "pub struct Shape {\n    pub side: u32,\n}\n\nimpl Shape {\n    pub fn area(&self) -> u32 {\n        self.side\n    }\n}\n\npub fn make() -> Shape {\n    Shape { side: 1 }\n}\n",
    "pkg/store.py": "class Store:\n    def open_it(self):\n        raise NotImplementedError\n\n\nclass Disk(Store):\n    def close_it(self):\n        return 1\n\n\nclass App:\n    store: Store = Disk()\n\n    def run(self):\n        return self.store.open_it()\n",
    "tests/test_store.py": "from pkg.store import Store\n\n\nclass Double(Store):\n    def open_it(self):\n        return 2\n",
    "pkg/part/__init__.py": "from .inner import made as made\nfrom .inner import used\n\nX = used()\n",
    "pkg/part/inner.py": "def made():\n    return 1\n\n\ndef used():\n    return 2\n",
    "pkg/taker.py": "import pkg.part\nfrom pkg.part import made\n\n\ndef take():\n    return made() + pkg.part.made()\n",
    "js/main.js": "var Router = require('router')\nexports = module.exports = make\nfunction make() { return Router }\nexports.Router = Router\n",
    "js/taker.js": "const main = require('./main')\nmodule.exports = main.Router()\n",
    "src/parts/mod.rs": "mod one;\npub use self::one::One;\n",
    "src/parts/one.rs": "pub struct One {}\n",
    "src/taker.rs": "use crate::parts::One;\n\npub fn take(one: One) {}\n",
    "geo/size.go": "package geo\n\ntype Sizer interface {\n\tArea() int\n}\n",
    "j/Shape.java": "package j;\n\npublic class Shape {\n    public int area() { return 1; }\n    public int twice() { return area() * 2; }\n}\n",
    "j/Use.java": "package j;\n\nclass Use {\n    int go() { return new Shape().area(); }\n}\n",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """One indexed repository for all cases: each stages a change and takes it back."""
    made = Repo(tmp_path_factory.mktemp("dangling") / "repo")
    made.init()
    return made.index_files(FILES)


@pytest.fixture
def project(world: Repo) -> Repo:
    world.git("reset", "-q", "--hard")
    return world


def stage(repo: Repo, name: str, old: str, new: str) -> None:
    text = (repo.path / name).read_text()
    assert old in text
    repo.write(name, text.replace(old, new))
    repo.git("add", name)


def found(repo: Repo, which: str = "dangling") -> list[tuple[str, int, str]]:
    answer = repo.answer("impact", "--staged", "--dangling")
    return [(d["path"], d["line"], d["name"]) for d in answer[which]]


CASES = {
    "a method through self, an instance and a subclass": (
        "pkg/core.py",
        "def area",
        "def surface",
        [("pkg/core.py", 6, "area"), ("pkg/use.py", 6, "area")],
    ),
    "a function through a re-export and in its own file": (
        "pkg/core.py",
        "def build",
        "def make",
        [("pkg/__init__.py", 1, "build"), ("pkg/core.py", 18, "build"), ("pkg/use.py", 1, "build")],
    ),
    "a re-export that is not passed on": (
        "pkg/__init__.py",
        "from pkg.core import build\n",
        "",
        [("pkg/use.py", 1, "build"), ("pkg/use.py", 6, "build")],
    ),
    "a class": ("pkg/core.py", "class Square", "class Cube", [("pkg/use.py", 2, "Square")]),
    "a TypeScript method behind a re-export": (
        "ts/shape.ts",
        "area",
        "surface",
        [("ts/app.ts", 2, "area")],
    ),
    "a TypeScript class": (
        "ts/shape.ts",
        "class Shape",
        "class Form",
        [("ts/index.ts", 1, "Shape")],
    ),
    "a Go method": ("geo/shape.go", ") Area()", ") Surface()", [("geo/use.go", 3, "Area")]),
    "a Go function": (
        "geo/shape.go",
        "func NewShape",
        "func MakeShape",
        [("cmd/main.go", 5, "NewShape"), ("geo/use.go", 3, "NewShape")],
    ),
    "a Rust function": ("src/shape.rs", "fn make", "fn build", [("src/lib.rs", 4, "make")]),
    "a Rust struct in its own file": (
        "src/shape.rs",
        "pub struct Shape",
        "pub struct Form",
        [
            ("src/shape.rs", 5, "Shape"),
            ("src/shape.rs", 11, "Shape"),
            ("src/shape.rs", 12, "Shape"),
        ],
    ),
    "a base method that only a test double keeps": (
        "pkg/store.py",
        "    def open_it",
        "    def renamed_it",
        [("pkg/store.py", 15, "open_it")],
    ),
    "a name that a package passes on": (
        "pkg/part/__init__.py",
        "from .inner import made as made\n",
        "",
        [("pkg/taker.py", 2, "made"), ("pkg/taker.py", 6, "made")],
    ),
    "an import that its own file uses": (
        "pkg/part/__init__.py",
        "from .inner import used\n",
        "",
        [("pkg/part/__init__.py", 3, "used")],
    ),
    "an exported value": (
        "js/main.js",
        "exports.Router = Router\n",
        "",
        [("js/taker.js", 2, "Router")],
    ),
    "a public use of Rust": (
        "src/parts/mod.rs",
        "pub use self::one::One;\n",
        "",
        [("src/taker.rs", 1, "One"), ("src/taker.rs", 3, "One")],
    ),
    "a Java method": (
        "j/Shape.java",
        "int area",
        "int surface",
        [("j/Shape.java", 5, "area"), ("j/Use.java", 4, "area")],
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_still_stands(
    project: Repo, case: tuple[str, str, str, list[tuple[str, int, str]]]
) -> None:
    path, old, new, expected = case
    stage(project, path, old, new)
    listed = found(project)
    assert [one for one in expected if one not in listed] == []
    assert ("pkg/guarded.py", 2, "build") not in listed, "an import that may fail"


def test_a_guess_never_blocks(project: Repo) -> None:
    """`thing.area()` has the same name and nothing more: listed, and no reason to refuse."""
    stage(project, "pkg/core.py", "area", "surface")
    stage(project, "pkg/use.py", "build().area() + Square().area()", "0")
    assert found(project) == []
    assert ("pkg/use.py", 10, "area") in found(project, "possible")
    done = project.gitindex("impact", "--staged", "--dangling")
    assert done.returncode == 0
    assert "? pkg/use.py:10: `area` is gone from pkg/core.py [name]" in done.stdout


def test_a_subclass_that_keeps_a_member_makes_its_places_possible(project: Repo) -> None:
    stage(project, "pkg/store.py", "def close_it", "def open_it")
    project.git("commit", "-qm", "an override")
    stage(
        project,
        "pkg/store.py",
        "class Store:\n    def open_it",
        "class Store:\n    def renamed_it",
    )
    assert found(project) == []
    assert ("pkg/store.py", 15, "open_it") in found(project, "possible")
    project.git("reset", "-q", "--hard", "HEAD^")


def test_a_go_type_that_no_longer_implements_an_interface_is_reported(project: Repo) -> None:
    stage(project, "geo/shape.go", ") Area()", ") Surface()")
    stage(project, "geo/use.go", ".Area()", ".Surface()")
    assert found(project) == []
    assert found(project, "possible") == [("geo/shape.go", 3, "Sizer.Area")]


def test_a_file_that_no_longer_parses_is_said(project: Repo) -> None:
    stage(project, "pkg/core.py", "def build():", "def build((:")
    done = project.gitindex("gate", "dangling")
    assert done.returncode == 0
    assert "not checked: pkg/core.py does not parse" in done.stderr
    assert project.gitindex("gate", "dangling", "--strict").returncode == 1


def test_bytes_that_are_no_code_are_no_gap_of_a_check(project: Repo) -> None:
    """An edited picture fails no `--strict`; code whose content is left out does."""
    for name in ("logo.png", "data.bin", "pkg/blob.py"):
        project.write(name, bytes(range(256)))
    project.git("add", "-A")
    done = project.gitindex("gate", "dangling", "--strict")
    assert done.returncode == 1
    assert done.stderr == "gitindex: not checked: pkg/blob.py has content that is not indexed\n"
    project.git("rm", "-q", "-f", "pkg/blob.py")
    assert project.gitindex("gate", "dangling", "--strict").returncode == 0


HARMLESS = {
    "carried through": [
        ("pkg/core.py", "build", "make"),
        ("pkg/__init__.py", "import build", "import make as build"),
    ],
    "an override goes, the base stays": [
        ("pkg/core.py", "class Square(Shape):\n    pass", "class Square(Shape):\n    x = 1"),
    ],
    "moved and passed on": [
        ("pkg/core.py", "def build():\n    return Shape()", "from pkg.made import build"),
        ("pkg/made.py", "", "def build():\n    return 1\n"),
    ],
    "a module that answers for any name": [
        (
            "pkg/core.py",
            "def build():\n    return Shape()",
            "def __getattr__(name):\n    return Shape",
        ),
        ("pkg/core.py", "return build()", "return 1"),
    ],
    "a base class from elsewhere": [
        (
            "pkg/core.py",
            "class Shape:\n    def area",
            "import ext\n\n\nclass Shape(ext.Base):\n    def other",
        ),
    ],
}


@pytest.mark.parametrize("edits", HARMLESS.values(), ids=HARMLESS)
def test_what_is_no_break(project: Repo, edits: list[tuple[str, str, str]]) -> None:
    for path, old, new in edits:
        if old:
            stage(project, path, old, new)
        else:
            project.write(path, new)
            project.git("add", path)
    assert found(project) == []


SIGNATURES = {
    "a required parameter": ("def build():", "def build(size):", ["lacks `size`"]),
    "an optional one": ("def build():", "def build(size=1):", []),
    "a keyword only one": ("def build():", "def build(*, size):", ["lacks `size`"]),
    "a constructor": (
        "    def area",
        "    def __init__(self, side):\n        pass\n\n    def area",
        [],
    ),
    "a method": ("def area(self)", "def area(self, scale)", ["lacks `scale`"]),
}


@pytest.mark.parametrize("case", SIGNATURES.values(), ids=SIGNATURES)
def test_calls_that_no_longer_fit(project: Repo, case: tuple[str, str, list[str]]) -> None:
    """Off unless it is asked for."""
    old, new, expected = case
    stage(project, "pkg/core.py", old, new)
    assert project.gitindex("impact", "--staged", "--dangling").returncode == 0
    answer = project.answer("impact", "--staged", "--dangling", "--signatures")
    assert sorted({one["why"] for one in answer["misfits"]}) == expected
    done = project.gitindex("gate", "dangling", "--signatures")
    assert done.returncode == (1 if expected else 0)


def test_a_call_with_commas_inside_of_an_argument_still_fits(project: Repo) -> None:
    project.write("pkg/lib.py", "def apply(fn, x=1):\n    return fn(x, x)\n")
    call = 'apply(lambda a, b: a + b)\napply("""a,\nb""")\napply(1 < 2, 3)\n'
    project.write("pkg/use.py", f"from pkg.lib import apply\n\n{call}")
    project.commit()
    project.index()
    stage(project, "pkg/lib.py", "fn, x=1", "fn")
    answer = project.answer("impact", "--staged", "--dangling", "--signatures")
    assert [(m["line"], m["why"]) for m in answer["misfits"]] == [
        (6, "takes 1 positional arguments, given 2")
    ]


@pytest.mark.parametrize(
    ("decorator", "seen"), [("@contextlib.contextmanager", 1), ("@app.route('/')", 0)]
)
def test_a_decorator_may_change_the_parameters(project: Repo, decorator: str, seen: int) -> None:
    head = f"import contextlib\nfrom web import app\n\n\n{decorator}\ndef held(x):\n    yield x\n"
    project.write("pkg/lib.py", head)
    project.write("pkg/use.py", "from pkg.lib import held\n\nheld(1)\n")
    project.commit()
    project.index()
    stage(project, "pkg/lib.py", "held(x)", "held(x, y)")
    answer = project.answer("impact", "--staged", "--dangling", "--signatures")
    assert len(answer["misfits"]) == seen


@pytest.mark.parametrize("more", ["", "export const other = 1\n"])
@pytest.mark.parametrize("default", [False, True])
def test_an_export_that_loses_its_keyword(repo: Repo, more: str, default: bool) -> None:
    """Also the last one of its file, which then reads like a script; a default is printed."""
    word, taken = ("export default ", "pad") if default else ("export ", "{ pad }")
    repo.write("util.ts", f"{more}{word}function pad(s: string) {{ return s }}\n")
    repo.write("app.ts", f"import {taken} from './util'\nexport const x = pad('a')\n")
    repo.commit()
    repo.index()
    stage(repo, "util.ts", word + "function", "function")
    answer = repo.answer("impact", "--staged", "--dangling")
    lines = [one["line"] for one in answer["dangling"]]
    assert lines == ([] if default else [1, 2])
    assert [one["name"] for one in answer["possible"]] == (["default"] if default else [])


def test_a_java_class_whose_file_lost_all_of_them_is_printed(repo: Repo) -> None:
    """Nothing of the tree declares it any more: its import reads like one of a library."""
    repo.write("a/Shape.java", "package a;\n\npublic class Shape {}\n")
    use = "package b;\n\nimport a.Shape;\n\nclass Use {\n    Shape one = new Shape();\n}\n"
    repo.write("b/Use.java", use)
    repo.commit()
    repo.index()
    stage(repo, "a/Shape.java", "public class Shape {}\n", "")
    answer = repo.answer("impact", "--staged", "--dangling")
    assert answer["dangling"] == []
    assert sorted({one["line"] for one in answer["possible"]}) == [3, 6]


@pytest.mark.parametrize(
    "line", ["x = getattr(Shape, kind)", "SIZES[name] = 1", "x = getattr(self.__dict__, kind)"]
)
def test_a_computed_name_that_makes_none_hides_no_breakage(tmp_path: Path, line: str) -> None:
    made = Repo(tmp_path / "repo")
    made.init()
    text = f"class Shape: ...\n\n\ndef area(kind, name=''):\n    SIZES = {{}}\n    {line}\n"
    made.write("core.py", text)
    made.write("use.py", "from core import area\n\narea('x')\n")
    made.commit("first")
    made.index()
    made.write("core.py", text.replace("def area", "def surface"))
    made.git("add", "-A")
    with comparing(made.worktree, ".", parse_range("", True)) as change:
        found = find_dangling(change)
    assert [(one.path, one.line) for one in found.sure] == [("use.py", 0), ("use.py", 2)]


MAKING = {
    "globals()['are' + 'a'] = 1": 0,
    "globals()[NAMES[0]] = 1": 0,
    "globals()['are' + 'a'], _ = 1, 2": 0,
    "globals().update(area=1)": 0,
    "import sys\n\nsetattr(sys.modules[__name__], 'are' + 'a', 1)": 0,
    "print(globals()['are' + 'a'])": 2,
    "import sys\n\nprint('x' in sys.modules, sys.modules['__main__'])": 2,
}
"""Lines, and how many uses of a name that is gone block beside them."""


@pytest.mark.parametrize("line", MAKING)
def test_a_module_that_makes_names_at_run_time_never_blocks(tmp_path: Path, line: str) -> None:
    made = Repo(tmp_path / "repo")
    made.init()
    made.write("core.py", f"def area(): ...\n\n\n{line}\nprint(getattr(area, str()))\n")
    made.write("use.py", "from core import area\n\narea()\n")
    made.commit("first")
    made.index()
    made.write("core.py", f"{line}\nprint(getattr(int, str()))\n")
    made.git("add", "-A")
    with comparing(made.worktree, ".", parse_range("", True)) as change:
        assert len(find_dangling(change).sure) == MAKING[line]


def test_a_field_of_a_nameless_go_struct_is_no_use(tmp_path: Path) -> None:
    made = Repo(tmp_path / "repo")
    made.init()
    made.write("a.go", "package p\n\nvar slash = 1\nvar other = slash\n")
    made.write("b.go", "package p\n\nvar cases = []struct {\n\tslash bool\n}{{true}}\n")
    made.commit("first")
    made.index()
    made.write("a.go", "package p\n\nvar other = 1\n")
    made.git("add", "-A")
    with comparing(made.worktree, ".", parse_range("", True)) as change:
        assert find_dangling(change).sure == []


def test_a_variable_of_rust_is_no_field_that_is_gone(tmp_path: Path) -> None:
    made = Repo(tmp_path / "repo")
    made.init()
    made.write("Cargo.toml", "[package]\nname = 'p'\n")
    made.write("src/lib.rs", "mod part;\n")
    made.write(
        "src/part/mod.rs",
        "pub struct B {\n    pub size: u32,\n}\n\npub fn f() -> u32 {\n    let size = 1;\n    let b = B { size };\n    size\n}\n",
    )
    made.commit("first")
    made.index()
    made.git("rm", "-q", "--cached", "src/part/mod.rs")
    made.write(
        "src/part.rs", "pub struct B {}\n\npub fn f() -> u32 {\n    let size = 1;\n    size\n}\n"
    )
    (made.path / "src/part/mod.rs").unlink()
    made.git("add", "-A")
    with comparing(made.worktree, ".", parse_range("", True)) as change:
        assert find_dangling(change).sure == []


def test_a_member_that_the_classes_below_have_is_not_missed(tmp_path: Path) -> None:
    made = Repo(tmp_path / "repo")
    made.init()
    made.write(
        "base.py",
        "class Base:\n    def send(self):\n        return 1\n\n    def run(self):\n        return self.send()\n",
    )
    made.write("app.py", "from base import Base\n\n\nclass App(Base):\n    pass\n")
    made.commit("first")
    made.index()
    made.write("base.py", "class Base:\n    def run(self):\n        return self.send()\n")
    made.write(
        "app.py",
        "from base import Base\n\n\nclass App(Base):\n    def send(self):\n        return 1\n",
    )
    made.git("add", "-A")
    with comparing(made.worktree, ".", parse_range("", True)) as change:
        assert find_dangling(change).sure == []


def test_a_deleted_module_is_called_deleted(repo: Repo) -> None:
    """Not "`signals` is gone from signals.py"; one line for each place that used it."""
    repo.write("pkg/__init__.py", "from .signals import sent, received\n")
    repo.write("pkg/signals.py", "sent = object()\nreceived = object()\n")
    repo.commit()
    repo.index()
    repo.git("rm", "-q", "pkg/signals.py")
    done = repo.gitindex("impact", "--dangling", "--staged")
    assert done.returncode == 1
    [line] = done.stdout.splitlines()
    assert line.startswith("pkg/__init__.py:1: `")
    assert line.endswith("` used, but pkg/signals.py is deleted")
    assert repo.answer("impact", "--dangling", "--staged")["deletedFiles"] == ["pkg/signals.py"]


def test_a_field_that_only_a_literal_sets_is_left_behind(project: Repo) -> None:
    stage(project, "geo/shape.go", "struct{ Side int }", "struct{ Edge int }")
    stage(project, "geo/shape.go", "return s.Side", "return s.Edge")
    places = found(project) + found(project, "possible")
    assert ("geo/shape.go", 5, "Side") in places


def test_a_guarded_import_of_a_deleted_module_is_printed(project: Repo) -> None:
    """It fails where the guard was for a package that is not installed."""
    project.git("rm", "-q", "pkg/core.py")
    assert not [one for one in found(project) if one[0] == "pkg/guarded.py"]
    assert [one for one in found(project, "possible") if one[0] == "pkg/guarded.py"]


def test_a_longer_name_does_not_hide_a_lost_one(repo: Repo) -> None:
    """In a file that never parsed as a whole, the old line must be a line of the new text."""
    broken = "class Store:\n    rate = 1\n\n\nx = = 1\n"
    repo.write("store.py", broken)
    repo.write("use.py", "from store import Store\n\n\ndef go():\n    return Store.rate\n")
    repo.commit()
    repo.index()
    repo.write("store.py", broken.replace("rate", "my_rate"))
    repo.git("add", "-A")
    with comparing(repo.worktree, ".", parse_range("", True)) as change:
        assert [one.name for one in find_dangling(change).possible] == ["rate"]
