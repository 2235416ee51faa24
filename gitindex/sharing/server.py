"""The only importer of psycopg: connects to the team's server, with deadlines."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import select
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import SHUT_RDWR, socket
from typing import TYPE_CHECKING, Any, cast

from gitindex.base.atomic_file import read_small, remove, write_atomic
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.extras import missing_extra
from gitindex.base.locations import state_folder
from gitindex.base.worktree import Worktree
from gitindex.git.settings import user_setting

if TYPE_CHECKING:
    import psycopg

SCHEMA_VERSION = 8
CONNECT_SECONDS = 0.9
"""What a person waits for a server that is away before the local answer comes alone."""
PATIENT_SECONDS = 15.0
"""The same for `team push` and its kind, which have no local answer to give."""
QUERY_MS = 2_000
"""A question that takes longer asks for too common a name; the server cancels it."""
BREAKER_SECONDS = 60.0
"""After a failure nobody tries again for this long: every prompt and agent would wait its turn."""
GRACE_SECONDS = 0.5
"""Added to the server's own deadline, for a frozen server that does not enforce it."""
IDLE_SECONDS = 60.0
"""A server for agents or a page asks again within this time; later a firewall may have cut the line."""
SEARCH_PATH = "gitindex,public,pg_temp"
_SESSION = (
    "SELECT set_config('gitindex.token', %s, true), set_config('statement_timeout', %s, true),"
    " set_config('search_path', %s, true)"
)
_IDLE: dict[tuple[int, str], tuple[float, psycopg.Connection[tuple[Any, ...]]]] = {}
"""One idle connection for each address, by process: two must never share one."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Unavailable(GitIndexError):
    """The team's server cannot answer now. Raised instead of returning an empty list."""

    status = "unavailable"

    def __init__(self, why: str, hint: str = "local answers are not affected") -> None:
        super().__init__(f"the team index is unavailable: {why}", hint, Exit.GATED)
        self.why = why


class Server:
    """An open connection. Every row comes from a function of functions.sql.

    Nothing depends on the session: a pooler in transaction mode may hand every transaction to
    another connection of the server, so each one sets what it needs.
    """

    def __init__(
        self,
        connection: psycopg.Connection[tuple[Any, ...]],
        seconds: float = PATIENT_SECONDS,
        token: str = "",
    ) -> None:
        self._connection = connection
        self._seconds = seconds
        self._token = token
        self._within = False

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows of a statement; TimeoutError if the server is frozen."""
        late = threading.Event()
        timer = threading.Timer(self._seconds, self._cut, (late,))
        timer.daemon = True
        timer.start()
        try:
            if self._within:
                return self._connection.execute(cast("Any", sql), values, binary=True).fetchall()
            with self._connection.pipeline(), self.transaction():  # one round trip
                cursor = self._connection.execute(cast("Any", sql), values, binary=True)
            return cursor.fetchall()
        except _library().OperationalError:
            if late.is_set():
                raise TimeoutError(f"no answer within {self._seconds:g} s") from None
            raise
        finally:
            timer.cancel()

    def _cut(self, late: threading.Event) -> None:
        """Close the connection under the thread that waits for it."""
        late.set()
        with (
            suppress(OSError, _library().Error),
            socket(fileno=os.dup(self._connection.fileno())) as end,
        ):
            end.shutdown(SHUT_RDWR)

    def run(self, script: str) -> None:
        """Run statements without parameters, inside `transaction()`."""
        self._connection.execute(cast("Any", script))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block as one transaction."""
        with self._connection.transaction():
            if self._within:
                yield
                return
            limit = str(max(1, int(1e3 * (self._seconds - GRACE_SECONDS))))
            self._connection.execute(_SESSION, (self._token, limit, SEARCH_PATH))
            self._within = True
            try:
                yield
            finally:
                self._within = False


def address(worktree: Worktree, given: str = "") -> str:
    """Return the given server, else that of the user's own configuration."""
    named = given or user_setting(worktree, "gitindex.team.url")
    if not named:
        raise GitIndexError(
            "no team index", "`git config --global gitindex.team.url postgresql://…`", Exit.USAGE
        )
    if any(key.endswith("password") for key in _parts_of(named)):
        raise GitIndexError(
            "the address holds a password", "put it into ~/.pgpass: gitindex keeps none", Exit.USAGE
        )
    return named


@contextmanager
def connected(named: str, query_ms: int = QUERY_MS, patient: bool = False) -> Iterator[Server]:
    """Connect to a server of our version, within its deadlines; else raise Unavailable.

    After a failure, attempts are skipped for a minute (except for `patient` callers): a hundred
    prompts must not wait a second each.
    """
    breaker = _state_file(named, "down")
    if not patient:
        _check_breaker(breaker)
    psycopg = _library()
    try:
        seconds = PATIENT_SECONDS if patient else CONNECT_SECONDS
        token = read_token(named)
        connection = _idle(named) or _connect(named, seconds)
        try:
            server = Server(connection, query_ms / 1e3 + GRACE_SECONDS, token)
            _check_version(server)
            remove(breaker)
            yield server
        except BaseException:
            connection.close()
            raise
        kept = _IDLE.setdefault((os.getpid(), named), (time.monotonic(), connection))
        if kept[1] is not connection:  # that of another thread: one is enough
            connection.close()
    except psycopg.errors.InsufficientPrivilege as error:
        raise GitIndexError(
            f"the team's server refused: {_said(error)}",
            "`gitindex team doctor` says who you are; its administrator gives rights",
        ) from error
    except psycopg.errors.InvalidAuthorizationSpecification as error:
        raise GitIndexError(f"the team's server refused: {_said(error)}", "see above") from error
    except psycopg.errors.QueryCanceled as error:  # the server is up: the next question may succeed
        raise Unavailable("the question took too long", "ask for a rarer name") from error
    except (psycopg.Error, TimeoutError) as error:
        if not patient:
            _trip(breaker, _said(error))
        raise Unavailable(_said(error)) from error


