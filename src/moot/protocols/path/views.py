"""What people and agents read of a path."""

from __future__ import annotations

import msgspec

from moot.core.clock import to_text
from moot.core.machine import fill_from
from moot.protocols.path.model import MadeThing, PathStep, SourceRecord, Stage, StepTarget


class StepView(msgspec.Struct, frozen=True, kw_only=True):
    """One step: what led to it, what it makes or has made, and why its last try failed."""

    number: int
    flow: str
    stage: Stage
    source: SourceRecord
    target: StepTarget
    asked_by: str
    since: str
    made: tuple[MadeThing, ...]
    why: str

    @property
    def made_in_words(self) -> str:
        """What a step made; of more than two of a kind only their number."""
        kinds: dict[str, list[str]] = {}
        for made in self.made:
            kinds.setdefault(made.kind, []).append(made.id)
        few = (
            f"{len(ids)} {kind}s" if len(ids) > 2 else f"{kind} {', '.join(ids)}"
            for kind, ids in kinds.items()
        )
        return ", ".join(few)


def describe_step(step: PathStep) -> StepView:
    return fill_from(StepView, step, since=to_text(step.since))
