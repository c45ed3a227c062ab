"""Several machines on one ledger: what people and programs can do with them.

leaving.py         a machine leaves the ledger that it shared
ledger_moving.py   moves a ledger between its file and a database
machines.py        keeps a ledger for other machines, invites, joins and revokes them
session_owners.py  moves a session from one machine to another
"""
