"""Presence: who is here, alive, and working where (Operative Protocol v1).

An agent joins under a name that nobody had before, reserves the scopes it works on, and shows
signs of life. Whoever asks for a scope that overlaps is refused and the overlap is on record;
what the stale or evicted hold may be taken over on request, what the living hold never. Work is
passed on by HANDOFF, a blocker is told by BLOCKED, an earlier session is continued by RESUME.
One stream for each project, called `presence`.

    model.py       the nouns and the state: only what is live; the past is in the ledger
    commands.py    what may be asked          events.py     what may stand in the ledger
    rules.py       the rules as a table       checks.py     their checks; asked.py: what these see
    machine.py     the automata: TRANSITIONS, decide, agenda, index, MACHINE
    drafts.py      what an accepted (or refused) command records
    evolution.py   what follows from an event: evolve
    codec.py       the v1 envelope as JSON    contract.py   what must hold of it, row by row
    views.py       what people and agents read; labels.py, timeline.py, sessions.py beside it

The pure arithmetic, each idea in its own file:

    paths.py       the one way scopes are normalised and compared
    liveness.py    active, stale, evicted, and why
    shelf.py       sorted tuples as indexes: overlap lookup does not scan
    overlap.py     who stands in the way, and the takeover table
    handover.py    what an accepted HANDOFF moves
    adoption.py    may a name be adopted, on which evidence
    recommend.py   what a starting session should do
    nameforge.py   adjective-noun names
    numbering.py   v1 event ids and fencing numbers

It differs from its siblings in one way: `decide` and `evolve` have a file each beside the tables
in `machine.py`, because fourteen kinds of event would make that file too long to read at once.
Git, beads, links and clocks are outside: what they say arrives in the commands.
"""

from moot.protocols.presence.model import STREAM

__all__ = ["STREAM"]
