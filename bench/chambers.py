"""Traffic for parliaments: rounds of questions and answers, an amendment now and then.

A round starts, every exchange of it takes place, it ends; so a session grows as a real one does,
with its history of temperatures, its summaries and its settled amendments.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.ground import Ground, opened
from moot.core.errors import MootError
from moot.core.machine import Command
from moot.core.names import SYSTEM
from moot.engine.job import Job
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import round_clock
from moot.protocols.parliament.machine import MACHINE as PARLIAMENT
from moot.protocols.parliament.messages.contents import SessionStatus
from moot.protocols.parliament.model import MAX_ROUNDS, State
from moot.workspace.workspace import Workspace

STREAM = "parliament/parl-20260218-001"
NAMES = tuple(f"member-{number}" for number in range(1, 10))
_SCOPE = {"in_scope": ["caches"], "out_of_scope": ["billing"], "assumptions": ["one region"]}
_SECTIONS = {
    "problem": "Pages are slow.",
    "scope": _SCOPE,
    "solution": "A shared cache.",
    "implementation": "In two steps.",
}


class Talk:
    """What is said next in one session, and by whom; asked of the state, so it never goes wrong."""

    def __init__(self, space: Workspace) -> None:
        self.space = space

    @property
    def state(self) -> State:
        return self.space.engine.state(PARLIAMENT, STREAM)

    def run(self, command: Command, actor: str) -> None:
        self.space.engine.execute(STREAM, command, actor)

    def say(self, document: dict[str, Any]) -> None:
        self.run(ask.Submit(document=document), _signer(document["from"]))

    def into_a_round(self) -> None:
        """A running round with room for an exchange."""
        state = self.state
        if state.round.running and round_clock.all_questions_asked(state):
            self.say(_ruling("round_end"))
        if not self.state.round.running:
            self.say(_ruling("round_start"))

    def exchange(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The next question and its answer."""
        state = self.state
        count, number = len(state.order), state.next_message_id
        asker = number % count + 1
        return _exchange(asker, asker % count + 1, number, "cost", state)


def _signer(sender: str) -> str:
    return SYSTEM if sender == "speaker" else NAMES[int(sender[4:]) - 1]


def _ruling(action: str, kind: str = "procedure") -> dict[str, Any]:
    content = {"ruling_type": kind, "ruling": "So be it.", "target": None, "action": action}
    return {"type": "SPEAKER_RULING", "from": "speaker", "content": content}


def _exchange(
    asker: int, asked: int, number: int, topic: str, state: State
) -> tuple[dict[str, Any], dict[str, Any]]:
    text = "What does it cost in the first year? And after that?"
    one = {"topic": f"{topic} {number}", "question": text, "motive_context": "My voters ask."}
    scores = dict.fromkeys(state.seats[f"rep_{asked}"].motives, 4)
    said = "Less than today. The second year is cheaper still, for the machines are paid for."
    two = {"answer": said, "concessions": "", "stance": "maintain", "motive_scores": scores}
    question = {"type": "QUESTION", "from": f"rep_{asker}", "to": f"rep_{asked}", "content": one}
    answer = {
        "type": "ANSWER",
        "from": f"rep_{asked}",
        "to": f"rep_{asker}",
        "in_reply_to": f"msg-{number:03d}",
        "content": two,
    }
    return question, answer


def _opening(seats: int) -> Iterator[Job]:
    """From nothing to the debate."""
    plans = tuple(ask.SeatPlan(f"Rep. {name}", ("cost", name), name) for name in NAMES[:seats])
    problem = "How do we cache? It must be decided."
    convene = ask.Convene(
        problem_statement=problem, issues=("cost",), seats=plans, max_rounds=MAX_ROUNDS
    )
    yield Job(STREAM, convene, SYSTEM)
    yield Job(STREAM, ask.Begin(), SYSTEM)
    direction = {"approach": "One. Two. Three.", "principle": "One.", "trade_offs": ""}
    names = ("facts", "constraints", "precedents", "open_questions")
    briefing = {name: ["one"] for name in names}
    content = {"briefing": briefing, "direction": direction}
    for number in range(1, seats + 1):
        said = {"type": "OPENING_STATEMENT", "from": f"rep_{number}", "content": content}
        yield Job(STREAM, ask.Submit(document=said), NAMES[number - 1])
    yield Job(STREAM, ask.ChooseDrafter(seat="rep_1"), SYSTEM)
    draft = {"bill_version": 1, "title": "A cache", "summary": "One.", "sections": _SECTIONS}
    bill = {"type": "BILL_DRAFT", "from": "rep_1", "content": draft}
    yield Job(STREAM, ask.Submit(document=bill), NAMES[0])


