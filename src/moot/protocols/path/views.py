"""What people and agents read of a path."""

from __future__ import annotations

from typing import Any

import msgspec

from moot.core.clock import to_text
from moot.protocols.path.model import Step


def step_data(step: Step) -> dict[str, Any]:
    return {
        "number": step.number,
        "flow": step.flow,
        "stage": step.stage.value,
        "source": msgspec.to_builtins(step.source),
        "target": msgspec.to_builtins(step.target),
        "asked_by": step.asked_by,
        "since": to_text(step.since),
        "made": [msgspec.to_builtins(made) for made in step.made],
        "why": step.why,
    }
