"""Observed work: what a coding tool's hook saw, and when no hook was watching.

One record for each session of an agent (`observed/AGENT~...`), never part of a governed trace:
nothing in it was planned, approved or claimed, so it proves nothing but what was seen. What a tool
was given stands here as a hash, what it left as a redacted artifact. The time in which nobody
watched is recorded as a gap; without it a record with holes would look complete.

    new -> watched <-> blind -> ended

    model.py      the session and its gaps
    commands.py   what may be asked          events.py     what may stand in the ledger
    rules.py      the rules as a table, with their checks
    machine.py    the automaton: TRANSITIONS, decide, agenda, index, MACHINE
    evolution.py  what follows from an event: evolve
    views.py      what people read

When a gap begins, and where the sessions are found, is in `flows/observed/`.
"""

PROTOCOL = "observed"
# Where the index has a row for each session, found by its agent.
SESSION_SPACE = "observed.sessions"
# Begins the session name of a run's own record, which no hook writes.
RUN = "run:"
