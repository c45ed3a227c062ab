"""Bad input, item by item: refused with rule and place, nothing else changed, counted or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from moot.core.machine import Event
from moot.core.names import SYSTEM
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did

from .scene import (
    AGENTS,
    CALL_VOTE,
    PERSON,
    ROUND_END,
    ParliamentScenario,
    amendment,
    answer,
    bill,
    place,
    question,
    ruling,
    vote,
)


class Case(NamedTuple):
    """What is sent, by whom, in which scene; what comes of it, and whether it counts."""

    scene: Callable[[], ParliamentScenario]
    document: Any
    who: str
    refused: tuple[str, str, str | None]
    counted: bool


def debate() -> ParliamentScenario:
    """rep_1 was asked msg-006, rep_2 answered msg-007, rep_3 is quiet."""
    scenario = ParliamentScenario(3).debating()
    scenario.submit(question(2, 1))
    scenario.submit(question(1, 2))
    scenario.submit(answer(2, 1, "msg-007", scenario.scores(2)))
    scenario.submit(ruling("order", "quiet", "rep_3"))
    return scenario


def asked_out() -> ParliamentScenario:
    scenario = ParliamentScenario(2, issues=("security",)).debating()
    for _ in range(4):
        scenario.submit(question(1, 2))
    return scenario


def voting() -> ParliamentScenario:
    scenario = ParliamentScenario(3).voting()
    scenario.vote("YES")
    return scenario


def reviewing() -> ParliamentScenario:
    return ParliamentScenario(3).reviewing()


ONE, TWO = AGENTS[:2]
SCORES = {"cost efficiency": 3}
REPLY = answer(1, 2, "msg-006", SCORES)
APPROVE = {
    "type": "PM_DECISION",
    "from": "prime_minister",
    "content": {"decision": "approve", "reason": "Good.", "guidance": ""},
}


def without(document: dict[str, Any], name: str) -> dict[str, Any]:
    content = {key: value for key, value in document["content"].items() if key != name}
    return {**document, "content": content}


def with_score(value: Any) -> dict[str, Any]:
    return answer(1, 2, "msg-006", {"cost efficiency": value})


SCORE = "content.motive_scores.cost efficiency"
CASES = {
    "a missing field": Case(
        debate,
        without(question(1, 2), "topic"),
        ONE,
        ("PAR-025", "missing_field", "content.topic"),
        True,
    ),
    "an unknown field": Case(
        debate, {**REPLY, "mood": "x"}, ONE, ("PAR-005", "unknown_field", "mood"), True
    ),
    "a wrong stance": Case(
        debate,
        answer(1, 2, "msg-006", SCORES, "agree"),
        ONE,
        ("PAR-029", "bad_value", "content.stance"),
        True,
    ),
    "a score of 0": Case(debate, with_score(0), ONE, ("PAR-033", "out_of_range", SCORE), True),
    "a score of 6": Case(debate, with_score(6), ONE, ("PAR-033", "out_of_range", SCORE), True),
    "a score of true": Case(debate, with_score(True), ONE, ("PAR-033", "bad_type", SCORE), True),
    "a foreign motive": Case(
        debate,
        answer(1, 2, "msg-006", {"security": 3}),
        ONE,
        ("PAR-032", "foreign_motive", "content.motive_scores.security"),
        False,
    ),
    "a question to oneself": Case(
        debate, question(1, 1), ONE, ("PAR-024", "asks_itself", "to"), True
    ),
    "a question to the quiet": Case(
        debate, question(1, 3), ONE, ("C-10", "receiver_silent", "to"), False
    ),
    "a question to nobody": Case(
        debate, question(1, 8), ONE, ("PAR-024", "unknown_seat", "to"), False
    ),
    "an answer to nothing": Case(
        debate,
        answer(1, 2, "msg-001", SCORES),
        ONE,
        ("PAR-027", "no_open_question", "in_reply_to"),
        False,
    ),
    "an answer given twice": Case(
        debate,
        answer(2, 1, "msg-007", {"security": 3}),
        TWO,
        ("PAR-027", "no_open_question", "in_reply_to"),
        False,
    ),
    "an amendment to no section": Case(
        debate,
        amendment(1, target_section="budget"),
        ONE,
        ("PAR-046", "bad_value", "content.target_section"),
        True,
    ),
    "someone else's name": Case(
        debate, question(2, 1), ONE, ("C-30", "foreign_sender", "from"), False
    ),
    "a vote outside of voting": Case(
        debate, vote(1, "YES", SCORES), ONE, ("C-22", "wrong_phase", "type"), False
    ),
    "a second vote": Case(
        voting, vote(1, "NO", SCORES), ONE, ("PAR-056", "already_voted", "type"), False
    ),
    "a draft during voting": Case(
        voting, bill(1, version=2), ONE, ("C-22", "wrong_phase", "type"), False
    ),
    "a ruling by a seat": Case(
        debate, ROUND_END, ONE, ("PAR-058", "not_the_speaker", "from"), False
    ),
    "a ruling by a person": Case(
        debate, CALL_VOTE, PERSON, ("PAR-058", "not_the_speaker", "from"), False
    ),
    "a decision by a seat": Case(
        reviewing, APPROVE, ONE, ("PAR-074", "not_the_prime_minister", "from"), False
    ),
    "a decision by the speaker": Case(
        reviewing, APPROVE, SYSTEM, ("PAR-074", "not_the_prime_minister", "from"), False
    ),
    "an exchange over the cap": Case(
        asked_out, question(2, 1), TWO, ("PAR-099", "exchange_cap", "type"), False
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_it_is_refused_with_its_rule_and_its_place(case: Case) -> None:
    scenario = case.scene()
    seat = scenario.state.holders.get(case.who)
    events: tuple[type[Event], ...] = (did.ReplyMalformed,) if case.counted else ()
    before = scenario.messages()
    error = scenario.refusal(ask.Submit(document=case.document), case.who, events)
    assert place(error) == case.refused
    assert scenario.messages() == before
    if seat is not None:
        assert scenario.state.seats[seat].malformed == int(case.counted)
