"""Storage of records: `memory` (the reference), `sqlite`, and content-addressed artifacts.

    artifacts.py        files by their hash, for content that is too long for an event
    batched_syncs.py    many writes of one thread, made durable together
    files.py            atomic file writes: under a temporary name, synced, renamed
    ledger_transfer.py  copies a whole ledger from one store into another
    memory.py           the reference store: plain dictionaries, everything but durability
    sqlite/             the embedded store: one SQLite file, safe for many processes at once

Each store implements `core/ledger.py`; `tests/store/contract.py` tests all of them.
"""
