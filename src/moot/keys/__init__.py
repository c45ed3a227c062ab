"""Private keys, and what Moot remembers of ledgers, outside every project.

agent_folder.py       key folders that `moot run` lends to its programs
folder.py             the key files, in `MOOT_KEYS` or the user's data folder
passphrase_lock.py    a person's key on disk, encrypted with a passphrase (Argon2id)
runner_connection.py  asks the `moot run` that lent this folder to do what needs its keys
running_names.py      which names a running `moot run` uses: a file lock for each
seen_checkpoints.py   the newest checkpoint seen of each ledger: detects an older copy
"""
