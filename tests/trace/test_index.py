"""What can be found quickly: which traces are open or ended, what they claim, what runs left."""

from __future__ import annotations

from typing import Any

from moot.core.machine import Drop, Put, Words
from moot.core.names import OPERATOR
from moot.protocols.trace import commands as ask
from moot.protocols.trace.machine import MACHINE

from .scene import NOON, TRACE, Trace


def rows_of(trace: Trace) -> list[list[Any]]:
    return [list(MACHINE.index(recorded)) for recorded in trace.history()]


def test_a_trace_is_open_from_its_first_event_to_its_last() -> None:
    trace = Trace().open()
    assert rows_of(trace) == [
        [
            Put("open", TRACE, {}),
            Put("trace.traces", TRACE, {"task": "fix the parser", "at": NOON}),
            Words("trace.traces", TRACE, "fix the parser"),
        ]
    ]
    trace.run(ask.AbortTrace(reason="nobody needs it"), OPERATOR)
    assert rows_of(trace)[1] == [
        Drop("open", TRACE),
        Put("trace.ended", TRACE, {"by": "SessionAborted", "at": NOON}),
    ]


def test_what_was_proposed_run_and_claimed_is_found_by_its_id() -> None:
    trace = Trace().to("auditing")
    ended = trace.history()[5].event
    assert rows_of(trace)[1:] == [
        [Put("trace.items", f"{TRACE} p1", {})],
        [],
        [Put("trace.items", f"{TRACE} i1", {})],
        [],
        [
            Put(
                "trace.artifacts",
                f"{TRACE} {ended.input_artifact}",
                {"execution": "x1", "name": "input"},
            ),
            Put(
                "trace.artifacts",
                f"{TRACE} {ended.outputs[0].sha256}",
                {"execution": "x1", "name": "stdout"},
            ),
            Put("trace.items", f"{TRACE} x1", {}),
        ],
        [
            Words("trace.claims", f"{TRACE} c1", "the parser is fixed"),
            Put("trace.items", f"{TRACE} c1", {}),
        ],
    ]


def test_a_long_task_is_listed_by_its_beginning_and_found_by_all_its_words() -> None:
    trace = Trace()
    trace.run(ask.OpenTrace(task="x" * 201, roles=trace.bindings()), OPERATOR)
    _, listed, words = rows_of(trace)[0]
    assert listed == Put("trace.traces", TRACE, {"task": "x" * 200, "at": NOON})
    assert words == Words("trace.traces", TRACE, "x" * 201)
