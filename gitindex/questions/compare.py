"""What differs between two trees: definitions, and imports between files."""

from __future__ import annotations

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import Answer, Here, Params, Row, question

if TYPE_CHECKING:
    from gitindex.query.impact.change import TreeChange
    from gitindex.query.names.finder import Finder
    from gitindex.query.names.model import Definition
    from gitindex.view.tree import TreeView

MAX_PATCH = 200_000
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
        symbols = _symbol_rows(change)
        more = _edge_fields(*map(_edges, views)) if params["imports"] else {}
        if params["patch"] and to:
            patch = _patch(here.worktree.root, base, to, [*change.paths][:MAX_SYMBOLS])
            more["patchCut"] = len(files) > MAX_SYMBOLS or len(patch) > MAX_PATCH
            more["patch"] = patch[:MAX_PATCH].decode("utf-8", "replace")
        return change.after.view.envelope(
            base=safe_text(base),
            at=safe_text(to),
            exact=exact,
            changedFiles=len(files),
            files=files[:MAX_SYMBOLS],
            changedSymbols=symbols[:MAX_SYMBOLS],
            changedSymbolCount=len(symbols),
            **more,
        )


def _symbol_rows(change: TreeChange) -> list[Row]:
    """Return the definitions that differ, code first; one that came back elsewhere is renamed."""
    from gitindex.languages.syntax.kinds import DATA_KINDS
    from gitindex.query.impact.change import Difference

    gone, new = (
        _by_text(finder, [s.definition for s in change.symbols if s.difference is difference])
        for finder, difference in (
            (change.before, Difference.REMOVED),
            (change.after, Difference.ADDED),
        )
    )
    before = {new[text]: gone[text] for text in gone.keys() & new.keys()}
    renamed = set(before.values())
    rows = []
    for definition, difference in change.symbols:
        if difference is Difference.REMOVED and definition in renamed:
            continue
        row = {
            "change": str(difference),
            "kind": definition.kind,
            "name": definition.qualified,
            "path": safe_text(definition.path),
        }
        was = before.get(definition) if difference is Difference.ADDED else None
        name = f"{safe_text(was.path)}#{was.qualified}" if was else ""
        rows.append(row | ({"change": "renamed", "before": name} if was else {}))
    return sorted(rows, key=lambda row: row["kind"] in DATA_KINDS)


def _by_text(finder: Finder, definitions: list[Definition]) -> dict[tuple[str, str], Definition]:
    """Return definitions by their text without their name, where no other has the same."""
    found: dict[tuple[str, str], list[Definition]] = {}
    for one in definitions:
        text = finder.project.span(one.path, one.start_line, one.end_line)
        found.setdefault((one.kind, text.replace(one.name, "")), []).append(one)
    return {text: alike[0] for text, alike in found.items() if len(alike) == 1}


def _patch(root: str, base: str, to: str, paths: list[str]) -> bytes:
    """Return the textual difference of files that may be shown; no filter or program of theirs runs."""
    from gitindex.git.command import run_git

    command = ("diff-tree", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color")
    places = (f":(literal,top){path}" for path in paths)
    return run_git(root, *command, "--end-of-options", base, to, "--", *places) if paths else b""


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
    --patch | patch flag | The textual difference between commits, too.
"""
QUESTION = question(TABLE, ask)
