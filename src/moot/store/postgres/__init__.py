"""A ledger in PostgreSQL, for whoever wants its replication, backups and operators.

Only a keeper opens it (`keeper/`): whoever has the database's password could append any well-signed
record, so machines and agents never get it. `schema.sql` says what lies where.

Texts are `bytea`: PostgreSQL's `text` holds no U+0000, and bytes sort the same everywhere.
"""

from moot.store.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
