"""The embedded store: one SQLite file, safe for many processes at once.

`store.py` the connection and its transactions, `view.py` what can be read, `change.py` what can
be written, `queries.sql` every statement, `migrations/` the schema, `trouble.py` errors.
"""

from moot.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
