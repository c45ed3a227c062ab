"""The guard: may this agent write there? The pieces that `moot.api.guard.edits` is made of.

guarded_paths.py   which workspace and worktree a path belongs to, and its name there
roots.py           from where names are counted if neither git nor the workspace says it
aliases.py         other names under which a file is held: hard links, reserved links
hard_links.py      a second name of a file inside a folder that another holds
gone_workspaces.py a workspace that was here and is gone
off_limits.py      what no agent writes: the record itself, git's own files, the settings
blockers.py        who stands in the way of writing some files; records nothing
requesters.py      who asks, which of its session's agents, and what is in its way
who_changed.py     who made a change: proved, only one known, or unknown; pure
held_changes.py    changes of held files: found, explained, and told to the holder
begun_calls.py     a call is written into the journal before it acts
copies.py          copies of files: after an edit, and before an act that may destroy them
present_files.py   what stands in a file now
former_versions.py versions that can be brought back, and bringing one back
stale_reads.py     whole files written from memory over what others changed
worktree_before.py how a worktree was when a command began, and which version a file had
shell/             what a shell command is about to do, read from its text
destruction.py     which files such an act would reach
git_changes.py     which files git calls changed
git_refusals.py    what git itself refuses, so that nobody has to be held back
commit_differences.py what differs in a commit that a worktree would be forced to
called_files.py    is there a file of a certain name below a path?
unseen_changes.py  changes that an agent did not make and has not seen
staged_files.py    what the next commit, merge or rebase would change
unmerged.py        what was changed elsewhere of a file and is not merged here
elsewhere.py       where that may be: other worktrees, branches of agents; read without git
other_versions.py  which other versions there are, as git knows it
told_once.py       what a session was told already
"""
