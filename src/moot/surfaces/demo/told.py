"""The acts in their order, and what they leave."""

from __future__ import annotations

import shlex
from typing import Any

from moot.surfaces.demo import argued, held, path, programs, proved
from moot.surfaces.demo.argued import AskPerson
from moot.surfaces.demo.stage import Line, Lines, Stage, say


class Story:
    """Told line by line, as it happens; `verdicts` fills up on the way."""

    def __init__(self, stage: Stage, full: bool, ask: AskPerson) -> None:
        self._stage = stage
        self._full = full
        self._ask = ask
        self.verdicts: list[dict[str, Any]] = []

    def tell(self) -> Lines:
        stage = self._stage
        yield say("It plays in a folder of its own. Who types along begins with these lines:")
        yield from stage.begin()
        yield from held.play(stage)
        yield from argued.play(stage, self._ask)
        if self._full:
            yield from path.play(stage)
        yield from proved.play(stage, self.verdicts)
        yield from self._end()

    def _end(self) -> Lines:
        stage = self._stage
        stage.act = "the end"
        yield Line("act", "What is left to look at")
        yield Line("out", f"the decision   {stage.out / argued.PAGE}")
        yield Line("out", f"who changed    {stage.out / argued.FIRST_PAGE}")
        if self._full:
            yield Line("out", f"the path       {stage.out / path.PAGE}")
        yield Line("out", f"the record     {stage.out / proved.RECORD}")
        yield Line("out", f"the verdicts   {stage.out / proved.VERDICTS}")
        place, keys = (shlex.quote(str(one)) for one in (stage.repository, stage.keys))
        moot = programs.moot()
        yield Line("out", f"the workspace  cd {place} && MOOT_KEYS={keys} {moot} status")
        yield say("Keys, repository and files stay in this folder; nothing of yours was touched.")
        yield Line("end", f"your turn: {moot} init && {moot} run -- claude")
