"""How the debate or the parliament shall be that a step opens, as whoever asks for it says."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Final

import msgspec


class DebatePlan(msgspec.Struct, frozen=True):
    """Who takes part besides sender and receivers, where the file goes, by which rules.

    Without `file` it goes into the workspace. `threshold` is how much agreement is needed, 0 to 1.
    `even_if_gone` takes agents too that seem to be gone for good.
    """

    participants: tuple[str, ...] = ()
    file: Path | None = None
    rounds: int = 5
    turn_seconds: int = 300
    threshold: Decimal = Decimal("0.7")
    even_if_gone: bool = False


class ParliamentPlan(msgspec.Struct, frozen=True):
    """Where its files go, what is to be decided, at most how many rounds.

    Without `folder` the files go into the workspace, without `issues` the debate's own are taken.
    `even_if_gone` takes agents too that seem to be gone for good.
    """

    folder: Path | None = None
    issues: tuple[str, ...] = ()
    rounds: int = 6
    even_if_gone: bool = False


USUAL_DEBATE: Final = DebatePlan()
USUAL_PARLIAMENT: Final = ParliamentPlan()
