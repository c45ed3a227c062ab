"""A ledger in PostgreSQL: a whole command against single-row commits of the same server."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import psycopg
from tests.store.postgres_server import PostgresServer

from bench.figure import Figure, at_least, ratio
from bench.ground import Errands, Ground, executor, keys_of, opened, record_size
from bench.rounds import rate, take_turns
from moot.hosts.opening import move_to_database
from moot.keys.folder import KeyFolder

COMMITS_A_ROUND = 30


def measure(ground: Ground) -> Iterator[Figure]:
    place = ground.new("postgres")
    with opened(place) as space:
        sample, origin = executor(space, Errands()), space.trust.origin
        for _ in range(10):
            sample()
    size = record_size(place)
    server = PostgresServer()
    try:
        move_to_database(place / ".moot", KeyFolder(keys_of(place)), origin, server.url)
        with psycopg.connect(server.url, autocommit=True) as db, opened(place) as space:
            ours, raw = executor(space, Errands("example/there")), _raw(db, size)
            _many(ours)(100)
            raw(100)
            rounds = take_turns(
                rate(_many(ours), COMMITS_A_ROUND),
                rate(raw, COMMITS_A_ROUND),
                ground.pick(40, 10),
            )
    finally:
        server.end()
    yield ratio(
        "one caller, whole command, PostgreSQL",
        "events/s",
        rounds.ours,
        rounds.raw,
        against="PostgreSQL commits",
        target=at_least(0.2),
    )


def _many(one: Callable[[], None]) -> Callable[[int], None]:
    def many(count: int) -> None:
        for _ in range(count):
            one()

    return many


def _raw(db: psycopg.Connection, size: int) -> Callable[[int], None]:
    db.execute("CREATE TABLE raw_rows (id BIGSERIAL PRIMARY KEY, body BYTEA)")
    blob = os.urandom(size)

    def many(count: int) -> None:
        for _ in range(count):
            db.execute("INSERT INTO raw_rows (body) VALUES (%s)", (blob,))

    return many
