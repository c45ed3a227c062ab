"""Moot: agents that share a repository, kept off each other's files, on the record.

Five protocols are five pure state machines over one signed, append-only ledger. Start reading
with `core/machine.py` (the shape of a protocol), then `example/` (the smallest one), then
`engine/` (the only place where pure meets IO). ARCHITECTURE.md draws the picture.
"""

__version__ = "0.1.0"
