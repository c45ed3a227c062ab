"""The embedded store: one SQLite file, safe for many processes at once.

`store.py` the connection and its transactions, `lock_waiting.py` waiting for the lock and
`waiting_line.py` the order of those who wait, `view.py` what can be read, `transaction.py` what can
be written, `pending_index.py` events that are durable but not in the indexes yet,
`pending_search.py` searching their texts, `reader.py` and `read_only_file.py` a file that is only
read, `read_only.py` the same as a store, `queries.sql` every statement, `migrations/` the schema,
`errors.py` SQLite's errors as ours.
"""

from moot.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
