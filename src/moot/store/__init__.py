"""Where records live: `memory` (the reference), `sqlite`, and content-addressed artifacts.

    artifacts.py        blobs by their hash: what is too long or too free for an event
    batched_syncs.py    many writes of one thread, made durable together
    files.py            files that are whole or absent: written under another name, synced, renamed
    ledger_transfer.py  copies a whole ledger from one store into another
    memory.py           the reference store: plain dictionaries, every promise but durability
    sqlite/             the embedded store: one SQLite file, safe for many processes at once

Each store is written natively against `core/ledger.py`; tests/store/ holds the one contract.
"""
