"""The exported surface: what changed, what callers notice, and what excuses it."""

from __future__ import annotations

import json

import pytest

from tests.support import Repo

FILES = {
    "pyproject.toml": '[project]\nname = "m"\nversion = "1.0.0"\n',
    "CHANGELOG.md": "# Changes\n",
    "m/__init__.py": "from .core import Shape as Shape\n",
    "lib/main.js": "var Router = require('router')\nexports.Router = Router\nexports.size = 1\n",
    "m/core.py": (
        "class Shape:\n    def area(self, scale=1):\n        return scale\n\n"
        "    def _inner(self):\n        pass\n\n\n"
        "def build(name, size=1):\n    return name\n\n\ndef _private():\n    pass\n"
    ),
    "m/_hidden.py": "def secret():\n    pass\n",
    "tests/test_core.py": "def test_it():\n    pass\n",
    "web/util.ts": "export function pad(s: string): string { return s }\nfunction own() {}\n",
    "geo/geo.go": "package geo\n\nfunc Area(side int) int { return side }\n\nfunc hidden() {}\n",
}


@pytest.fixture
def released(repo: Repo) -> Repo:
    for name, text in FILES.items():
        repo.write(name, text)
    repo.commit("release")
    repo.git("tag", "v1.0.0")
    repo.index()
    return repo


def edit(repo: Repo, path: str, old: str, new: str) -> None:
    text = (repo.path / path).read_text()
    assert old in text
    repo.write(path, text.replace(old, new))


def api(repo: Repo, *args: str) -> list[tuple[str, str, bool]]:
    answer = repo.answer("api", *args)
    return [(row["change"], row["qualifiedName"], row["incompatible"]) for row in answer["api"]]


