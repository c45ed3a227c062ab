"""Where records live: `memory` (the reference), `sqlite`, and content-addressed artifacts.

Each store is written natively against `core/ledger.py`; tests/store/ holds the one contract.
"""
