"""The outside world: what is seen of it goes into commands as data.

Nothing here decides. These only read: `git.py` lists files that are not committed, `beads.py` work
items, `program.py` finds the file that a command's first word names, `footprint.py` tells what a
command changed, `git_worktrees.py` the worktrees of a repository, `git_questions.py` asks git
several things at once, `watching.py` is told by the system what changes. These act: `running.py`
runs a command that was approved, `leftover.py` ends what is left of one; `program_end.py` waits for
one. `debug.py` prints what MOOT_DEBUG=1 asks for.
"""
