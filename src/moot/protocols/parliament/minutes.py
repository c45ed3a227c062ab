"""The events of one decision, as they are collected.

`Minutes` applies each event to its state at once: otherwise two messages of one decision would get
the same number, and a summary would not see how its round ended.
"""

from __future__ import annotations

from moot.core.clock import Millis
from moot.core.machine import Draft, Event
from moot.core.record import ArtifactRef
from moot.protocols.parliament import events as did
from moot.protocols.parliament.evolution import apply_event
from moot.protocols.parliament.messages import contents
from moot.protocols.parliament.messages.message import Response, make_message, to_document
from moot.protocols.parliament.messages.words import SPEAKER, Kind, RulingAction, RulingType
from moot.protocols.parliament.model import State


class Minutes:
    """The events of one decision, in order, and the state they lead to."""

    def __init__(self, state: State, now: Millis) -> None:
        self.state = state
        self.drafts: list[Draft] = []
        self._now = now

    def add_event(self, event: Event, *artifacts: ArtifactRef) -> None:
        self.drafts.append(Draft(event, artifacts))
        self.state = apply_event(self.state, event)

    def log_message(
        self, response: Response, cut_to: int | None = None, artifacts: tuple[ArtifactRef, ...] = ()
    ) -> str:
        """PAR-001 and PAR-082: every response becomes a message of the ledger; returns its id."""
        state = self.state
        message = make_message(response, state.next_message_id, state.round.number, self._now)
        self.add_event(did.MessageLogged(message=to_document(message), cut_to=cut_to), *artifacts)
        return message.id

    def give_ruling(
        self, kind: RulingType, action: RulingAction, target: str | None, text: str
    ) -> None:
        """Log a ruling now; only for commands that the speaker itself gives."""
        content = contents.SpeakerRuling(kind, text, target, action)
        self.log_message(Response(type=Kind.SPEAKER_RULING, sender=SPEAKER, content=content))

    def owe_ruling(
        self, kind: RulingType, action: RulingAction, target: str | None, text: str
    ) -> None:
        """Note a ruling that someone else's act calls for; the speaker gives it later.

        A seat's decision is signed with the seat's key, so the speaker's message cannot be in it.
        """
        self.add_event(did.RulingOwed(ruling_type=kind, action=action, target=target, ruling=text))
