"""What compilers found to be called complete and was not (bench/oracle.py), one small program each."""

from __future__ import annotations

from typing import Any

import pytest

from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import open_tree
from tests.support import Repo

FILES = {
    "keys/a.go": """package keys
type Named map[string]int
type Struct struct{ key int }
const key = "k"
const one = 1
const two = 2
var names = map[int]string{one: "one"}
var list = []string{two: "two"}
var named = Named{key: 1}
var pair = Struct{key: 2}
var pairs = []*Struct{{key: 3}}
var deep = map[string]Named{key: {key: 4}}
func local(k string) any { return Named{k: 1} }
""",
    "made/a.go": """package made
import ("io"; "net/http")
type Wide struct{}
type Narrow struct{}
func (w *Wide) Close() error { return nil }
func (w *Wide) Lookup() {}
func (n *Narrow) Lookup() {}
func through(c io.Closer) { c.Close() }
func concrete(r *http.Request) { r.Lookup() }
func fresh() { new(Wide).Lookup() }
""",
    "over/A.java": """package over;
import java.io.Closeable;
import far.away.Widget;
class A implements Closeable {
  public void close() {}
  static void through(Closeable c) throws Exception { c.close(); }
  Runnable make() { return new Runnable() { public void run() {} }; }
  void go(Widget w, Object o) { w.alone(); w.run(); ((Plain) o).alone(); }
}
class Plain { void alone() {} }
""",
    "formats.py": """SPACE = 1
PLAIN = 2
TEXT = "{SPACE} PLAIN".format(**globals())
def run():
    amount = 3
    return "%(amount)d" % locals()
""",
    "template.py": """from string import Template
DOLLAR = 3
print(Template('$DOLLAR').substitute(globals()))
""",
    "conftest.py": "import pytest\n\n\n@pytest.fixture\ndef crate():\n    return 1\n",
    "test_crate.py": "def test_it(crate):\n    assert crate\n\n\ndef own():\n    crate = 2\n    crate()\n",
    "whole.py": "def run():\n    amount = 3\n    return amount\n",
    "far.py": "from lib.absent import fetch\nfetch()\n",
    "near.py": "def fetch():\n    pass\n",
}


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    made = Repo(tmp_path_factory.mktemp("certificates") / "repo")
    made.init()
    return made.index_files(FILES)


def ask(repo: Repo, asked: str) -> dict[str, Any]:
    with open_tree(repo.worktree, ".") as view:
        return dict(find_references(view, ReferenceQuery(asked, everything=True)))


@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        ("keys/a.go#one", {7}),  # the keys of a map are values
        ("keys/a.go#two", {8}),
        ("keys/a.go#key", {9, 12}),  # of a named map, too
        ("keys/a.go#Struct.key", {10, 11}),
        ("keys/a.go:13:12", {13}),
        ("made/a.go#Wide.Lookup", {10}),
        ("over/A.java#Plain.alone", {8}),
    ],
)
def test_every_use_is_listed(still: Repo, asked: str, lines: set[int]) -> None:
    found = ask(still, asked)
    assert {r["line"] for r in found["references"]} >= lines
    if asked.endswith((".key", "#key")):
        assert {r["line"] for r in found["references"]} == lines


@pytest.mark.parametrize(
    ("asked", "blocking"),
    [
        ("made/a.go#Wide.Close", "c.Close()"),  # io.Closer may be a Wide
        ("over/A.java#A.close", "c.close()"),  # a Closeable may be an A
        ("over/A.java#A.make.run", "w.run()"),  # of a class without a name
        ("near.py#fetch", "fetch()"),  # the absent module may be this tree under another name
    ],
)
def test_what_may_reach_it_from_outside_of_the_tree_blocks(
    still: Repo, asked: str, blocking: str
) -> None:
    found = ask(still, asked)
    assert found["complete"] is False
    rows = found["possible"] + found["references"] + found["unlikely"]
    assert any(blocking in row["text"] for row in rows)


def test_a_fixture_is_given_to_parameters_alone(still: Repo) -> None:
    answer = ask(still, "conftest.crate")
    assert [(r["line"], r["why"]) for r in answer["possible"]] == [(1, "key"), (2, "key")]
    assert answer["accounted"]["elsewhere"] == 2


def test_a_receiver_that_is_no_interface_does_not_block(still: Repo) -> None:
    found = ask(still, "made/a.go#Narrow.Lookup")
    assert (
        found["complete"] is True
    )  # *http.Request is a struct: a pointer to an interface has no methods
    assert found["references"] == []


def test_the_id_of_a_node_means_that_node(still: Repo) -> None:
    assert [d["qualifiedName"] for d in ask(still, "keys/a.go#key")["definitions"]] == ["key"]


@pytest.mark.parametrize(
    ("asked", "complete"),
    [
        ("SPACE", False),
        ("PLAIN", True),
        ("DOLLAR", False),
        ("whole.py:2:5", True),
    ],
)
def test_names_that_a_format_or_a_parameter_reads(still: Repo, asked: str, complete: bool) -> None:
    with open_tree(still.worktree, ".") as view:
        assert find_references(view, ReferenceQuery(asked))["complete"] is complete


TEXTS = {
    "sql": ("a.sql", "CREATE TABLE {} (id int);\n"),
    "shell": ("a.sh", "{}() {{ :; }}\n"),
    "css": ("a.css", ".{} {{ color: red }}\n"),
    "ruby": ("a.rb", "class A\n  def {}\n  end\nend\n"),
    "ecma": ("a.js", "class A {{ {}() {{}} }}\n"),
    "java": ("A.java", "@Entity class {} {{}}\n"),
}


@pytest.mark.parametrize(
    ("defined", "file", "text"),
    [
        ("sql", "b.py", 'run("select * from {} where id = 1")\n'),
        ("sql", "b.go", "package b\n\nvar q = `select id from {} t`\n"),
        ("sql", "b.yml", "query: delete from {} where old\n"),
        ("shell", "ci.yml", "script:\n  - . a.sh && {} production\n"),
        ("shell", "b.py", 'os.system(". a.sh; {} production")\n'),
        ("shell", "b.sh", "bash <<EOF\n. a.sh\n{} now\nEOF\n"),
        ("css", "b.jsx", "const x = <div className='card {} wide'/>;\n"),
        ("css", "b.js", "node.className = 'card {} wide';\n"),
        ("ruby", "b.rb", "%w(one {} two).each {{ |name| a.send(name) }}\n"),
        ("ecma", "b.js", "'one {} two'.split(' ').forEach((name) => a[name]());\n"),
        ("java", "B.java", 'class B {{ @Query("select o from {} o") void all() {{}} }}\n'),
        ("java", "B.java", 'class B {{ String q = "from {} o order by o.id"; }}\n'),
    ],
)
def test_a_word_of_a_query_a_command_or_a_list_is_no_prose(
    repo: Repo, defined: str, file: str, text: str
) -> None:
    home, definition = TEXTS[defined]
    sentence = "def greet():\n    return 'an odd Zebra eats'\n"
    repo.index_files(
        {home: definition.format("Zebra"), file: text.format("Zebra"), "say.py": sentence}
    )
    answer = repo.answer("refs", "Zebra")
    assert file in {row["path"] for row in answer["possible"]}
    assert not answer["absent"]
    assert not answer["complete"]
    named_in_texts = defined in ("sql", "shell", "css")
    assert ("say.py" in {row["path"] for row in answer["possible"]}) is named_in_texts
