"""Observed work: what a coding tool's hook saw, and when no hook was watching.

    machine.py  the automaton of one observed session
    model.py    one observed session: who is watched, how often which tool was used, and when
                nobody watched
    rules.py    the rules of observed work, one row each, and which of them a command must keep
    views.py    what people read of observed sessions: each one with its gaps, and all of them
                in one line

One record for each session of an agent (`observed/AGENT~...`), never part of a governed trace:
nothing in it was planned, approved or claimed, so it proves only what the hook saw. A tool's input
is recorded as a hash, its output as a redacted artifact. A time without a hook is recorded as a
gap; without gaps an incomplete record would look complete.

    new -> watched <-> blind -> ended

`api/observed/` decides when a gap begins and finds the sessions.
"""

PROTOCOL = "observed"
SESSION_SPACE = "observed.sessions"  # index space: a row for each session
# Prefix of the session name of a run's own record, which no hook writes.
RUN = "run:"
