"""The workspace and its record as a whole.

artifacts.py     files that the record cites by their hash
explaining.py    what a code means: of an error, a finding or a rule
ledger.py        the record as a whole: its log, exports, backups, repair
leftovers.py     worktrees and branches that agents left behind: listed, and removed
trust.py         two public keys and their fingerprint, for outsiders who check the record
verification.py  is the record intact, signed by known keys, and complete?
workspaces.py    makes a workspace for a repository, or forgets one that is gone
"""
