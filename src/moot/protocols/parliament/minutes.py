"""The events of one decision in the making.

`Minutes` keeps the state as its events change it, so that each message gets the next number and
each summary sees the round as it ends.
"""

from __future__ import annotations

from moot.core.machine import Context, Draft, Event
from moot.core.record import ArtifactRef
from moot.protocols.parliament import events as did
from moot.protocols.parliament.asked import Asked
from moot.protocols.parliament.evolution import apply
from moot.protocols.parliament.messages import contents as said
from moot.protocols.parliament.messages.message import Response, as_document, made
from moot.protocols.parliament.messages.words import SPEAKER, Kind, RulingAction, RulingType
from moot.protocols.parliament.model import State


class Minutes:
    """The events of one decision, in order, and the state they lead to."""

    def __init__(self, asked: Asked) -> None:
        self.state: State = asked.state
        self.drafts: list[Draft] = []
        self._context: Context = asked.context

    def add(self, event: Event, *artifacts: ArtifactRef) -> None:
        self.drafts.append(Draft(event, artifacts))
        self.state = apply(self.state, event)

    def log(
        self, response: Response, cut_to: int | None = None, artifacts: tuple[ArtifactRef, ...] = ()
    ) -> str:
        """PAR-082: a message of the ledger; its id."""
        state = self.state
        message = made(response, state.next_message_id, state.round.number, self._context.now)
        self.add(did.MessageLogged(message=as_document(message), cut_to=cut_to), *artifacts)
        return message.id

    def rule(self, kind: RulingType, action: RulingAction, target: str | None, text: str) -> None:
        """A ruling by the speaker, for commands that the speaker gives."""
        content = said.SpeakerRuling(kind, text, target, action)
        self.log(Response(type=Kind.SPEAKER_RULING, sender=SPEAKER, content=content))

    def owe(self, kind: RulingType, action: RulingAction, target: str | None, text: str) -> None:
        """A ruling that follows from someone else's act; the speaker gives it later."""
        self.add(did.RulingOwed(ruling_type=kind, action=action, target=target, ruling=text))