def _idle(named: str) -> psycopg.Connection[tuple[Any, ...]] | None:
    """Return the idle connection of this process; None where the server has left it."""
    then, found = _IDLE.pop((os.getpid(), named), (0.0, None))
    if found is not None and (
        time.monotonic() - then > IDLE_SECONDS or select.select([found], [], [], 0)[0]
    ):
        found.close()
        return None
    return found


@atexit.register
def close_idle() -> None:
    """Close the idle connections of this process; a fork leaves those of its parent alone."""
    for key in [key for key in _IDLE if key[0] == os.getpid()]:
        _IDLE.pop(key)[1].close()


@contextmanager
def raw_connection(named: str) -> Iterator[Server]:
    """Connect to a database in any state: for the administrator who sets it up."""
    psycopg = _library()
    try:
        with _connect(named, PATIENT_SECONDS) as connection:
            yield Server(connection, 600.0)
    except (psycopg.Error, TimeoutError) as error:
        raise GitIndexError(
            f"the team's server said: {_said(error)}", "check address and rights"
        ) from error


def _connect(named: str, seconds: float) -> psycopg.Connection[tuple[Any, ...]]:
    """Connect in a thread: libpq waits at least two seconds, even for a frozen server."""
    library = _library()
    done: list[Any] = []
    guard, given_up = threading.Lock(), threading.Event()

    def connect() -> None:
        try:
            made: Any = library.connect(
                named,
                connect_timeout=10,
                sslmode=sslmode_of(named),
                autocommit=True,
                prepare_threshold=None,  # poolers before 1.21 know no prepared statements
            )
        except Exception as error:  # noqa: BLE001 - handed to the thread that waits
            made = error
        with guard:
            if given_up.is_set() and not isinstance(made, Exception):
                made.close()
            done.append(made)

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(seconds)
    with guard:
        if not done:
            given_up.set()
            raise TimeoutError(f"no answer within {seconds:g} s")
    if isinstance(done[0], Exception):
        raise done[0]
    connection: psycopg.Connection[tuple[Any, ...]] = done[0]
    return connection


def _said(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return safe_text(lines[0] if lines else type(error).__name__)


def _check_version(server: Server) -> None:
    found = server.rows("SELECT schema_version FROM gi_probe()")[0][0]
    if found != SCHEMA_VERSION:
        hint = "its administrator upgrades it: `gitindex team init`"
        hint = hint if found < SCHEMA_VERSION else "upgrade gitindex"
        raise Unavailable(f"it has schema {found}, this gitindex needs {SCHEMA_VERSION}", hint)


def sslmode_of(named: str) -> str:
    """Return the sslmode: verify certificates unless the URL sets a mode or the host is local.

    libpq itself uses no TLS on a Unix socket, whatever the mode.
    """
    parts = _parts_of(named)
    usual = "prefer" if parts.get("host") in _LOOPBACK else "verify-full"
    return str(parts.get("sslmode") or usual)


def _parts_of(named: str) -> dict[str, Any]:
    """Return the settings of an address, as libpq reads it."""
    library = _library()
    try:
        return dict(library.conninfo.conninfo_to_dict(named))
    except library.ProgrammingError as error:
        raise GitIndexError(
            f"not an address of PostgreSQL: {_said(error)}",
            "postgresql://HOST/DATABASE",
            Exit.USAGE,
        ) from error


def log_in(named: str, account: str, seconds: int) -> None:
    """Fetch a token with one's own account, and keep it for the address that questions go to."""
    with raw_connection(account) as server:
        token = server.rows("SELECT gitindex.gi_login(%s)", seconds)[0][0]
    os.makedirs(state_folder(), 0o700, exist_ok=True)
    write_atomic(_state_file(named, "token"), str(token).encode())


def log_out(named: str) -> None:
    """Forget the token."""
    remove(_state_file(named, "token"))


def read_token(named: str) -> str:
    """Return the token kept for an address; empty without one, or where it cannot be read."""
    try:
        return (read_small(_state_file(named, "token")) or b"").decode()
    except (OSError, UnicodeDecodeError):
        return ""


def _state_file(named: str, kind: str) -> str:
    digest = hashlib.sha256(named.encode()).hexdigest()[:16]
    return os.path.join(state_folder(), f"team-{digest}.{kind}")


def _check_breaker(path: str) -> None:
    try:
        note = json.loads(read_small(path) or b"{}")
        age = time.time() - float(note["at"])
    except (OSError, ValueError, KeyError, TypeError):
        return
    if 0 <= age < BREAKER_SECONDS:
        left = int(BREAKER_SECONDS - age)
        raise Unavailable(
            f"{safe_text(str(note.get('why')))} (tried {int(age)} s ago)",
            f"tried again in {left} s",
        )


def _trip(path: str, why: str) -> None:
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        write_atomic(path, json.dumps({"at": time.time(), "why": why}).encode(), durable=False)
    except OSError:
        return  # then the next call waits as well


def _library() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise missing_extra("the team index", "team") from error
    return psycopg
