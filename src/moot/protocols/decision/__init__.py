"""Decision: one question from the first answers to a person's approval, veto or amendment.

It records what a debate or a parliament does not: what was asked of whom, what each would have
answered alone, which motion was argued, what it cost, how each run ended, what the result was, and
what a person decided. Each question has its own stream (`decision/q-7`); the argument itself stands
in the stream of the debate or parliament.

    model.py     the nouns and the state
    commands.py  what may be asked
    events.py    what may stand in the ledger
    rules.py     the rules as a table; checks.py: their checks
    motion.py    which answer is put to the vote
    seal.py      what binds an author to an answer that nobody has seen
    answer_options.py, rankings.py, ranking_report.py: several answers, ranked
    evolution.py the state after an event
    machine.py   the automaton: TRANSITIONS, decide, evolve, agenda, index, MACHINE
    views.py     what people and agents read

It is our own; no document outside describes it.
"""

from typing import Final

PROTOCOL: Final = "decision"
VOICES: Final = "decision.voices"  # index space: everyone who was ever asked, by name


def stream_of(decision: str) -> str:
    """`decision/q-7` of `q-7`."""
    return f"{PROTOCOL}/{decision}"
