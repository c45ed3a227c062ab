"""A call of a coding tool's hook as a span: which tool, which moment, whether it was held back.

A hook that answers by itself exports after it has answered: the tool waits for the end of the
process, at most as long as an export may take. One that a `moot run` answers costs no time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from moot.surfaces.telemetry import conventions as name
from moot.surfaces.telemetry.record_counts import RecordCounts

if TYPE_CHECKING:
    from moot.api.open_workspaces import OpenWorkspaces
    from moot.api.session import Session
    from moot.surfaces.telemetry.exporting import Telemetry

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
        from moot.surfaces.telemetry.exporting import NotExported, start_telemetry
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
