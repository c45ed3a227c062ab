"""The raw limits: what SQLite, libsodium and the disk do when nothing of ours is in the way."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from nacl.bindings import crypto_sign, crypto_sign_open, crypto_sign_seed_keypair


class RawCommits:
    """Single-row commits: WAL, synchronous FULL, BEGIN IMMEDIATE, one INSERT, COMMIT."""

    def __init__(self, path: Path, size: int) -> None:
        self._blob = os.urandom(size)
        self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, body BLOB)")

    def one(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("INSERT INTO rows (body) VALUES (?)", (self._blob,))
        self._db.execute("COMMIT")

    def many(self, count: int) -> None:
        for _ in range(count):
            self.one()

    def close(self) -> None:
        self._db.close()


class RawSignatures:
    """libsodium through PyNaCl, one message over and over."""

    def __init__(self, size: int) -> None:
        self._public, self._secret = crypto_sign_seed_keypair(os.urandom(32))
        self._message = os.urandom(size)
        self._signed = crypto_sign(self._message, self._secret)

    def sign(self, count: int) -> None:
        for _ in range(count):
            crypto_sign(self._message, self._secret)

    def verify(self, count: int) -> None:
        for _ in range(count):
            crypto_sign_open(self._signed, self._public)


def write_synced(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
