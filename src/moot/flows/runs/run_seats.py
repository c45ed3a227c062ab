"""Let seated participants take their turns: what the runs of all protocols have in common.

What a run opens on record, and what of its result goes there, each protocol does in its own module.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

import msgspec

from moot.agents.budget import Budget
from moot.agents.cost import MICROS
from moot.agents.outcome import RunEnd
from moot.agents.participant import Participant
from moot.agents.runnable import Runnable
from moot.agents.runner import TURN_SECONDS, Runner
from moot.agents.watch import RunWatcher
from moot.core.clock import Clock
from moot.flows.debate.mending import FileLoss
from moot.store.held_syncs import make_durable


class Limits(msgspec.Struct, frozen=True):
    """How far a run may go; None is no limit. Whatever is reached first stops it, by its name.

    Turns, tokens and money of earlier runs of the same session count too, where they are on record.
    `env` names variables that programs behind `cmd:` get besides what they are known to need.
    """

    turns: int | None = None
    tokens: int | None = None
    usd: Decimal | None = None
    seconds: float | None = None
    turn_seconds: float = TURN_SECONDS
    env: tuple[str, ...] = ()

    @property
    def budget(self) -> Budget:
        micros = None if self.usd is None else round(self.usd * MICROS)
        return Budget(self.turns, self.tokens, micros, self.seconds)


USUAL: Final = Limits()


class FinishedRun(NamedTuple):
    """How a run ended, where its session stands, and the decision that keeps its record, if any.

    `lost` says what had become of a debate's file before, if it had to be put back.
    """

    ended: RunEnd
    standing: dict[str, Any]
    decision: str | None
    lost: FileLoss | None = None


def run_seats(
    runnable: Runnable,
    participants: Mapping[str, Participant],
    clock: Clock,
    decision: str | None = None,
    limits: Limits = USUAL,
    watch: RunWatcher | None = None,
) -> FinishedRun:
    """Ask whoever is due until nothing is due here, or a limit is reached."""
    runner = Runner(
        runnable,
        participants,
        clock,
        budget=limits.budget,
        turn_seconds=limits.turn_seconds,
        watch=watch,
        before_asking=make_durable,
    )
    return FinishedRun(runner.run(), runnable.standing(), decision)
