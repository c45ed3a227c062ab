"""Errands: the smallest complete protocol, and the one to copy when adding a sixth.

An errand is asked of an agent, is done by that agent, may be withdrawn by whoever asked, and
lapses by itself when its time is over. Each list of errands is a stream (`example/NAME`).

    model.py     the nouns and the state
    commands.py  what may be asked
    events.py    what may stand in the ledger
    case.py      a command under check, with the errand it names
    rules.py     the rules as a table
    machine.py   the automaton: TRANSITIONS, decide, evolve, agenda, index, MACHINE
    views.py     what people and agents read
"""

from moot.protocols.example.machine import MACHINE

__all__ = ["MACHINE"]
