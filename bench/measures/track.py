"""`moot track` over 10,000 decisions with their outcomes, in a workspace that was just opened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure, at_most, value
from bench.ground import AGENT, BATCH, Ground, keys_of, opened
from bench.rounds import millis
from moot.api.decisions.outcomes import read_track_record
from moot.core.errors import MootError
from moot.core.machine import KeyClass
from moot.core.names import OPERATOR, SYSTEM
from moot.engine.job import Job
from moot.engine.registry_commands import register
from moot.keys.folder import KeyFolder
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.model import DecisionSeat, SeatForecast
from moot.workspace.workspace import Workspace

VOICES = ("claude-1", "codex-1", "gemini-1", "qwen-1", "opencode-1")
OUTCOMES = ("right", "wrong", "right", "mixed", "right", "wrong", "right")
STANCES = ("approve", "reject", "approve", "defer", "approve", "approve", "neutral", "reject")


def measure(ground: Ground) -> Iterator[Figure]:
    decisions = ground.pick(10_000, 1_000)
    place = ground.new("outcomes", (AGENT,))
    with opened(place) as workspace:
        _enter_person(workspace, KeyFolder(keys_of(place)))
        _fill(workspace, decisions)
    took = min(_read(place, decisions) for _ in range(ground.pick(7, 3)))
    yield value(f"track over {decisions:,} decisions", "ms", took, target=at_most(1_000))


def _read(place: Path, decisions: int) -> float:
    def read() -> None:
        with opened(place) as workspace:
            record, asked = read_track_record(workspace)
        assert record.judged == asked == decisions

    return millis(read)()


def _enter_person(workspace: Workspace, keys: KeyFolder) -> None:
    signer = keys.add_key(workspace.trust.origin, OPERATOR, KeyClass.HUMAN)
    register(workspace.engine, OPERATOR, signer, custodian=keys.custodian, kind=KeyClass.HUMAN)


def _fill(workspace: Workspace, decisions: int) -> None:
    jobs: list[Job] = []
    for number in range(1, decisions + 1):
        jobs += _jobs(number)
        if len(jobs) >= BATCH or number == decisions:
            for result in workspace.engine.execute_all(jobs):
                if isinstance(result, MootError):
                    raise result
            jobs = []


def _jobs(number: int) -> Iterator[Job]:
    """One decision, asked and judged; what lies between is in the forecasts."""
    stream = stream_of(f"q-{number}")
    seats = tuple(DecisionSeat(name, "cmd", f"cmd:{name}", f"{name}-model") for name in VOICES)
    yield Job(stream, ask.AskQuestion(question=f"Which one, the {number}th?", seats=seats), SYSTEM)
    for name in VOICES:
        yield Job(stream, ask.PassAnswer(agent=name, why="said elsewhere"), SYSTEM)
    yield Job(stream, ask.SetMotion(text="Postgres", by=VOICES[:1]), SYSTEM)
    outcome = OUTCOMES[number % len(OUTCOMES)]
    forecasts = tuple(_forecast(name, number + 3 * place) for place, name in enumerate(VOICES))
    judged = ask.JudgeOutcome(outcome=outcome, reason="It held.", forecasts=forecasts)
    yield Job(stream, judged, OPERATOR)


def _forecast(name: str, number: int) -> SeatForecast:
    return SeatForecast(
        agent=name,
        model=f"{name}-model",
        first_stance=STANCES[number % len(STANCES)],
        first_sure=f"0.{number % 10}",
        last_stance=STANCES[number * 5 % len(STANCES)],
        last_sure=f"0.{(number * 7) % 10}",
        micros=1_200,
    )
