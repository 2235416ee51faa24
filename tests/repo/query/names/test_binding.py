# ruff: noqa: E501 — sources read better on one line
"""What names mean in other languages than Python, in generic TypeScript, and in texts made to be slow."""

from __future__ import annotations

import time

import pytest

from gitindex.languages.scopes.model import FileScopes, Part
from gitindex.languages.syntax.extract import extract_scopes
from gitindex.query.names.expressions import read_chain
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import open_tree
from tests.support import Repo

FILES = {
    "go.mod": "module example.com/m\n",
    "srv/srv.go": "package srv\n\ntype Server struct{ n int }\n\nfunc (s *Server) Run() { s.step(); helper() }\nfunc (s *Server) step() {}\nfunc New() *Server { return &Server{} }\n",
    "srv/help.go": "package srv\n\nfunc helper() {}\n",
    "cmd/main.go": 'package main\n\nimport "example.com/m/srv"\n\nfunc main() {\n\ts := srv.New()\n\ts.Run()\n}\n',
    "j/com/acme/Base.java": "package com.acme;\npublic class Base { protected void hook() {} public static void util() {} }\n",
    "j/com/acme/App.java": "package com.acme;\nimport com.acme.Base;\npublic class App extends Base { private Base other; void go(Base b) {\nhook();\nthis.hook();\nb.hook();\nother.hook();\nBase.util(); } }\n",
    "c/api.h": "int open_door(int n);\n",
    "c/main.c": '#include "api.h"\nint main(void) { return open_door(1); }\n',
    "rs/Cargo.toml": '[package]\nname = "demo"\n',
    "rs/src/lib.rs": "mod util;\nuse crate::util::pad;\npub fn top() {\npad();\nutil::pad(); }\n",
    "rs/src/util.rs": "pub fn pad() {}\npub struct P;\nimpl P { pub fn a(&self) { self.b() }\nfn b(&self) {} }\n",
    "ts/core.ts": "export interface Inner { depth: number }\nexport interface Wider extends Inner { width: number }\nexport class Holder<out K, Def extends Inner = Inner> {\n  held!: Def;\n}\nexport class Middle<T extends Inner> extends Holder<string, T> {}\nexport class Whole extends Middle<Wider> {\n  read() { return this.held.width + this.held.depth; }\n}\n",
    "ts/use.ts": "import { Holder, Inner } from './core';\nexport function deep<T extends Inner>(given: T, other: Holder<string>) {\n  return given.depth +\n    other.held.depth;\n}\n",
    "ts/both.ts": "export interface Maker<T> { init(x: T): void }\nexport interface Both { size: number }\nexport const Both: Maker<Both> = null as any;\nBoth.init({} as any);\nexport function measure(both: Both) { return both.size; }\n",
    "ts/blocks.ts": "export class Kept {}\nexport const run = () => {\n  const shape = 1;\n  type shape = { a: number };\n  let x: shape = { a: shape };\n};\nexport class More { static create = (n: number): Kept => { return new Kept(); }; }\n",
    "rb/a.rb": "class A\n  def go; self.halt; end\n  def halt; end\nend\n",
}
EXPECTED = {
    "Server.Run": {("cmd/main.go", 7, "import")},
    "Server.step": {("srv/srv.go", 5, "exact")},
    "helper": {("srv/srv.go", 5, "import")},
    "New": {("cmd/main.go", 6, "import")},
    "Base.hook": {("j/com/acme/App.java", line, "import") for line in (4, 5, 6, 7)},
    "Base.util": {("j/com/acme/App.java", 8, "import")},
    "open_door": {("c/main.c", 2, "import")},
    "pad": {
        ("rs/src/lib.rs", 2, "import"),
        ("rs/src/lib.rs", 4, "import"),
        ("rs/src/lib.rs", 5, "import"),
    },
    "P.b": {("rs/src/util.rs", 3, "exact")},
    "A.halt": {("rb/a.rb", 2, "exact")},
    "Maker.init": {("ts/both.ts", 4, "exact")},
    "Both.size": {("ts/both.ts", 5, "exact")},
    "run.shape": {("ts/blocks.ts", 5, "exact")},
    "Kept": {("ts/blocks.ts", 7, "exact")},
}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    made = Repo(tmp_path_factory.mktemp("mixed") / "repo")
    made.init()
    return made.index_files(FILES)


@pytest.mark.parametrize("name", EXPECTED)
def test_other_languages(mixed: Repo, name: str) -> None:
    with open_tree(mixed.worktree, ".") as view:
        found = find_references(view, ReferenceQuery(name))["references"]
    assert {(r["path"], r["line"], r["tier"]) for r in found} == EXPECTED[name]


def test_members_of_a_type_parameter_are_possible(mixed: Repo) -> None:
    with open_tree(mixed.worktree, ".") as view:
        answer = find_references(view, ReferenceQuery("Inner.depth"))
    found = {(r["path"], r["line"]) for r in answer["possible"]}
    assert found == {("ts/core.ts", 8), ("ts/use.ts", 3), ("ts/use.ts", 4)}


def test_another_language_names_nothing_but_data(repo: Repo) -> None:
    repo.write("a.py", "def shared_name():\n    pass\n")
    repo.write("b.ts", "export function other(x: any) { return x.shared_name(); }\n")
    repo.write("data.json", '{"only_key": 1}\n')
    repo.write("c.ts", "import { only_key } from './data.json';\nexport const v = only_key;\n")
    repo.commit()
    repo.index()
    with open_tree(repo.worktree, ".") as view:
        assert find_references(view, ReferenceQuery("shared_name"))["references"] == []
        found = find_references(view, ReferenceQuery("only_key"))["references"]
    assert [(r["path"], r["line"]) for r in found] == [("c.ts", 1), ("c.ts", 2)]


@pytest.mark.parametrize(
    ("language", "text", "parts"),
    [
        ("python", "self.a.x", [Part("self", False), Part("a", False)]),
        ("python", "make(1, (2))\\\n    .x", [Part("make", True)]),
        ("typescript", "a?.b!.x", [Part("a", False), Part("b", False)]),
        ("python", "'text'.x", [Part('"', False)]),
        ("python", "a[0].x", []),
        ("python", "# a comment.\nx", None),
        ("ruby", "A::B.new.x", [Part("A", False), Part("B", False), Part("new", True)]),
        ("lua", "local y = a.b.x", [Part("a", False), Part("b", False)]),
    ],
)
def test_what_stands_before_a_name(language: str, text: str, parts: list[Part] | None) -> None:
    data = text.encode()
    scopes = FileScopes(extract_scopes(data, language), language, data)
    found = scopes.receiver(len(data) - 1)
    assert (list(found) if found is not None else None) == parts


def test_expressions_that_are_chains() -> None:
    assert read_chain("await a.b(c(d)).e") == [Part("a", False), Part("b", True), Part("e", False)]
    assert read_chain("new Box<T>(1)") == [Part("Box", True)]
    assert read_chain("a + b") is None


SLOW = (
    "(",
    "{",
    "const {",
    "const a:",
    "function(",
    "f(a) : ",
    "for x in ",
    "a: ",
    "lambda ",
    "/*",
    "`",
    '"',
    "a = ",
    "x\\\n",
    "\n",
    "A a ",
)


@pytest.mark.parametrize("piece", SLOW, ids=repr)
def test_a_text_made_to_be_slow_is_not(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    started = time.process_time()
    read_chain(text)
    assert time.process_time() - started < 10
