"""Errands: the smallest complete protocol, and the one to copy when adding a sixth.

    machine.py  the automaton of one errand: what may follow what, and the functions that a
                `Machine` needs
    model.py    the nouns: an errand, its stages, and the state of one list of errands
    rules.py    the rules of errands, one row each, and which of them a command must keep
    views.py    what people and agents read of a list of errands

One agent asks another for an errand. The other agent does it; the asker may withdraw it; it lapses
by itself when its time is over. Each list of errands is a stream (`example/NAME`).
"""

from moot.protocols.example.machine import MACHINE

__all__ = ["MACHINE"]
