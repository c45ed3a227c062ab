"""A workspace: the `.moot/` folder of one repository, shared by all its worktrees.

    call_journal.py       when each call of a coding tool began and ended, and what it announced
    create.py             `moot init`: keys first, then a complete folder, then one rename
    file_versions.py      which versions of which files agents have read and left behind
    find.py               where the workspace is, and how its disk spells a path
    health_checks.py      what may be wrong with a workspace: one check for each flaw
    integrity_check.py    is the record intact?
    known_workspaces.py   where this user's workspaces are: a list in the key folder
    line_store.py         who changed which lines of each file: the stored states
    recovery.py           goes on without lost events by a person's decision; copies the ledger file
    relocatable_store.py  goes on in the new place once `moot ledger move` has moved the ledger
    rollback_guard.py     compares what the key folder remembers with the ledger before a write
    settings.py           `moot.toml` in the root of a worktree, and a user's own file
    trust.py              trust files: which ledger, and its two public keys
    user_folders.py       the user's own data folder, where keys are unless `MOOT_KEYS` is set
    workspace.py          an open workspace: ledger, artifacts, keys, and whether it may be written

    .moot/ledger.db      the ledger
    .moot/artifacts/     blobs by hash
    .moot/trust.json     which ledger this is and its two founding public keys
    .moot/.gitignore     `*`: nothing of it is ever committed

Private keys are elsewhere (`moot.keys`). Import from the modules: opening a workspace need not load
what makes one.
"""
