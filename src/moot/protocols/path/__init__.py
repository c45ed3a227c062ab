"""Path: what led from one protocol to another, step by step.

A blocked agent, the debate about it, the bill, the proved work: each has its own record. A path
records only what joins them: which record led to what, by which flow, and what was made. Each path
has its own stream (`path/p-3f9a...`), written by the machine alone; a step names who asked for it.

    model.py     the nouns and the state
    flows.py     FLOWS: what each flow leads from and to, and what it may make
    commands.py  what may be asked
    events.py    what may stand in the ledger
    case.py      one command under check, with its step and its flow
    rules.py     the rules as a table; checks.py: their checks
    evolution.py the state after an event
    machine.py   the automaton: TRANSITIONS, decide, evolve, agenda, index, MACHINE
    views.py     what people and agents read

A step names what it will make before that is made, so that a step that was cut short is continued
and nothing is made twice. No document outside describes it; its rules are the invariants across
protocols (X-01 to X-09).
"""

from typing import Final

PROTOCOL: Final = "path"


def stream_of(path: str) -> str:
    """`path/p-3f9a` of `p-3f9a`."""
    return f"{PROTOCOL}/{path}"
