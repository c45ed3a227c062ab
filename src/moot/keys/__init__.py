"""Private keys and what is remembered beside them, outside every project.

`folder.py` the key files, `passphrase_lock.py` the passphrase of a person's key,
`seen_checkpoints.py` the newest checkpoint seen of each ledger (so that an older copy put in its
place is noticed), `folder_keys.py` what the engine sees of a folder, `running_names.py` which names
a live `moot run` works under, `agent_folder.py` the folder that such a run lends its program,
`runner_line.py` how a program asks its run for what it has no key for.
"""
