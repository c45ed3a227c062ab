"""One screen: who is here, who holds what, what is due, and how the record stands."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.agenda import DueItem, list_due
from moot.api.agent_facts import find_agent_facts
from moot.api.operation import operation
from moot.api.sharing import SharedLedger, describe_sharing
from moot.core.errors import Tampered
from moot.core.quoted import Quoted
from moot.flows.observed.guards import UnguardedSpan, guards_of_active, list_unguarded
from moot.protocols.presence import STREAM, views
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.protocols.presence.work_state import Health

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.engine.engine import Engine
    from moot.workspace.workspace import Workspace

__all__ = [
    "ACTIVE",
    "MailCounts",
    "RecordSummary",
    "RegisteredAgentView",
    "Status",
    "UnguardedSpan",
    "status",
    "view_everyone",
]
ACTIVE: Final = "active"


class RegisteredAgentView(views.AgentView, frozen=True, kw_only=True):
    """An agent as presence sees it, with its class and whether its key has ended.

    `status` is active, or how it ended; who has ended shows signs of life to nobody, and its
    `label` says the same. `guarded` says who checks its edits now: guarded, expected, unguarded or
    watched; None if that is not known. `family` is the name it was numbered after (alice of
    alice-2), else its own; `tool` the coding tool it works with, if that is known. `evidence` is
    what the lock of its `moot run` says from here: `running`, `gone`, or None for nothing;
    `process` says why.
    """

    kind: str = msgspec.field(name="class")
    status: str
    guarded: str | None = None
    family: str = ""
    tool: Quoted | None = None
    evidence: str | None = None
    process: str | None = None


class MailCounts(msgspec.Struct, frozen=True):
    """Who owes how many answers, and how much is new for whoever asks."""

    owed: dict[str, int]
    unread: int


class CheckpointLine(msgspec.Struct, frozen=True):
    number: int
    at: str


class RecordSummary(msgspec.Struct, frozen=True):
    """`pinned`: everything is under the newest checkpoint. `rolled_back`: events were lost, and
    nothing is written until that is settled."""

    events: int
    bytes: int
    checkpoint: CheckpointLine | None
    pinned: bool
    rolled_back: bool
    test_clock: bool


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """`agents` are all who were ever registered; `pending` are events that owe an acceptance.

    `unguarded` are the newest times in which a coding tool worked and nobody checked its edits.
    `shared` says with which machines the ledger is shared, if it is.
    """

    workspace: str
    you: str | None
    agents: tuple[RegisteredAgentView, ...]
    reservations: tuple[views.ReservationView, ...]
    pending: tuple[views.PresenceMessageView, ...]
    work: tuple[views.WorkItemView, ...]
    health: Health
    due: tuple[DueItem, ...]
    mail: MailCounts
    record: RecordSummary
    unguarded: tuple[UnguardedSpan, ...] = ()
    shared: SharedLedger | None = None


@operation("status")
def status(session: Session) -> Status:
    """Who is here and how alive, who holds what, who owes what, and how the record stands."""
    from moot.flows.presence.observation import observe

    workspace = session.workspace
    observation = observe(workspace, stale_millis=session.stale_millis)
    state = workspace.engine.state(PRESENCE, STREAM)
    presence = views.view_status(state, observation, session.acting)
    return Status(
        workspace=str(workspace.path),
        you=session.acting,
        agents=view_everyone(session),
        reservations=presence.reservations,
        pending=presence.pending,
        work=presence.work,
        health=presence.health,
        due=list_due(workspace),
        mail=_count_mail(session),
        record=_summarize_record(workspace),
        unguarded=tuple(list_unguarded(workspace)),
        shared=describe_sharing(session),
    )


def view_everyone(session: Session) -> tuple[RegisteredAgentView, ...]:
    """Everyone registered but voices, with how alive they are."""
    registry = session.workspace.engine.registry()
    facts = find_agent_facts(session, tuple(sorted(registry.agents)))
    guards = guards_of_active(session.workspace)
    everyone = []
    for name, agent in sorted(registry.agents.items()):
        if name in facts.voices:
            continue
        view, more = facts.views[name], facts.describe(name)
        ending = registry.keys[agent.kid].ending
        label = view.label if ending is None else str(ending).capitalize()
        everyone.append(
            RegisteredAgentView(
                **{**msgspec.structs.asdict(view), "label": label},
                kind=str(agent.kind),
                status=str(ending or ACTIVE),
                guarded=guards.get(name),
                **{field: more[field] for field in ("family", "tool", "evidence", "process")},
            )
        )
    return tuple(everyone)


def _count_mail(session: Session) -> MailCounts:
    return MailCounts(_count_answers_owed(session.workspace.engine), count_unread(session))


def count_unread(session: Session) -> int:
    """How much mail is new for whoever acts; none if nobody does."""
    from moot.flows.mail import inbox

    workspace = session.workspace
    box = inbox.box_of(workspace, session.acting) if session.acting else None
    if box is None:
        return 0
    with workspace.store.read() as view:
        return len(inbox.unread(view, box, workspace.engine.clock()))


def count_changes(session: Session) -> int:
    """A number that grows whenever anybody writes to the record."""
    return session.workspace.engine.store.version()


def _count_answers_owed(engine: Engine) -> dict[str, int]:
    """How many answers each present holder of a name owes, by name."""
    from collections import Counter

    owed, registry = Counter[str](), engine.registry()
    for stream in engine.open_streams():
        if stream.startswith("mail/"):
            from moot.protocols.mail.machine import MACHINE as MAIL
            from moot.protocols.mail.views import receivers_owing

            receivers = receivers_owing(engine.state(MAIL, stream))
            owed.update(one.name for one in receivers if registry.is_holder(one.name, one.epoch))
    return dict(sorted(owed.items()))


def _summarize_record(workspace: Workspace) -> RecordSummary:
    from moot.engine.checkpoints import newest_checkpoint

    last = None
    with workspace.store.read() as view:
        with suppress(Tampered):  # one screen must not fail for it: `moot verify` says so
            last = newest_checkpoint(view, workspace.trust)
        events = view.count_streams_and_events()[1]
        pinned = not view.moved_heads()
    return RecordSummary(
        events,
        workspace.store.size(),
        None if last is None else CheckpointLine(last.number, last.at),
        pinned,
        workspace.rollback is not None,
        workspace.engine.registry().clock == "fixed",
    )
