"""The outside world: what is seen of it goes into commands as data.

    background_processes.py  processes that a command left behind
    beads.py                 work items in progress, from `bd` or `.beads/issues.jsonl`
    debug.py                 MOOT_DEBUG=1: what is opened, locked, decided, on standard error
    folder_watch.py          tells when something in some folders changes
    footprint.py             what a command changed: files compared before and after
    git_commands.py          asks git several questions at once, within one deadline
    git_objects.py           Git's objects: the id of some bytes, and copies in the repository
    git_status.py            which files of a worktree are not committed (B-02)
    git_worktrees.py         the worktrees of a repository, read from git's own files
    process_tree.py          the processes below one: their words and environment
    programs.py              which file a command's first word is, in its folder and environment
    running.py               runs an approved command: no shell, nothing inherited, bounded
    this_host.py             which machine, boot and process namespace this is, and what a disk is

Nothing here decides. Only `running.py` and `git_worktrees.py` change anything: they run a command
that was approved, end what is left of one, and remove a worktree or branch.
"""
