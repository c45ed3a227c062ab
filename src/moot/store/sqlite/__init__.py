"""The embedded store: one SQLite file, safe for many processes at once.

    errors.py          translates SQLite's errors into ours, with hints
    lock_waiting.py    waits for a locked file, in order and with a time limit
    missing_tables.py  creates lost tables again whose content follows from the events
    pending_index.py   the newest events: durable, but not yet in the indexes
    read_only.py       opens a ledger file for reading only: no write, migration or repair
    schema.py          schema version and migrations
    store.py           the connection: write-ahead log, `synchronous=FULL`, one transaction at once
    transaction.py     writes, inside a transaction that holds the write lock
    view.py            reads, inside a transaction, including events not yet in the indexes

`queries.sql` has every statement, `migrations/` the schema.
"""

from moot.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
