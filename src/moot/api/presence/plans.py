"""The shared plan of a piece of work: one signed page that its agents read and amend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation
from moot.core.text import Quoted
from moot.protocols.plan.machine import MACHINE, Amend, PlanView, stream_of, view_plan

if TYPE_CHECKING:
    from moot.api.session import Session

__all__ = ["PlanPage", "PlanTask", "PlanView", "amend", "show"]


class PlanTask(msgspec.Struct, frozen=True):
    """An open task of the work item, as `bd` lists it; Moot does not store it."""

    id: Quoted
    status: str
    owner: Quoted


class PlanPage(msgspec.Struct, frozen=True):
    """`tasks` is None where there are no beads, or `bd` gave no answer."""

    plan: PlanView
    tasks: tuple[PlanTask, ...] | None


@operation("plan")
def show(session: Session, work: str) -> PlanPage:
    """Return the plan of a work item, and its open tasks from beads. Version 0: no plan yet."""
    state = session.workspace.engine.state(MACHINE, stream_of(work))
    return PlanPage(view_plan(work, state), _open_tasks(session, work))


@operation("plan.amend", writes=True)
def amend(
    session: Session, work: str, text: str, version: int, *, key: str | None = None
) -> PlanPage:
    """Replace the plan's page by `text`, signed by the acting agent.

    `version` is the one that was read, 0 if there is none. If there is a newer one, this is refused
    as `plan_outdated` and changes nothing. The same `key` amends once.
    """
    command = Amend(work=work, text=text, version=version)
    engine, name = session.workspace.engine, session.actor()
    outcome = engine.execute(stream_of(work), command, name, key=key)
    state = MACHINE.require_state(outcome.state)
    return PlanPage(view_plan(work, state), _open_tasks(session, work))


def _open_tasks(session: Session, work: str) -> tuple[PlanTask, ...] | None:
    """Read the open tasks of the work item and those below it (`T-7.1`)."""
    root = session.place.worktree
    if not (root / ".beads").is_dir():
        return None
    from moot.system.beads import read_beads_items

    items = read_beads_items(root).items
    if items is None:
        return None
    return tuple(
        PlanTask(Quoted(item.id), item.status, Quoted(item.owner))
        for item in items
        if item.status != "closed" and (item.id == work or item.id.startswith(f"{work}."))
    )
