"""Presence: who is here, alive, and working where (Operative Protocol v1).

An agent joins under a name that nobody had before, reserves the scopes it works on, and shows
signs of life. A request for a scope that overlaps is refused, and the overlap is on record. Only
stale or evicted owners can be taken over, and only on request. HANDOFF passes work on, BLOCKED
asks for help, RESUME continues an earlier session. Each project has one stream, `presence`.

    model.py       the nouns and the state: only what is live; the past is in the ledger
    commands.py    what may be asked          events.py     what may stand in the ledger
    rules.py       the rules as a table       checks.py     their checks
    case.py        a command under check, with what its rules look up
    machine.py     the automata: TRANSITIONS, decide, agenda, index, MACHINE
    drafts.py      the events that an accepted (or refused) command records
    evolution.py   the state after an event: evolve
    codec.py       the v1 envelope as JSON    contract.py   what must hold of it, row by row
    views.py       what people and agents read; labels.py, timeline.py, work_state.py beside it

The pure arithmetic, each idea in its own file:

    resources.py   things that are not files: port:3000, db:test
    paths.py       the one way scopes are normalised and compared
    liveness.py    active, stale, evicted, and why
    sorted_index.py       sorted tuples as indexes, so that finding overlaps does not scan
    overlap.py     whose reservations are in the way, and the takeover table
    sub_agents.py  who of a session acts, and who of it is at work under which alias
    handoff_moves.py    what an accepted HANDOFF moves
    adoption.py    may a name be adopted, on which evidence
    recommendation.py   what a starting session should do
    agent_names.py   adjective-noun names
    numbering.py   v1 event ids and fencing numbers

OPR-088: names and keys are in the registry (`core/registry`), signs of life in the engine
(`engine/signs_of_life.py`). What git, beads, links and clocks say arrives in the commands.
"""

from moot.protocols.presence.model import STREAM

__all__ = ["STREAM"]
