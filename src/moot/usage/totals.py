"""What coding tools have used, by agent and by work item: from the record and from active runs.

These are the tools' own reports, received by `moot run` if its user asked for that. Agents without
a report are left out: their usage is unknown, which is never shown as zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.agents.cost import NO_COST, Cost, in_words
from moot.core.text import Quoted

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

_PAGE: Final = 1_000


class UsageView(msgspec.Struct, frozen=True):
    """What was used: calls of models, their tokens, and money in millionths of a US dollar.

    `micros` is None if no price is known; `unpriced` counts the calls without one. `so_far`: a run
    is still active and will use more. `line` is all of it as a text.
    """

    calls: int
    tokens_in: int
    tokens_out: int
    micros: int | None
    unpriced: int
    so_far: bool
    line: str


class WorkUsage(msgspec.Struct, frozen=True):
    """What was used on a work item (None: without one), and by which agents."""

    work: Quoted | None
    agents: tuple[str, ...]
    usage: UsageView


class _Row(msgspec.Struct, frozen=True):
    """One run that has ended, as the index stores it."""

    agent: str
    work: str | None
    calls: int
    tokens_in: int
    tokens_out: int
    micros: int
    unpriced: int


class _RunCost(NamedTuple):
    """The cost of one run, ended or active."""

    agent: str
    work: str | None
    cost: Cost
    so_far: bool


class UsageTables(NamedTuple):
    """Usage by agent and by work item; `by_work` has None for runs without a work item."""

    by_agent: Mapping[str, UsageView]
    by_work: Mapping[str | None, WorkUsage]


def read_usage(workspace: Workspace) -> UsageTables:
    """Return the usage of all ended runs and of this user's active runs."""
    of_agent: dict[str, list[_RunCost]] = {}
    of_work: dict[str | None, list[_RunCost]] = {}
    for run in (*_recorded_runs(workspace), *_active_runs(workspace)):
        of_agent.setdefault(run.agent, []).append(run)
        of_work.setdefault(run.work, []).append(run)
    return UsageTables(
        {agent: _add(runs) for agent, runs in of_agent.items()},
        {work: _view_work(work, runs) for work, runs in of_work.items()},
    )


def _view_work(work: str | None, runs: list[_RunCost]) -> WorkUsage:
    names = tuple(dict.fromkeys(run.agent for run in runs))
    return WorkUsage(None if work is None else Quoted(work), names, _add(runs))


def _recorded_runs(workspace: Workspace) -> Iterable[_RunCost]:
    from moot.protocols.presence.machine import USAGE

    after = ""
    while True:
        with workspace.store.read() as view:
            rows = view.rows(USAGE, after=after, limit=_PAGE)
        for stored in rows:
            row = msgspec.json.decode(stored.value, type=_Row)
            cost = Cost(row.calls, row.tokens_in, row.tokens_out, row.micros, row.unpriced)
            yield _RunCost(row.agent, row.work, cost, so_far=False)
        if len(rows) < _PAGE:
            return
        after = rows[-1].key


def _active_runs(workspace: Workspace) -> Iterable[_RunCost]:
    from moot.keys.folder import LOANS_FOLDER

    if not (workspace.folder.user_folder.path / LOANS_FOLDER).is_dir():
        return  # no run is active
    from moot.usage.meter import read_live_usage

    for agent, live in read_live_usage(workspace).items():
        yield _RunCost(agent, live.work, live.usage.cost, so_far=True)


def _add(runs: Iterable[_RunCost]) -> UsageView:
    total, so_far = NO_COST, False
    for run in runs:
        total, so_far = total + run.cost, so_far or run.so_far
    return view_usage(total, so_far=so_far)


def view_usage(cost: Cost, *, so_far: bool) -> UsageView:
    is_unpriced = cost.unpriced >= cost.calls
    return UsageView(
        cost.calls,
        cost.tokens_in,
        cost.tokens_out,
        None if is_unpriced else cost.micros,
        cost.unpriced,
        so_far,
        in_words(cost, with_time=False) + (" so far" if so_far else ""),
    )


def cost_of(usage: UsageView) -> Cost:
    """Return the usage as a cost, without a time."""
    return Cost(usage.calls, usage.tokens_in, usage.tokens_out, usage.micros or 0, usage.unpriced)
