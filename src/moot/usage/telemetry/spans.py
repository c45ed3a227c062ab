"""A call of a coding tool's hook as a span: which tool, which moment, whether it was held back.

A hook that answers by itself exports after it has answered: the tool waits for the end of the
process, at most as long as an export may take. One that a `moot run` answers costs no time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.usage.telemetry import conventions as name
from moot.usage.telemetry.conventions import RecordCounts

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from moot.api.opening import OpenWorkspaces
    from moot.api.runs.limits import CallOutcome, Due, Nature, RunWatcher, Standing
    from moot.api.session import Session
    from moot.usage.telemetry.exporting import Telemetry


NANO = 1_000_000_000
AnswerHook = Callable[["Session", "OpenWorkspaces", list[bytes]], Sequence[bytes] | None]

# Counts what the hooks of this process record; whoever exports reads it.
COUNTS = RecordCounts()


class _Input(msgspec.Struct, frozen=True):
    """What is read of a tool's call: the moment, as the tool calls it."""

    hook_event_name: Any = None
    event: Any = None
    tool_input: Any = None


class HookReport(msgspec.Struct, frozen=True):
    """One call: of which tool, what came in and went out, and from when to when it took."""

    tool: str
    agent: str
    data: bytes
    out: bytes
    began: int
    ended: int


def report_hook(telemetry: Telemetry, report: HookReport, *, is_root: bool) -> None:
    """Export one call; below the current span unless it is the root of its process."""
    said = _read(report.data)
    moment = said.hook_event_name or said.event
    attributes: dict[str, Any] = {
        name.TOOL: report.tool,
        name.MOMENT: moment if isinstance(moment, str) else "?",
        name.HELD_BACK: _is_held_back(report.out),
    }
    seconds = (report.ended - report.began) / NANO
    telemetry.measure("hook", seconds, attributes)
    if report.agent:
        attributes[name.ACTING] = report.agent
    if telemetry.texts:
        attributes[name.FILES] = msgspec.json.encode(said.tool_input).decode()[:8_000]
    span = telemetry.tracer.start_span(
        f"moot hook {report.tool}",
        telemetry.parent if is_root else None,
        attributes=attributes,
        start_time=report.began,
    )
    span.end(report.ended)
    telemetry.add_counts(COUNTS)


def export_hook(env: Mapping[str, str], report: HookReport) -> None:
    """Export the one call of this process; nothing if that is impossible: nobody reads a line."""
    if sys.modules.get("typing_extensions", sys) is None:  # hidden to start quickly
        del sys.modules["typing_extensions"]
    try:
        from moot.usage.telemetry.exporting import NotExported, start_telemetry
    except ImportError:
        return
    try:
        telemetry = start_telemetry(env, COUNTS)
    except NotExported:
        return
    report_hook(telemetry, report, is_root=True)
    telemetry.close()


def observing(telemetry: Telemetry, answer_hook: AnswerHook) -> AnswerHook:
    """The same answers, each exported."""
    from opentelemetry.context import attach, get_current

    around = get_current()  # other threads answer, and their spans stand below the run's

    def answer(
        session: Session, stays_open: OpenWorkspaces, fields: list[bytes]
    ) -> Sequence[bytes] | None:
        began = time.time_ns()
        answered = answer_hook(session, stays_open, fields)
        if answered is not None:
            attach(around)
            tool, data = fields[0].decode("utf-8", "replace"), fields[-1]
            agent = session.acting or ""
            report = HookReport(tool, agent, data, answered[0], began, time.time_ns())
            report_hook(telemetry, report, is_root=False)
        return answered

    return answer


def _read(data: bytes) -> _Input:
    try:
        return msgspec.json.decode(data, type=_Input)
    except (msgspec.DecodeError, RecursionError):
        return _Input()


def _is_held_back(out: bytes) -> bool:
    try:
        said = msgspec.json.decode(out) if out.strip() else None
    except msgspec.DecodeError:
        return False
    return isinstance(said, dict) and said.get("decision") == "block"


# A participant's call as a span by the GenAI conventions: who, how it ended, what it cost.
#
# It stands between a run and whoever looks on, and hands everything on.

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
