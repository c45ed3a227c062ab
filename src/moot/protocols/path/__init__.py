"""Path: what led from one protocol to another, step by step.

    flows.py    what leads where: one row for each flow, with the only things that it may make
    machine.py  the automaton of a path
    model.py    the nouns of a path: where a step comes from, what it makes, how far it is
    rules.py    the rules of a path, one row each
    views.py    what people and agents read of a path

A blocked agent, the debate about it, the bill, the proved work: each has its own record. A path
records only what joins them: which record led to what, by which flow, and what was made. Each path
has its own stream (`path/p-3f9a...`), written by the machine alone; a step names who asked for it.

A step names what it will make before it makes it, so that an interrupted step can be continued
and nothing is made twice. No public document describes it; its rules are the invariants across
protocols (X-01 to X-09).
"""

from typing import Final

PROTOCOL: Final = "path"


def stream_of(path: str) -> str:
    """`path/p-3f9a` of `p-3f9a`."""
    return f"{PROTOCOL}/{path}"
