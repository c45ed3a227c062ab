"""The embedded store: one SQLite file, safe for many processes at once.

    errors.py          SQLite's errors as ours: what happened, and what to do about it
    lock_waiting.py    waits for a locked file, in order and not for ever
    missing_tables.py  makes tables again that follow from the events
    pending_index.py   the newest events: durable, but not yet in the indexes
    read_only.py       a ledger file that is only read: nothing is written, migrated or repaired
    schema.py          schema version and migrations
    store.py           the connection: write-ahead log, `synchronous=FULL`, one transaction at once
    transaction.py     what can be written, inside a transaction that holds the write lock
    view.py            what can be read, inside a transaction, also if it is not in the indexes yet

`queries.sql` holds every statement, `migrations/` the schema.
"""

from moot.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
