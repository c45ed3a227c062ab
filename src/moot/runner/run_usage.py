"""Measure what the coding tools of a `moot run` use, as they report it, and record the sum.

Only on request (`--usage`, or `telemetry.tools` in the user's own settings). While the run lives,
the sum is in a file for `moot status`; when it ends, the agent signs it into the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.coding_tools import find_tool
from moot.coding_tools.starts import OtlpAddress, StartedTool
from moot.coding_tools.tool import CodingTool
from moot.core.errors import MootError
from moot.runner.launching import read_tool_start
from moot.runner.lending import KEYS_VARIABLE
from moot.usage.totals import view_usage

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.runner.run_watch import RunWatch
    from moot.usage.meter import RunUsage, UsageMeter


ATTRIBUTES_VARIABLE: Final = "OTEL_RESOURCE_ATTRIBUTES"
_AGENT: Final = "moot.agent"


class MeasuredStart(NamedTuple):
    """What to start so that its tools report their usage, and the sum of the reports."""

    words: Sequence[str]
    env: Mapping[str, str]
    meter: UsageMeter | None = None

    @property
    def total(self) -> RunUsage | None:
        return None if self.meter is None else self.meter.total


def is_usage_wanted(session: Session, watch: RunWatch) -> bool:
    """Return what the user's own settings say; False if the file cannot be read."""
    from moot.workspace.settings import read_user_settings

    try:
        return read_user_settings(session.env).telemetry.tools == "on"
    except MootError as error:
        watch.failed("what the tools use is not asked for", error)
        return False


@contextmanager
def measuring_usage(
    agent: Session,
    words: Sequence[str],
    lent: Mapping[str, str],
    work: str | None,
    watch: RunWatch,
) -> Iterator[MeasuredStart]:
    """Collect what the tools that `words` start report, during the block.

    `lent` are the program's variables from us. Without a coding tool, or if no socket can be
    opened, the words stay as they are and nothing is measured.
    """
    from moot.coding_tools.started_tools import find_program_paths, find_started_tools
    from moot.usage.meter import LiveUsage, UsageMeter, write_live_usage
    from moot.usage.receiver import receiving

    tools = find_started_tools(words, agent.env, str(agent.folder), find_program_paths)
    folder = lent.get(KEYS_VARIABLE)

    def write_live(usage: RunUsage) -> None:
        if folder is not None:
            with suppress(OSError):  # a full disk: it is known when the run ends
                write_live_usage(Path(folder), LiveUsage(usage, work))

    if not tools:
        yield MeasuredStart(words, {})
        return
    meter = UsageMeter(write_live)
    with ExitStack() as stack:
        # Last of all, when nothing more can come.
        stack.callback(lambda: _record(agent, meter.total, work, watch))
        try:
            address = stack.enter_context(receiving(meter.add))
        except OSError as error:
            watch.failed("what the tools use is not taken", error)
            yield MeasuredStart(words, {})
            return
        switches = switch_usage_on(words, tools, address)
        for tool, why in switches.left_alone.items():
            watch.usage_unknown(tool, why)
        yield MeasuredStart(switches.words, switches.env, meter)


def _record(agent: Session, usage: RunUsage | None, work: str | None, watch: RunWatch) -> None:
    """Record the sum; nothing if no tool reported, because that is unknown, not zero."""
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.commands import NoteUsage

    if usage is None:
        return
    cost = usage.cost
    command = NoteUsage(
        tools=usage.tools,
        calls=cost.calls,
        tokens_in=cost.tokens_in,
        tokens_out=cost.tokens_out,
        micros=cost.micros,
        unpriced=cost.unpriced,
        work=work,
    )
    try:
        agent.workspace.engine.execute(STREAM, command, agent.actor())
    except (MootError, OSError) as error:
        watch.failed("what the tools used could not be recorded", error)
    watch.used(usage.tools, view_usage(cost, so_far=False))


def attributes_naming(agent: str, inherited: str) -> str:
    """Return OTEL_RESOURCE_ATTRIBUTES with the agent's name added to what is there."""
    others = [each for each in inherited.split(",") if each and not _names_agent(each)]
    return ",".join([*others, f"{_AGENT}={agent}"])


def _names_agent(attribute: str) -> bool:
    return attribute.partition("=")[0].strip() == _AGENT


# Tell coding tools to report what they use to a run, and leave those alone that report elsewhere.
#
# A tool whose user sends its telemetry somewhere already, by variables, settings or arguments, is
# left as it is: nothing is ever taken from a collector. What such a tool uses stays unknown. Only
# reports of calls are asked for, as JSON, and no texts where a tool can be told so.


class UsageSwitches(NamedTuple):
    """The command and the variables with which the tools report here.

    `left_alone` says for each other tool why it will not.
    """

    words: tuple[str, ...]
    env: Mapping[str, str]
    left_alone: Mapping[str, str]


def switch_usage_on(
    words: Sequence[str], tools: Sequence[StartedTool], address: OtlpAddress
) -> UsageSwitches:
    """Return the words and variables with which these tools, which `words` start, report to
    `address`."""
    env: dict[str, str] = {}
    left_alone: dict[str, str] = {}
    for started in tools:
        tool = find_tool(started.tool)
        why = _why_left_alone(started, tool)
        if why:
            left_alone[started.tool] = why
            continue
        changed = _put_before_arguments(words, started, tool.usage_arguments(address))
        if changed is None:
            left_alone[started.tool] = "its arguments stand in a text for a shell"
            continue
        words = changed
        env |= tool.usage_environment(address)
    return UsageSwitches(tuple(words), env, left_alone)


def _why_left_alone(started: StartedTool, tool: CodingTool) -> str:
    if started.is_other_user:
        return "it runs as another user"
    named = [name for name in started.env if tool.is_own_telemetry(name) and started.env[name]]
    if named:
        return f"{min(named)} says where its telemetry goes"
    place = next(tool.find_own_telemetry(read_tool_start(started)), "")
    return f"{place} says where its telemetry goes" if place else ""


def _put_before_arguments(
    words: Sequence[str], started: StartedTool, more: tuple[str, ...]
) -> Sequence[str] | None:
    if not more:
        return words
    at = len(words) - len(started.arguments)
    is_behind = at > 0 and tuple(words[at:]) == started.arguments
    return (*words[:at], *more, *words[at:]) if is_behind else None
