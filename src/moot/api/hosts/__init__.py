"""Several machines on one ledger.

leaving.py         leave the ledger that this machine shares
ledger_moving.py   move a ledger between its file and a database
machines.py        keep a ledger for other machines; invite, join and revoke them
session_owners.py  move a session from one machine to another
"""
