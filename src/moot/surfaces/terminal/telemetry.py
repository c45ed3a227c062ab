"""A command as a span, with what it measured; the span of `moot run` lasts as long as its program.

The span's parent is the trace named in TRACEPARENT, so that what an agent does with moot is shown
below the run that started it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from moot.surfaces.terminal.answer import say_aside
from moot.usage.telemetry import conventions as name
from moot.usage.telemetry.conventions import RecordCounts
from moot.usage.telemetry.switch import VARIABLE, set_started

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from moot.surfaces.terminal.shell import Shell
    from moot.usage.telemetry.exporting import Telemetry
    from moot.usage.totals import UsageView

MISSING: Final = (
    "moot: telemetry is on, but its libraries are not installed. In your clone of Moot, run"
    " pipx install --force '.[otel]', or pip install '.[otel]'"
)


def observe_command(shell: Shell, words: Sequence[str], run: Callable[[], int]) -> int:
    """Run a command and export what it did; if that is impossible, say so and just run it."""
    counts = RecordCounts(shell.debug)
    try:
        from moot.usage.telemetry.exporting import NotExported, start_telemetry
    except ImportError:
        say_aside(MISSING)
        return run()
    try:
        telemetry = start_telemetry(shell.env, counts)
    except NotExported as why:
        say_aside(f"moot: telemetry is off: {why}")
        return run()
    shell.debug = counts
    set_started(telemetry)
    try:
        return _observe(telemetry, shell, words, run)
    finally:
        set_started(None)
        telemetry.close()


def _observe(
    telemetry: Telemetry, shell: Shell, words: Sequence[str], run: Callable[[], int]
) -> int:
    from opentelemetry.trace import use_span

    began = time.perf_counter()
    span = telemetry.tracer.start_span("moot", telemetry.parent)
    with use_span(span, end_on_exit=True):
        code = run()
        _describe(span, shell, code)
        if telemetry.texts:
            span.set_attribute(name.ARGUMENTS, ["moot", *words])
    attributes = {name.COMMAND: shell.command or "?", name.EXIT_CODE: code}
    telemetry.measure("command", time.perf_counter() - began, attributes)
    due = getattr(shell.result, "due", None)
    if shell.command in ("status", "agenda") and due is not None:
        telemetry.set_open_duties(len(due))
    return code


def _describe(span: Span, shell: Shell, code: int) -> None:
    from opentelemetry.trace import Status, StatusCode

    command = shell.command or "?"
    span.update_name(f"moot {command.replace('.', ' ')}")
    span.set_attribute(name.COMMAND, command)
    span.set_attribute(name.EXIT_CODE, code)
    if shell.acting is not None:
        span.set_attribute(name.ACTING, shell.acting)
    if shell.problem_code:
        span.set_attribute(name.ERROR, shell.problem_code)
        span.set_status(Status(StatusCode.ERROR))


def describe_run(
    telemetry: Telemetry, agent: str, tools: Sequence[str], usage: UsageView | None
) -> None:
    """Add to the span of `moot run` the agent, its coding tools and their usage."""
    from opentelemetry.trace import get_current_span

    span = get_current_span()
    found: dict[str, Any] = {name.ACTING: agent, name.TOOLS: list(tools)}
    if usage is not None:
        found |= {name.TOKENS_IN: usage.tokens_in, name.TOKENS_OUT: usage.tokens_out}
        if usage.micros is not None:
            found[name.COST] = usage.micros / 1_000_000
        from moot.usage.totals import cost_of

        telemetry.add_cost(cost_of(usage), {name.AGENT: agent})
    span.set_attributes(found)


def trace_variables() -> Mapping[str, str]:
    """Return variables for a program: the span that it belongs to, and that telemetry is on."""
    from opentelemetry.trace import get_current_span

    from moot.usage.telemetry.exporting import trace_parent

    return {"TRACEPARENT": trace_parent(get_current_span()), VARIABLE: "1"}
