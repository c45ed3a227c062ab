"""Looking outside: git and beads, read only. What is seen goes into commands as data.

Nothing here writes, and nothing here decides. `git.py` dirty files, `beads.py` work items.
"""
