"""A workspace: the `.moot/` folder of one repository, shared by all its worktrees.

    .moot/ledger.db      the ledger
    .moot/artifacts/     blobs by hash
    .moot/trust.json     which ledger this is and its two founding public keys
    .moot/.gitignore     `*`: nothing of it is ever committed

`find.py` looks for it, `create.py` makes it, `workspace.py` opens it, `trust.py` reads and writes
trust files, `check.py` verifies it, `backup.py` copies it, `loss.py` goes on from an older copy,
`doctor.py` says what is wrong (`checkup.py` what it looks at, `ailments.py` what it looks for),
`settings.py` reads `moot.toml`.
Private keys are elsewhere (`moot.keys`). Import from the modules: opening a workspace need not load
what makes one.
"""