def begun(ground: Ground, name: str, messages: int, seats: int = 5) -> Path:
    """A workspace with one session of at least `messages` messages, in a running round."""
    place = ground.new(name, NAMES[:seats])
    with opened(place) as space:
        _require(space.engine.execute_all(list(_opening(seats))))
        talk = Talk(space)
        talk.into_a_round()
        while talk.state.next_message_id <= messages:
            _require(space.engine.execute_all(list(_round(talk))))
    return place


def _round(talk: Talk) -> Iterator[Job]:
    """The rest of a round, and the start of the next."""
    state, number = talk.state, talk.state.next_message_id
    if state.round.number % 5 == 0 and state.round.asked == 0:
        name = f"amend-{state.round.number:03d}"
        content = {
            "amendment_id": name,
            "target_section": "solution",
            "action": "add",
            "description": "An audit before deployment",
            "rationale": "My voters need it.",
            "proposed_text": "Before deployment there is an audit.",
        }
        document: dict[str, Any] = {"type": "AMENDMENT", "from": "rep_2", "content": content}
        yield Job(STREAM, ask.Submit(document=document), NAMES[1])
        yield Job(STREAM, ask.Withdraw(amendment_id=name), NAMES[1])
        number += 1
    count = len(state.order)
    for place in range(round_clock.exchange_cap(state) - state.round.asked):
        asker = (number + place) % count + 1
        for document in _exchange(asker, asker % count + 1, number, "cost", state):
            yield Job(STREAM, ask.Submit(document=document), _signer(document["from"]))
        number += 2
    for action in ("round_end", "round_start"):
        yield Job(STREAM, ask.Submit(document=_ruling(action)), SYSTEM)


def same_distance(talk: Talk) -> None:
    """A newcomer reads on from the last snapshot: give every session the same way to go."""
    talk.into_a_round()
    note = _ruling("progress_note", "observation")
    while talk.space.engine.load(STREAM).seq % 64 != 20:
        talk.say(note)


def _require(results: list[Any]) -> None:
    for result in results:
        if isinstance(result, MootError):
            raise result


def submits(talk: Talk) -> Callable[[], float]:
    """How long one submit takes, over a question and its answer; rounds change in between."""

    def measure() -> float:
        talk.into_a_round()
        question, answer = talk.exchange()
        start = time.perf_counter()
        talk.say(question)
        talk.say(answer)
        return (time.perf_counter() - start) * 1_000 / 2

    return measure


def newcomer(place: Path) -> Callable[[], float]:
    """A process, as it were, that opens the workspace and submits one message."""
    note = _ruling("progress_note", "observation")

    def measure() -> float:
        start = time.perf_counter()
        with opened(place) as space:
            Talk(space).say(note)
            return (time.perf_counter() - start) * 1_000

    return measure


def full_session(ground: Ground, name: str) -> Path:
    """Nine seats, six rounds of every exchange they have, and the last vote."""
    place = ground.new(name, NAMES)
    with opened(place) as space:
        _require(space.engine.execute_all(list(_opening(len(NAMES)))))
        talk = Talk(space)
        talk.into_a_round()
        for _ in range(6):
            _require(space.engine.execute_all(list(_round(talk))))
        talk.say(_ruling("call_vote", "order"))
        assert talk.state.status is SessionStatus.VOTING
        for number in range(1, len(NAMES) + 1):
            scores = dict.fromkeys(talk.state.seats[f"rep_{number}"].motives, 4)
            content = {
                "vote": "YES",
                "reasoning": "It is cheap.",
                "motive_scores": scores,
                "reservations": "",
                "conditions": [],
            }
            talk.say({"type": "VOTE", "from": f"rep_{number}", "content": content})
        talk.run(ask.CountVotes(), SYSTEM)
    return place
