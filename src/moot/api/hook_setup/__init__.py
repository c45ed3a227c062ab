"""Our hooks in the settings of coding tools and in git: installing, uninstalling, whether they
work.

    companion_hooks.py  Git's other hooks beside pre-commit: for what changes files without one
    git_hook.py         our pre-commit hook, in line with those that are there
    guard_files.py      the files that carry our hooks, and whether a change of one would take
                        them out
    hook_probe.py       trying installed hooks: an edit that must be refused, sent as the tool
                        itself would send it
    hook_stamps.py      what happened to the guard of a tool in a worktree: a small file each,
                        whose time is all it says
    hook_status.py      where each tool stands in each worktree: installed, trusted, last heard,
                        what is wrong
    install.py          installing and uninstalling, for every tool: merge, never overwrite; put
                        back what was there
    manual.py           the agent's manual, and where each tool reads it
    original_files.py   what was there before we installed: bytes, kept in the workspace, to be
                        put back exactly
    server_files.py     the files that tell a coding tool to start `moot mcp`: put in and taken
                        out, and whether they work
    tool_checks.py      are the hooks on?
    tools.py            coding tools: installing the hooks with which they ask before they edit,
                        and removing them
    uninstalling.py     taking Moot out of a project: the hooks go, the record stays, and where
                        it stays is said
    worktrees.py        the worktrees of one repository, what git knows of a file in them, and
                        what a tool goes by there

What depends on which tool it is, is in `moot.coding_tools`.
"""
