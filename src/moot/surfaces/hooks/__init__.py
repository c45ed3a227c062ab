"""Hooks: an agent about to edit a file that another agent holds is stopped before the write.

A coding tool starts `moot hook TOOL` at certain moments and hands it JSON on stdin. Answering:

    entry.py      one invocation: its moment, its deadline, its one broad `except`
    call.py       what a tool said on stdin, read and bounded
    patches.py    the files a patch names, also inside a shell command
    touched.py    the files a call is about to write
    before.py after.py start.py stop.py    the four moments (and the end of a session)
    observing.py  what was seen of a call, put on record
    stamps.py     when a shell command began
    waiting.py    what waits for an agent, in one line
    reasons.py    why not, and what to do instead
    answers.py    the words each tool understands
    commit.py     the git hook

Who may write where is `flows/guard/`; what is installed, and where, `flows/tools/`.

Closed inside a workspace, silent outside of one. A guard rail, not a jail: docs/hooks.md.
"""
