"""How a run of participants ended: one line for people, and the exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from moot.core.plural import plural
from moot.surfaces.terminal.answer import DONE, REFUSED, visible

if TYPE_CHECKING:
    from moot.agents.cost import Cost

INTERRUPTED: Final = 130
# Nothing was left to do here, or whoever is waited for is not here.
_EXIT_CODES: Final = {"settled": DONE, "waiting": DONE, "interrupted": INTERRUPTED}


def exit_code_of(stop: str) -> int:
    """0 if there was nothing left to do here; 1 if it was stopped before; 130 if interrupted."""
    return _EXIT_CODES.get(stop, REFUSED)


def ending_of_run(stop: str, detail: str, turns: int, cost: Cost) -> str:
    """`settled (4 turns, 4 calls, 0.3 s)`."""
    from moot.agents.cost import in_words

    reason = f": {visible(detail)}" if detail else ""
    return f"{stop}{reason} ({plural(turns, 'turn')}, {in_words(cost)})"
