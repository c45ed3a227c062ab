"""Private keys and what is remembered beside them, outside every project.

agent_folder.py       key folders that `moot run` lends to its programs
folder.py             the key files, in `MOOT_KEYS` or the user's data folder
passphrase_lock.py    a person's key on disk, encrypted with a passphrase (Argon2id)
runner_connection.py  asks the `moot run` that lent this folder for what needs its key
running_names.py      which names a live `moot run` works under: a lock on a file for each
seen_checkpoints.py   the newest checkpoint seen of each ledger: shows an older copy
"""
