"""The embedded store: one SQLite file, safe for many processes at once.

`store.py` the connection and its transactions, `turn.py` waiting for the lock, `view.py` what can
be read, `waiting.py` texts not in the full-text index yet, `change.py` what can be written,
`reader.py` a file that is only looked at, `queries.sql` every statement, `migrations/` the schema,
`trouble.py` errors.
"""

from moot.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
