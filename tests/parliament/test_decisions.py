"""The prime minister: approve, veto, amend; a person's key, and a bound to the vetoes."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.errors import Tampered
from moot.core.machine import Command, Event
from moot.core.names import SYSTEM
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament import votes
from moot.protocols.parliament.messages.contents import SessionStatus
from moot.protocols.parliament.messages.message import to_document
from moot.protocols.parliament.model import SessionOutcome
from tests.engine import tampering

from .scene import (
    AGENTS,
    CALL_VOTE,
    PERSON,
    ROUND_END,
    ROUND_START,
    STREAM,
    ParliamentScenario,
    draft,
    place,
    plans,
)


def decision(word: str, guidance: str = "", **more: Any) -> ask.Decide:
    return ask.Decide(decision=word, reason="so", guidance=guidance, **more)


@pytest.mark.requirement("PAR-074")
def test_only_a_person_decides() -> None:
    scenario = ParliamentScenario(3).reviewing()
    for who in (AGENTS[0], SYSTEM):
        error = scenario.refusal(decision("approve"), who)
        assert place(error) == ("PAR-074", "not_the_prime_minister", "from")
    said = {
        "type": "PM_DECISION",
        "from": "prime_minister",
        "content": {"decision": "approve", "reason": "Good.", "guidance": ""},
    }
    assert scenario.refused(said, AGENTS[0])[1] == "not_the_prime_minister"
    assert scenario.refused({**said, "from": "rep_1"}, PERSON)[0] == "PAR-074"
    scenario.submit(said)
    assert scenario.status() is SessionStatus.SYNTHESIS
    assert scenario.signers()[-1] == PERSON


@pytest.mark.requirement("PAR-074")
def test_a_person_in_a_seat_does_not_decide() -> None:
    seats = [*plans(2), ask.SeatPlan("Rep. Self", ("innovation",), "ada")]
    scenario = ParliamentScenario(2, seats=tuple(seats))
    kid = scenario.world.engine.registry().agents[PERSON].kid
    held = scenario.world.keys.find(PERSON, kid)
    assert held is not None
    scenario.world.human("ada", held.signer)
    scenario.opened()
    guidance = decision("opening_guidance", "Let rep_3 draft.")
    assert place(scenario.refusal(guidance, "ada")) == ("S-30", "holds_a_seat", "from")
    said = {
        "type": "PM_DECISION",
        "from": "prime_minister",
        "content": {"decision": "opening_guidance", "reason": "", "guidance": "rep_3"},
    }
    assert scenario.refused(said, "ada")[1] == "holds_a_seat"
    scenario.submit(said)  # another person may


@pytest.mark.parametrize("honest", [True, False])
@pytest.mark.parametrize("kind", ["VOTE_TALLY", "PM_DECISION"])
def test_a_result_brought_as_a_message_rests_on_proved_history(kind: str, honest: bool) -> None:
    """Like `Decide` and `CountVotes`: who forged a vote in the store gets no result of it."""
    if kind == "PM_DECISION":
        scenario, who = ParliamentScenario(3).reviewing(), PERSON
        content: Any = {"decision": "approve", "reason": "Good.", "guidance": ""}
        sender = "prime_minister"
    else:
        scenario, who = ParliamentScenario(3).voting().vote("YES", "YES", "YES"), SYSTEM
        poll, sender = scenario.state.poll, "speaker"
        assert poll is not None
        content = to_document(votes.count_votes(scenario.state, poll))
    said = {"type": kind, "from": sender, "content": content}
    before, engine = len(scenario.history()), scenario.world.another_engine()
    if honest:
        engine.execute(STREAM, ask.Announce(document=said), who)
        assert len(scenario.history()) > before
        return
    spoiled = next(at for at, event in enumerate(scenario.history()) if _is_vote(event))
    tampering.rewrite(scenario.world, STREAM, spoiled, corr="forged")  # a whole chain, unsigned
    with pytest.raises(Tampered) as caught:
        engine.execute(STREAM, ask.Announce(document=said), who)
    assert caught.value.code == "unproved_record"
    assert len(scenario.history()) == before


@pytest.mark.parametrize(
    ("command", "who"),
    [
        (ask.CountVotes(), SYSTEM),
        (ask.Decide(decision="approve", reason="so", guidance=""), PERSON),
        (ask.Complete(), SYSTEM),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_nothing_is_settled_on_words_that_nobody_signed(command: Command, who: str) -> None:
    """The votes before it are proved, not only read: anyone who can write can also chain."""
    scenario = ParliamentScenario().voting().vote("YES", "YES", "YES")
    spoiled = next(at for at, event in enumerate(scenario.history()) if _is_vote(event))
    tampering.rewrite(scenario.world, STREAM, spoiled, corr="forged")
    before = len(scenario.history())
    with pytest.raises(Tampered) as caught:
        scenario.world.another_engine().execute(STREAM, command, who)
    assert caught.value.code == "unproved_record"
    assert len(scenario.history()) == before


def _is_vote(event: Event) -> bool:
    return isinstance(event, did.MessageLogged) and event.message["type"] == "VOTE"


@pytest.mark.requirement("PAR-078")
def test_approval_leads_to_the_final_document_and_the_end() -> None:
    scenario = ParliamentScenario(3).reviewing()
    (due,) = scenario.dues()
    assert (due.who, due.what) == ("prime-minister", "decide")
    scenario.decide("approve")
    assert scenario.status() is SessionStatus.SYNTHESIS
    assert scenario.state.outcome is SessionOutcome.APPROVED
    document = scenario.store("# The bill")
    scenario.clerk(ask.Complete(document=document))
    assert scenario.status() is SessionStatus.COMPLETE


@pytest.mark.requirement("PAR-077")
def test_a_veto_sends_the_bill_back_with_guidance() -> None:
    scenario = ParliamentScenario(3).reviewing()
    error = scenario.refusal(decision("veto"), PERSON)
    assert place(error)[1:] == ("guidance_required", "content.guidance")
    scenario.decide("veto", "Say how users move over.")
    assert scenario.status() is SessionStatus.DEBATE
    assert scenario.state.guidance == "Say how users move over."
    assert scenario.refused(CALL_VOTE)[1] == "round_voted"
    scenario.submit(ROUND_START)
    assert scenario.state.round.number == 2


@pytest.mark.requirement("PAR-079")
def test_amending_makes_the_next_version_and_approves_it() -> None:
    scenario = ParliamentScenario(3).reviewing()
    missing = scenario.refusal(decision("amend_and_approve"), PERSON)
    assert place(missing) == ("PAR-079", "text_required", "draft")
    wrong = decision("amend_and_approve", draft=draft(7))
    assert place(scenario.refusal(wrong, PERSON))[1:] == ("wrong_version", "draft.bill_version")
    broken = decision("amend_and_approve", draft={"bill_version": 2})
    assert str(place(scenario.refusal(broken, PERSON))[2]).startswith("draft.")
    scenario.decide("amend_and_approve", draft=draft(2, solution="My own cache."))
    assert scenario.state.bill is not None
    assert scenario.state.bill.version == 2
    assert scenario.state.bill.sections.solution == "My own cache."
    assert scenario.state.outcome is SessionOutcome.APPROVED_WITH_AMENDMENTS
    assert scenario.status() is SessionStatus.SYNTHESIS


def test_a_text_comes_only_with_an_amendment() -> None:
    scenario = ParliamentScenario(3).reviewing()
    error = scenario.refusal(decision("approve", draft=draft(2)), PERSON)
    assert place(error) == ("S-06", "needless_text", "draft")


def test_a_decision_waits_for_the_review() -> None:
    scenario = ParliamentScenario(3).voting()
    for word in ("approve", "veto", "amend_and_approve"):
        error = scenario.refusal(decision(word, "g", draft=None), PERSON)
        assert "wrong_phase" in [one.code for one in error.findings]
    unknown = scenario.refusal(decision("perhaps"), PERSON)
    assert place(unknown)[2] == "content.decision"


def last_review(rounds: int = 1) -> ParliamentScenario:
    """Passed in the last round there is."""
    scenario = ParliamentScenario(3, max_rounds=rounds).debating(rounds)
    scenario.submit(CALL_VOTE)
    scenario.vote("YES", "YES", "NO").clerk(ask.CountVotes())
    return scenario


def test_a_veto_without_a_round_left_ends_the_session() -> None:
    scenario = last_review()
    scenario.decide("veto", "No.")
    assert scenario.status() is SessionStatus.SYNTHESIS
    assert scenario.state.outcome is SessionOutcome.VETOED


def test_a_veto_may_grant_further_rounds() -> None:
    scenario = last_review()
    scenario.decide("veto", "Try again.", extend_rounds=2)
    assert scenario.status() is SessionStatus.DEBATE
    assert scenario.state.max_rounds == 3
    scenario.submit(ROUND_START)
    scenario.submit(ROUND_END)
    scenario.submit(ROUND_START)
    scenario.submit(ROUND_END)
    assert scenario.refused(ROUND_START)[1] == "no_round_left"


@pytest.mark.parametrize(
    ("word", "more"), [("approve", 1), ("veto", -1), ("veto", 13), ("veto", 10**6)]
)
def test_further_rounds_come_with_a_veto_a_few_at_a_time(word: str, more: int) -> None:
    scenario = last_review()
    error = scenario.refusal(decision(word, "g", extend_rounds=more), PERSON)
    assert place(error) == ("C-18", "bad_extension", "extend_rounds")


def test_vetoes_cannot_go_on_for_ever() -> None:
    scenario = ParliamentScenario(3, max_rounds=3)
    scenario.reviewing()
    for number in (2, 3):
        scenario.decide("veto", "Again.")
        scenario.submit(ROUND_START)
        assert scenario.state.round.number == number
        scenario.submit(CALL_VOTE)
        scenario.vote("YES", "YES", "YES").clerk(ask.CountVotes())
    scenario.decide("veto", "No more.")
    assert scenario.status() is SessionStatus.SYNTHESIS
    assert scenario.state.outcome is SessionOutcome.VETOED
    assert [row.round for row in scenario.state.vote_history] == [1, 2, 3]
