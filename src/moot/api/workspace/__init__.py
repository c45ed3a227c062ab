"""The workspace and its record as a whole.

artifacts.py     files that the record cites by their hash
explaining.py    explain the code of an error, a finding or a rule
ledger.py        the record as a whole: its log, exports, backups, repair
leftovers.py     list and remove worktrees and branches that agents left behind
trust.py         the ledger's public keys and their fingerprint, for outsiders
verification.py  check that the record is intact, signed by known keys, and complete
workspaces.py    make a workspace for a repository, or forget one that was removed
"""
