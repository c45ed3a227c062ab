"""Two PostgreSQL servers, the second of which follows the first by streaming replication.

The keeper is given the address of both and writes to whichever takes writes, as libpq does it.
"""

from __future__ import annotations

import time
from contextlib import suppress

import psycopg

from tests.store.postgres_server import SECONDS, PostgresServer

SLOT = "standby"


class PostgresPair:
    """A primary and its standby. `is_synchronous`: a commit is acknowledged once both have it."""

    def __init__(self, is_synchronous: bool) -> None:
        names = "*" if is_synchronous else ""
        # Only a commit waits for the standby, not the servers' own work before there is one.
        self.primary = PostgresServer("wal_level=replica", "max_wal_senders=5")
        self.standby = PostgresServer(copy_of=self.primary, slot=SLOT)
        self._on_primary(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        self._on_primary("SELECT pg_reload_conf()")
        hosts = f"{self.primary.sockets},{self.standby.sockets}"
        self.url = f"postgresql://moot@/postgres?host={hosts}&target_session_attrs=read-write"

    def promote(self) -> None:
        """The standby takes writes from now on; it waits for no other."""
        with psycopg.connect(self.standby.url, autocommit=True) as db:
            db.execute("SELECT pg_promote(true, 30)")
            db.execute("ALTER SYSTEM SET synchronous_standby_names = ''")
            db.execute("SELECT pg_reload_conf()")

    def wait_until_same(self) -> None:
        """Until the standby has written down everything that the primary has by now."""
        with psycopg.connect(self.primary.url, autocommit=True) as db:
            (place,) = db.execute("SELECT pg_current_wal_lsn()").fetchone() or ("",)
        until = time.monotonic() + SECONDS
        with psycopg.connect(self.standby.url, autocommit=True) as db:
            question = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn, pg_sleep(0.01)"
            while not (db.execute(question, (place,)).fetchone() or (False,))[0]:
                assert time.monotonic() < until, "the standby does not follow"

    def end(self) -> None:
        for server in (self.standby, self.primary):
            with suppress(OSError):
                server.end()

    def _on_primary(self, statement: str) -> None:
        with psycopg.connect(self.primary.url, autocommit=True) as db:
            db.execute(statement.encode())
