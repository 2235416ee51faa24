"""Contexts: one owner for every file, whatever order anything is found in."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitindex.base.vocabulary import ContextKind, ContextState
from gitindex.semantic.contexts.discovery import (
    FAMILIES,
    Discovery,
    discover,
    family_of,
    folders_up,
    is_marker,
)
from gitindex.semantic.contexts.router import ContextRouter, probe, probed
from gitindex.semantic.contexts.workspaces import WorkspaceSurroundings, read_members
from tests.support import Repo


def look(files: dict[str, str]) -> Discovery:
    """Discovery over a tree of texts; a text is its own blob id."""
    return discover(files, lambda path: files[path].encode() if path in files else None)


def owner(files: dict[str, str], path: str) -> str | None:
    """The name of the context that owns a path."""
    context = ContextRouter(look(files)).route(path).context
    return context.name if context else None


POLYGLOT = {
    "pyproject.toml": "[project]\nname='x'\n",
    "src/a.py": "",
    "web/package.json": "{}",
    "web/a.ts": "",
    "web/b.py": "",
    "svc/go.mod": "module x",
    "svc/main.go": "",
    "svc/tool.js": "",
    "run.sh": "",
}


def test_c1_every_file_of_three_languages_has_one_owner() -> None:
    expected = {
        "src/a.py": "python:.",
        "web/a.ts": "javascript:web",
        "web/b.py": "python:.",
        "svc/main.go": "go:svc",
        "svc/tool.js": "javascript:.",
        "run.sh": "shell:.",
    }
    assert {path: owner(POLYGLOT, path) for path in expected} == expected


def test_c2_files_without_any_project_belong_to_the_ambient_context() -> None:
    found = look({"a.py": "", "deep/b.py": "", "c.rs": ""})
    assert [(c.name, c.kind) for c in found.contexts] == [
        ("python:.", ContextKind.AMBIENT),
        ("rust:.", ContextKind.AMBIENT),
    ]
    assert owner({"LICENSE": "", "x.bin": ""}, "x.bin") is None


def test_c3_independent_of_the_order_of_discovery() -> None:
    paths = list(POLYGLOT)
    whole = look(POLYGLOT)
    for seed in range(20):
        random.Random(seed).shuffle(paths)
        assert look({path: POLYGLOT[path] for path in paths}) == whole


def test_c4_the_deepest_owner_wins_and_punches_a_hole() -> None:
    files = {
        "pyproject.toml": "",
        "a.py": "",
        "lib/pyproject.toml": "",
        "lib/b.py": "",
        "lib/x/deep/c.py": "",
        "lib/x/setup.py": "",
        "library/d.py": "",
    }
    assert owner(files, "a.py") == "python:."
    assert owner(files, "lib/b.py") == "python:lib"
    assert owner(files, "lib/x/deep/c.py") == "python:lib/x"
    assert owner(files, "library/d.py") == "python:."


WORKSPACES = {
    "pnpm": {
        "pnpm-workspace.yaml": "# ours\npackages:\n  - 'packages/*'  # all\n  - \"!packages/c\"\n",
        "package.json": "{}",
    },
    "pnpm-inline": {
        "pnpm-workspace.yaml": "packages: ['packages/a', packages/b]\nother: 1\n",
        "package.json": "{}",
    },
    "npm": {"package.json": json.dumps({"workspaces": ["packages/{a,b}"]})},
    "yarn": {"package.json": json.dumps({"workspaces": {"packages": ["./packages/[ab]/"]}})},
    "lerna": {"package.json": "{}", "lerna.json": json.dumps({"packages": ["packages/a", "**/b"]})},
}


@pytest.mark.parametrize("kind", WORKSPACES)
def test_c5_a_javascript_workspace_decides_its_members(kind: str) -> None:
    files = dict(WORKSPACES[kind])
    for name in "abc":
        files |= {f"packages/{name}/package.json": "{}", f"packages/{name}/x.ts": ""}
    files["scripts/y.js"] = ""
    assert owner(files, "packages/a/x.ts") == "javascript:packages/a"
    assert owner(files, "packages/b/x.ts") == "javascript:packages/b"
    assert owner(files, "packages/c/x.ts") is None
    assert owner(files, "scripts/y.js") == "javascript:."
    (hole,) = look(files).left_out
    assert (hole.family, hole.root, hole.workspace) == ("javascript", "packages/c", "")


def test_c5_go_work() -> None:
    files = {
        "go.work": "go 1.22\n\nuse (\n\t./a // first\n\tb/c\n)\nuse ./d\n",
        "a/go.mod": "",
        "a/x.go": "",
        "b/c/go.mod": "",
        "b/c/x.go": "",
        "d/go.mod": "",
        "d/x.go": "",
        "e/go.mod": "",
        "e/x.go": "",
        "main.go": "",
    }
    assert [owner(files, f"{p}/x.go") for p in ("a", "b/c", "d", "e")] == [
        "go:a",
        "go:b/c",
        "go:d",
        None,
    ]
    assert owner(files, "main.go") == "go:."
    assert {c.name: c.kind for c in look(files).contexts}["go:."] is ContextKind.WORKSPACE


def test_c5_cargo_workspace_with_path_dependencies() -> None:
    files = {
        "Cargo.toml": '[workspace]\nmembers=["crates/*"]\nexclude=["crates/out"]\n',
        "crates/a/Cargo.toml": '[package]\nname="a"\n',
        "crates/a/src/lib.rs": "",
        "crates/out/Cargo.toml": '[package]\nname="out"\n',
        "crates/out/src/lib.rs": "",
        "tools/t/Cargo.toml": '[package]\nname="t"\n',
        "tools/t/src/lib.rs": "",
    }
    assert owner(files, "crates/a/src/lib.rs") == "rust:crates/a"
    assert owner(files, "crates/out/src/lib.rs") is None
    assert owner(files, "tools/t/src/lib.rs") is None
    root = '[package]\nname="r"\n[workspace]\n[dependencies]\nt={path="tools/t"}\n'
    reached = files | {"Cargo.toml": root, "src/lib.rs": ""}
    assert owner(reached, "tools/t/src/lib.rs") == "rust:tools/t"
    assert owner(reached, "src/lib.rs") == "rust:."
    for table in ("dependencies", "target.'cfg(unix)'.dev-dependencies"):
        member = f'[package]\nname="a"\n[{table}]\nt={{path="../../tools/t"}}\n'
        assert (
            owner(files | {"crates/a/Cargo.toml": member}, "tools/t/src/lib.rs") == "rust:tools/t"
        )
    assert owner(files | {"crates/out/Cargo.lock": ""}, "crates/out/src/lib.rs") == (
        "rust:crates/out"
    )


def test_c5_gradle_settings() -> None:
    files = {
        "settings.gradle.kts": (
            'include(\n  ":app",\n  ":lib:core"\n)\n// include(":off")\n'
            'include("moved")\nproject(":moved").projectDir = file("elsewhere")\n'
            'includeBuild("tooling")\n'
        ),
        "build.gradle.kts": "",
    }
    for folder in ("app", "lib/core", "off", "elsewhere", "tooling"):
        files |= {f"{folder}/build.gradle.kts": "", f"{folder}/X.kt": ""}
    found = {
        p: owner(files, f"{p}/X.kt") for p in ("app", "lib/core", "off", "elsewhere", "tooling")
    }
    assert found == {
        "app": "jvm:app",
        "lib/core": "jvm:lib/core",
        "off": None,
        "elsewhere": "jvm:elsewhere",
        "tooling": "jvm:tooling",
    }
    dynamic = files | {"settings.gradle.kts": "file('x').eachDir { include it.name }"}
    assert owner(dynamic, "off/X.kt") == "jvm:off"
    mixed = files["settings.gradle.kts"] + 'listOf("off").forEach { include(":$it") }\n'
    assert owner(files | {"settings.gradle.kts": mixed}, "off/X.kt") == "jvm:off"


def test_c5_uv_workspace() -> None:
    files = {
        "pyproject.toml": '[tool.uv.workspace]\nmembers=["libs/*"]\nexclude=["libs/b"]\n',
        "libs/a/pyproject.toml": "",
        "libs/a/x.py": "",
        "libs/b/pyproject.toml": "",
        "libs/b/x.py": "",
    }
    assert (owner(files, "libs/a/x.py"), owner(files, "libs/b/x.py")) == ("python:libs/a", None)


def test_a_lock_file_fences_a_project_from_the_workspace_above() -> None:
    files = {
        "package.json": '{"workspaces": ["packages/*"]}',
        "examples/e/package.json": "{}",
        "examples/e/x.ts": "",
    }
    assert owner(files, "examples/e/x.ts") is None
    fenced = files | {"examples/e/package-lock.json": "{}"}
    assert owner(fenced, "examples/e/x.ts") == "javascript:examples/e"
    above = files | {"examples/yarn.lock": ""}
    assert owner(above, "examples/e/x.ts") == "javascript:examples/e"


def test_nested_cmake_files_are_one_project() -> None:
    files = {"CMakeLists.txt": "", "src/CMakeLists.txt": "", "src/a.c": "", "old/b.c": ""}
    assert owner(files, "src/a.c") == "cpp:."
    fenced = files | {"old/CMakeLists.txt": "", "old/compile_commands.json": ""}
    assert owner(fenced, "old/b.c") == "cpp:old"


@pytest.mark.parametrize("folder", ["build", "vendor", "dist", "node_modules", "target"])
def test_c9_tracked_folders_of_any_name_are_owned(folder: str) -> None:
    files = {"package.json": "{}", f"{folder}/a.js": "", f"{folder}/p/package.json": "{}"}
    assert owner(files, f"{folder}/a.js") == "javascript:."
    assert owner(files | {f"{folder}/p/b.js": ""}, f"{folder}/p/b.js") == f"javascript:{folder}/p"


def test_c9_in_a_repository(repo: Repo) -> None:
    for name in ("build", "vendor", "dist"):
        repo.write(f"{name}/code.py", f"def made_in_{name}():\n    return 1\n")
    repo.commit()
    repo.index()
    (context,) = repo.answer("contexts")["contexts"]
    assert (context["name"], context["files"], context["state"]) == ("python:.", 3, "valid")
    assert repo.answer("symbols", "made_in_vendor")["symbols"]


def test_c10_a_new_package_file_re_routes_at_once(quiet: Repo) -> None:
    def files_of() -> dict[str, int]:
        listed = quiet.answer("contexts")["contexts"]
        return {c["name"]: c["files"] for c in listed if c["family"] == "python"}

    assert files_of() == {"python:.": 2}
    quiet.write("lib/pyproject.toml", "[project]\nname='lib'\n")
    assert files_of() == {"python:.": 1, "python:lib": 1}
    quiet.commit("a package")
    assert files_of() == {"python:.": 1, "python:lib": 1}
    before = quiet.answer("contexts", "--at", "HEAD~1")["contexts"]
    assert {c["name"] for c in before if c["family"] == "python"} == {"python:."}
    hashes = {c["name"]: c["configHash"] for c in quiet.answer("contexts")["contexts"]}
    quiet.write("lib/pyproject.toml", "[project]\nname='other'\n")
    changed = {c["name"]: c["configHash"] for c in quiet.answer("contexts")["contexts"]}
    assert changed.pop("python:lib") != hashes.pop("python:lib")
    assert {n: h for n, h in changed.items() if n != "data:."} == {
        n: h for n, h in hashes.items() if n != "data:."
    }


def test_left_out_members_are_shown(repo: Repo) -> None:
    repo.write("package.json", '{"workspaces": ["a"]}')
    repo.write("a/package.json", "{}")
    repo.write("b/package.json", "{}")
    repo.write("b/x.ts", "export const x = 1\n")
    repo.commit()
    repo.index()
    answer = repo.answer("contexts")
    assert answer["leftOut"] == [{"family": "javascript", "root": "b", "workspace": "", "files": 1}]
    assert "left out by the workspace ." in repo.gitindex("contexts").stdout
    states = {c["name"]: c["state"] for c in answer["contexts"]}
    assert states["javascript:a"] == "empty"


def test_the_probe_looks_at_five_files_the_shortest_first() -> None:
    paths = ["bb/x.py", "a.py", "ccc/y.py", "d.py", "e.py", "f.py", "longer/z.py"]
    assert probed(paths) == ["a.py", "d.py", "e.py", "f.py", "bb/x.py"]
    assert probe(paths, {"bb/x.py": "partial"}.get) is ContextState.VALID
    assert probe(paths, {"longer/z.py": "parsed"}.get) is ContextState.FAILED
    assert probe([], lambda _path: None) is ContextState.EMPTY


def test_config_hash_of_members_follows_the_workspace_and_its_lock() -> None:
    files = {
        "package.json": '{"workspaces": ["a", "b"]}',
        "yarn.lock": "1",
        "a/package.json": "{}",
        "a/x.ts": "",
        "b/package.json": "{}",
        "b/tsconfig.json": "{}",
        "py/setup.py": "",
    }

    def hashes(tree: dict[str, str]) -> dict[str, str]:
        return {c.name: c.config_hash for c in look(tree).contexts}

    whole = hashes(files)
    locked = hashes(files | {"yarn.lock": "2"})
    assert {name for name in whole if whole[name] != locked[name]} - {"data:."} == {
        "javascript:.",
        "javascript:a",
        "javascript:b",
    }
    own = hashes(files | {"b/tsconfig.json": "[]"})
    assert {name for name in whole if whole[name] != own[name]} == {"javascript:b"}


def test_workspace_files_of_strangers_are_harmless() -> None:
    names = {
        "package.json",
        "pnpm-workspace.yaml",
        "go.work",
        "Cargo.toml",
        "pyproject.toml",
        "settings.gradle",
    }
    for family in ("javascript", "python", "go", "rust", "jvm"):
        for text in (
            b"\xff\xfe\0",
            b"{" * 5000,
            b"[" * 5000,
            b'{"workspaces": 3}',
            b"use (",
            b"",
            b"[workspace]\nmembers=3",
            b'{"workspaces": ["../..", "/", "[", 4]}',
        ):
            around = WorkspaceSurroundings(("x", "x/a"), lambda _path, text=text: text)  # type: ignore[misc]
            members = read_members(family, "x", names, around)
            assert members is None or "x/y" not in members or members.anyone


_NAMES = st.sampled_from(
    [
        "a.py",
        "b.ts",
        "c.go",
        "d.rs",
        "pyproject.toml",
        "package.json",
        "go.mod",
        "go.work",
        "Cargo.toml",
        "Cargo.lock",
        "yarn.lock",
        "pnpm-workspace.yaml",
        "x.txt",
    ]
)
_FOLDERS = st.lists(st.sampled_from(["p", "q", "build"]), max_size=3).map("/".join)
_TEXTS = st.sampled_from(
    [
        "",
        "{}",
        '{"workspaces": ["p/*"]}',
        "packages:\n - p/**\n - '!p/q'\n",
        "use ./p\n",
        '[workspace]\nmembers=["p"]\n',
        '[package]\nname="x"\n',
    ]
)
_TREES = st.dictionaries(
    st.tuples(_FOLDERS, _NAMES).map(lambda pair: "/".join(filter(None, pair))), _TEXTS, max_size=14
)


@settings(max_examples=150, deadline=None)
@given(_TREES, st.randoms(use_true_random=False))
def test_every_file_of_a_family_has_one_owner_or_a_hole(
    files: dict[str, str], shuffler: random.Random
) -> None:
    paths = list(files)
    shuffler.shuffle(paths)
    found = look({path: files[path] for path in paths})
    assert found == look(files)
    router = ContextRouter(found)
    roots = {(c.family, c.root) for c in found.contexts}
    assert len(roots) == len(found.contexts)
    for path in files:
        route, family = router.route(path), family_of(path)
        assert (route.context is None and route.left_out is None) == (family is None)
        if route.context is not None:
            closer = [f for f in folders_up(path.rpartition("/")[0]) if (family, f) in roots]
            assert closer[0] == route.context.root
    for path in files:
        if not is_marker(path):  # only marker files decide
            rest = {p: t for p, t in files.items() if p != path}
            kept = {c for c in found.contexts if c.kind is not ContextKind.AMBIENT}
            assert kept == {c for c in look(rest).contexts if c.kind is not ContextKind.AMBIENT}


def test_every_language_has_exactly_one_family() -> None:
    from gitindex.languages.table import LANGUAGES

    owned = [name for family in FAMILIES for name in family.languages.split()]
    assert sorted(owned) == sorted(row.name for row in LANGUAGES)
