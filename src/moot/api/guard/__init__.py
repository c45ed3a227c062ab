"""The guard: checks edits and shell commands of coding agents, and keeps copies of their files.

after_call.py        find out what a call changed, and who changed held files
agent_trace.py       export who wrote which lines, in the Agent Trace draft format (0.1.0)
aliases.py           other names of a held file: links, letter case, another root
asked_paths.py       the paths of `moot guard check`, with all names they have
call_journaling.py   write each call into the journal before it runs
checks.py            `moot guard check`, the check before a commit, and INCURSIONs
command_check.py     decide whether a shell command would destroy the work of others
commands.py          before a shell command: check it, and copy unsaved work
copies.py            read files and copy their content before it is overwritten
destruction.py       the files that a destructive act would reach
edits.py             before an edit: may this agent write these files?
files_by_name.py     the held files that a shell text names
git_changes.py       what git reports as changed, staged or different
guarded_paths.py     find the workspace, the worktree and the scope of a path
held_changes.py      find changes of held files, and gather evidence about who made them
holder_mail.py      mail the holder of a file that changed
holders.py           describe the agents that hold a file
input_files.py       the files that a patch, an archive or a stash would write
line_edits.py       before an edit, if lines are held: which lines of others would it touch?
line_state.py       who changed which lines of a file, brought up to date with the disk and HEAD
notices.py           unread events and mail of an agent, each shown once
other_places.py      the other worktrees and branches of the repository
other_versions.py    versions of a file that exist only there
person_notices.py    run the user's notification program
reading.py           after a file was read: tell who holds it
stale_reads.py       files that changed since the session last saw them
sub_agents.py        start and end the sub-agents of a tool session
tool_sessions.py     a tool session: start, calls, stop and end
undo.py              `moot undo`: restore an earlier version of a file
unmerged.py          warn about changes of a file on other branches and worktrees
unsaved_work.py      copy uncommitted files before a command, and find out whose they are
watched_files.py     the held files that a run watches, with their versions
watcher.py           the thread of `moot run` that watches held files
who_changed.py       decide who changed a file; pure
worktree_before.py   the state of a worktree when a command began
shell/               read a shell command without running it
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.api.guard import checks as checks
    from moot.api.guard import commands as commands
    from moot.api.guard import edits as edits
    from moot.api.guard import reading as reading
    from moot.api.guard import sub_agents as sub_agents
    from moot.api.guard import tool_sessions as tool_sessions
    from moot.api.guard import undo as undo
