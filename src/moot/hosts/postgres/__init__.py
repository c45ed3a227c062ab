"""A ledger in PostgreSQL, for sites that want its replication, backups and operators.

    store.py        the connection: one lock for the ledger, taken before anything is read (LDG-075)
    transaction.py  writes, inside a transaction that holds the ledger's lock
    view.py         reads, inside one transaction

Only a keeper opens it: a process with the database's password could append any well-signed record,
so machines and agents never get the password. `schema.sql` has the tables.

Texts are `bytea`: PostgreSQL's `text` cannot hold U+0000, and bytes sort the same everywhere.
"""

from moot.hosts.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
