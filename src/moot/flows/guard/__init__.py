"""The guard: may this agent write there? The pieces that `moot.api.guard.checks` is made of.

guarded_paths.py   which workspace and worktree a path belongs to, and its name there
roots.py           from where names are counted if neither git nor the workspace says it
aliases.py         other names under which a file is held: hard links, reserved links
hard_links.py      a second name of a file inside a folder that another holds
gone_workspaces.py a workspace that was here and is gone
off_limits.py      what no agent writes: the record itself, and git's own files
blockers.py        who stands in the way of writing some files; records nothing
incursions.py      what a shell command changed although someone else holds it
command_stamps.py  when a shell command began
staged_files.py    what the next commit would change
"""
