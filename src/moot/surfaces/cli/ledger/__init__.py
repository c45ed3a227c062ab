"""The record as a whole: log, verify, export, backup, doctor, trust, artifacts.

keeping.py  `moot doctor` and most of `moot ledger`: copy the record, diagnose it, and
            repair it
reading.py  `moot log`, `verify`, `artifact` and `trust`: what is on record, and whether it
            is intact
"""
