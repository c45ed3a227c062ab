"""What people and agents read of a decision."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from moot.core.clock import to_text
from moot.protocols.decision.model import PersonsWord, Purse, Result, Stage, State

MOST_TITLE: Final = 120


def as_json(decision: str, state: State) -> dict[str, Any]:
    """The whole decision as plain data; decimals are text, as they stand in the record."""
    return {
        "id": decision,
        "stage": state.stage.value,
        "question": state.question,
        "asked_by": state.asked_by,
        "asked_at": to_text(state.asked_at),
        "chamber": state.chamber.value,
        "rule": state.rule,
        "rounds": state.rounds,
        "participants": [_seat(state, seat.agent) for seat in state.seats],
        "answers": [msgspec.to_builtins(one) for one in in_order(state)],
        "motion": msgspec.to_builtins(state.motion),
        "session": msgspec.to_builtins(state.session),
        "result": msgspec.to_builtins(state.verdict),
        "word": _word(state.word),
        "sent_back": [_word(one) for one in state.sent_back],
        "supersedes": state.supersedes,
        "superseded_by": state.superseded_by,
        "cost": cost_data(state.cost),
        "turns": state.turns,
        "runs": state.runs,
        "stopped": state.stopped,
        "endings": dict(sorted(state.endings.items())),
        "shared_models": shared_models(state),
        "custodians": len({seat.custodian for seat in state.seats}),
    }


def ways(decision: str, result: Result | None = None) -> str:
    """How a person gives their word: a command to paste, and what else it may say.

    What did not carry is not offered for approval first.
    """
    first, others = "approve", "or veto, or amend --text FILE"
    if result in AGAINST:
        first, others = "veto", f"or amend --text FILE, or approve, {AGAINST[result]}"
    return f'moot decide {decision} {first} --reason "..." ({others})'


AGAINST: Final[dict[Result | None, str]] = {
    Result.NOT_CARRIED: "against the vote (not carried)",
    Result.DEADLOCK: "without agreement (deadlock)",
    Result.CLOSED: "without agreement (closed)",
}


def against(state: State) -> str:
    """`against the vote (not carried)`, of what a person approved although it did not carry."""
    return AGAINST.get(state.result, "") if state.stage is Stage.APPROVED else ""


def title(question: str) -> str:
    """What a question is called in a line: its first one, shortened."""
    line = next((" ".join(row.split()) for row in question.splitlines() if row.strip()), "")
    return line if len(line) <= MOST_TITLE else f"{line[: MOST_TITLE - 1]}…"


def in_order(state: State) -> list[Any]:
    """First answers in the order of the seats."""
    return [state.answers[seat.agent] for seat in state.seats if seat.agent in state.answers]


def shared_models(state: State) -> dict[str, list[str]]:
    """Models, or programs that do not name theirs, that speak with more than one voice:
    agreement between them weighs less."""
    voices: dict[str, list[str]] = {}
    for seat in state.seats:
        if not seat.scripted and (seat.model or (seat.spec and seat.kind != "human")):
            voices.setdefault(seat.model or seat.spec, []).append(seat.agent)
    return {model: names for model, names in voices.items() if len(names) > 1}


def costs(state: State) -> list[tuple[str, Purse]]:
    """What each participant cost, in the order of the seats; nobody who was never asked."""
    names = [seat.agent for seat in state.seats if seat.agent in state.purses]
    return [(name, state.purses[name]) for name in names]


def cost_data(purse: Purse) -> dict[str, int]:
    data: dict[str, int] = msgspec.to_builtins(purse)
    return data


def _seat(state: State, agent: str) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.to_builtins(state.seat(agent))
    return {**data, "cost": cost_data(state.purses.get(agent, Purse()))}


def _word(word: PersonsWord | None) -> dict[str, Any] | None:
    if word is None:
        return None
    data: dict[str, Any] = msgspec.to_builtins(word)
    return {**data, "at": to_text(word.at)}
