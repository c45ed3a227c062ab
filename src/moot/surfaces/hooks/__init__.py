"""Hooks: Moot refuses an agent's edit of a file that another agent holds, before the write.

    briefing.py       the text at the start of a session: the rules, and who else is here
    call.py           read and check what a tool sent on stdin, in one shape for all tools
    commit.py         git's hooks before a commit, merge or rebase: warn a person, stop an agent
    entry.py          one invocation of `moot hook TOOL`: stdin in, the tool's own JSON out, in time
    hook_server.py    answer hooks from a process that already runs
    moments.py        the moments at which a coding tool calls, and how each is answered
    patches.py        the files that a patch names
    reasons.py        why an edit or a command is refused, and what to do instead
    thin.py           the small hook program that asks a running process
    written_files.py  the files that a call is about to write, and their new content

A coding tool starts `moot hook TOOL` at certain moments and sends it JSON on stdin. This package
only reads and answers the call. Who may write where: `api/guard/edits.py`; what a session does:
`api/guard/tool_sessions.py`; what is installed, and where: `api/hook_setup/`; what each tool sends
and understands: `moot.coding_tools`.

Inside a workspace an edit that cannot be checked is refused; outside of one hooks are silent. The
guard prevents mistakes; it is not a sandbox (docs/hooks.md).
"""
