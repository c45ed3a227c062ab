"""Presence: who is here, alive, and working where (Operative Protocol v1).

    adoption.py        may a new session continue under an earlier session's name?
    agent_names.py     names for sessions: an adjective and a noun, such as amber-otter (section
                       3.3)
    case.py            A command under check, with what its rules and drafts look up: scopes
                       read, overlaps found
    checks.py          the checks behind the rules: each yields `(message, where)` for every
                       breach it sees
    codec.py           the v1 envelope (section 6): our events as its JSON, and its JSON read
                       back and checked
    command_events.py  the events that an accepted command records, and those that a refused one
                       leaves behind
    commands.py        the commands of presence
    events.py          the events of presence
    evolution.py       the state after an event
    labels.py          plain words for people (OPR-005): what every surface calls events,
                       receipts and liveness
    liveness.py        active, stale or evicted: derived from the last sign of life whenever it
                       is asked (OPR-029)
    machine.py         the automata of presence: one for a reservation, one for a message that
                       owes an answer
    model.py           the nouns: who is here, what is held, what waits for an answer
    overlap.py         whose reservations are in the way of a claim, and how alive their owners
                       are
    paths.py           the one way scopes are read and compared (OPR-034)
    rules.py           the rules of presence, one row each: the norm's id, its code, its
                       sentence, its check
    sub_agents.py      sub-agents of one session: which one acts, which are at work, which one
                       blocks another
    timeline.py        the conversation of a work item: v1 events and their receipts, in order,
                       with plain labels
    views.py           what people and agents read of presence: Structs whose fields are the
                       JSON of every surface

An agent joins under a new name, reserves the scopes that it works on, and shows signs of life.
Moot refuses a request for an overlapping scope and records the overlap. Only
stale or evicted owners can be taken over, and only on request. HANDOFF passes work on, BLOCKED
asks for help, RESUME continues an earlier session. Each project has one stream, `presence`.

OPR-088: names and keys are in the registry (`core/registry`), signs of life in the engine
(`engine/signs_of_life.py`). Facts from git, beads, links and clocks arrive in the commands.
"""

from moot.protocols.presence.model import STREAM

__all__ = ["STREAM"]
