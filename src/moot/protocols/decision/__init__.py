"""Decision: one question from the first answers to a person's approval, veto or amendment.

    checks.py         the checks behind the rules: each yields a message and a place for every
                      breach
    commands.py       the commands of a decision
    events.py         the events of a decision, as the ledger stores them
    first_answers.py  the distinct first answers: who gave each, who has yet to rank them, and
                      in which order
    forecasts.py      stances as forecasts, and how good they were: Brier's score, by exact
                      arithmetic
    machine.py        the automaton of one decision
    model.py          the nouns of a decision
    rankings.py       which of several answers is put to the vote: three ways to count ballots,
                      by exact arithmetic
    rules.py          the rules of a decision, one row each
    track_record.py   whom to listen to, by outcomes: how good forecasts were, and whether
                      arguing made them better
    views.py          what people and agents read of a decision

It records what a debate or a parliament does not: what was asked of whom, what each would have
answered alone, which motion was argued, what it cost, how each run ended, what the result was, and
what a person decided. Each question has its own stream (`decision/q-7`); the argument itself is in
the stream of the debate or parliament.

No public document describes this protocol: it is Moot's own.
"""

from typing import Final

PROTOCOL: Final = "decision"
VOICES: Final = "decision.voices"  # index space: everyone who was ever asked, by name


def stream_of(decision: str) -> str:
    """Return the stream of a decision: `decision/q-7` for `q-7`."""
    return f"{PROTOCOL}/{decision}"
