"""Observed work: what a coding tool's hook saw, and when no hook was watching.

    machine.py  the automaton of one observed session
    model.py    one observed session: who is watched, how often which tool was used, and when
                nobody watched
    rules.py    the rules of observed work, one row each, and which of them a command must keep
    views.py    what people read of observed sessions: each one with its gaps, and all of them
                in one line

One record for each session of an agent (`observed/AGENT~...`), never part of a governed trace:
nothing in it was planned, approved or claimed, so it proves nothing but what was seen. What a tool
was given stands here as a hash, what it left as a redacted artifact. The time in which nobody
watched is recorded as a gap; without it a record with holes would look complete.

    new -> watched <-> blind -> ended

When a gap begins, and where the sessions are found, is in `api/observed/`.
"""

PROTOCOL = "observed"
# Where the index has a row for each session, found by its agent.
SESSION_SPACE = "observed.sessions"
# Begins the session name of a run's own record, which no hook writes.
RUN = "run:"
