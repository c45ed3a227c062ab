"""A question to two participants, open or sealed, argued in a debate or a parliament."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from moot.core.names import OPERATOR, SYSTEM
from moot.core.record import ArtifactRef
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.first_answers import commit_to_answer
from moot.protocols.decision.machine import MACHINE, TRANSITIONS
from moot.protocols.decision.model import ChamberKind, DecisionResult, DecisionSeat, Stage
from tests.model.small_world import Act, Scene, SmallWorld, Step, Taken, TimePasses

NAMES = ("amber-otter", "teal-crane")
OUTSIDER = "coral-finch"
STREAM = stream_of("q-1")
SEATS = tuple(DecisionSeat(name, "cmd", "cmd:x") for name in NAMES)
NONCES = {name: f"{number:064x}" for number, name in enumerate((*NAMES, OUTSIDER), 1)}
CLOSING = ask.CloseSeals(note="a note", number=3, index=1, path=())
ANSWERS = ("Postgres", "Kafka")
ENDS = (Stage.APPROVED, Stage.VETOED, Stage.AMENDED)
RESULTS = (DecisionResult.CARRIED, DecisionResult.DEADLOCK)


def _question(**more: Any) -> Act:
    return Act(SYSTEM, ask.AskQuestion(question="Which?", seats=SEATS, **more))


class Decision(SmallWorld):
    machine = MACHINE
    stream = STREAM
    idle_commands = (ask.NoteCall, ask.EndRun, ask.MakeReceipt, ask.JudgeOutcome)
    # The program that runs the decision passes over late agents, not the engine.
    timeouts_follow_agenda = False

    def find_openings(self) -> dict[str, Scene]:
        new = Scene(MACHINE.initial)
        debate, parliament = ChamberKind.DEBATE, ChamberKind.PARLIAMENT
        return {
            "nothing": new,
            "asked": self.play(new, _question(chamber=debate, answer_seconds=60)),
            "asked of a parliament": self.play(new, _question(chamber=parliament)),
            "asked under seal": self.play(new, _question(sealed=True)),
        }

    def list_steps(self, scene: Scene) -> Iterable[Step]:
        yield _question()
        for name in (*NAMES, OUTSIDER):
            for answer in ANSWERS:
                nonce = NONCES[name] if scene.state.is_sealed else ""
                sealed = commit_to_answer(STREAM, name, NONCES[name], answer, "simple", ())
                yield Act(name, ask.GiveAnswer(answer=answer, why="simple", nonce=nonce))
                yield Act(name, ask.SealAnswer(commitment=sealed))
        for command in self._commands_of_the_run(scene):
            yield Act(SYSTEM, command)
            yield Act(NAMES[0], command)
        for command in self._words_of_a_person(scene):
            yield Act(OPERATOR, command)
            yield Act(NAMES[0], command)
        yield TimePasses(2)

    def _commands_of_the_run(self, scene: Scene) -> Iterable[Any]:
        state = scene.state
        yield from (ask.PassAnswer(agent=name, why="silent") for name in NAMES)
        yield CLOSING
        yield ask.SetMotion(text="We take Postgres", by=(NAMES[0],))
        if len(state.sessions) < 2:
            yield ask.OpenSession(session=f"{state.chamber}/s{len(state.sessions)}")
        for result in RESULTS:
            yield ask.RecordResult(result=result, summary="so", approvers=NAMES[:1])
        if state.turns + state.runs < 2:
            yield ask.EndRun(stop="finished", turns=1)
        yield ask.MakeReceipt(receipt=ArtifactRef("0f" * 32, 2, "application/json"))
        if state.superseded_by is None:
            yield ask.NameSuccessor(decision="q-2")

    def _words_of_a_person(self, scene: Scene) -> Iterable[Any]:
        yield ask.Approve(reason="good")
        yield ask.Veto(reason="no")
        yield ask.Amend(reason="nearly", text=ArtifactRef("0e" * 32, 2, "text/plain"))
        if len(scene.state.sent_back) < 2:
            yield ask.SendBack(reason="again")
        yield ask.JudgeOutcome(outcome="right", reason="it runs")

    def is_final(self, scene: Scene) -> bool:
        return scene.state.stage in ENDS

    def find_flaws_of_step(self, before: Scene, _step: Step, taken: Taken) -> Iterator[str]:
        old, new = before.state, taken.scene.state
        if new.stage is not old.stage and new.stage not in _later_stages(old.stage):
            yield f"{old.stage} went to {new.stage}, which no row of the table allows"
        for name, answer in old.answers.items():
            if new.answers.get(name) != answer:
                yield f"the answer of {name} changed after it was given"
        for name in old.seals:
            if name not in new.seals:
                yield f"the seal of {name} is gone"

    def find_flaws(self, scene: Scene) -> Iterator[str]:
        state = scene.state
        if (state.word is not None) is not (state.stage in ENDS):
            yield f"{state.stage} and a person's word do not go together"
        due = {one.who for one in self.machine.agenda(state, scene.now)}
        if state.stage is Stage.ANSWERING and not set(state.unanswered) <= due:
            yield "an answer is missing, and the agenda does not ask for it"
        if state.stage is Stage.WAITING and OPERATOR not in due:
            yield "a person is waited for, and is not told"
        opened = {name for name in state.seals if name in state.answers}
        if opened and state.is_sealed and state.seals_checkpoint is None:
            passed = {name for name in opened if not state.answers[name].answer}
            if opened - passed:
                yield "an answer was opened before all were sealed"


def _later_stages(stage: Stage) -> set[Stage]:
    """A command may record several events, so it may go several rows on."""
    found, more = {stage}, [stage]
    while more:
        after = set(TRANSITIONS[more.pop()].values()) - found
        found |= after
        more += after
    return found
