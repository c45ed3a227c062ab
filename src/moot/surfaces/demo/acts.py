"""The acts in their order, and the files they leave."""

from __future__ import annotations

import shlex
from typing import Any

from moot.surfaces.demo import (
    act_decision,
    act_machines,
    act_proof,
    act_reservation,
    act_whole_path,
)
from moot.surfaces.demo import stage as programs
from moot.surfaces.demo.act_decision import AskPerson
from moot.surfaces.demo.stage import DemoStage, Line, Lines, say


class Demonstration:
    """Played line by line, as it happens; `verdicts` fills up on the way."""

    def __init__(
        self, stage: DemoStage, full: bool, ask: AskPerson, machines: int | None = None
    ) -> None:
        self._stage = stage
        self._full = full
        self._ask = ask
        self._machines = machines and act_machines.MachinesAct(stage, machines)
        self.verdicts: list[dict[str, Any]] = []

    def play(self) -> Lines:
        stage = self._stage
        yield say("It runs in its own folder. To type along, begin with these lines:")
        yield from stage.begin()
        yield from act_reservation.play(stage)
        yield from act_decision.play(stage, self._ask)
        if self._full:
            yield from act_whole_path.play(stage)
        yield from act_proof.play(stage, self.verdicts)
        if self._machines:
            yield from self._machines.play()
        yield from self._end()

    @property
    def machines(self) -> dict[str, Any] | None:
        """The results of the act with several machines, if it is played."""
        return self._machines.results if self._machines else None

    def _end(self) -> Lines:
        stage = self._stage
        stage.act = "the end"
        yield Line("act", "Files to look at")
        yield Line("out", f"the decision   {stage.out / act_decision.PAGE}", point=True)
        yield Line("out", f"who changed    {stage.out / act_decision.FIRST_PAGE}")
        if self._full:
            yield Line("out", f"the path       {stage.out / act_whole_path.PAGE}")
        yield Line("out", f"the record     {stage.out / act_proof.RECORD}")
        yield Line("out", f"the verdicts   {stage.out / act_proof.VERDICTS}")
        place, keys = (shlex.quote(str(folder)) for folder in (stage.repository, stage.keys))
        moot = programs.moot()
        yield Line("out", f"the workspace  cd {place} && MOOT_KEYS={keys} {moot} status")
        yield say("Keys, repository and files stay in this folder; nothing of yours was touched.")
        turn = f"{moot} init && {moot} run -- claude"
        yield Line("end", f"your turn, in your own repository: {turn}")
