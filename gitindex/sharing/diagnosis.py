"""How the team's server does: checks for one user, figures for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.sharing.server import SCHEMA_VERSION, Server, connected

SLOW_MS = 50.0
"""A question about a name has 1 ms of work on the server: above this the way to it is at fault."""
METRICS_MS = 10_000
"""Prometheus gives up after 10 s by itself."""


def diagnose(address: str) -> list[dict[str, Any]]:
    """Return one row per check; the first that fails ends them, because the others need it."""
    rows: list[dict[str, Any]] = []
    try:
        with connected(address, patient=True) as server:
            rows.append(_row("server", True, f"answers, schema {SCHEMA_VERSION}"))
            rows += _checks(server)
    except GitIndexError as error:
        rows.append(_row("server", False, f"{error.message} ({error.hint})"))
    return rows


def _checks(server: Server) -> list[dict[str, Any]]:
    member, roles, visible = server.rows("SELECT * FROM gi_identity()")[0]
    kinds = [role for role in ("gi_reader", "gi_writer", "gi_admin") if role in roles]
    started = time.monotonic()
    server.rows("SELECT * FROM gi_definitions(%s, 1)", "main")
    took = 1e3 * (time.monotonic() - started)
    seen = f"{visible} visible"
    return [
        _row("identity", True, safe_text(member)),
        _row("rights", bool(kinds), ", ".join(kinds) or "none: `GRANT gi_reader TO` this role"),
        _row(
            "repositories", visible > 0, seen if visible else f"{seen}: `team members NAME --add`"
        ),
        _row("speed", took <= SLOW_MS, f"a question about a name took {took:.0f} ms"),
    ]


def _row(check: str, ok: bool, detail: str) -> dict[str, Any]:
    return {"check": check, "ok": ok, "detail": detail}


def metrics_text(address: str) -> str:
    """Return the figures in Prometheus' text format."""
    with connected(address, METRICS_MS, patient=True) as server:
        rows = server.rows("SELECT name, value FROM gi_metrics() ORDER BY name")
    figures = [row for row in rows if row[0].isidentifier()]  # a state is what a writer reported
    return "".join(f"gitindex_team_{name} {value:g}\n" for name, value in figures)


def serve_metrics(address: str, port: int, say: Callable[[str], None]) -> int:
    """Serve the figures on loopback until interrupted; a server that is away is status 503."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                code, text = 200, metrics_text(address)
            except GitIndexError as error:
                code, text = 503, f"{error.message}\n"
            self.send_response(code)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    try:
        server = HTTPServer(("127.0.0.1", port), Handler)
    except OSError as error:
        raise GitIndexError(
            f"cannot listen on port {port}: {error.strerror}", "name another"
        ) from error
    say(f"http://127.0.0.1:{server.server_port}/metrics")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        return int(Exit.OK)
    finally:
        server.server_close()
    return int(Exit.OK)
