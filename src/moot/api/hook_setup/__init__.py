"""Install and remove our hooks in the settings of coding tools and in git, and check that they
work.

    companion_hooks.py  git's hooks other than pre-commit
    git_hook.py         our pre-commit hook, next to hooks that are already there
    guard_files.py      the files that contain our hooks; refuse changes that would remove them
    hook_probe.py       try installed hooks: send an edit that must be refused
    hook_stamps.py      when a hook last ran, was removed or was kept: one empty file each
    hook_status.py      the state of each tool in each worktree, and what is wrong
    install.py          install and remove, for every tool: merge, never overwrite
    manual.py           the agent's manual, and where each tool reads it
    original_files.py   the bytes of each file before we installed, to restore them exactly
    server_files.py     the files that tell a coding tool to start `moot mcp`
    tool_checks.py      `moot hook status` and `moot hook test`
    tools.py            `moot hook install` and `moot hook uninstall`
    uninstalling.py     `moot uninstall`: remove all hooks, keep the record
    worktrees.py        the worktrees of a repository, and what git knows of a file there

What depends on the tool is in `moot.coding_tools`.
"""
