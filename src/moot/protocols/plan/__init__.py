"""Plans: one signed page for each piece of work, which its agents read and amend.

    machine.py  the automaton of one plan

Whoever amends it names the version that they read; if somebody was faster, they are refused and
read again. Each plan is a stream (`plan/WORK`). Tasks are not kept here: where there are beads,
they belong to `bd` alone.
"""

from moot.protocols.plan.machine import MACHINE

__all__ = ["MACHINE"]
