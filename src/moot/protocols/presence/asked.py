"""A command in its moment: its scopes read, the overlaps found, the event it names looked up.

Made once for each decision; the checks of `rules.py` and the drafts of `drafts.py` look at it
and at nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from moot.core.errors import Malformed
from moot.core.machine import Command, Context
from moot.protocols.presence import adoption, overlap, shelf
from moot.protocols.presence import commands as ask
from moot.protocols.presence.model import Message, Reservation, State
from moot.protocols.presence.overlap import Asker, Conflict
from moot.protocols.presence.paths import Scope, read_path, read_scope


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """`command` is one of `commands.py`; each row of the rules knows which."""

    state: State
    command: Any
    context: Context
    claims: tuple[Scope, ...] = ()
    unreadable: tuple[tuple[str, Malformed], ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    message: Message | None = None
    prior: tuple[Reservation, ...] = ()
    adoption: adoption.Verdict | None = None


def look(state: State, command: Command, context: Context) -> Asked:
    """Everything the rules and drafts of this command need to see."""
    claims, unreadable = claims_of(command)
    asked = Asked(
        state=state, command=command, context=context, claims=claims, unreadable=unreadable
    )
    more = _LOOKS.get(type(command))
    return more(asked) if more is not None else asked


def claims_of(command: Command) -> tuple[tuple[Scope, ...], tuple[tuple[str, Malformed], ...]]:
    """The scopes of a command that can be read, without repeats, and those that cannot."""
    root, read = root_of(command), read_path if _literal(command) else read_scope
    claims: dict[str, Scope] = {}
    unreadable: list[tuple[str, Malformed]] = []
    for text in _texts(command):
        try:
            scope = read(text, root)
        except Malformed as problem:
            unreadable.append((text, problem))
        else:
            claims.setdefault(scope.key, scope)
    return tuple(claims.values()), tuple(unreadable)


def root_of(command: Any) -> str:
    """What scopes are relative to: the worktree, else the project root."""
    return getattr(command, "worktree", "") or getattr(command, "project_root", "")


def _texts(command: Any) -> tuple[str, ...]:
    if isinstance(command, ask.NoteIncursion):
        return command.paths
    if isinstance(command, ask.SendHandoff | ask.SendBlocked):
        return () if command.scope is None else (command.scope,)
    return getattr(command, "scopes", ())


def _literal(command: Any) -> bool:
    """A hook names real files, in which `*` is a letter; people name scopes."""
    return isinstance(command, ask.NoteIncursion) or getattr(command, "automatic", False)


def _overlaps(asked: Asked) -> Asked:
    context, command = asked.context, asked.command
    asker = Asker(
        context.actor.id, context.actor.epoch, context.now, context.seen, command.stale_millis
    )
    found = tuple(overlap.conflicts(asked.state, asked.claims, asker))
    return msgspec.structs.replace(asked, conflicts=found)


def _message(asked: Asked) -> Asked:
    return msgspec.structs.replace(asked, message=find_message(asked.state, asked.command.id))


def find_message(state: State, event_id: str) -> Message | None:
    waiting = state.pending.get(event_id)
    if waiting is not None:
        return waiting
    return next((one for one in reversed(state.recent) if one.id == event_id), None)


def _prior(asked: Asked) -> Asked:
    """What the earlier holder still has, and whether that allows the adoption."""
    state, command, actor = asked.state, asked.command, asked.context.actor
    epoch = prior_epoch(state, actor.id, actor.epoch)
    prior = tuple(
        one for one in shelf.held_by(state, actor.id, epoch) if not one.over(asked.context.now)
    )
    question = adoption.Question(
        actor.id, prior, asked.claims, command.work, root_of(command), command.evidence
    )
    return msgspec.structs.replace(asked, prior=prior, adoption=adoption.judge(question))


def prior_epoch(state: State, name: str, epoch: int) -> int:
    """The holder before: the last one who acted here, else the one before this."""
    member = shelf.member(state, name)
    return member.epoch if member is not None else epoch - 1


_LOOKS: dict[type[Command], Callable[[Asked], Asked]] = {
    ask.Reserve: _overlaps,
    ask.TakeOver: _overlaps,
    ask.NoteIncursion: _overlaps,
    ask.MarkSeen: _message,
    ask.Accept: _message,
    ask.Resume: _prior,
}
