"""A participant's call as a span by the GenAI conventions: who, how it ended, what it cost.

It stands between a run and whoever looks on, and hands everything on.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.surfaces.telemetry import conventions as name

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from moot.api.runs import CallOutcome, Due, Nature, RunWatcher, Standing
    from moot.surfaces.telemetry.exporting import Telemetry

ANSWERED: Final = "answered"


class ParticipantSpans:
    """Watches a run for telemetry, beside whoever watches it for a person."""

    def __init__(self, telemetry: Telemetry, beside: RunWatcher) -> None:
        self._telemetry = telemetry
        self._beside = beside
        # By who is asked: the span of the call, and when it began.
        self._open: dict[str, tuple[Span, float]] = {}
        self._seconds: dict[str, float] = {}

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._beside, attribute)  # what surfaces say to each other

    def on_asking(self, due: Due, nature: Nature, attempt: int) -> None:
        provider, _, model = (nature.model or "").partition("/")
        attributes: dict[str, Any] = {
            name.OPERATION: name.INVOKE_AGENT,
            name.PROVIDER: provider if model else "moot",
            name.AGENT: due.who,
            name.ATTEMPT: attempt,
        }
        if model:
            attributes[name.MODEL] = model
        span = self._telemetry.tracer.start_span(
            f"{name.INVOKE_AGENT} {due.who}", attributes=attributes
        )
        self._open[due.who] = span, time.perf_counter()
        self._beside.on_asking(due, nature, attempt)

    def on_heard(self, due: Due, seconds: float) -> None:
        self._seconds[due.who] = seconds
        self._beside.on_heard(due, seconds)

    def on_outcome(self, outcome: CallOutcome) -> None:
        opened = self._open.pop(outcome.agent, None)
        if opened is not None:
            self._end(*opened, outcome)
        self._beside.on_outcome(outcome)

    def on_progress(self, due: Due, standing: Standing) -> None:
        self._beside.on_progress(due, standing)

    def on_waiting(self, due: Due, seconds: float) -> None:
        self._beside.on_waiting(due, seconds)

    def _end(self, span: Span, began: float, outcome: CallOutcome) -> None:
        from opentelemetry.trace import Status, StatusCode

        ending, cost = outcome.ending.value, outcome.cost
        found: dict[str, Any] = {name.ENDING: ending}
        if cost.tokens:
            found |= {name.TOKENS_IN: cost.tokens_in, name.TOKENS_OUT: cost.tokens_out}
        if cost.calls > cost.unpriced:
            found[name.COST] = cost.micros / 1_000_000
        if ending != ANSWERED:
            found[name.ERROR] = ending
            span.set_status(Status(StatusCode.ERROR))
        if self._telemetry.texts and outcome.words:
            said = [{"role": "assistant", "parts": [{"type": "text", "content": outcome.words}]}]
            found[name.OUTPUT] = msgspec.json.encode(said).decode()
        span.set_attributes(found)
        span.end()
        seconds = self._seconds.pop(outcome.agent, time.perf_counter() - began)
        who = {name.AGENT: outcome.agent}
        self._telemetry.measure("call", seconds, {**who, name.ENDING: ending})
        self._telemetry.add_cost(cost, who)
