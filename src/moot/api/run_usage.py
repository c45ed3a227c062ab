"""What the coding tools of a `moot run` use, by their own word: asked for, added up, put on record.

Only if it was asked for (`--usage`, or `telemetry.tools` in the user's own settings). While the run
lives the sum is beside it, for `moot status`; when it ends the agent signs it into the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.api.runner_lending import KEYS_VARIABLE
from moot.api.usage import view_usage
from moot.core.errors import MootError

if TYPE_CHECKING:
    from moot.api.run_watch import RunWatch
    from moot.api.session import Session
    from moot.flows.usage.meter import RunUsage, UsageMeter

ATTRIBUTES_VARIABLE: Final = "OTEL_RESOURCE_ATTRIBUTES"
_AGENT: Final = "moot.agent"


class UsageTaking(NamedTuple):
    """What is started so that its tools report what they use, and the sum of what they do."""

    words: Sequence[str]
    env: Mapping[str, str]
    meter: UsageMeter | None = None

    @property
    def total(self) -> RunUsage | None:
        return None if self.meter is None else self.meter.total


def is_usage_wanted(session: Session, watch: RunWatch) -> bool:
    """What the user's own settings say; a file that cannot be read says no."""
    from moot.workspace.settings import read_user_settings

    try:
        return read_user_settings(session.env).telemetry.tools == "on"
    except MootError as error:
        watch.failed("what the tools use is not asked for", error)
        return False


@contextmanager
def taking_usage(
    agent: Session,
    words: Sequence[str],
    lent: Mapping[str, str],
    work: str | None,
    watch: RunWatch,
) -> Iterator[UsageTaking]:
    """Take what the tools that `words` start report, for as long as the block lasts.

    `lent` is what the program finds of ours. Without a coding tool among the words, or where
    nothing can listen, the words stay as they are and nothing is taken.
    """
    from moot.flows.launch.started_tools import find_program_paths, find_started_tools
    from moot.flows.usage.live_usage import LiveUsage, write_live_usage
    from moot.flows.usage.meter import UsageMeter
    from moot.flows.usage.receiver import receiving
    from moot.flows.usage.tool_switches import switch_usage_on

    tools = find_started_tools(words, agent.env, str(agent.folder), find_program_paths)
    folder = lent.get(KEYS_VARIABLE)

    def put_beside(usage: RunUsage) -> None:
        if folder is not None:
            with suppress(OSError):  # a full disk: it is known when the run ends
                write_live_usage(Path(folder), LiveUsage(usage, work))

    if not tools:
        yield UsageTaking(words, {})
        return
    meter = UsageMeter(put_beside)
    with ExitStack() as stack:
        # Last of all, when nothing more can come.
        stack.callback(lambda: _record(agent, meter.total, work, watch))
        try:
            address = stack.enter_context(receiving(meter.add))
        except OSError as error:
            watch.failed("what the tools use is not taken", error)
            yield UsageTaking(words, {})
            return
        switches = switch_usage_on(words, tools, address)
        for tool, why in switches.left_alone.items():
            watch.usage_unknown(tool, why)
        yield UsageTaking(switches.words, switches.env, meter)


def _record(agent: Session, usage: RunUsage | None, work: str | None, watch: RunWatch) -> None:
    """Put the sum on record; if nothing was reported, nothing is: that is unknown, not zero."""
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
    """The value of OTEL_RESOURCE_ATTRIBUTES that adds whose telemetry it is to what is there."""
    others = [each for each in inherited.split(",") if each and not _names_agent(each)]
    return ",".join([*others, f"{_AGENT}={agent}"])


def _names_agent(attribute: str) -> bool:
    return attribute.partition("=")[0].strip() == _AGENT
