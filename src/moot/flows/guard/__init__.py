"""The guard: may this agent write there? The pieces that `moot.api.guard.checks` is made of.

guarded_paths.py   which workspace and worktree a path belongs to, and its name there
roots.py           from where names are counted if neither git nor the workspace says it
aliases.py         other names under which a file is held: hard links, reserved links
off_limits.py      what no agent writes: the record itself, git's own files, the settings
blockers.py        who stands in the way of writing some files; records nothing
incursions.py      what a shell command changed although someone else holds it
command_stamps.py  when a shell command began
staged_files.py    what the next commit would change
unmerged.py        what was changed elsewhere of a file and is not merged here
elsewhere.py       where that may be: other worktrees, branches of agents; read without git
other_versions.py  which other versions there are, as git knows it
told_once.py       what a session was told already
call_notes.py      which calls run, as hooks say, for those who watch files
"""
