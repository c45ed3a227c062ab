"""Private keys and what is remembered beside them, outside every project.

`folder.py` the key files, `lock.py` the passphrase of a person's key, `kept.py` the newest
checkpoint of each ledger (so that an older copy of a ledger is noticed), `held.py` what the
engine sees of a folder.
"""
