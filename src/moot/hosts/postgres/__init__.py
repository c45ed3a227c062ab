"""A ledger in PostgreSQL, with its replication, backups and operators.

    store.py        the connection: one lock for the ledger, taken before anything is read (LDG-075)
    transaction.py  what can be written, inside a transaction that holds the ledger's lock
    view.py         what can be read, inside one transaction

Only a keeper opens it: a process with the database's password could append any well-signed record,
so machines and agents never get it. `schema.sql` holds the tables.

Texts are `bytea`: PostgreSQL's `text` holds no U+0000, and bytes sort the same everywhere.
"""

from moot.hosts.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
