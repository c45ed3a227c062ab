"""The record as a whole: log, verify, export, backup, doctor, trust, artifacts.

keeping.py  `moot doctor` and most of `moot ledger`: copies that prove something elsewhere,
            and what to do when something is wrong or there is more than one history
reading.py  `moot log`, `verify`, `artifact` and `trust`: what is on record, and whether it
            is intact
"""
