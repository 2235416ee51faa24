"""A real PostgreSQL server for tests, in a cluster of its own. Where none is found, they are skipped."""

from __future__ import annotations

import contextlib
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from importlib import import_module
from pathlib import Path

import psycopg
import pytest

PLACES = "/usr/lib/postgresql/*/bin"
SETTINGS = {
    "listen_addresses": "",
    "port": "5432",
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "40",
    "autovacuum": "off",
}


def binaries() -> str:
    """The folder of the server's programs: on PATH, of the distribution, or of a wheel."""
    found = shutil.which("initdb")
    if found:
        return os.path.dirname(os.path.realpath(found))
    places = sorted(glob.glob(PLACES), key=lambda path: int(path.split("/")[4]))
    if places:
        return places[-1]
    try:
        wheel = import_module("pgserver")  # a wheel that carries one
    except ImportError:
        pytest.skip("no PostgreSQL server: `python -m tests.bring` installs it")
    return os.path.join(os.path.dirname(str(wheel.__file__)), "pginstall", "bin")


def _unprivileged() -> pwd.struct_passwd:
    """A user that the server may run as; the distribution's own where there is one."""
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


def children(parent: int) -> list[int]:
    """Processes that one has started."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if int(Path("/proc", name, "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(name))
    return found


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Cluster:
    """One server with a socket in a private folder."""

    def __init__(self, **settings: str) -> None:
        binaries()  # before anything is made
        self._settings = SETTINGS | settings
        self.folder = Path(tempfile.mkdtemp(prefix="gi-pg-"))
        self.data = self.folder / "data"
        self._prefix: list[str] = []
        if os.geteuid() == 0:  # the server refuses root
            user = _unprivileged()
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            ids = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
            self._prefix = ["setpriv", *ids]
        os.chmod(self.folder, 0o755)
        self._run("initdb", "-A", "trust", "-U", "gi_super", "--no-sync", "-D", str(self.data))
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self, **others: str) -> None:
        """Start the server, with other settings where some are given; wait until it answers."""
        settings = self._settings | others
        self._port = settings["port"]
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        places = ["-D", str(self.data), "-k", str(self.folder)]
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [*self._prefix, f"{binaries()}/postgres", *places, *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
        )
        for _ in range(3_000):
            try:
                psycopg.connect(self.url("postgres")).close()
                return
            except psycopg.OperationalError:
                if self.process.poll() is not None:
                    raise RuntimeError("PostgreSQL did not start") from None
                signal.sigtimedwait([], 0.02)
        raise RuntimeError("PostgreSQL does not answer")

    def give(self, path: Path, data: bytes) -> None:
        """A file that only the server may read."""
        path.write_bytes(data)
        path.chmod(0o600)
        if os.geteuid() == 0:
            user = _unprivileged()
            os.chown(path, user.pw_uid, user.pw_gid)

    def kill(self) -> None:
        """kill -9 of every process of the server, as when a machine dies; what was committed stays."""
        assert self.process is not None
        family = [self.process.pid, *children(self.process.pid)]
        for pid in family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        while any(map(_is_running, family)):
            signal.sigtimedwait([], 0.01)
        self.process = None

    def stop(self) -> None:
        """End the server and remove everything."""
        if self.process is not None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str, user: str = "gi_super") -> str:
        """An address over the socket."""
        return f"host={self.folder} port={self._port} dbname={database} user={user}"

    def run(self, database: str, *statements: str) -> None:
        """Statements of the administrator."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    def _run(self, program: str, *args: str) -> None:
        command = [*self._prefix, f"{binaries()}/{program}", *args]
        subprocess.run(command, check=True, capture_output=True, cwd="/", timeout=300)


class Pooler:
    """A PgBouncer in transaction mode; all its clients have the same role at the server."""

    def __init__(self, cluster: Cluster, database: str, role: str, size: int) -> None:
        program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin")
        if program is None:
            pytest.skip("no pgbouncer: install Debian's package `pgbouncer`")
        self.folder = cluster.folder / f"pool-{database}"
        self.folder.mkdir(mode=0o755)
        (self.folder / "users.txt").write_text(f'"{role}" ""\n')
        (self.folder / "pool.ini").write_text(
            f"[databases]\n{database} = host={cluster.folder} port=5432 dbname={database}\n"
            "[pgbouncer]\nlisten_addr =\nlisten_port = 6432\n"
            f"unix_socket_dir = {self.folder}\nauth_type = trust\nauth_file = {self.folder}/users.txt\n"
            f"pool_mode = transaction\ndefault_pool_size = {size}\nmax_client_conn = 300\n"
        )
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        if user:
            shutil.chown(self.folder, "nobody")
        self._command = [program, *user, str(self.folder / "pool.ini")]
        self.address = f"host={self.folder} port=6432 dbname={database} user={role}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it listens."""
        (self.folder / ".s.PGSQL.6432").unlink(missing_ok=True)  # of one that was killed
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(self._command, stdout=quiet, stderr=quiet)
        for _ in range(3_000):
            with socket.socket(socket.AF_UNIX) as end:
                if end.connect_ex(str(self.folder / ".s.PGSQL.6432")) == 0:
                    return
            signal.sigtimedwait([], 0.02)
        raise RuntimeError("PgBouncer does not listen")

    def kill(self) -> None:
        """kill -9, as when its machine dies."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def __enter__(self) -> Pooler:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)
