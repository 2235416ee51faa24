# ruff: noqa: E501 — a table reads better in rows
"""Imports resolved against the paths of a tree."""

from __future__ import annotations

import pytest

from gitindex.languages.facts import Import
from gitindex.languages.imports import Resolver

FILES = {
    "pkg/__init__.py": "",
    "pkg/a.py": "",
    "pkg/sub/__init__.py": "",
    "pkg/sub/b.py": "",
    "src/other/__init__.py": "",
    "src/other/mod.py": "",
    "tests/test_a.py": "",
    "tool.py": "",
    "space/inner/leaf.py": "",
    "nested/pkg/a.py": "",
    "nested/pkg/__init__.py": "",
    "nested/__init__.py": "",
    "web/src/app.ts": "",
    "web/src/util/index.ts": "",
    "web/src/util/dates.ts": "",
    "web/src/view.tsx": "",
    "web/src/old.js": "",
    "web/tsconfig.json": '{ // paths\n "compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*"], "cfg": ["src/old.js"],},}, }',
    "libs/core/package.json": '{"name": "@acme/core", "main": "./lib/main.js"}',
    "libs/core/lib/main.js": "",
    "libs/core/src/extra.ts": "",
    "go.mod": "module example.com/top\n",
    "cmd/main.go": "",
    "internal/db/db.go": "",
    "internal/db/db_test.go": "",
    "internal/db/pool.go": "",
    "vendored/go.mod": "module example.com/top/vendored\n",
    "vendored/x/x.go": "",
    "crates/one/Cargo.toml": '[package]\nname = "one-crate"\n',
    "crates/one/src/lib.rs": "",
    "crates/one/src/net.rs": "",
    "crates/one/src/net/tcp.rs": "",
    "crates/one/src/io/mod.rs": "",
    "crates/two/Cargo.toml": '[package]\nname = "two"\n',
    "crates/two/src/main.rs": "",
    "c/src/main.c": "",
    "c/src/local.h": "",
    "c/include/proj/api.h": "",
    "java/src/main/java/com/acme/App.java": "",
    "java/src/main/java/com/acme/util/Text.java": "",
    "cs/Acme/Core/Thing.cs": "",
    "cs/Program.cs": "",
    "php/src/Http/Request.php": "",
    "php/index.php": "",
    "php/inc/boot.php": "",
    "rb/lib/acme/thing.rb": "",
    "rb/bin/run.rb": "",
    "rb/bin/helper.rb": "",
    "lua/acme/net.lua": "",
    "lua/acme/json/init.lua": "",
    "lua/main.lua": "",
    "sh/run.sh": "",
    "sh/lib.sh": "",
}


def imp(module: str, *names: str, level: int = 0) -> Import:
    return Import(module, tuple((name, name) for name in names), level, 0)


