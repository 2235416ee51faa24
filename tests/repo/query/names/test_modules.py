"""Members of modules: CommonJS and ES, aliases, and what an import from outside of the tree proves."""

from __future__ import annotations

from typing import Any

import pytest

from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import open_tree
from tests.support import Repo

FILES = {
    "cj/x.js": "exports.one = function () { return 1 }\n"
    "exports.two = () => 2\n"
    "module.exports.three = three\n"
    "function three() {}\n",
    "cj/y.js": "class Klass { go() {} }\n"
    "function alpha() {}\n"
    "function beta() {}\n"
    "module.exports = { alpha, gamma: beta, Klass, delta() {} }\n",
    "cj/z.js": "exports = module.exports = main\nfunction main() {}\nmain.sub = function () {}\n",
    "cj/passed.js": "module.exports = require('./x')\n",
    "cj/klass.js": "class Only { start() {} }\nmodule.exports = Only\n",
    "cj/use.js": "const x = require('./x')\n"
    "const { two, three: drei } = require('./x')\n"
    "x.one(); two(); drei()\n"
    "require('./x').one()\n"
    "var y = require('./y')\n"
    "y.alpha(); y.gamma(); new y.Klass().go(); y.delta()\n"
    "const z = require('./z')\n"
    "z(); z.sub()\n"
    "require('./passed').one()\n"
    "const Only = require('./klass')\n"
    "new Only().start()\n",
    "cj/outer.js": "var parser = require('outer-parser')\n"
    "var inner = require('./inner')\n"
    "exports.taken = require('outer-taken')\n"
    "exports.piece = parser.piece\n"
    "exports.deep = inner.deep\n",
    "cj/inner.js": "exports.deep = function () {}\n",
    "cj/outer_use.js": "var o = require('./outer')\no.taken(); o.piece(); o.deep()\n",
    "cj/late.js": "function lazy() { const { two } = require('./x'); return two() }\n"
    "function made() { const Only = require('./klass'); return new Only().start() }\n",
    "esm/e.mjs": "export default class Foo { bar() {} }\n",
    "esm/f.mjs": "export { default } from './e.mjs'\nexport { default as Again } from './e.mjs'\n",
    "esm/g.mjs": "import F, { Again } from './f.mjs'\nnew F().bar()\nnew Again().bar()\n",
    "esm/m.js": "export function many() {}\nfunction hidden() {}\nexport { hidden as shown }\n",
    "esm/ns.js": "export * as again from './m.js'\nimport * as m from './m.js'\nm.many(); m.shown()\n",
    "esm/via.js": "import { again } from './ns.js'\n"
    "again.many()\n"
    "const m = await import('./m.js')\n"
    "m.many()\n",
    "set/k.js": "export class A { go1() {} }\nexport class B { go1() {} }\n",
    "set/use.js": "import { A, B } from './k.js'\n"
    "let x = new A()\n"
    "x = new B()\n"
    "x.go1()\n"
    "export function f(c) { let y = new A(); if (c) y = new B(); y.go1() }\n",
    "web/utils.js": "export function format() {}\n",
    "web/app.js": "import { format } from '@/utils'\nformat()\n",
    "web/config.ts": "export interface Config { limit: number; other: string }\n"
    "export const held: Config = { limit: 1, other: '' }\n"
    "export function read(config: any) { const { limit = 1 } = config; return limit }\n"
    "export function told() { return held.limit }\n",
    "lib/mod.py": "def helper(): pass\n\n\ndef dumps(): pass\n",
    "tests/t.py": "from mypkg.mod import helper\nimport json\nhelper()\njson.dumps(1)\n",
    "lib/shape.py": "class Shape:\n    @property\n    def area(self): return 1\n\n\n"
    "def told(v):\n    match v:\n        case Shape(area=a): return a\n",
    "lib/twice.py": "def chosen(): pass\n",
    "scripts/twice.py": "def chosen(): pass\n",
    "scripts/deep/run.py": "from twice import chosen\nchosen()\n",
}


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Only to be read: indexed once."""
    repo = Repo(tmp_path_factory.mktemp("modules") / "repo")
    repo.init()
    return repo.index_files(FILES)


def ask(repo: Repo, name: str) -> dict[str, Any]:
    with open_tree(repo.worktree, ".") as view:
        return dict(find_references(view, ReferenceQuery(name, everything=True)))


def places(answer: dict[str, Any], tier: str) -> set[str]:
    return {f"{r['path']}:{r['line']}" for r in answer["references"] if r["tier"] == tier}


@pytest.mark.parametrize(
    ("target", "imported"),
    [
        ("cj/x.js#exports.one", {"cj/use.js:3", "cj/use.js:4", "cj/use.js:9"}),
        ("cj/x.js#exports.two", {"cj/use.js:2", "cj/use.js:3", "cj/late.js:1"}),
        ("cj/x.js#three", {"cj/use.js:2", "cj/use.js:3"}),
        ("cj/y.js#alpha", {"cj/use.js:6"}),
        ("cj/y.js#beta", {"cj/use.js:6"}),
        ("cj/y.js#Klass", {"cj/use.js:6"}),
        ("cj/y.js#Klass.go", {"cj/use.js:6"}),
        ("cj/y.js#delta", {"cj/use.js:6"}),
        ("cj/z.js#main", {"cj/use.js:7", "cj/use.js:8"}),
        ("cj/z.js#main.sub", {"cj/use.js:8"}),
        ("cj/klass.js#Only", {"cj/use.js:10", "cj/use.js:11", "cj/late.js:2"}),
        ("cj/klass.js#Only.start", {"cj/use.js:11", "cj/late.js:2"}),
        ("esm/e.mjs#Foo", {"esm/f.mjs:2", "esm/g.mjs:1", "esm/g.mjs:2", "esm/g.mjs:3"}),
        ("esm/e.mjs#Foo.bar", {"esm/g.mjs:2", "esm/g.mjs:3"}),
        ("esm/m.js#many", {"esm/ns.js:3", "esm/via.js:2", "esm/via.js:4"}),
        ("esm/m.js#hidden", {"esm/ns.js:3"}),
    ],
)
def test_members_of_modules_are_found_by_import(
    modules: Repo, target: str, imported: set[str]
) -> None:
    answer = ask(modules, target)
    assert places(answer, "import") == imported
    assert answer["complete"]


@pytest.mark.parametrize("name", ["taken", "piece"])
def test_an_exported_value_from_outside_is_defined_where_it_is_exported(
    modules: Repo, name: str
) -> None:
    """Express: `exports.static = require('serve-static')`, `exports.json = bodyParser.json`."""
    answer = ask(modules, f"cj/outer.js#exports.{name}")
    assert places(answer, "import") == {"cj/outer_use.js:2"}


def test_an_exported_member_of_a_module_hides_no_use_of_it(modules: Repo) -> None:
    answer = ask(modules, "cj/inner.js#exports.deep")
    listed = answer["references"] + answer["possible"] + answer["unlikely"]
    assert ("cj/outer_use.js", 2) in {(u["path"], u["line"]) for u in listed}
    assert not answer["absent"]


@pytest.mark.parametrize(
    ("target", "open_places"),
    [
        ("web/utils.js#format", ["web/app.js:1", "web/app.js:2"]),  # an alias of a bundler
        ("lib/mod.py#helper", ["tests/t.py:1", "tests/t.py:3"]),  # a mapped source folder
        ("lib/twice.py#chosen", ["scripts/deep/run.py:1", "scripts/deep/run.py:2"]),  # a guess
        ("set/k.js#B.go1", ["set/use.js:4", "set/use.js:5"]),  # a variable that is set again
    ],
)
def test_what_is_only_likely_proves_nothing(
    modules: Repo, target: str, open_places: list[str]
) -> None:
    answer = ask(modules, target)
    assert not answer["complete"]
    assert {u["why"] for u in answer["possible"]} <= {"unbound"}
    listed = [f"{u['path']}:{u['line']}" for u in answer["possible"] + answer["unlikely"]]
    assert listed == open_places


def test_a_module_of_the_language_itself_is_proof(modules: Repo) -> None:
    answer = ask(modules, "lib/mod.py#dumps")
    assert answer["complete"]
    assert not answer["references"]


def test_a_pattern_with_a_default_and_a_typed_object_may_mean_the_field(modules: Repo) -> None:
    answer = ask(modules, "web/config.ts#Config.limit")
    listed = {(r["line"], r["column"]) for r in answer["references"]}
    listed |= {(u["line"], u["column"]) for u in answer["unexplained"]}
    assert {(2, 31), (3, 45), (4, 38)} <= listed


def test_a_class_pattern_names_a_member(modules: Repo) -> None:
    answer = ask(modules, "lib/shape.py#Shape.area")
    assert [(r["line"], r["why"]) for r in answer["possible"]] == [(8, "receiver")]


RUST = {
    "Cargo.toml": '[package]\nname = "crate_one"\n',
    "src/lib.rs": "mod deep;\npub fn helper() {}\n",
    "src/main.rs": "fn helper() {}\n"
    "fn main() { helper(); }\n"
    "mod outer {\n"
    "    pub fn here() {}\n"
    "    pub mod tests {\n"
    "        use super::here;\n"
    "        use super::super::helper;\n"
    "        pub fn go() { here(); helper(); }\n"
    "    }\n"
    "    use self::tests::go;\n"
    "    pub fn again() { go() }\n"
    "}\n",
    "src/deep.rs": "pub fn helper() {}\npub fn near() {}\n"
    "#[cfg(test)]\n"
    "mod tests {\n"
    "    use super::near;\n"
    "    use super::*;\n"
    "    #[test]\n"
    "    fn all() { helper(); assert!(near()); }\n"
    "}\n",
}


@pytest.mark.parametrize(
    ("target", "lines"),
    [
        ("src/main.rs#helper", {"src/main.rs:2", "src/main.rs:7", "src/main.rs:8"}),
        ("src/main.rs#outer.here", {"src/main.rs:6", "src/main.rs:8"}),
        ("src/main.rs#outer.tests.go", {"src/main.rs:10", "src/main.rs:11"}),
        ("src/deep.rs#helper", {"src/deep.rs:8"}),
        ("src/deep.rs#near", {"src/deep.rs:5", "src/deep.rs:8"}),
        ("src/lib.rs#helper", set()),
    ],
)
def test_super_in_an_inline_module_of_rust_is_the_file(
    repo: Repo, target: str, lines: set[str]
) -> None:
    """Nearly every file of Rust has `mod tests { use super::f; }`."""
    repo.index_files(RUST)
    answer = ask(repo, target)
    assert places(answer, "exact") == lines
    assert answer["complete"]


PACKAGES = {
    "src/main/java/org/one/Clean.java": "package org.one;\n"
    "public class Clean {\n  public static void run() {}\n}\n",
    "src/test/java/org/one/CleanTest.java": "package org.one;\n"
    "class CleanTest {\n  void all() { Clean.run(); }\n}\n",
    "src/test/java/org/two/Other.java": "package org.two;\n"
    "class Other {\n  void all() { Clean.run(); }\n}\n",
    "src/Log/Logger.php": "<?php\nnamespace Log;\nclass Logger {\n  public function push() {}\n}\n",
    "tests/Log/LoggerTest.php": "<?php\nnamespace Log;\nclass LoggerTest {\n"
    "  function all() { $logger = new Logger(); $logger->push(); }\n}\n",
    "tests/Log/FullTest.php": "<?php\nnamespace Other;\nclass FullTest extends \\Log\\Logger {\n"
    "  function all() { $this->push(); }\n}\n",
    "lib/rack/mock.rb": "module Rack\n  class Mock\n    def self.env_for\n    end\n  end\nend\n",
    "lib/rack/other.rb": "module Rack\n  class Other\n  end\nend\n",
    "test/spec_mock.rb": "require_relative 'helper'\nRack::Mock.env_for\n",
}


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("src/main/java/org/one/Clean.java#Clean.run", {"src/test/java/org/one/CleanTest.java:3"}),
        (
            "src/Log/Logger.php#Logger.push",
            {"tests/Log/LoggerTest.php:4", "tests/Log/FullTest.php:4"},
        ),
        ("lib/rack/mock.rb#Rack.Mock", {"test/spec_mock.rb:2"}),
        ("lib/rack/mock.rb#Rack.Mock.env_for", {"test/spec_mock.rb:2"}),
    ],
)
def test_a_package_is_what_files_declare_not_their_folder(
    repo: Repo, target: str, found: set[str]
) -> None:
    """Tests of Java and PHP lie in another folder; constants of Ruby need no `require`."""
    repo.index_files(PACKAGES)
    answer = ask(repo, target)
    assert {f"{r['path']}:{r['line']}" for r in answer["references"]} == found
    assert "src/test/java/org/two/Other.java" not in {r["path"] for r in answer["references"]}


FULL_NAMES = {
    "j/MathTools.java": "package a.b;\npublic class MathTools {\n"
    "  public static long high() { return 1; }\n  public MathTools() {}\n  long low() { return 2; }\n}\n",
    "j/Named.java": "package a.c;\nimport static a.b.MathTools.high;\n"
    "class Named { long f() { return high(); } }\n",
    "j/Starred.java": "package a.c;\nimport static a.b.MathTools.*;\n"
    "class Starred {\n  long f() { return high(); }\n  long g() { return a.b.MathTools.high(); }\n}\n",
    "j/Made.java": "package a.c;\nimport a.b.MathTools;\n"
    "class Made { long f(MathTools t) { return t.low(); } }\n",
    "j/Below.java": "package a.c;\nclass Below extends Above { long f() { return tools.low(); } }\n",
    "j/Above.java": "package a.c;\nimport a.b.*;\nclass Above { MathTools tools; }\n",
    "j/Foreign.java": "package a.c;\nimport x.y.MathTools;\nclass Foreign { MathTools t; }\n",
    "kt/tools.kt": "package my.tools\n\nfun common(a: String): Int { return 1 }\n"
    "fun String.slashes(): String { return this }\n\n"
    "class Holder {\n  companion object {\n    const val MAX = 3\n  }\n}\n",
    "kt/use.kt": "package my.app\nimport my.tools.common as other\nimport my.tools.slashes\n"
    "import my.tools.Holder.Companion.MAX\n\n"
    'fun first() {\n  other("a")\n  "b".slashes()\n  my.tools.common("c")\n  print(MAX)\n}\n',
    "sc/P.scala": "package up.core\nobject Parsing { def reject(a: Int): Int = a }\n",
    "sc/U.scala": "package up.app\nimport up.core.Parsing.reject\n"
    "object U {\n  val a = reject(1)\n  val b = up.core.Parsing.reject(2)\n}\n",
    "cs/Guard.cs": "static class Guard { public static T Check<T>(T x) { return x; } }\n",
    "cs/Engine.cs": "namespace Acme.Core {\n"
    "  public class Engine { public static Engine Make() { return null; } }\n"
    "  public static class More { public static int Twice(this int x) { return x; } }\n}\n",
    "cs/Use.cs": "using Acme.Core;\nusing static Acme.Core.Engine;\nusing Eng = Acme.Core.Engine;\n"
    "namespace Acme.App;\nclass Use {\n  void F(int n) {\n    Guard.Check(n);\n    Engine.Make();\n"
    "    Make();\n"
    "    Eng.Make();\n    Acme.Core.Engine.Make();\n    n.Twice();\n  }\n}\n",
    "cs/Inner.cs": "namespace Acme.Core.Inner;\nclass Inner { void F() { Engine.Make(); } }\n",
    "cs/GlobalUsings.cs": "global using Acme.Core;\n",
    "cs/Other.cs": "namespace Zeta;\nclass Other { void F() { Engine.Make(); } }\n",
    "php/f.php": "<?php\nnamespace App\\Tools;\nfunction help($a) { return $a; }\n"
    "class Box { public static function help() {} }\n",
    "php/u.php": "<?php\nnamespace App\\Other;\nuse function App\\Tools\\help;\n"
    "use App\\Tools\\Box as Crate;\n"
    "help(1);\n\\App\\Tools\\help(2);\nCrate::help();\n",
    "rb/base.rb": "module Guarding\n  class Base\n    def same?(a); end\n    def same(a); end\n  end\nend\n",
    "rb/other.rb": "class Base\nend\n",
    "rb/token.rb": "module Guarding\n  class Token < Base\n    def go\n      same(1)\n    end\n  end\nend\n",
    "rs/Cargo.toml": '[package]\nname = "front"\n',
    "rs/src/main.rs": "mod flags;\nmod kinds;\nfn main() {}\n",
    "rs/src/flags/mod.rs": "mod doc;\npub const LIMIT: u8 = 1;\n",
    "rs/src/flags/doc.rs": "use crate::kinds;\nfn go() {\n"
    '  println!("{}", crate::flags::LIMIT);\n  kinds::Kind::made();\n}\nstruct Other;\n'
    "impl Other { fn kinds() {} }\n",
    "rs/src/kinds.rs": "pub enum Kind { First }\nimpl Kind { pub fn made() {} }\n"
    "fn go() {\n  use self::Kind::*;\n  take(First);\n}\n",
    "rs/facade/Cargo.toml": '[package]\nname = "facade"\n',
    "rs/facade/src/lib.rs": "pub extern crate front as inner;\n",
}


@pytest.mark.parametrize(
    ("target", "found"),
    [
        (
            "j/MathTools.java#MathTools.high",
            {"Named.java:2", "Named.java:3", "Starred.java:4", "Starred.java:5"},
        ),
        (
            "j/MathTools.java#MathTools",
            {
                "Named.java:2",
                "Starred.java:2",
                "Starred.java:5",
                "Made.java:2",
                "Made.java:3",
                "Above.java:3",
            },
        ),
        ("j/MathTools.java#MathTools.low", {"Made.java:3", "Below.java:2"}),
        ("kt/tools.kt#common", {"use.kt:2", "use.kt:7", "use.kt:9"}),
        ("kt/tools.kt#slashes", {"use.kt:3", "use.kt:8"}),
        ("kt/tools.kt#Holder.MAX", {"use.kt:4", "use.kt:10"}),
        ("sc/P.scala#Parsing.reject", {"U.scala:2", "U.scala:4", "U.scala:5"}),
        ("sc/P.scala#Parsing", {"U.scala:2", "U.scala:5"}),
        ("cs/Guard.cs#Guard.Check", {"Use.cs:7"}),
        (
            "cs/Engine.cs#Engine.Make",
            {"Use.cs:8", "Use.cs:9", "Use.cs:10", "Use.cs:11", "Inner.cs:2", "Other.cs:2"},
        ),
        ("cs/Engine.cs#More.Twice", {"Use.cs:12"}),
        ("php/f.php#help", {"u.php:3", "u.php:5", "u.php:6"}),
        ("php/f.php#Box.help", {"u.php:7"}),
        ("rb/base.rb#Guarding.Base.same", {"token.rb:4"}),
        ("rb/base.rb#Guarding.Base", {"token.rb:2"}),
        ("rs/src/flags/mod.rs#LIMIT", {"doc.rs:3"}),
        ("rs/src/kinds.rs#Kind.made", {"doc.rs:4"}),
        ("rs/src/kinds.rs#Kind.First", {"kinds.rs:5"}),
    ],
)
def test_a_full_name_leads_to_its_definition(repo: Repo, target: str, found: set[str]) -> None:
    """Imports name packages and what they hold, wherever the files lie and whatever their names are."""
    repo.index_files(FULL_NAMES)
    answer = ask(repo, target)
    assert {f"{r['path'].rpartition('/')[2]}:{r['line']}" for r in answer["references"]} == found
    assert answer["possible"] == []


def test_java_may_name_a_function_of_kotlin_by_its_file(repo: Repo) -> None:
    files = {
        "tools.kt": "package a.b\nfun help(): Int { return 1 }\n",
        "A.java": "package c;\nimport static a.b.ToolsKt.help;\nclass A { int f() { return help(); } }\n",
        "B.java": "package c;\nimport static x.y.Other.help;\nclass B { int f() { return help(); } }\n",
    }
    repo.index_files(files)
    answer = ask(repo, "tools.kt#help")
    assert [(r["path"], r["line"]) for r in answer["possible"]] == [("A.java", 2), ("A.java", 3)]
    assert answer["accounted"]["elsewhere"] == 2
