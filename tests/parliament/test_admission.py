"""Who is admitted, for each type of message: the seat's own holder, in a session, in time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from moot.core.errors import Refused
from moot.core.names import SYSTEM
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament.messages.contents import Kind
from moot.protocols.parliament.messages.message import make_template

from .scene import (
    AGENTS,
    PERSON,
    ParliamentScenario,
    amendment,
    answer,
    bill,
    motion,
    question,
    statement,
    vote,
)

Document = dict[str, Any]


def _begun() -> ParliamentScenario:
    scenario = ParliamentScenario(3)
    scenario.clerk(ask.Begin())
    return scenario


def _debating() -> ParliamentScenario:
    return ParliamentScenario(3).debating()


# Where each type is admitted from rep_1, and what it says.
READY: dict[
    Kind, tuple[Callable[[], ParliamentScenario], Callable[[ParliamentScenario], Document]]
] = {
    Kind.OPENING_STATEMENT: (_begun, lambda _: statement(1)),
    Kind.BILL_DRAFT: (lambda: ParliamentScenario(3).drafting(), lambda _: bill(1)),
    Kind.QUESTION: (_debating, lambda _: question(1, 2)),
    Kind.ANSWER: (
        _debating,
        lambda scenario: answer(1, 2, scenario.submit(question(2, 1)), scenario.scores(1)),
    ),
    Kind.AMENDMENT: (_debating, lambda _: amendment(1)),
    Kind.MOTION: (_debating, lambda _: motion(1)),
    Kind.VOTE: (
        lambda: ParliamentScenario(3).voting(),
        lambda scenario: vote(1, "YES", scenario.scores(1)),
    ),
}
seats_only = pytest.mark.parametrize("kind", READY)


def ready(kind: Kind) -> tuple[ParliamentScenario, Document]:
    begin, say = READY[kind]
    scenario = begin()
    return scenario, say(scenario)


@seats_only
@pytest.mark.requirement("PAR-009")
def test_the_seats_own_holder_is_admitted_and_nobody_else(kind: Kind) -> None:
    scenario, document = ready(kind)
    scenario.world.agent("plain-owl")
    assert scenario.refused(document, AGENTS[1]) == ("C-30", "foreign_sender", "from")
    for who in ("plain-owl", PERSON, SYSTEM):
        assert scenario.refused(document, who) == ("PAR-009", "not_seated", "from")
    before = len(scenario.messages())
    scenario.submit(document)
    assert len(scenario.messages()) == before + 1
    assert scenario.signers()[-1] == AGENTS[0]


@seats_only
def test_an_expelled_seat_is_not_heard_with_any_type(kind: Kind) -> None:
    scenario, document = ready(kind)
    for _ in range(2):
        with pytest.raises(Refused):
            scenario.run(ask.Submit(document={}), AGENTS[0])
    scenario.tick()
    assert scenario.refused(document) == ("S-03", "expelled", "from")


@pytest.mark.parametrize("kind", Kind)
def test_without_a_session_nothing_is_said(kind: Kind) -> None:
    scenario = ParliamentScenario(2, issues=("security",))
    document = make_template(kind)
    who = {"speaker": SYSTEM, "prime_minister": PERSON}.get(document["from"], AGENTS[0])
    nowhere = "parliament/parl-20260218-404"
    with pytest.raises(Refused) as caught:
        scenario.world.engine.execute(nowhere, ask.Submit(document=document), who)
    assert caught.value.code == "no_session"
    assert scenario.world.engine.load(nowhere).seq == -1


@pytest.mark.parametrize("kind", [*READY, Kind.VOTE_TALLY])
def test_each_type_has_its_time(kind: Kind) -> None:
    scenario = ParliamentScenario(3).reviewing()
    document = {**make_template(kind)}
    if kind in (Kind.ANSWER, Kind.VOTE):
        document["content"] = {**document["content"], "motive_scores": scenario.scores(1)}
    found = scenario.refusal(ask.Submit(document=document), scenario.sender(document)).findings
    assert ("C-22", "wrong_phase", "type") in [(one.rule, one.code, one.where) for one in found]
