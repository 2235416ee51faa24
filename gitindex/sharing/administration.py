"""Sets up the team's database, and upgrades it in place: roles, tables, functions, rights."""

from __future__ import annotations

import os
from collections.abc import Iterator

from gitindex.base.errors import GitIndexError
from gitindex.sharing.server import SCHEMA_VERSION, Server, raw_connection

ROLES = ("gi_owner", "gi_reader", "gi_writer", "gi_admin")
FOLDER = os.path.join(os.path.dirname(__file__), "sql")
FIRST_VERSION = 3  # the first schema that was released
DROP_FUNCTIONS = """DO $$
DECLARE f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS signature FROM pg_proc p
             WHERE p.pronamespace = 'gitindex'::regnamespace AND p.proname LIKE 'gi\\_%' LOOP
        EXECUTE format('DROP FUNCTION %s CASCADE', f.signature);
    END LOOP;
    DROP TYPE IF EXISTS gi_hit, gi_place CASCADE;
END $$"""


def init(url: str) -> str:
    """Create or upgrade everything in one transaction; a current set-up is left alone."""
    with raw_connection(url) as server:
        held = _version(server)
        if held == SCHEMA_VERSION:
            return "already"
        if held is not None and held > SCHEMA_VERSION:
            raise GitIndexError(f"the database has schema {held}", "upgrade gitindex")
        if held is not None and held < FIRST_VERSION:
            raise GitIndexError(f"the database has schema {held}", "use the gitindex that made it")
        with server.transaction():
            if held is None:
                _create_schema(server)
            where = server.rows(
                "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace"
                " WHERE e.extname = 'pg_trgm'"
            )[0][0]
            server.run("SET LOCAL ROLE gi_owner")
            server.rows("SELECT set_config('search_path', %s, true)", f"gitindex,{where}")
            for script in scripts(held):
                server.run(script)
    return "created" if held is None else f"upgraded from schema {held}"


def scripts(held: int | None, wanted: int = SCHEMA_VERSION) -> Iterator[str]:
    """Return the statements from a version (None: an empty database) to another, in order."""
    first = FIRST_VERSION if held is None else held + 1
    if held is not None:
        yield DROP_FUNCTIONS  # their results may have other columns now
    names = [f"tables_{version}.sql" for version in range(first, wanted + 1)]
    for name in (*names, "functions.sql", "rights.sql"):
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            yield file.read()


def _create_schema(server: Server) -> None:
    for role in ROLES:
        _create_role(server, role)
    server.run("GRANT gi_owner TO CURRENT_USER")
    server.run("GRANT gi_reader TO gi_writer, gi_admin")
    server.run("CREATE SCHEMA gitindex AUTHORIZATION gi_owner")
    server.run("CREATE EXTENSION IF NOT EXISTS pg_trgm")


def _version(server: Server) -> int | None:
    found = server.rows("SELECT to_regclass('gitindex.gi_meta') IS NOT NULL")[0][0]
    if not found:
        return None
    return int(server.rows("SELECT schema_version FROM gitindex.gi_probe()")[0][0])


def _create_role(server: Server, role: str) -> None:
    if not server.rows("SELECT 1 FROM pg_roles WHERE rolname = %s", role):
        server.run(f"CREATE ROLE {role} NOLOGIN")
