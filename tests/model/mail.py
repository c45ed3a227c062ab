"""A thread of three agents: messages, who must acknowledge them, and what follows if not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from moot.core.machine import Recorded
from moot.core.names import SYSTEM
from moot.protocols.mail import commands as ask
from moot.protocols.mail import events as did
from moot.protocols.mail.machine import MACHINE
from moot.protocols.mail.model import Party
from tests.mail import scene as letters
from tests.mail.scene import CRANE, FINCH, OTTER, STREAM, THREAD
from tests.model.small_world import Act, Scene, SmallWorld, Step, TimePasses

NAMES = (OTTER, CRANE, FINCH)
MOST_MESSAGES = 3


class Mail(SmallWorld):
    """`memory` are the acknowledgements that stand in the record: message, name, status."""

    machine = MACHINE
    stream = STREAM
    horizon_minutes = 240

    def find_openings(self) -> dict[str, Scene]:
        empty = Scene(MACHINE.initial, memory=frozenset())
        asked = self.play(empty, Act(OTTER, letters.question(CRANE, FINCH)))
        return {"nothing": empty, "a question to two": asked}

    def list_steps(self, scene: Scene) -> Iterable[Step]:
        count = scene.state.count
        if count < MOST_MESSAGES:
            for sender in NAMES:
                for to in NAMES:
                    yield Act(sender, letters.question(to))
                yield Act(sender, letters.question(CRANE, FINCH))
                yield Act(sender, letters.info(CRANE, ack_required=True))
            yield Act(OTTER, letters.info(CRANE))
            outside = ask.Import(
                outside_id="ext-1", sender="RedCreek", subject="QUESTION: Which cache?",
                body=letters.QUESTION, to=(Party(CRANE, 1),), ack_required=True,
            )  # fmt: skip
            yield Act(CRANE, outside)
        for number in range(1, count + 1):
            for name in NAMES:
                if count < MOST_MESSAGES + 2:
                    for status in ("Received", "Completed"):
                        yield Act(name, letters.ack(number, status))
            yield Act(SYSTEM, ask.Chase(id=f"{THREAD}:{number}"))
            lapse = ask.Lapse(id=f"{THREAD}:{number}", ended=CRANE, tell_sender=False)
            yield Act(SYSTEM, lapse)
        yield TimePasses(31)

    def is_final(self, scene: Scene) -> bool:
        return scene.state.count >= MOST_MESSAGES and not scene.state.open

    def remember(self, memory: Any, recorded: Recorded[Any]) -> Any:
        event = recorded.event
        if isinstance(event, did.MessageAcknowledged):
            return memory | {(event.id, recorded.actor.id)}
        return memory

    def find_flaws(self, scene: Scene) -> Iterator[str]:
        state = scene.state
        for id_, name in scene.memory:
            message = state.find_message(id_)
            if message is None:
                continue  # long closed, and no longer remembered
            receiver = message.find_receiver(name, 1)
            if receiver is None or receiver.acked_at is None:
                yield f"the acknowledgement of {id_} by {name} is lost"
        for id_, message in state.open.items():
            missing = {one.name for one in message.missing_receivers}
            given = {name for acked, name in scene.memory if acked == id_}
            if missing & given:
                yield f"{id_} still waits for {sorted(missing & given)}, who have answered"
        due = {one.subject.partition(": ")[0] for one in self.machine.agenda(state, scene.now)}
        if due != set(state.open):
            yield f"open are {sorted(state.open)}, due are {sorted(due)}"
