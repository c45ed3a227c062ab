"""Private keys and what is remembered beside them, outside every project.

`folder.py` the key files, `lock.py` the passphrase of a person's key, `kept.py` the newest
checkpoint seen of each ledger (so that an older copy put in its place is noticed), `held.py` what
the engine sees of a folder, `running.py` which names a live `moot run` works under.
"""
