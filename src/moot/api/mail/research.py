"""Research threads: merge the contributions to a thread into the next version of its artifact."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.operation import operation
from moot.core.errors import Refused
from moot.core.findings import Finding
from moot.core.machine import Recorded, make_remark
from moot.core.text import Quoted, plural
from moot.protocols.mail.events import MessageImported, MessageKept, MessageSent
from moot.protocols.mail.model import normalize_id
from moot.protocols.mail.types import MessageType

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.protocols.mail.merge import CompiledMessage, CompiledVersion, DeltaMessage
    from moot.workspace.workspace import Workspace

_MOST_NAMED: Final = 10


class CompiledArtifact(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a thread's artifact, and the id of the message that announces it.

    `statistics` counts the items of each section; `findings` say what could not be merged.
    `left_out` counts the contributions from outside, which are never merged.
    """

    thread: str
    id: str
    version: int
    subject: Quoted
    contributors: list[str]
    statistics: dict[str, int]
    artifact: Quoted
    file: str | None
    findings: tuple[Finding, ...]
    left_out: int


@operation("mail.compile", writes=True)
def compile_thread(
    session: Session, thread: str, *, agent: str | None = None, file: Path | None = None
) -> CompiledArtifact:
    """Merge the contributions since a thread's last version into the next one, and send that to
    everyone in the thread as COMPILED vN. With `file` also write the artifact there.

    Each version is sent once, so a repeat needs no key. Refused if there are no new contributions,
    or if the text of one was erased. Contributions from outside are left out: their authors are
    not proved.
    """
    from moot.api.mail.messages import read_thread
    from moot.api.mail.outgoing import OutgoingMessage, post_message

    workspace, name, thread = session.workspace, session.actor(agent), normalize_id(thread)
    messages = read_thread(workspace, thread)
    version, last_merged = _compile(workspace, thread, messages)
    outgoing = OutgoingMessage(
        to=_other_members(workspace, messages, name),
        subject=version.subject,
        body=version.body,
        thread=thread,
        re=last_merged,
        key=f"compile-v{version.artifact.version}",
    )
    message = post_message(workspace, name, outgoing).message
    if file is not None:
        from moot.store.files import write_file

        write_file(file, version.markdown.encode())
    return CompiledArtifact(
        thread=thread,
        id=message.event.id,
        version=version.artifact.version,
        subject=Quoted(version.subject),
        contributors=[contributor.agent for contributor in version.artifact.contributors],
        statistics=version.artifact.count_items_alive(),
        artifact=Quoted(version.markdown),
        file=None if file is None else str(file),
        findings=(*version.findings, *_remark_unproved(messages)),
        left_out=len(_unproved_contributions(messages)),
    )


def _compile(
    workspace: Workspace, thread: str, messages: list[Recorded[MessageKept]]
) -> tuple[CompiledVersion, str]:
    """Return the next version, and the id of the last contribution in it."""
    from moot.protocols.mail.machine import MACHINE as MAIL
    from moot.protocols.mail.merge import compile_thread, split_into_rounds

    state = workspace.engine.state(MAIL, messages[0].stream)
    rounds = split_into_rounds(_contributions(workspace, messages))
    if not rounds[-1]:
        since = f"since v{state.compiled}" if state.compiled else "yet"
        raise Refused(
            "nothing_to_compile",
            "; ".join([f"{thread} has no contributions {since}", *_explain_unproved(messages)]),
            hint="`moot send TO 'DELTA[role]: ...' FILE --thread THREAD` contributes",
        )
    version = compile_thread(thread, messages[0].at, rounds, state.title)
    return version, rounds[-1][-1].message_id


def _contributions(
    workspace: Workspace, messages: list[Recorded[MessageKept]]
) -> Iterator[DeltaMessage | CompiledMessage]:
    """Yield the contributions of agents here, and the versions that end each round."""
    from moot.api.mail.messages import read_message_text_unless_erased
    from moot.protocols.mail.merge import CompiledMessage, DeltaMessage

    for message in messages:
        event = message.event
        if not isinstance(event, MessageSent):
            continue  # it came from outside
        if event.version is not None:
            yield CompiledMessage(event.re)
        elif event.type is MessageType.DELTA:
            body = read_message_text_unless_erased(workspace, message)
            if body is None:  # without it the numbers of all later items would move
                raise Refused(
                    "contribution_erased",
                    f"the text of {event.id} was erased, so the numbers of its items are unknown",
                    hint="send the contributions to keep again, in a new thread",
                )
            yield DeltaMessage(event.id, message.actor.id, message.at, body)


def _unproved_contributions(messages: list[Recorded[MessageKept]]) -> list[str]:
    """Return the ids of contributions that were imported from outside."""
    return [
        message.event.id
        for message in messages
        if isinstance(message.event, MessageImported) and message.event.type is MessageType.DELTA
    ]


def _explain_unproved(messages: list[Recorded[MessageKept]]) -> Iterator[str]:
    """Yield how many contributions are left out, and why; nothing if there are none."""
    ids = _unproved_contributions(messages)
    if ids:
        listed = ", ".join(ids[:_MOST_NAMED]) + (", ..." if len(ids) > _MOST_NAMED else "")
        count = plural(len(ids), "contribution")
        yield f"left out {count} from outside, whose authors are not proved ({listed})"


def _remark_unproved(messages: list[Recorded[MessageKept]]) -> Iterator[Finding]:
    for sentence in _explain_unproved(messages):
        hint = "ask an agent of this ledger to send it and to name the author in the text"
        yield make_remark("MBX-225", "delta_not_proved", sentence, hint)


def _other_members(
    workspace: Workspace, messages: list[Recorded[MessageKept]], actor: str
) -> tuple[str, ...]:
    """Return everyone who sent or received a message of the thread and has not ended."""
    registry = workspace.engine.registry()
    names: dict[str, None] = {}
    for message in messages:
        event = message.event
        sender = [message.actor.id] if isinstance(event, MessageSent) else []
        receivers = [party.name for party in (*event.to, *event.cc)]
        names.update(dict.fromkeys([*sender, *receivers]))
    known = (name for name in names if name in registry.agents and name != actor)
    return tuple(n for n in known if registry.keys[registry.agents[n].kid].ending is None)
