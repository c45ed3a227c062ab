"""Our own work in a whole decision: nine participants, sealed and ranked answers, two sessions.

Everybody's replies lie ready in this process, so that nobody is waited for: what goes by from the
question to the result, every signature and every write to the disk included, is ours.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.figure import Figure, at_most, value
from bench.ground import Ground, opened
from moot.agents.participant_kinds import RunSurroundings
from moot.api.decisions.question_run import continue_question
from moot.api.decisions.questions import Question, put_question
from moot.protocols.decision.model import Stage
from moot.workspace.workspace import Workspace

AGENTS = [f"amber-otter-{number}" for number in range(2, 11)]
ANSWERS = ("Postgres", "Kafka", "Redis")
_BODY = "\n\n".join(["Peak is *200 jobs a second*, and a queue does ten times that."] * 6)


def measure(ground: Ground) -> Iterator[Figure]:
    place = ground.new("decisions", AGENTS)
    specs = tuple(_lay_down(place, name, number) for number, name in enumerate(AGENTS))
    with opened(place) as workspace:
        turns = [_decide(workspace, specs, place) for _ in range(ground.pick(15, 5))]
    spent, worked = zip(*turns, strict=True)
    yield value(
        "decision, 9 participants, 2 sessions",
        "ms",
        min(spent),
        target=at_most(100),
        more={"median_ms": median(spent), "processor_ms": min(worked)},
        note="own work in all: sealed, ranked, argued, recorded",
    )


def _decide(workspace: Workspace, specs: tuple[str, ...], place: Path) -> tuple[float, float]:
    """How long one decision took, in milliseconds, and how long the processor was busy with it."""
    question = Question("Postgres, Kafka or Redis?", specs, context=_BODY, choose="condorcet")
    room = RunSurroundings(place, {})
    began, busy = time.perf_counter(), time.process_time()
    decision, seated = put_question(workspace, question, room)
    state = continue_question(workspace, decision, seated, room).state
    spent = (time.perf_counter() - began) * 1_000, (time.process_time() - busy) * 1_000
    assert state.stage is Stage.WAITING
    assert len(state.seals) == len(state.rankings) == len(AGENTS)
    assert len(state.sessions) == 2
    return spent


def _lay_down(place: Path, name: str, number: int) -> str:
    """One in three objects, so that there is something to argue about in a second session."""
    stance = "reject" if number % 3 == 2 else "approve"
    vote = {"stance": stance, "confidence": 0.8}
    said = {"summary": f"The point of {name}.", "body": f"{name}: {_BODY}"}
    ranking = [{"answer": answer, **vote} for answer in ANSWERS]
    replies = {
        "first_answer": [{"answer": ANSWERS[number % 3], "why": _BODY}],
        "ranking": [{"ranking": ranking, **said}],
        "entry": [{**vote, **said}] * 2,
    }
    (place / f"{name}.json").write_text(json.dumps(replies))
    return f"{name}=script:{name}.json"
