"""A debate of two agents under each order and policy: who speaks, who is late, how it ends."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from moot.core.clock import to_text
from moot.core.names import OPERATOR, SYSTEM
from moot.protocols.debate import commands as ask
from moot.protocols.debate.escalation import POLICY_ENTRIES
from moot.protocols.debate.machine import MACHINE
from moot.protocols.debate.model import Escalation
from moot.protocols.debate.phases import Phase
from moot.protocols.debate.state import course_from_state
from moot.protocols.debate.turns import find_standing
from moot.protocols.debate.writer import make_entry_text
from tests.debate.sessions import SESSION_ID, TWO_AGENTS, entry, session
from tests.model.small_world import Act, Scene, SmallWorld, Step, Taken, TimePasses

STREAM = f"debate/{SESSION_ID}"
STANCES = (("approve", "0.9"), ("reject", "0.8"), ("defer", "0.5"))
ORDERS = ("round-robin", "free-form")
POLICIES = ("human", "timeout-skip", "default-action")


class Debate(SmallWorld):
    machine = MACHINE
    stream = STREAM
    horizon_minutes = 30

    def find_openings(self) -> dict[str, Scene]:
        return {
            f"{order}, {policy}": self._begin(order, policy)
            for order in ORDERS
            for policy in POLICIES
        }

    def _begin(self, order: str, policy: str) -> Scene:
        text = session(turn_order=order, escalation=policy, max_rounds="3")
        begin = ask.Begin(file="s.md", text=text, digest=_sha(text))
        return self.play(Scene(MACHINE.initial), TimePasses(1), Act(SYSTEM, begin))

    def list_steps(self, scene: Scene) -> Iterable[Step]:
        state = scene.state
        here = find_standing(course_from_state(state, state.rules), scene.now)
        number, at = state.entries + 1, to_text(scene.now)[:19] + "Z"
        for author in TWO_AGENTS:
            for stance, confidence in STANCES:
                text = entry(
                    number, author, here.round, here.turn, stance=stance, confidence=confidence,
                    at=at,
                )  # fmt: skip
                yield Act(author, _piece(scene, ask.Add, text))
            yield Act(OPERATOR, _piece(scene, ask.Add, text))
            yield Act(SYSTEM, _piece(scene, ask.Observe, text))
            if state.unsigned:
                last = state.unsigned[-1]
                yield Act(author, ask.Sign(id=last.id, sha256=last.sha256))
        yield from self._policy_steps(scene, here)
        yield TimePasses(3)

    def _policy_steps(self, scene: Scene, here: Any) -> Iterable[Step]:
        state, at = scene.state, to_text(scene.now)[:19] + "Z"
        mark = f"\n<!-- operator-resume: {at} -->\n"
        yield Act(SYSTEM, _piece(scene, ask.Resume, mark))
        yield Act(TWO_AGENTS[0], _piece(scene, ask.Resume, mark))
        yield Act(SYSTEM, ask.NoteTimeout())
        if state.rules.escalation is Escalation.HUMAN:
            return
        for agent in here.due:
            draft = POLICY_ENTRIES[state.rules.escalation](state.rules, agent, None)
            id_ = f"00000000-0000-4000-8000-{state.entries:012d}"
            text = make_entry_text(draft, id_, at, here.turn, here.round)
            yield Act(SYSTEM, _piece(scene, ask.Escalate, text, agent=agent))

    def key_of(self, scene: Scene) -> bytes:
        """The bytes of the file are not told apart, only what they led to."""
        bare = replace(scene.state, size=0, digest="")
        return super().key_of(replace(scene, state=bare))

    def is_final(self, scene: Scene) -> bool:
        return bool(scene.state.phase.has_ended)

    def awaits_operator(self, scene: Scene) -> bool:
        """A deadlock, until what followed from it is summed up (BNC-138)."""
        due = self.machine.agenda(scene.state, scene.now)
        is_deadlock = scene.state.phase is Phase.DEADLOCK and not scene.state.summed_up
        return is_deadlock and all(each.who == OPERATOR for each in due)

    def find_flaws_of_step(self, before: Scene, _step: Step, taken: Taken) -> Iterator[str]:
        old, new = before.state, taken.scene.state
        if old.phase.has_ended and new.phase is not old.phase:
            yield f"the debate had ended ({old.phase}), and is now {new.phase}"
        if new.entries < old.entries:
            yield "an entry is lost"
        if new.phase.has_ended and not old.phase.has_ended:
            kinds = [type(one.event).__name__ for one in taken.recorded]
            if "SessionEnded" not in kinds:
                yield "the debate ended, and no event says so"

    def find_flaws(self, scene: Scene) -> Iterator[str]:
        if not scene.state.phase.has_ended and not self.machine.agenda(scene.state, scene.now):
            yield "the debate goes on, and nobody is asked to speak"


def _piece(scene: Scene, kind: Any, text: str, **more: Any) -> Any:
    return kind(start=scene.state.size, text=text, digest=_sha(text), **more)


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
