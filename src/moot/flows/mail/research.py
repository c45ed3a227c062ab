"""Research threads: the contributions of a thread merged into the next version of its artifact."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from moot.core.errors import Refused
from moot.core.findings import Finding
from moot.core.machine import Recorded, remark
from moot.flows.mail.post import Letter, Posted, messages_of, post, text_of
from moot.protocols.mail import events as did
from moot.protocols.mail.compilation import (
    CompiledMessage,
    CompiledVersion,
    DeltaMessage,
    compile_thread,
    split_into_rounds,
)
from moot.protocols.mail.model import State, stream_of
from moot.protocols.mail.types import MessageType

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace


class Published(msgspec.Struct, frozen=True):
    """A version of an artifact, and the message that tells everyone in the thread."""

    compiled: CompiledVersion
    posted: Posted
    findings: tuple[Finding, ...]


def compile_and_send(space: Workspace, actor: str, thread: str) -> Published:
    """Merge all that was contributed since the last version, and send it as the next one."""
    messages = messages_of(space, thread)
    state: State = space.engine.state(stream_of(thread))
    rounds = split_into_rounds(_marks(space, messages))
    if not rounds[-1]:
        since = f"since v{state.compiled}" if state.compiled else "yet"
        raise Refused(
            "nothing_to_compile",
            f"nothing was contributed to {thread} {since}",
            hint="`moot send TO 'DELTA[role]: ...' FILE --thread THREAD` contributes",
        )
    made = compile_thread(thread, messages[0].at, rounds, state.title)
    letter = Letter(
        to=_others(space, messages, actor),
        subject=made.subject,
        body=made.body,
        thread=thread,
        re=rounds[-1][-1].message_id,
        key=f"compile-v{made.artifact.version}",
    )
    posted = post(space, actor, letter)
    return Published(made, posted, (*made.findings, *_left_out(messages)))


def _marks(
    space: Workspace, messages: list[Recorded[Any]]
) -> Iterator[DeltaMessage | CompiledMessage]:
    """What makes the rounds of a thread: contributions of agents here, and versions."""
    for one in messages:
        if isinstance(one.event, did.MessageImported):
            continue
        if one.event.version is not None:
            yield CompiledMessage(one.event.re)
        elif one.event.type is MessageType.DELTA:
            yield DeltaMessage(one.event.id, one.actor.id, one.at, _text(space, one))


def _text(space: Workspace, one: Recorded[Any]) -> str:
    """Without one contribution the numbers of all later items would move, so nothing is made."""
    text = text_of(space, one)
    if text is None:
        raise Refused(
            "contribution_erased",
            f"the text of {one.event.id} was erased, so the numbers of its items are not known",
            hint="send what shall stay once more, in a new thread",
        )
    return text


def _left_out(messages: list[Recorded[Any]]) -> list[Finding]:
    """What was taken in from outside is not proved, so it is not merged."""
    return [
        remark(
            "MBX-225",
            "delta_not_proved",
            f"{one.event.id} was taken in from outside and is not merged",
            "let an agent of this ledger send it, with the author named in its text",
        )
        for one in messages
        if isinstance(one.event, did.MessageImported) and one.event.type is MessageType.DELTA
    ]


def _others(space: Workspace, messages: list[Recorded[Any]], actor: str) -> tuple[str, ...]:
    """Everyone who wrote or was written to in the thread, and is still an agent here."""
    registry = space.engine.registry()
    names: dict[str, None] = {}
    for one in messages:
        wrote = [one.actor.id] if isinstance(one.event, did.MessageSent) else []
        names.update(dict.fromkeys([*wrote, *(to.name for to in (*one.event.to, *one.event.cc))]))
    known = (name for name in names if name in registry.agents and name != actor)
    return tuple(n for n in known if registry.keys[registry.agents[n].kid].ending is None)
