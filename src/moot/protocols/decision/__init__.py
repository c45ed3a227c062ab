"""Decision: one question from the first answers to a person's word.

It stands over a debate or a parliament and keeps what belongs to neither: what was asked of whom,
what each would have answered alone, which motion was argued, what it cost, how each run ended,
what came out, and whether a person approved, vetoed or amended it. One stream a question
(`decision/q-7`); the argument itself is in the chamber's own.

    model.py     the nouns and the state
    commands.py  what may be asked
    events.py    what may stand in the ledger
    rules.py     the rules as a table; checks.py: their checks
    motion.py    which answer is put to the vote
    evolution.py what follows from an event
    machine.py   the automaton: TRANSITIONS, decide, evolve, agenda, index, MACHINE
    views.py     what people and agents read

It is our own; no document outside describes it.
"""

from typing import Final

PROTOCOL: Final = "decision"


def stream_of(decision: str) -> str:
    """`decision/q-7` of `q-7`."""
    return f"{PROTOCOL}/{decision}"
