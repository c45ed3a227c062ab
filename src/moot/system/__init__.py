"""The outside world: what is seen of it goes into commands as data.

Nothing here decides. `git.py` dirty files, `beads.py` work items, `footprint.py` what a command
changed: read only. `debug.py` prints what MOOT_DEBUG asks for. `running.py` runs a command that was approved, `leftover.py` ends what is left
of one; they are the only ones that act.
"""
