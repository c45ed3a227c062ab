"""The usual scene of these tests: a session of a few seats, and short ways to let them speak.

Everything runs through the production engine over a ledger in memory: real keys, real refusals.
"""

from __future__ import annotations

import json
from typing import Any

from moot.core.errors import Refused
from moot.core.machine import Command, Due, Event
from moot.core.names import SYSTEM
from moot.core.record import ArtifactRef
from moot.engine.job import JobOutcome
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.machine import MACHINE
from moot.protocols.parliament.messages.contents import SessionStatus
from moot.protocols.parliament.model import Seat, State
from moot.testing import World

STREAM = "parliament/parl-20260218-001"
PERSON = "operator"
AGENTS = ("amber-otter", "teal-crane", "cobalt-harbor", "jade-heron", "coral-finch")
NAMES = ("Rep. Pragmatis", "Rep. Securitas", "Rep. Innovatus", "Rep. Frugalis", "Rep. Celer")
MOTIVES = (
    ("cost efficiency", "time-to-market"),
    ("security",),
    ("innovation",),
    ("cost of operation",),
    ("speed",),
)
ISSUES = ("cost efficiency", "security", "innovation")


def plans(seats: int) -> tuple[ask.SeatPlan, ...]:
    return tuple(
        ask.SeatPlan(NAMES[place], MOTIVES[place], AGENTS[place]) for place in range(seats)
    )


def convene(count: int = 3, **more: Any) -> ask.Convene:
    said: dict[str, Any] = {
        "problem_statement": "How do we cache? We must decide.",
        "issues": ISSUES,
        "seats": plans(count),
    }
    return ask.Convene(**{**said, **more})


def rep(number: int) -> str:
    return f"rep_{number}"


def statement(number: int, **more: Any) -> dict[str, Any]:
    content = {
        "briefing": {"facts": ["f"], "constraints": [], "precedents": [], "open_questions": []},
        "direction": {
            "approach": "We cache. We measure. We cut.",
            "principle": "Measure first.",
            "trade_offs": "Some speed.",
        },
    }
    return {"type": "OPENING_STATEMENT", "from": rep(number), "content": {**content, **more}}


def bill(number: int = 1, version: int = 1, **sections: Any) -> dict[str, Any]:
    return {"type": "BILL_DRAFT", "from": rep(number), "content": draft(version, **sections)}


def draft(version: int = 1, **sections: Any) -> dict[str, Any]:
    scope = {"in_scope": ["caches"], "out_of_scope": [], "assumptions": []}
    known = {
        "problem": "Pages are slow.",
        "scope": scope,
        "solution": "A shared cache.",
        "implementation": "In two steps.",
    }
    return {
        "bill_version": version,
        "title": "A cache",
        "summary": "One cache for all.",
        "sections": {**known, **sections},
    }


def question(number: int, to: int, topic: str = "cost", **more: Any) -> dict[str, Any]:
    text = more.pop("question", "What does it cost?")
    content = {"topic": topic, "question": text, "motive_context": "My voters ask."}
    return {
        "type": "QUESTION",
        "from": rep(number),
        "to": rep(to),
        "content": content,
        **more,
    }


def answer(
    number: int, to: int, reply: str, scores: dict[str, int], stance: str = "maintain", **more: Any
) -> dict[str, Any]:
    content = {
        "answer": more.pop("answer", "It costs little."),
        "concessions": more.pop("concessions", ""),
        "stance": stance,
        "motive_scores": scores,
    }
    position = more.pop("position", None)
    if position is not None:
        name, where = position
        content["amendment_position"] = {"amendment_id": name, "position": where, "reason": "so"}
    return {
        "type": "ANSWER",
        "from": rep(number),
        "to": rep(to),
        "in_reply_to": reply,
        "content": content,
        **more,
    }


def amendment(number: int, name: str = "amend-001", **more: Any) -> dict[str, Any]:
    content = {
        "amendment_id": name,
        "target_section": "solution",
        "action": "add",
        "description": "An audit before deployment",
        "rationale": "My voters need it.",
        "proposed_text": "Before deployment there is an audit.",
    }
    return {"type": "AMENDMENT", "from": rep(number), "content": {**content, **more}}


def motion(number: int, kind: str = "call_vote") -> dict[str, Any]:
    content = {"motion_type": kind, "reason": "We have heard enough."}
    return {"type": "MOTION", "from": rep(number), "content": content}


def vote(number: int, word: str, scores: dict[str, int], **more: Any) -> dict[str, Any]:
    content = {
        "vote": word,
        "reasoning": f"{rep(number)} says {word}.",
        "motive_scores": scores,
        "reservations": "",
        "conditions": [] if word == "YES" else ["a cheaper cache"],
    }
    return {"type": "VOTE", "from": rep(number), "content": {**content, **more}}


def ruling(kind: str, action: str, target: str | None = None) -> dict[str, Any]:
    content = {
        "ruling_type": kind,
        "ruling": f"I rule {action}.",
        "target": target,
        "action": action,
    }
    return {"type": "SPEAKER_RULING", "from": "speaker", "content": content}


ROUND_START = ruling("procedure", "round_start")
ROUND_END = ruling("procedure", "round_end")
CALL_VOTE = ruling("order", "call_vote")


