"""Hooks: an agent about to edit a file that another agent holds is stopped before the write.

A coding tool starts `moot hook TOOL` at certain moments and hands it JSON on stdin. Here the call
is read and answered, and nothing else:

    entry.py      one invocation: its session, its deadline, its one broad `except`
    call.py       what a tool sent on stdin, read and bounded
    patches.py    the files a patch names, as the tools that apply it read them
    shell_patches.py  the same inside a shell command, from where the shell has gone
    rewritings.py what a tool may make of a path before it opens the file
    touched.py    the files a call is about to write, or has read
    moments.py    what each moment asks the library
    answers.py    the words each tool understands
    reasons.py    why not, and what to do instead
    command_reasons.py  the same for a shell command
    briefing.py   what a session is told at its start
    waiting.py    what waits for an agent, in one line
    commit.py     the git hook
    thin.py       the hook as a tool starts it: asks the run or server beside the tool, and prints
    served.py     the answer to it

Who may write where is `api/guard/edits.py`, what a session does `api/guard/tool_sessions.py`;
what is installed, and where, `flows/tools/`.

Closed inside a workspace, silent outside of one. A guard rail, not a jail: docs/hooks.md.
"""
