"""The embedded store: one SQLite file, safe for many processes at once.

`store.py` the connection and its transactions, `turn.py` waiting for the lock, `view.py` what can
be read, `change.py` what can be written, `tail.py` events that are durable but not in the indexes
yet, `waiting.py` searching their texts, `reader.py` and `looking.py` a file that is only read,
`read_only.py` the same as a store, `queries.sql` every statement, `migrations/` the schema,
`trouble.py` errors.
"""

from moot.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