CASES = {
    "a re-export removed": (
        "m/__init__.py",
        "from .core import Shape as Shape\n",
        "",
        [("removed", "Shape", True)],
    ),
    "an exported value removed": (
        "lib/main.js",
        "exports.Router = Router\n",
        "",
        [("removed", "Router", True)],
    ),
    "removed": (
        "m/core.py",
        "def build(name, size=1):\n    return name\n",
        "",
        [("removed", "build", True)],
    ),
    "a member removed": (
        "m/core.py",
        "    def area(self, scale=1):\n        return scale\n",
        "    x = 1\n",
        [("removed", "Shape.area", True), ("added", "Shape.x", False)],
    ),
    "an optional parameter": (
        "m/core.py",
        "size=1)",
        "size=1, colour=None)",
        [("changed", "build", False)],
    ),
    "a required parameter": (
        "m/core.py",
        "size=1)",
        "size=1, *, colour)",
        [("changed", "build", True)],
    ),
    "a parameter renamed": ("m/core.py", "(name,", "(title,", [("changed", "build", True)]),
    "a default taken away": ("m/core.py", "size=1)", "size)", [("changed", "build", True)]),
    "an annotation": ("m/core.py", "(name,", "(name: str,", [("changed", "build", False)]),
    "what is called by calling the object": (
        "m/core.py",
        "self, scale=1):\n        return scale",
        "self, scale=1):\n        return scale\n\n    def __call__(self, x):\n        return x",
        [("added", "Shape.__call__", False)],
    ),
    "private": ("m/core.py", "def _private", "def _other", []),
    "in a private module": ("m/_hidden.py", "secret", "other", []),
    "in a test": ("tests/test_core.py", "test_it", "test_more", []),
    "a body": ("m/core.py", "return name", "return name + name", []),
    "TypeScript, optional": (
        "web/util.ts",
        "s: string)",
        "s: string, n?: number)",
        [("changed", "pad", False)],
    ),
    "TypeScript, required": (
        "web/util.ts",
        "s: string)",
        "s: string, n: number)",
        [("changed", "pad", True)],
    ),
    "Go": ("geo/geo.go", "side int)", "side, other int)", [("changed", "Area", True)]),
    "Go, not exported": ("geo/geo.go", "hidden", "concealed", []),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    made = Repo(tmp_path_factory.mktemp("api") / "repo")
    made.init()
    return made.index_files(FILES)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_changed(world: Repo, case: tuple[str, str, str, list[tuple[str, str, bool]]]) -> None:
    path, old, new, expected = case
    world.git("reset", "-q", "--hard")
    edit(world, path, old, new)
    world.git("add", "-A")
    assert api(world, "--staged") == expected


def test_moved_and_passed_on_is_no_removal(world: Repo) -> None:
    world.git("reset", "-q", "--hard")
    world.write("m/made.py", "def build(name, size=1):\n    return name\n")
    edit(world, "m/core.py", FILES["m/core.py"][-96:-33], "from m.made import build\n")
    world.git("add", "-A")
    assert ("removed", "build", True) not in api(world, "--staged")


def test_an_incompatible_change_needs_a_version_or_a_line(released: Repo) -> None:
    edit(released, "m/core.py", "def build", "def make")
    released.commit("rename")
    assert released.gitindex("api").returncode == 0, "it only reports"
    done = released.gitindex("api", "--check")
    assert done.returncode == 1
    assert "! removed build" in done.stdout
    released.write("CHANGELOG.md", "# Changes\n\n- `build` is now called make.\n")
    released.commit("announced")
    assert released.gitindex("api", "--check").returncode == 0
    assert released.gitindex("api", "--check", "--require", "version").returncode == 1
    edit(released, "pyproject.toml", "1.0.0", "2.0.0")
    released.commit("version")
    assert released.gitindex("api", "--check", "--require", "version").returncode == 0
    assert released.gitindex("api", "v1.0.0..HEAD", "--check").returncode == 0


def test_before_a_push_it_checks_and_before_a_commit_it_reports(released: Repo) -> None:
    edit(released, "m/core.py", "def build", "def make")
    released.git("add", "-A")
    done = released.gitindex("gate", "api")
    assert (done.returncode, "removed build" in done.stdout) == (0, True)
    released.commit("rename")
    pushing = {"PRE_COMMIT_FROM_REF": "HEAD^", "PRE_COMMIT_TO_REF": "HEAD"}
    assert released.gitindex("gate", "api", env=pushing).returncode == 1
    released.write("m/more.py", "x = 1\n")
    released.commit("more")
    assert released.gitindex("gate", "api", env=pushing).returncode == 0, "of this commit only"
    assert released.gitindex("gate", "api", "--since", "v1.0.0").returncode == 1


@pytest.mark.parametrize(
    ("path", "line", "witness"),
    [
        ("lib/main.js", "exports.Router = Router\n", "require('./lib/main').Router"),
        ("lib/main.js", "exports.size = 1\n", "require('./lib/main').size"),
        ("web/util.ts", "export ", "import { pad } from './web/util'"),
        ("m/__init__.py", "from .core import Shape as Shape\n", "from m import Shape"),
    ],
)
def test_a_witness_is_written_as_its_module_is(
    released: Repo, path: str, line: str, witness: str
) -> None:
    edit(released, path, line, "")
    [row] = released.answer("api", "HEAD")["api"]
    assert row["witness"] == witness


def test_sarif(released: Repo) -> None:
    edit(released, "m/core.py", "def build", "def make")
    released.git("add", "-A")
    done = released.gitindex("api", "--staged", "--format", "sarif")
    log = json.loads(done.stdout)
    assert log["version"] == "2.1.0"
    results = {r["ruleId"]: r["level"] for r in log["runs"][0]["results"]}
    assert results == {"api-removed": "error", "api-added": "note"}
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "m/core.py"


def test_a_property_that_can_be_set_now_breaks_nobody(released: Repo) -> None:
    getter = "class Shape:\n    @property\n    def size(self):\n        return 1\n\n"
    edit(released, "m/core.py", "class Shape:\n", getter)
    released.commit("a property")
    setter = "        return 1\n\n    @size.setter\n    def size(self, value):\n        pass\n\n"
    edit(released, "m/core.py", "        return 1\n\n", setter)
    released.git("add", "-A")
    answer = json.loads(released.gitindex("api", "--staged", "--json").stdout)
    assert [row["qualifiedName"] for row in answer["api"] if row["incompatible"]] == []


def test_the_attribute_hook_of_a_class_offers_no_name_of_its_module(released: Repo) -> None:
    """Only a module's own `__getattr__` may still serve a name that is gone."""
    hook = "    def __getattr__(self, name):\n        return name\n"
    edit(released, "m/core.py", "    def _inner(self):\n        pass\n", hook)
    edit(released, "m/core.py", "def build(name, size=1):\n    return name\n", "")
    released.commit("hook")
    assert api(released, "v1.0.0..HEAD") == [("removed", "build", True)]
    released.write("m/core.py", "def __getattr__(name):\n    return name\n")
    released.commit("module")
    assert ("removed", "build", True) not in api(released, "v1.0.0..HEAD")
    released.write("m/core.py", "")
    released.commit("no hook")
    assert api(released, "HEAD~..HEAD") == [("removed", "__getattr__", True)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("m/core.py", "m/core/__init__.py"),
        ("geo/geo.go", "geo/area.go"),
        ("web/util.ts", "web/util/index.ts"),
        ("web/util.ts", "web/util.js"),
        ("rust/a.rs", "rust/a/mod.rs"),
    ],
)
def test_another_file_of_the_same_module_is_no_removal(released: Repo, old: str, new: str) -> None:
    """Imports name the module, or the package, and find it as before."""
    released.write("rust/a.rs", "pub fn one() {}\n")
    released.commit("rust")
    released.index()
    text = (released.path / old).read_text()
    released.git("rm", "-q", old)
    released.write(new, text.replace(": string", "") if new.endswith(".js") else text)
    released.git("add", "-A")
    assert not [row for row in api(released, "--staged") if row[2]]
    assert [row for row in api(released, "--staged") if row[0] != "changed"] == []


