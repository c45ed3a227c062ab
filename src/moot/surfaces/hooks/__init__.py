"""Hooks: an agent about to edit a file that another agent holds is stopped before the write.

A coding tool starts `moot hook TOOL` at certain moments and hands it JSON on stdin. Answering:

    tools.py      one table for each tool: its events, its edit tools, where their paths stand
    call.py       what a tool said on stdin, read and bounded
    patches.py    the files a patch names, also inside a shell command
    touched.py    the files a call is about to write
    place.py      which workspace and worktree a path belongs to
    roots.py      from where names are counted if neither git nor the workspace says it
    twins.py      other names under which a file is held
    off_limits.py what no agent writes
    actor.py      who acts: MOOT_AGENT, else the agent this session registered
    door.py       one invocation: its moment, its deadline, its one broad `except`
    before.py after.py start.py stop.py    the four moments (and the end of a session)
    slipped.py    what a shell command changed although someone else holds it
    observing.py  what was seen of a call, put on record
    stamps.py     when a shell command began
    waiting.py    what waits for an agent, in one line
    reasons.py    why not, and what to do instead
    space.py      a workspace for the blink of a hook; look.py who stands in the way
    answers.py    the words each tool understands
    commit.py     the git hook

Installing: `install.py` is the list of tools, `entries.py` what is added to their settings,
`settings.py` merges JSON, `kept.py` remembers what was there; `git_hook.py`, `manual.py` and
`trust.py` know their one thing, and `live.py` says whether what is installed also works.

Closed inside a workspace, silent outside of one. A guard rail, not a jail: docs/hooks.md.
"""
