"""`python -m bench.link USER DEFINER…`: references across repositories against Python's own `ast`.

Of each pair of indexed clones: every name that USER's files take from a package of DEFINER by an import,
read by `ast` alone, is compared with what `crossings` says; then the CPU of `refs --linked` over all of them
is compared with `refs` over one.
"""

from __future__ import annotations

import ast
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from gitindex.base.worktree import find_worktree
from gitindex.sharing.links import LinkedTree, crossings, origins
from gitindex.view.tree import open_tree

Place = tuple[str, int, str]  # file, line, name


class _Imports(ast.NodeVisitor):
    """The places of one file that name something of a package: imports, names and attributes."""

    def __init__(self, path: str, roots: set[str]) -> None:
        self.path, self.roots = path, roots
        self.bound: dict[str, tuple[str, ...]] = {}
        self.places: dict[Place, tuple[str, ...]] = {}

    def visit_Import(self, node: ast.Import) -> None:
        """Bind `import a.b` and `import a.b as c`."""
        for alias in node.names:
            parts = tuple(alias.name.split("."))
            if parts[0] in self.roots:
                self.bound[alias.asname or parts[0]] = parts if alias.asname else parts[:1]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Bind `from a.b import c as d`."""
        parts = tuple((node.module or "").split("."))
        if not node.level and parts[0] in self.roots:
            for alias in node.names:
                self.bound[alias.asname or alias.name] = (*parts, alias.name)
                self.places[self.path, alias.lineno, alias.name] = (*parts, alias.name)

    def visit_Name(self, node: ast.Name) -> None:
        """Note a name that an import binds."""
        if node.id in self.bound and isinstance(node.ctx, ast.Load):
            self._note(node.lineno, self.bound[node.id])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Note each part of `a.b.c`, in the line where it is."""
        chain: list[ast.Attribute] = [node]
        inner: ast.expr = node.value
        while isinstance(inner, ast.Attribute):
            chain.append(inner)
            inner = inner.value
        self.visit(inner)
        if isinstance(inner, ast.Name) and inner.id in self.bound:
            path = self.bound[inner.id]
            for one in reversed(chain):
                path = (*path, one.attr)
                self._note(one.end_lineno or one.lineno, path)

    def _note(self, line: int, path: tuple[str, ...]) -> None:
        self.places[self.path, line, path[-1]] = path


def main() -> int:
    """Print precision and recall of each pair, and the CPU."""
    user, *definers = [os.path.realpath(name) for name in sys.argv[1:]]
    with ExitStack() as stack:
        trees = [
            LinkedTree(stack.enter_context(open_tree(find_worktree(root), root)))
            for root in (user, *definers)
        ]
        for root, tree in zip(definers, trees[1:], strict=True):
            _compare(user, trees[0], root, tree)
    one, all_of_them = (_cpu(user, flags) for flags in ((), ("--linked",)))
    print(
        f"refs: {one:.2f} s CPU, with {len(definers)} linked {all_of_them:.2f}: {all_of_them / one:.2f} x"
    )
    return 0


def _compare(user: str, here: LinkedTree, root: str, there: LinkedTree) -> None:
    roots = {package.name for package in there.packages if package.ecosystem == "python"}
    expected = {place: path for place, path in _read(user, roots) if _is_defined(Path(root), path)}
    names = sorted({name for _, _, name in expected})
    found = {
        (one.path, one.place.line + 1, name)
        for name in names
        for one in crossings(origins(here, name), there, name)
    }
    right = found & expected.keys()
    print(
        f"{Path(user).name} -> {Path(root).name}: {len(names)} names, {len(expected)} places,"
        f" precision {len(right) / max(1, len(found)):.3f}, recall {len(right) / max(1, len(expected)):.3f}"
    )
    for kind, places in (("wrong", found - right), ("missed", expected.keys() - right)):
        for place in sorted(places)[:8]:
            print(f"  {kind} {place} {'.'.join(expected.get(place, ()))}")


def _read(user: str, roots: set[str]) -> Iterator[tuple[Place, tuple[str, ...]]]:
    listed = subprocess.run(
        ["git", "-C", user, "ls-files", "*.py"], capture_output=True, check=True
    )
    for name in listed.stdout.decode().splitlines():
        try:
            visitor = _Imports(name, roots)
            visitor.visit(ast.parse(Path(user, name).read_text()))
        except (SyntaxError, UnicodeDecodeError):
            continue
        yield from visitor.places.items()


def _is_defined(root: Path, path: tuple[str, ...]) -> bool:
    """Does a module of the other repository, found by its file name, bind the name? Modules are none."""
    for folder in (root, root / "src"):
        for count in range(len(path) - 1, 0, -1):
            base = folder.joinpath(*path[:count])
            for file in (base / "__init__.py", base.with_suffix(".py")):
                if file.exists():
                    return len(path) == count + 1 and _binds(file, path[-1])
    return False


def _binds(file: Path, name: str) -> bool:
    """Is a function, class or variable of a file, or what it imports from a module of its own, called so?"""
    tree = ast.parse(file.read_text())
    for node in tree.body:
        if (
            isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
            and node.name == name
        ):
            return True
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    inner = file.parent.joinpath(*node.module.split("."))
                    files = (inner.with_suffix(".py"), inner / "__init__.py")
                    return any(f.exists() and _binds(f, alias.name) for f in files)
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return True
    return False


def _cpu(user: str, flags: tuple[str, ...]) -> float:
    """Return the CPU of a warm question, children included."""
    command = [sys.executable, "-m", "gitindex", "refs", "-C", user, "Markup", *flags]
    costs = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append(sum(after[:2]) - sum(before[:2]))
    return min(costs)


if __name__ == "__main__":
    raise SystemExit(main())
