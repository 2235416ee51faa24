"""What several modules of this ring share: a PostgreSQL server with roles, and repositories."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.packs import fill
from tests.postgres import Cluster
from tests.renames import put_back
from tests.support import Repo
from tests.torture.team import make_cluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    made = make_cluster()
    yield made
    made.stop()


@pytest.fixture
def database(cluster: Cluster, request: pytest.FixtureRequest) -> str:
    name = f"t_{abs(hash(request.node.name)) % 10**9}"
    cluster.run("postgres", f"CREATE DATABASE {name} TEMPLATE template_team")
    return name


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repo, Repo]:
    """A library, and a program that imports it."""
    library = Repo(tmp_path_factory.mktemp("library") / "library")
    fill(library)
    library.write("pyproject.toml", '[project]\nname = "pkg"\n')
    library.commit("second")
    library.index()
    program = Repo(tmp_path_factory.mktemp("program") / "program")
    program.init()
    program.write("main.py", "from pkg.base import helper, lonely\n\nprint(helper(1), lonely())\n")
    program.write("other.py", "def helper():\n    return 'another one'\n\n\nhelper()\n")
    program.commit("first")
    program.index()
    return library, program


@pytest.fixture(scope="module")
def module_repo(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Repo:
    """The files of a module's FILES, indexed once."""
    made = Repo(tmp_path_factory.mktemp("module_repo") / "repo")
    made.init()
    return made.index_files(request.module.FILES)


@pytest.fixture
def clean(module_repo: Repo) -> Iterator[Repo]:
    """For tests that only plan: the files are put back, which is cheaper than an index."""
    yield module_repo
    put_back(module_repo)
