"""Plans: one signed page for each piece of work, which its agents read and amend.

Whoever amends it names the version that they read; if somebody was faster, they are refused and
read again. Each plan is a stream (`plan/WORK`). Tasks are not kept here: where there are beads,
they belong to `bd` alone.

    model.py     the page and its stages
    commands.py  what may be asked
    events.py    what may stand in the ledger
    rules.py     the rules as a table
    machine.py   TRANSITIONS, decide, evolve, agenda, index, MACHINE
    views.py     what people and agents read
"""

from moot.protocols.plan.machine import MACHINE

__all__ = ["MACHINE"]