CASES = {
    "python absolute": ("tests/test_a.py", "python", imp("pkg.a", "x"), ["pkg/a.py"]),
    "python package": ("tests/test_a.py", "python", imp("pkg", "pkg"), ["pkg/__init__.py"]),
    "python submodule by name": (
        "tool.py",
        "python",
        imp("pkg", "sub"),
        ["pkg/__init__.py", "pkg/sub/__init__.py"],
    ),
    "python relative": (
        "pkg/sub/b.py",
        "python",
        imp("", "a", level=2),
        ["pkg/__init__.py", "pkg/a.py"],
    ),
    "python relative module": ("pkg/sub/b.py", "python", imp("a", "x", level=2), ["pkg/a.py"]),
    "python relative leaves": ("tool.py", "python", imp("a", "x", level=3), []),
    "python src folder": ("tests/test_a.py", "python", imp("other.mod", "f"), ["src/other/mod.py"]),
    "python namespace": ("tool.py", "python", imp("space.inner", "leaf"), ["space/inner/leaf.py"]),
    "python not a root": ("tool.py", "python", imp("sub.b", "x"), []),
    "python external": ("tool.py", "python", imp("numpy", "numpy"), []),
    "ts relative": ("web/src/app.ts", "typescript", imp("./view"), ["web/src/view.tsx"]),
    "ts index": ("web/src/app.ts", "typescript", imp("./util"), ["web/src/util/index.ts"]),
    "ts written as js": (
        "web/src/app.ts",
        "typescript",
        imp("./util/dates.js"),
        ["web/src/util/dates.ts"],
    ),
    "ts alias": ("web/src/app.ts", "typescript", imp("@/util/dates"), ["web/src/util/dates.ts"]),
    "ts exact alias": ("web/src/app.ts", "typescript", imp("cfg"), ["web/src/old.js"]),
    "ts base url": ("web/src/app.ts", "typescript", imp("src/old"), ["web/src/old.js"]),
    "js workspace": ("web/src/old.js", "javascript", imp("@acme/core"), ["libs/core/lib/main.js"]),
    "js workspace inside": (
        "web/src/old.js",
        "javascript",
        imp("@acme/core/extra"),
        ["libs/core/src/extra.ts"],
    ),
    "js external": ("web/src/old.js", "javascript", imp("react"), []),
    "js leaves": ("web/src/old.js", "javascript", imp("../../../../etc/passwd"), []),
    "go package": (
        "cmd/main.go",
        "go",
        imp("example.com/top/internal/db"),
        ["internal/db/db.go", "internal/db/pool.go"],
    ),
    "go nested module": (
        "cmd/main.go",
        "go",
        imp("example.com/top/vendored/x"),
        ["vendored/x/x.go"],
    ),
    "go external": ("cmd/main.go", "go", imp("fmt"), []),
    "rust mod": (
        "crates/one/src/lib.rs",
        "rust",
        imp("self::net", "net"),
        ["crates/one/src/net.rs"],
    ),
    "rust mod folder": (
        "crates/one/src/lib.rs",
        "rust",
        imp("self::io", "io"),
        ["crates/one/src/io/mod.rs"],
    ),
    "rust use crate": (
        "crates/one/src/io/mod.rs",
        "rust",
        imp("crate::net::tcp", "Stream"),
        ["crates/one/src/net/tcp.rs"],
    ),
    "rust use item": (
        "crates/one/src/net/tcp.rs",
        "rust",
        imp("crate::net", "Socket"),
        ["crates/one/src/net.rs"],
    ),
    "rust super": (
        "crates/one/src/net/tcp.rs",
        "rust",
        imp("super", "Socket"),
        ["crates/one/src/net.rs"],
    ),
    "rust other crate": (
        "crates/two/src/main.rs",
        "rust",
        imp("one_crate::net", "Socket"),
        ["crates/one/src/net.rs"],
    ),
    "rust external": ("crates/two/src/main.rs", "rust", imp("serde", "Serialize"), []),
    "c beside": ("c/src/main.c", "c", imp("local.h"), ["c/src/local.h"]),
    "c by search": ("c/src/main.c", "c", imp("proj/api.h"), ["c/include/proj/api.h"]),
    "c system": ("c/src/main.c", "c", imp("stdio.h"), []),
    "java type": (
        "java/src/main/java/com/acme/App.java",
        "java",
        imp("com.acme.util.Text", "Text"),
        ["java/src/main/java/com/acme/util/Text.java"],
    ),
    "java package": (
        "java/src/main/java/com/acme/App.java",
        "java",
        imp("com.acme.util", "*"),
        ["java/src/main/java/com/acme/util/Text.java"],
    ),
    "java inner type": (
        "java/src/main/java/com/acme/App.java",
        "java",
        imp("com.acme.util.Text.Kind", "Kind"),
        ["java/src/main/java/com/acme/util/Text.java"],
    ),
    "java external": (
        "java/src/main/java/com/acme/App.java",
        "java",
        imp("java.util.List", "List"),
        [],
    ),
    "c# namespace": ("cs/Program.cs", "csharp", imp("Acme.Core", "*"), ["cs/Acme/Core/Thing.cs"]),
    "php class": (
        "php/index.php",
        "php",
        imp("App\\Http\\Request", "Request"),
        ["php/src/Http/Request.php"],
    ),
    "php file": ("php/index.php", "php", imp("inc/boot.php"), ["php/inc/boot.php"]),
    "ruby relative": ("rb/bin/run.rb", "ruby", imp("helper"), ["rb/bin/helper.rb"]),
    "ruby lib": ("rb/bin/run.rb", "ruby", imp("acme/thing"), ["rb/lib/acme/thing.rb"]),
    "lua module": ("lua/main.lua", "lua", imp("acme.net"), ["lua/acme/net.lua"]),
    "lua init": ("lua/main.lua", "lua", imp("acme.json"), ["lua/acme/json/init.lua"]),
    "sh beside": ("sh/run.sh", "bash", imp("./lib.sh"), ["sh/lib.sh"]),
    "unknown language": ("sh/run.sh", "cobol", imp("lib"), []),
}


@pytest.mark.parametrize(("path", "language", "imported", "expected"), CASES.values(), ids=CASES)
def test_resolves(path: str, language: str, imported: Import, expected: list[str]) -> None:
    resolver = Resolver(FILES, lambda name: FILES[name].encode() if name in FILES else None)
    assert list(resolver.resolve(path, language, imported)) == expected


@pytest.mark.parametrize(
    "config", ["", "[]", "{", '{"compilerOptions": 3}', '{"extends": "./tsconfig"}', "[" * 100_000]
)
def test_a_broken_config_resolves_nothing(config: str) -> None:
    files = {"tsconfig.json": config, "a.ts": ""}
    resolver = Resolver(files, lambda name: files[name].encode())
    assert resolver.resolve("a.ts", "typescript", imp("@/b")) == ()


@pytest.mark.parametrize(
    ("path", "outside"),
    [
        ("net/http", True),
        ("github.com/other/render", True),
        ("example.com/own/part", False),
        ("github.com/kept/here/deep", False),  # a vendor folder
        ("github.com/taken/over/v2", False),  # a `replace`
        ("github.com/taken/alone", False),
        ("C", False),
    ],
)
def test_what_is_certainly_not_in_a_tree_of_go(path: str, outside: bool) -> None:
    files = {
        "go.mod": b"module example.com/own\n\nreplace (\n\tgithub.com/taken/over v1.2.0 => ./over\n)\n"
        b"replace github.com/taken/alone => ../alone\n",
        "vendor/github.com/kept/here/deep/a.go": b"package deep\n",
    }
    assert Resolver(files, files.get).is_outside("go", path) is outside
    bare = {"a.go": b"package a\n"}
    assert not Resolver(bare, bare.get).is_outside("go", path)  # without modules nothing is known
