"""A workspace: the `.moot/` folder of one repository, shared by all its worktrees.

    .moot/ledger.db      the ledger
    .moot/artifacts/     blobs by hash
    .moot/trust.json     which ledger this is and its two founding public keys
    .moot/.gitignore     `*`: nothing of it is ever committed

`find.py` looks for it, `create.py` makes it, `workspace.py` opens it, `trust.py` reads and writes
trust files. Private keys are elsewhere (`moot.keys`).
"""

from moot.workspace.create import create
from moot.workspace.find import find, project_root
from moot.workspace.workspace import Workspace

__all__ = ["Workspace", "create", "find", "project_root"]
