"""C: variables of functions are no references to a field or a function of that name, and prove nothing."""

from __future__ import annotations

from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import open_tree
from tests.support import Repo

TEXT = """\
struct pair { int key; int size; };
int size(void);
static int first(struct pair *p, int key, int (*call)(int size)) {
    int size = key;
    for (int key = 0; key < size; key++) { use(key); }
    return p->key + call(size);
}
int second(struct pair *p) {
    extern int key;
    return p->size + size() + key;
}
"""


def test_variables_of_c_functions_are_left_out(repo: Repo) -> None:
    repo.index_files({"pair.c": TEXT})
    found = {}
    for name in ("key", "size"):
        with open_tree(repo.worktree, ".") as view:
            told = find_references(view, ReferenceQuery(name))
        found[name] = sorted((r["line"], r["column"]) for r in told["references"])
        assert told["accounted"]["elsewhere"] > 3
    assert found["key"] == [(6, 15)]
    assert found["size"] == [(10, 15), (10, 22)]


def test_a_place_is_answered_as_its_name_is(repo: Repo) -> None:
    """Scopes that nobody had asked for counted as none: a place listed variables, as certain uses."""
    repo.index_files({"pair.c": TEXT})
    with open_tree(repo.worktree, ".") as view:
        told = [find_references(view, ReferenceQuery(asked)) for asked in ("size", "pair.c:10:15")]
    by_name, by_place = ([(r["line"], r["column"]) for r in one["references"]] for one in told)
    assert sorted(by_place) == [(10, 15)]
    assert set(by_place) <= set(by_name)
    assert not told[1]["complete"]


def test_a_header_that_includes_itself_is_included_by_its_neighbours(repo: Repo) -> None:
    """It comes first, and where its own include led held for its whole folder: nowhere."""
    repo.index_files(
        {
            "inc/again.h": '#include "again.h"\nint asked(int x);\n',
            "inc/use.c": '#include "again.h"\n#include "../far/other.h"\nint y = asked(1);\n',
            "far/other.h": "static inline int asked(int x) { return x; }\n",
        }
    )
    with open_tree(repo.worktree, ".") as view:
        told = find_references(view, ReferenceQuery("inc/again.h#asked"))
    assert [(r["path"], r["line"]) for r in told["references"]] == [("inc/use.c", 3)]
