"""The guard: what a coding tool asks before it edits, and what is told to it.

after_call.py       after a call: what it changed, who changed what others hold, and the
                    version of each file
agent_trace.py      what hooks saw agents write, in the form of the Agent Trace draft
                    (version 0.1.0, an RFC)
aliases.py          other names under which a file is held: a hard link, a link that was
                    reserved by its own name, the same letters in another case or form where
                    the disk sees no difference; and, where somebody else counts from
                    another root, the name it has from there
asked_paths.py      which files are meant by a path that somebody asks about: all names they
                    have in this workspace
call_journaling.py  before a call acts, `workspace/call_journal.py` writes down what its
                    input announces
checks.py           does anybody else hold it?
command_check.py    decides whether a shell command is refused: whose work would it destroy
                    that git does not have?
commands.py         before a shell command: asks `command_check.py`, and copies what is unsaved
copies.py           what is in a file now, and the copy that is made before it is overwritten
destruction.py      which files a destructive act would reach: for git's commands what git
                    calls changed there, for others the paths themselves
edits.py            before an edit: may this agent write these files?
other_places.py     where other versions of a file may be: other worktrees, and the branches
                    agents here worked on
files_by_name.py    which unsaved work of others does a shell text name, if it cannot be
                    told what the text writes?
git_changes.py      which files git calls changed, with its two letters for each: the look
                    before a git command
guarded_paths.py    where a path belongs: its workspace, its worktree, and the names it has
                    there; what no agent writes by itself
held_changes.py     changes of files that somebody holds: found on the disk and explained
holders.py          who stands in the way: what a refusal tells about them
input_files.py      the files that a patch, an archive or a stash names: what a command
                    writes that unpacks it
holder_mail.py          letters of the system to holders: what of theirs was changed, and what
                    is known of who did it
notices.py          what waits for an agent and has not been shown to it yet, and what
                    became of its own requests
other_versions.py   which versions of some files exist elsewhere and are not in a worktree,
                    as git knows it
person_notices.py   telling the person, outside of any terminal, that something waits for
                    them
reading.py          after a file was read: does another agent hold it?
stale_reads.py      whole files written from memory: has the session seen what it is about
                    to overwrite?
sub_agents.py       the sub-agents of a coding tool's session: known while they work, and
                    told apart by an alias
tool_sessions.py    A coding tool's session, moment by moment: it starts, calls tools, wants
                    to stop, ends
undo.py             `moot undo`: bring back what was in a file, from the copies that hooks kept
unmerged.py         changes of a file that exist elsewhere in this repository and are not in
                    this worktree
unsaved_work.py     before a command that may change files: copies of all work in its
                    worktree that git lacks
watched_files.py    which files others hold, in which folders they are, and the versions
                    they were last seen in
watcher.py          the thread of a run that watches what others hold, from its start to its
                    end
who_changed.py      who changed a file: a change, what could have made it, and the verdict
worktree_before.py  how a worktree was when a shell command began, and which version of a
                    file stood there then
shell/              what a shell command is about to do to files, read from its text alone:
                    nothing is run or asked
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
