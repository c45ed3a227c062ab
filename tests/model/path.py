"""A path with a few steps from one protocol to the next, tried, moved, failed and finished."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from moot.core.names import SYSTEM
from moot.protocols.path import model as ask
from moot.protocols.path.flows import FLOWS
from moot.protocols.path.machine import MACHINE
from moot.protocols.path.model import MadeThing, SourceRecord, Stage, StepTarget
from tests.model.small_world import Act, Scene, SmallWorld, Step, Taken
from tests.path.scene import BILL, DEBATE, MESSAGE, STREAM, SURE

SOURCES: dict[str, tuple[SourceRecord, ...]] = {
    "blocked-to-debate": (MESSAGE, SourceRecord("mail/pay-7", 1, "d" * 64, "pay-7-2")),
    "question-to-debate": (MESSAGE,),
    "consensus-to-parliament": (DEBATE,),
    "approval-to-trace": (BILL,),
}
AGENT = "amber-otter"


class Path(SmallWorld):
    machine = MACHINE
    stream = STREAM

    def list_steps(self, _scene: Scene) -> Iterable[Step]:
        begin = ask.BeginPath(title="Payments", origin=AGENT, source=MESSAGE)
        yield Act(SYSTEM, begin)
        yield Act(AGENT, begin)
        for flow, sources in SOURCES.items():
            for source in sources:
                yield from self._steps_of(flow, source)

    def _steps_of(self, flow: str, source: SourceRecord) -> Iterable[Step]:
        protocol = FLOWS[flow].target
        targets = tuple(StepTarget(f"{protocol}/{name}", name) for name in ("y", "z"))
        for target in targets:
            yield Act(SYSTEM, _begin(flow, source, target))
        yield Act(AGENT, _begin(flow, source, targets[0]))
        yield Act(SYSTEM, _begin(flow, source, StepTarget("mail/y", "y")))
        yield Act(SYSTEM, ask.MoveStep(flow=flow, source=source, target=targets[1]))
        made = MadeThing("session", f"{protocol}/y", 0, "y")
        yield Act(SYSTEM, ask.FinishStep(flow=flow, source=source, made=(made,)))
        forbidden = MadeThing("vote", f"{protocol}/y", 0, "y")
        yield Act(SYSTEM, ask.FinishStep(flow=flow, source=source, made=(forbidden,)))
        yield Act(SYSTEM, ask.FailStep(flow=flow, source=source, code="file_taken", why="taken"))

    def is_final(self, scene: Scene) -> bool:
        return bool(scene.state.steps) and not scene.state.open

    def find_flaws_of_step(self, before: Scene, _step: Step, taken: Taken) -> Iterator[str]:
        for key, step in before.state.steps.items():
            if step.stage is Stage.DONE and taken.scene.state.steps.get(key) != step:
                yield f"{key} was done, and changed afterwards"

    def find_flaws(self, scene: Scene) -> Iterator[str]:
        state = scene.state
        for key, step in state.steps.items():
            if (key in state.open) is (step.stage is Stage.DONE):
                yield f"{key} is {step.stage}, and the list of open steps says otherwise"
            if any(made.kind not in FLOWS[step.flow].makes for made in step.made):
                yield f"{key} made what its flow may not make"
        if len(self.machine.agenda(state, scene.now)) != len(state.open):
            yield "an open step is not in the agenda"


def _begin(flow: str, source: SourceRecord, target: StepTarget) -> ask.BeginStep:
    return ask.BeginStep(flow=flow, source=source, target=target, asked_by=AGENT, standing=SURE)