def test_what_is_lost_on_the_way_to_another_file_is_a_removal(released: Repo) -> None:
    released.git("mv", "geo/geo.go", "geo/area.go")
    edit(released, "geo/area.go", "Area(side int)", "Size(side int)")
    released.git("mv", "m/core.py", "m/core")
    (released.path / "m/core").rename(released.path / "m/x")
    text = (released.path / "m/x").read_text().replace("def area", "def size")
    (released.path / "m/x").unlink()
    released.write("m/core/__init__.py", text)
    released.git("add", "-A")
    assert [row for row in api(released, "--staged") if row[2]] == [
        ("removed", "Area", True),
        ("removed", "Shape.area", True),
    ]


PASSED_ON = {
    "listed": ("from ._api import *\n\n__all__ = ['get', 'Client']\n", "get", "Client"),
    "whole": ("from ._api import *\n", "get", "Client"),
    "as itself": ("from ._api import get as get, Client as Client\n", "get", "Client"),
    "unused": ("from ._api import get, Client\n", "get", "Client"),
    "renamed": ("from ._api import get as fetch, Client as Http\n", "fetch", "Http"),
    "by another private module": ("from ._all import *\n", "get", "Client"),
    "two stars with the same": (
        "from ._all import *\nfrom ._api import *\n__all__ = ['get', 'Client']\n",
        "get",
        "Client",
    ),
}
PRIVATE = (
    "__all__ = ['get', 'Client']\n\n\n"
    "def get(\n    url,\n    *,\n    # an address\n    proxies=None,\n):\n    return url\n\n\n"
    "class Client:\n    def send(self, data):\n        return data\n\n"
    "    def close(self):\n        pass\n\n\n"
    "def _own(data):\n    return data\n\n\ndef unlisted(data):\n    return data\n"
)


def passed_on(repo: Repo, public: str) -> None:
    repo.write("h/__init__.py", public)
    repo.write("h/_all.py", "from ._api import *\n")
    repo.write("h/_api.py", PRIVATE)
    repo.commit("passed on")


