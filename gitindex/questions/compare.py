"""What differs between two trees: definitions, and imports between files."""

from __future__ import annotations

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import Answer, Here, Params, Row, question

if TYPE_CHECKING:
    from gitindex.view.tree import TreeView

MAX_EDGES = 300
MAX_SYMBOLS = 300


def ask(here: Here, params: Params) -> Answer:
    """Return symbols changed, and with `imports` the edges added and removed, from one tree to another."""
    from gitindex.query.impact.change import TreePair, comparing
    from gitindex.view.tree import TreeChoice

    base, to = params["base"], params["to"]
    if base == to:
        raise GitIndexError("the two are the same commit", "choose another one", Exit.USAGE)
    pair = TreePair(TreeChoice(at=base), TreeChoice(at=to))
    with comparing(here.worktree, here.worktree.root, pair) as change:
        views = (change.before.view, change.after.view)
        exact = all(view.envelope()["freshness"]["exact"] for view in views)
        files = [{"path": safe_text(path), "change": how} for path, how in change.paths.items()]
        symbols = [
            {
                "change": str(symbol.difference),
                "kind": symbol.definition.kind,
                "name": symbol.definition.qualified,
                "path": safe_text(symbol.definition.path),
            }
            for symbol in change.symbols
        ]
        edges = _edge_fields(*map(_edges, views)) if params["imports"] else {}
        return change.after.view.envelope(
            base=safe_text(base),
            at=safe_text(to),
            exact=exact,
            changedFiles=len(files),
            files=files[:MAX_SYMBOLS],
            changedSymbols=symbols[:MAX_SYMBOLS],
            changedSymbolCount=len(symbols),
            **edges,
        )


def _edges(view: TreeView) -> set[tuple[str, str]]:
    from gitindex.query.map.file_graph import FileGraph

    imports = FileGraph(view).imports
    return {(path, target) for path, targets in imports.items() for target in targets}


def _edge_fields(old: set[tuple[str, str]], new: set[tuple[str, str]]) -> Row:
    fields: Row = {}
    for name, edges in (("added", sorted(new - old)), ("removed", sorted(old - new))):
        fields[f"{name}EdgeCount"] = len(edges)
        fields[f"{name}Edges"] = [
            {"from": safe_text(a), "to": safe_text(b), "kind": "import"}
            for a, b in edges[:MAX_EDGES]
        ]
    return fields


TABLE = """
compare
  What differs between two trees: definitions, and imports between files.
    * | base | The older commit, tag or branch.
    * | to = | The newer one; the files on disk if left out.
    --imports | imports flag | Imports added and removed, too.
"""
QUESTION = question(TABLE, ask)
