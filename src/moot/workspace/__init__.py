"""A workspace: the `.moot/` folder of one repository, shared by all its worktrees.

    call_journal.py       when each call of a coding tool began and ended, and what it announced
    create.py             `moot init`: keys first, then a complete folder, then one rename
    file_versions.py      which versions of which files agents have read and left behind
    find.py               where the workspace is, and how its disk spells a path
    health_checks.py      what may be wrong with a workspace: one check for each problem
    integrity_check.py    checks whether the record is intact
    known_workspaces.py   where this user's workspaces are: a list in the key folder
    line_store.py         who changed which lines of each file: the stored states
    recovery.py           continues without lost events by a person's decision; backs up the ledger
    relocatable_store.py  follows the ledger after `moot ledger move`
    rollback_guard.py     compares what the key folder remembers with the ledger before a write
    settings.py           `moot.toml` in the root of a worktree, and a user's own file
    trust.py              trust files: which ledger, and its two public keys
    user_folders.py       the user's own data folder, where keys are unless `MOOT_KEYS` is set
    workspace.py          an open workspace: ledger, artifacts, keys, and whether it may be written

    .moot/ledger.db      the ledger
    .moot/artifacts/     blobs by hash
    .moot/trust.json     which ledger this is and its two founding public keys
    .moot/.gitignore     `*`: nothing of it is ever committed

Private keys are elsewhere (`moot.keys`). Import from the modules: opening a workspace should not
load what creates one.
"""
