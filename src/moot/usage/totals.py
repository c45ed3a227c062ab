"""What coding tools have used, by agent and by work item: from the record, and from runs that live.

It is the tools' own word, taken by `moot run` if that was asked for. Who said nothing is left out:
how much they have used is unknown, which is never shown as zero.
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

    `micros` is None if no price is known; `unpriced` are the calls without one. `so_far`: a run
    lives, and goes on using more. `line` is all of it in words.
    """

    calls: int
    tokens_in: int
    tokens_out: int
    micros: int | None
    unpriced: int
    so_far: bool
    line: str


class WorkUsage(msgspec.Struct, frozen=True):
    """What was used on a work item (None: on none), and by whose runs."""

    work: Quoted | None
    agents: tuple[str, ...]
    usage: UsageView


class _Row(msgspec.Struct, frozen=True):
    """One run that has ended, as the index has it."""

    agent: str
    work: str | None
    calls: int
    tokens_in: int
    tokens_out: int
    micros: int
    unpriced: int


class _Used(NamedTuple):
    """One run, ended or not."""

    agent: str
    work: str | None
    cost: Cost
    so_far: bool


class UsageTables(NamedTuple):
    """By agent, and by work item; `by_work` has None for runs that were on none."""

    by_agent: Mapping[str, UsageView]
    by_work: Mapping[str | None, WorkUsage]


def read_usage(workspace: Workspace) -> UsageTables:
    """All that is known here, of ended runs and of this user's living ones."""
    of_agent: dict[str, list[_Used]] = {}
    of_work: dict[str | None, list[_Used]] = {}
    for run in (*_recorded_runs(workspace), *_living_runs(workspace)):
        of_agent.setdefault(run.agent, []).append(run)
        of_work.setdefault(run.work, []).append(run)
    return UsageTables(
        {agent: _add(runs) for agent, runs in of_agent.items()},
        {work: _view_work(work, runs) for work, runs in of_work.items()},
    )


def _view_work(work: str | None, runs: list[_Used]) -> WorkUsage:
    names = tuple(dict.fromkeys(run.agent for run in runs))
    return WorkUsage(None if work is None else Quoted(work), names, _add(runs))


def _recorded_runs(workspace: Workspace) -> Iterable[_Used]:
    from moot.protocols.presence.machine import USAGE

    after = ""
    while True:
        with workspace.store.read() as view:
            rows = view.rows(USAGE, after=after, limit=_PAGE)
        for stored in rows:
            row = msgspec.json.decode(stored.value, type=_Row)
            cost = Cost(row.calls, row.tokens_in, row.tokens_out, row.micros, row.unpriced)
            yield _Used(row.agent, row.work, cost, so_far=False)
        if len(rows) < _PAGE:
            return
        after = rows[-1].key


def _living_runs(workspace: Workspace) -> Iterable[_Used]:
    from moot.keys.folder import LOANS_FOLDER

    if not (workspace.folder.user_folder.path / LOANS_FOLDER).is_dir():
        return  # nobody runs
    from moot.usage.meter import read_live_usage

    for agent, live in read_live_usage(workspace).items():
        yield _Used(agent, live.work, live.usage.cost, so_far=True)


def _add(runs: Iterable[_Used]) -> UsageView:
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
    """The same as a cost, whose time is not known."""
    return Cost(usage.calls, usage.tokens_in, usage.tokens_out, usage.micros or 0, usage.unpriced)