class ParliamentScenario:
    """A session with its seats, its speaker and its prime minister."""

    def __init__(self, count: int = 3, **more: Any) -> None:
        self.world = World()
        for name in AGENTS[:count]:
            self.world.agent(name)
        self.world.human(PERSON)
        self.clerk(convene(count, **more))

    # Acting.

    def run(self, command: Command, actor: str) -> JobOutcome:
        return self.world.engine.execute(STREAM, command, actor)

    def clerk(self, command: Command) -> JobOutcome:
        return self.run(command, SYSTEM)

    def agent(self, number: int) -> str:
        return self.seat(number).agent

    def submit(self, document: Any, **more: Any) -> str:
        """Send a message as the one it names; the id it was logged under."""
        outcome = self.run(ask.Submit(document=document, **more), self.sender(document))
        first = next(one.event for one in outcome.recorded if hasattr(one.event, "message"))
        return str(first.message["id"])

    def sender(self, document: Any) -> str:
        name = document.get("from") if isinstance(document, dict) else None
        if name == "speaker":
            return SYSTEM
        if name == "prime_minister":
            return PERSON
        seat = self.state.seats.get(str(name))
        return seat.agent if seat is not None else AGENTS[0]

    def decide(self, word: str, guidance: str = "", **more: Any) -> JobOutcome:
        return self.run(ask.Decide(decision=word, reason="so", guidance=guidance, **more), PERSON)

    def tick(self) -> None:
        self.world.engine.tick(STREAM)

    # Refusals.

    def refusal(
        self, command: Command, actor: str, events: tuple[type[Event], ...] = ()
    ) -> Refused:
        """The refusal of a command: nothing but exactly `events` is left behind by it."""
        self.tick()
        before, state = self.history(), self.state
        try:
            self.run(command, actor)
        except Refused as error:
            after = self.history()
            assert after[: len(before)] == before
            assert tuple(type(one) for one in after[len(before) :]) == events
            if not events:
                assert self.state == state
            return error
        raise AssertionError(f"{command} was not refused")

    def refused(self, document: Any, actor: str | None = None) -> tuple[str, str, str | None]:
        """Rule, code and place of the first error of a message that leaves nothing behind."""
        who = actor or self.sender(document)
        return place(self.refusal(ask.Submit(document=document), who))

    # Looking.

    @property
    def state(self) -> State:
        return self.world.engine.state(MACHINE, STREAM)

    def status(self) -> SessionStatus | None:
        """A call, so that nobody (mypy included) takes what it was for what it is."""
        return self.state.status

    def seat(self, number: int) -> Seat:
        return self.state.seats[rep(number)]

    def history(self) -> list[Event]:
        machine = self.world.machines.machine_of(STREAM)
        with self.world.store.read() as view:
            bodies = [record.body for record in view.records(STREAM)]
        return [machine.read_event(body.type, body.data) for body in bodies]

    def messages(self) -> list[dict[str, Any]]:
        return [one.message for one in self.history() if isinstance(one, did.MessageLogged)]

    def summaries(self) -> list[dict[str, Any]]:
        with self.world.store.read() as view:
            rows = view.rows("parliament.summaries", limit=10_000)
        return [json.loads(row.value) for row in rows]

    def dues(self) -> list[Due]:
        return [due for _, due in self.world.engine.agenda([STREAM])]

    def signers(self) -> list[str]:
        with self.world.store.read() as view:
            return [record.body.actor.id for record in view.records(STREAM)]

    def store(self, text: str) -> ArtifactRef:
        return self.world.artifacts.put(text.encode(), "application/json")

    # Getting somewhere.

    def scores(self, number: int, value: int = 4) -> dict[str, int]:
        return dict.fromkeys(self.seat(number).motives, value)

    def opened(self) -> ParliamentScenario:
        self.clerk(ask.Begin())
        for number in range(1, len(self.state.order) + 1):
            self.submit(statement(number))
        self.tick()
        return self

    def drafting(self) -> ParliamentScenario:
        self.opened().clerk(ask.ChooseDrafter(seat="rep_1"))
        return self

    def debating(self, rounds: int = 1) -> ParliamentScenario:
        """In round `rounds`, which has just begun."""
        self.drafting().submit(bill())
        for number in range(rounds):
            if number:
                self.submit(ROUND_END)
            self.submit(ROUND_START)
        return self

    def exchange(self, asker: int, asked: int, value: int = 4, **more: Any) -> str:
        """One question and its answer, which scores every motive `value`."""
        asks = {key: more.pop(key) for key in ("topic", "question") if key in more}
        reply = self.submit(question(asker, asked, **asks))
        return self.submit(answer(asked, asker, reply, self.scores(asked, value), **more))

    def satisfied(self, value: int = 4) -> ParliamentScenario:
        """Every motive of every seat scored once."""
        count = len(self.state.order)
        for number in range(1, count + 1):
            self.exchange(number % count + 1, number, value)
        return self

    def voting(self) -> ParliamentScenario:
        self.debating().satisfied().submit(CALL_VOTE)
        return self

    def vote(self, *words: str) -> ParliamentScenario:
        for number, word in enumerate(words, start=1):
            if word:
                self.submit(vote(number, word, self.scores(number)))
        return self

    def reviewing(self) -> ParliamentScenario:
        self.voting().vote(*["YES"] * len(self.state.order)).clerk(ask.CountVotes())
        return self


def place(error: Refused) -> tuple[str, str, str | None]:
    first = next(one for one in error.findings if one.severity == "error")
    assert first.hint
    return first.rule, first.code, first.where
