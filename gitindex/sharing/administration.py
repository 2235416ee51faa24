"""Sets up the team's database: roles, schema, functions. Run by its owner, again for upgrades."""

from __future__ import annotations

import os
from collections.abc import Iterator

from gitindex.base.errors import GitIndexError
from gitindex.sharing.server import SCHEMA_VERSION, Server, raw_connection

ROLES = ("gi_owner", "gi_reader", "gi_writer", "gi_admin")
FOLDER = os.path.join(os.path.dirname(__file__), "sql")


def init(url: str) -> str:
    """Create everything in one transaction; an existing set-up is left alone."""
    with raw_connection(url) as server:
        held = _version(server)
        if held == SCHEMA_VERSION:
            return "already"
        if held is not None:
            raise GitIndexError(f"the database has schema {held}", "use the gitindex that made it")
        with server.transaction():
            for role in ROLES:
                _create_role(server, role)
            server.run("GRANT gi_owner TO CURRENT_USER")
            server.run("GRANT gi_reader TO gi_writer, gi_admin")
            server.run("CREATE SCHEMA gitindex AUTHORIZATION gi_owner")
            server.run("CREATE EXTENSION IF NOT EXISTS pg_trgm")
            where = server.rows(
                "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace"
                " WHERE e.extname = 'pg_trgm'"
            )[0][0]
            server.run("SET LOCAL ROLE gi_owner")
            server.rows("SELECT set_config('search_path', %s, true)", f"gitindex,{where}")
            for script in scripts():
                server.run(script)
    return "created"


def scripts() -> Iterator[str]:
    """Return the numbered SQL files, in order."""
    for name in sorted(os.listdir(FOLDER)):
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            yield file.read()


def _version(server: Server) -> int | None:
    found = server.rows("SELECT to_regclass('gitindex.gi_meta') IS NOT NULL")[0][0]
    if not found:
        return None
    return int(server.rows("SELECT schema_version FROM gitindex.gi_probe()")[0][0])


def _create_role(server: Server, role: str) -> None:
    if not server.rows("SELECT 1 FROM pg_roles WHERE rolname = %s", role):
        server.run(f"CREATE ROLE {role} NOLOGIN")
