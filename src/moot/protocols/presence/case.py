"""A command under check, with what its rules and drafts look up: scopes read, overlaps found.

Made once for each decision. The checks of `checks.py` and the drafts of `command_events.py` use
only this, so that refusals and events rest on the same facts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from moot.core.clock import Millis
from moot.core.errors import Malformed
from moot.core.machine import C, Case, Command, Context
from moot.protocols.presence import adoption, model, overlap, sub_agents
from moot.protocols.presence import commands as ask
from moot.protocols.presence.model import EventType, PresenceMessage, Reservation, State
from moot.protocols.presence.overlap import OverlapConflict, Requester
from moot.protocols.presence.paths import Scope, read_path, read_scope

# Commands by what they have in common, for checks and drafts that serve several of them.
Reserving = ask.Reserve | ask.TakeOver
Overlapping = ask.Reserve | ask.TakeOver | ask.NoteIncursion
Sending = ask.SendHandoff | ask.SendBlocked
Receiving = ask.MarkSeen | ask.Accept | ask.Withdraw
Scoped = ask.Reserve | ask.TakeOver | ask.Release | ask.FreeScopes | ask.NoteIncursion
Working = (
    ask.Reserve
    | ask.TakeOver
    | ask.NoteIncursion
    | ask.Join
    | ask.SendHandoff
    | ask.SendBlocked
    | ask.Resume
)
Located = Working | ask.Release | ask.FreeScopes

Claims = tuple[Scope, ...]
# Each text that is no scope, with its error.
Unreadable = tuple[tuple[str, Malformed], ...]


class PresenceCase(Case[State, C], frozen=True, gc=False):
    """`claims` are the scopes that the command names, `unreadable` the texts that are none."""

    claims: Claims
    unreadable: Unreadable


class OverlapCase(PresenceCase[C], frozen=True, gc=False):
    """For commands that claim paths: `conflicts` are the reservations of others that overlap."""

    requester: Requester
    conflicts: tuple[OverlapConflict, ...]

    @property
    def alias(self) -> str | None:
        """The sub-agent that acts; empty for the main agent, None if unknown."""
        return self.requester.alias


class ReceiptCase(PresenceCase[C], frozen=True, gc=False):
    """For commands that answer an event: `message` is that event, None if it is not known here."""

    message: PresenceMessage | None


class ResumeCase(PresenceCase[ask.Resume], frozen=True, gc=False):
    """For an adoption: the earlier holder's live reservations, those that have lapsed but are not
    archived yet, and whether the name may be adopted."""

    prior: tuple[Reservation, ...]
    lapsed: tuple[Reservation, ...]
    adoption: adoption.AdoptionVerdict


def case_of(state: State, command: C, context: Context) -> PresenceCase[C]:
    """Look up everything that the rules and drafts of this command need."""
    claims, unreadable = read_claims(command)
    case = PresenceCase(state, command, context, claims, unreadable)
    look_up = _LOOK_UPS.get(type(command))
    return case if look_up is None else look_up(case)


def read_claims(command: Command) -> tuple[Claims, Unreadable]:
    """Return the scopes of a command, without repeats, and the texts that are none."""
    if not isinstance(command, Located):
        return (), ()
    root, read = scope_root(command), read_path if _names_real_files(command) else read_scope
    claims: dict[str, Scope] = {}
    unreadable: list[tuple[str, Malformed]] = []
    for text in scope_texts(command):
        try:
            scope = read(text, root)
        except Malformed as problem:
            unreadable.append((text, problem))
        else:
            claims.setdefault(scope.key, scope)
    return tuple(claims.values()), tuple(unreadable)


def scope_root(command: Located) -> str:
    """Return the root that scopes are relative to: the worktree, else the project root."""
    return command.worktree or command.project_root


def scope_texts(command: Located) -> tuple[str, ...]:
    """Return the scopes that a command names, as they were typed."""
    if isinstance(command, ask.NoteIncursion):
        return command.paths
    if isinstance(command, ask.SendHandoff | ask.SendBlocked):
        return () if command.scope is None else (command.scope,)
    return () if isinstance(command, ask.Join) else command.scopes


def _names_real_files(command: Located) -> bool:
    """True if a hook names real files, in which `*` is a plain character; people name scopes."""
    if isinstance(command, ask.Reserve | ask.TakeOver):
        return command.automatic
    return isinstance(command, ask.NoteIncursion)


def _find_overlaps(case: PresenceCase[Overlapping]) -> OverlapCase[Overlapping]:
    actor, context = case.context.actor, case.context
    command = case.command
    asker = Requester(
        actor.id,
        actor.epoch,
        context.now,
        context.signs_of_life,
        command.stale_millis,
        sub_agents.read_alias(case.state, actor.id, actor.epoch, command.sub_agent),
    )
    conflicts = tuple(overlap.find_conflicts(case.state, case.claims, asker))
    return OverlapCase(case.state, command, context, case.claims, case.unreadable, asker, conflicts)


def _find_message(case: PresenceCase[Receiving]) -> ReceiptCase[Receiving]:
    state, event_id = case.state, case.command.id
    message = state.pending.get(event_id)
    if message is None:
        recent = (message for message in reversed(state.recent) if message.id == event_id)
        message = next(recent, None)
    return ReceiptCase(state, case.command, case.context, case.claims, case.unreadable, message)


def _judge_adoption(case: PresenceCase[ask.Resume]) -> ResumeCase:
    state, command, actor = case.state, case.command, case.context.actor
    held = model.reservations_of(state, actor.id, find_prior_epoch(state, actor.id, actor.epoch))
    now = case.context.now
    prior = tuple(reservation for reservation in held if not reservation.has_ended(now))
    lapsed = tuple(reservation for reservation in held if reservation.has_ended(now))
    question = adoption.AdoptionQuestion(
        actor.id, prior, case.claims, command.work, scope_root(command), command.evidence
    )
    verdict = adoption.judge_adoption(question)
    return ResumeCase(
        state, command, case.context, case.claims, case.unreadable, prior, lapsed, verdict
    )


def find_prior_epoch(state: State, name: str, epoch: int) -> int:
    """Return the earlier holder: the last one that acted here, else the one before `epoch`."""
    member = model.find_member(state, name)
    return member.epoch if member is not None else epoch - 1


_LOOK_UPS: Final[dict[type[Command], Callable[[Any], PresenceCase[Any]]]] = {
    ask.Reserve: _find_overlaps,
    ask.TakeOver: _find_overlaps,
    ask.NoteIncursion: _find_overlaps,
    ask.MarkSeen: _find_message,
    ask.Accept: _find_message,
    ask.Withdraw: _find_message,
    ask.Resume: _judge_adoption,
}


# Which reservations an accepted HANDOFF moves (B-26).


def find_moved(state: State, message: PresenceMessage, now: Millis) -> tuple[Reservation, ...]:
    """Return the sender's exact reservation, and with it the sender's narrower ones inside.

    Nothing moves if that session of the sender no longer holds it, or if it also holds a wider
    scope around it: the receiver and the sender would both own the files.
    """
    if message.type is not EventType.HANDOFF or message.key is None or message.sender is None:
        return ()
    same = model.find_reservation(state, message.key)
    if (
        same is None
        or not same.is_held_by(message.sender, message.sender_epoch)
        or same.has_ended(now)
    ):
        return ()
    if any(not wider.has_ended(now) for wider in model.reservations_above(state, message.key)):
        return ()
    narrower = (
        held for held in model.reservations_below(state, message.key) if not held.has_ended(now)
    )
    return (same, *narrower)