@pytest.mark.parametrize("case", PASSED_ON.values(), ids=PASSED_ON)
def test_what_a_public_module_passes_on_is_compared_under_its_name(
    released: Repo, case: tuple[str, str, str]
) -> None:
    public, function, holder = case
    passed_on(released, public)
    edit(released, "h/_api.py", "    proxies=None,\n", "    proxy=None,\n")
    edit(released, "h/_api.py", "self, data", "self, data, size")
    edit(released, "h/_api.py", "    def close(self):\n        pass\n", "    x = 1\n")
    edit(released, "h/_api.py", "_own(data)", "_own()")
    edit(released, "h/_api.py", "unlisted(data)", "unlisted()")
    released.commit("changed")
    assert api(released, "HEAD~..HEAD") == [
        ("changed", function, True),
        ("changed", f"{holder}.send", True),
        ("added", f"{holder}.x", False),
        ("removed", f"{holder}.close", True),
    ]
    row = released.answer("api", "HEAD~..HEAD")["api"][0]
    assert (row["path"], row["witness"]) == (
        "h/_api.py",
        f"from h import {function}\n{function}(url, proxies=proxies)",
    )


UNCHANGED = {
    "a body": ("    return url\n", "    return url.strip()\n"),
    "a comment between parameters": ("# an address", "# where"),
    "a private function": ("_own(data)", "_own()"),
    "one that is not listed": ("unlisted(data)", "unlisted()"),
}


@pytest.mark.parametrize("case", UNCHANGED.values(), ids=UNCHANGED)
def test_what_callers_of_a_passed_on_name_do_not_see(released: Repo, case: tuple[str, str]) -> None:
    passed_on(released, "from ._api import *\n")
    edit(released, "h/_api.py", *case)
    released.commit("changed")
    assert api(released, "HEAD~..HEAD") == []


def test_one_of_two_imports_is_not_compared(released: Repo) -> None:
    """Which of them binds the name is not known."""
    fallback = (
        "    from fast import get as get\nexcept ImportError:\n    from ._api import get as get\n"
    )
    passed_on(released, f"try:\n{fallback}")
    edit(released, "h/_api.py", "    proxies=None,\n", "")
    released.commit("changed")
    assert api(released, "HEAD~..HEAD") == []


def test_a_definition_moved_to_a_private_module_is_compared_there(released: Repo) -> None:
    listed = PRIVATE.partition("def _own")[0]
    passed_on(released, listed)
    released.write("h/_new.py", listed.replace("self, data", "self, data, size"))
    released.write("h/__init__.py", "from ._new import get, Client\n__all__ = ['get', 'Client']\n")
    released.commit("moved")
    assert api(released, "HEAD~..HEAD") == [("changed", "Client.send", True)]
    released.git("mv", "h/_new.py", "h/_newer.py")
    edit(released, "h/__init__.py", "._new", "._newer")
    edit(released, "h/_newer.py", "    def close(self):\n        pass\n", "")
    released.commit("again")
    assert api(released, "HEAD~..HEAD") == [("removed", "Client.close", True)]


def test_a_name_that_a_star_no_longer_brings_is_removed(released: Repo) -> None:
    passed_on(released, "from ._api import *\n")
    edit(released, "h/_api.py", "['get', 'Client']", "['Client']")
    released.commit("changed")
    assert api(released, "HEAD~..HEAD") == [("removed", "get", True)]


@pytest.mark.parametrize("public", ["export { pad } from './_pad'", "export * from './_pad'"])
def test_an_index_of_typescript_passes_on_what_a_private_file_defines(
    released: Repo, public: str
) -> None:
    released.write("ui/index.ts", public + "\n")
    released.write("ui/_pad.ts", "export function pad(s: string): string { return s }\n")
    released.commit("passed on")
    edit(released, "ui/_pad.ts", "s: string)", "s: string, n: number)")
    released.commit("changed")
    assert api(released, "HEAD~..HEAD") == [("changed", "pad", True)]
