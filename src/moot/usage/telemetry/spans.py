"""A span for each hook call of a coding tool and for each call of a participant.

A hook process exports after it has answered, but the tool waits for the process to end, at most as
long as an export may take. A hook call that a `moot run` answers costs no extra time.
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

# Counts what the hooks of this process record, for the export.
COUNTS = RecordCounts()


class _HookInput(msgspec.Struct, frozen=True):
    """The fields of a hook call that are read; the moment is named as the tool names it."""

    hook_event_name: Any = None
    event: Any = None
    tool_input: Any = None


class HookReport(msgspec.Struct, frozen=True):
    """One hook call: its tool and agent, its input and output, and when it began and ended."""

    tool: str
    agent: str
    data: bytes
    out: bytes
    began: int
    ended: int


def report_hook(telemetry: Telemetry, report: HookReport, *, is_root: bool) -> None:
    """Export one call, as a child of the current span unless it is the root of its process."""
    call = _read_input(report.data)
    moment = call.hook_event_name or call.event
    attributes: dict[str, Any] = {
        name.TOOL: report.tool,
        name.MOMENT: moment if isinstance(moment, str) else "?",
        name.WAS_REFUSED: _is_refused(report.out),
    }
    seconds = (report.ended - report.began) / NANO
    telemetry.measure("hook", seconds, attributes)
    if report.agent:
        attributes[name.ACTING] = report.agent
    if telemetry.texts:
        attributes[name.FILES] = msgspec.json.encode(call.tool_input).decode()[:8_000]
    span = telemetry.tracer.start_span(
        f"moot hook {report.tool}",
        telemetry.parent if is_root else None,
        attributes=attributes,
        start_time=report.began,
    )
    span.end(report.ended)
    telemetry.add_counts(COUNTS)


def export_hook(env: Mapping[str, str], report: HookReport) -> None:
    """Export the only call of this process; do nothing, silently, if that is impossible."""
    if sys.modules.get("typing_extensions", sys) is None:  # hidden for a fast start
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


def exporting_answers(telemetry: Telemetry, answer_hook: AnswerHook) -> AnswerHook:
    """Wrap `answer_hook` so that it exports each call."""
    from opentelemetry.context import attach, get_current

    run_context = get_current()  # other threads answer; their spans are children of the run's

    def answer(
        session: Session, stays_open: OpenWorkspaces, fields: list[bytes]
    ) -> Sequence[bytes] | None:
        began = time.time_ns()
        answered = answer_hook(session, stays_open, fields)
        if answered is not None:
            attach(run_context)
            tool, data = fields[0].decode("utf-8", "replace"), fields[-1]
            agent = session.acting or ""
            report = HookReport(tool, agent, data, answered[0], began, time.time_ns())
            report_hook(telemetry, report, is_root=False)
        return answered

    return answer


def _read_input(data: bytes) -> _HookInput:
    try:
        return msgspec.json.decode(data, type=_HookInput)
    except (msgspec.DecodeError, RecursionError):
        return _HookInput()


def _is_refused(out: bytes) -> bool:
    try:
        answer = msgspec.json.decode(out) if out.strip() else None
    except msgspec.DecodeError:
        return False
    return isinstance(answer, dict) and answer.get("decision") == "block"


ANSWERED: Final = "answered"


class ParticipantSpans:
    """A run watcher that exports each call as a span, and passes every step to `inner`.

    The span follows the GenAI conventions: who was asked, how it ended, what it cost.
    """

    def __init__(self, telemetry: Telemetry, inner: RunWatcher) -> None:
        self._telemetry = telemetry
        self._inner = inner
        # Agent -> the span of its open call, and when it began.
        self._open: dict[str, tuple[Span, float]] = {}
        self._seconds: dict[str, float] = {}

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._inner, attribute)  # surfaces use more than the protocol of a watcher

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
        self._inner.on_asking(due, nature, attempt)

    def on_call_ended(self, due: Due, seconds: float) -> None:
        self._seconds[due.who] = seconds
        self._inner.on_call_ended(due, seconds)

    def on_outcome(self, outcome: CallOutcome) -> None:
        opened = self._open.pop(outcome.agent, None)
        if opened is not None:
            self._end(*opened, outcome)
        self._inner.on_outcome(outcome)

    def on_progress(self, due: Due, standing: Standing) -> None:
        self._inner.on_progress(due, standing)

    def on_waiting(self, due: Due, seconds: float) -> None:
        self._inner.on_waiting(due, seconds)

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
            parts = [{"type": "text", "content": outcome.words}]
            output = [{"role": "assistant", "parts": parts}]
            found[name.OUTPUT] = msgspec.json.encode(output).decode()
        span.set_attributes(found)
        span.end()
        seconds = self._seconds.pop(outcome.agent, time.perf_counter() - began)
        who = {name.AGENT: outcome.agent}
        self._telemetry.measure("call", seconds, {**who, name.ENDING: ending})
        self._telemetry.add_cost(cost, who)
