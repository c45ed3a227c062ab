"""Plans: one signed page for each piece of work, which its agents read and amend.

    machine.py  the automaton of one plan

An agent that amends a plan names the version that it read. If another agent was faster, Moot
refuses the change, and the agent reads the plan again. Each plan is a stream (`plan/WORK`). Tasks
are not kept here: where there are beads, they belong to `bd` alone.
"""

from moot.protocols.plan.machine import MACHINE

__all__ = ["MACHINE"]
