"""Order: quiet seats, early concessions, malformed replies, expulsion."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.machine import Event
from moot.core.names import SYSTEM
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.discipline import allowed_stances
from moot.protocols.parliament.messages.contents import SessionStatus
from moot.protocols.parliament.model import SessionOutcome

from .scene import (
    AGENTS,
    CALL_VOTE,
    ROUND_END,
    ROUND_START,
    STREAM,
    ParliamentScenario,
    amendment,
    answer,
    bill,
    motion,
    place,
    question,
    ruling,
    statement,
    vote,
)

EXPELLED: tuple[type[Event], ...] = (did.ReplyMalformed, did.SeatExpelled, did.RulingOwed)


@pytest.mark.requirement("PAR-061")
def test_a_quiet_seat_waits_for_the_next_round() -> None:
    scenario = ParliamentScenario(3).debating()
    waiting = scenario.submit(question(1, 2))
    scenario.submit(ruling("order", "quiet", "rep_2"))
    assert scenario.seat(2).is_quiet
    assert scenario.seat(2).quiet_until_round == 2
    quiet = ("PAR-061", "quiet", "from")
    for document in (question(2, 1), amendment(2), motion(2)):
        assert scenario.refused(document) == quiet
    assert scenario.refused(question(1, 2)) == ("C-10", "receiver_silent", "to")
    assert scenario.refused(ruling("procedure", "next_speaker", "rep_2"))[1] == "target_silent"
    content = {"motion_type": "call_vote", "reason": "Enough."}
    moved = {**answer(2, 1, waiting, scenario.scores(2)), "motion": content}
    assert scenario.refused(moved) == ("PAR-061", "quiet", "motion")
    scenario.submit(answer(2, 1, waiting, scenario.scores(2)))
    scenario.submit(ROUND_END)
    assert scenario.seat(2).is_quiet
    scenario.submit(ROUND_START)
    assert not scenario.seat(2).is_quiet
    scenario.submit(question(2, 1))


def test_a_quiet_seat_votes() -> None:
    scenario = ParliamentScenario(3).debating().satisfied()
    scenario.submit(ruling("order", "quiet", "rep_2"))
    scenario.submit(CALL_VOTE)
    scenario.submit(vote(2, "NO", scenario.scores(2)))


def test_a_quiet_drafter_does_not_draft() -> None:
    scenario = ParliamentScenario(3).debating()
    scenario.submit(ruling("order", "quiet", "rep_1"))
    assert scenario.refused(bill(1, version=2)) == ("PAR-061", "quiet", "from")


@pytest.mark.parametrize(
    ("number", "stances"),
    [
        (1, {"maintain", "challenge"}),
        (2, {"maintain", "challenge"}),
        (3, {"maintain", "challenge", "soften"}),
        (4, {"maintain", "challenge", "soften", "concede"}),
        (9, {"maintain", "challenge", "soften", "concede"}),
    ],
)
def test_concessions_have_their_rounds(number: int, stances: set[str]) -> None:
    assert {str(one) for one in allowed_stances(number)} == stances


def test_an_early_concession_stands_and_the_speaker_redirects() -> None:
    scenario = ParliamentScenario(3).debating()
    asked = scenario.submit(question(1, 2))
    document = answer(2, 1, asked, scenario.scores(2), "concede")
    outcome = scenario.run(ask.Submit(document=document), AGENTS[1])
    assert [(one.rule, one.code) for one in outcome.findings] == [("S-04", "early_concession")]
    assert scenario.messages()[-1]["content"]["stance"] == "concede"
    scenario.tick()
    told = scenario.messages()[-1]["content"]
    assert (told["action"], told["target"]) == ("redirect", "rep_2")
    assert scenario.signers()[-1] == SYSTEM
    error = scenario.refusal(ask.GiveOwedRuling(), SYSTEM)
    assert error.code == "nothing_owed"


MALFORMED: list[tuple[Any, str, str | None]] = [
    ({"type": "QUESTION", "from": "rep_1", "to": "rep_2"}, "missing_field", "content"),
    ({**question(1, 2), "mood": "good"}, "unknown_field", "mood"),
    ({**question(1, 2), "type": "SPEECH"}, "bad_value", "type"),
    ({**question(1, 1)}, "asks_itself", "to"),
    ([question(1, 2)], "not_an_object", None),
]


@pytest.mark.requirement("PAR-084")
@pytest.mark.parametrize(("document", "code", "where"), MALFORMED)
def test_a_malformed_reply_is_not_appended_and_counted(
    document: Any, code: str, where: str | None
) -> None:
    scenario = ParliamentScenario(3).debating()
    before = scenario.messages()
    error = scenario.refusal(ask.Submit(document=document), AGENTS[0], (did.ReplyMalformed,))
    assert place(error)[1:] == (code, where)
    assert scenario.messages() == before
    assert scenario.seat(1).malformed == 1
    assert not scenario.seat(1).expelled


def test_text_that_is_no_json_counts_too() -> None:
    scenario = ParliamentScenario(3).debating()
    said = ask.ReportUnreadable(problem="line 1: unexpected end")
    error = scenario.refusal(said, AGENTS[0], (did.ReplyMalformed,))
    assert place(error)[:2] == ("PAR-084", "not_json")
    named = ask.ReportUnreadable(problem="garbage", seat="rep_2")
    scenario.refusal(named, SYSTEM, (did.ReplyMalformed,))
    assert (scenario.seat(1).malformed, scenario.seat(2).malformed) == (1, 1)
    assert scenario.refusal(named, AGENTS[0]).code == "not_seated"
    assert scenario.refusal(ask.ReportUnreadable(problem="x"), SYSTEM).code == "not_seated"


def test_a_sound_reply_ends_the_row() -> None:
    scenario = ParliamentScenario(3).debating()
    for _ in range(3):
        scenario.refusal(ask.Submit(document={}), AGENTS[0], (did.ReplyMalformed,))
        scenario.submit(question(1, 2))
        assert scenario.seat(1).malformed == 0


def test_a_refusal_by_the_rules_is_not_a_malformed_reply() -> None:
    scenario = ParliamentScenario(3).debating()
    for _ in range(3):
        assert scenario.refused(question(1, 9))[1] == "unknown_seat"
        assert scenario.refused(question(2, 3), AGENTS[0])[1] == "foreign_sender"
    assert scenario.seat(1).malformed == 0


def expel(scenario: ParliamentScenario, number: int) -> None:
    agent = scenario.agent(number)
    scenario.refusal(ask.Submit(document={}), agent, (did.ReplyMalformed,))
    scenario.refusal(ask.Submit(document=[]), agent, EXPELLED)
    scenario.tick()


def test_the_second_in_a_row_expels_and_the_speaker_says_so() -> None:
    scenario = ParliamentScenario(3).debating()
    expel(scenario, 2)
    assert scenario.seat(2).expelled
    told = scenario.messages()[-1]
    assert (told["from"], told["content"]["target"]) == ("speaker", "rep_2")
    expelled = ("S-03", "expelled", "from")
    for document in (question(2, 1), amendment(2), motion(2)):
        assert scenario.refused(document) == expelled
    assert scenario.refused(question(1, 2)) == ("C-10", "receiver_silent", "to")
    assert scenario.refused(ruling("order", "quiet", "rep_2"))[1] == "target_silent"
    # What it sends no longer counts for anything.
    assert scenario.refused({}, AGENTS[1])[1]


def test_an_expelled_seat_counts_as_no_by_the_clerks_hand() -> None:
    scenario = ParliamentScenario(3).debating()
    expel(scenario, 2)
    scenario.exchange(1, 3)
    scenario.exchange(3, 1)
    while scenario.state.round.number != scenario.state.max_rounds:
        scenario.submit(ROUND_END)
        scenario.submit(ROUND_START)
    scenario.submit(CALL_VOTE)
    default = scenario.messages()[-1]
    assert (default["type"], default["from"], default["content"]["vote"]) == ("VOTE", "rep_2", "NO")
    assert scenario.signers()[-1] == SYSTEM
    assert scenario.refused(vote(2, "YES", scenario.scores(2)))[1] == "expelled"
    scenario.vote("YES", "", "YES").clerk(ask.CountVotes())
    content = scenario.messages()[-1]["content"]
    assert content["tally"] == {"yes": 2, "no": 1, "total": 3}
    assert content["no_votes"] == ["rep_2"]


def test_who_is_expelled_during_the_vote_counts_as_no_at_once() -> None:
    scenario = ParliamentScenario(3).voting()
    wrong = ask.CastDefaultVote(seat="rep_1")
    assert scenario.refusal(wrong, SYSTEM).code == "nothing_to_count"
    expel(scenario, 2)
    assert scenario.state.poll is not None
    assert "rep_2" in scenario.state.poll.votes
    assert "counts as NO" in scenario.messages()[-1]["content"]["reasoning"]


def test_opening_statements_do_not_wait_for_the_expelled() -> None:
    scenario = ParliamentScenario(3)
    scenario.clerk(ask.Begin())
    expel(scenario, 3)
    scenario.submit(statement(1))
    scenario.submit(statement(2))
    scenario.tick()
    assert scenario.status() is SessionStatus.EVALUATING_STATEMENTS
    named = scenario.refusal(ask.ChooseDrafter(seat="rep_3"), SYSTEM)
    assert place(named) == ("PAR-089", "bad_drafter", "seat")


def test_an_expelled_drafter_is_replaced() -> None:
    scenario = ParliamentScenario(3).drafting()
    expel(scenario, 1)
    (due,) = scenario.dues()
    assert (due.who, due.what) == ("clerk", "choose another drafter")
    scenario.clerk(ask.ChooseDrafter())
    assert isinstance(scenario.history()[-1], did.DrafterReplaced)
    assert scenario.status() is SessionStatus.DRAFTING
    assert scenario.state.drafter == "rep_2"
    scenario.submit(bill(2))
    assert scenario.status() is SessionStatus.DEBATE


@pytest.mark.parametrize("when", ["statements", "evaluation", "drafting"])
def test_a_session_whose_seats_are_all_expelled_before_a_bill_ends_without_one(when: str) -> None:
    scenario = ParliamentScenario(2, issues=("security",))
    if when == "drafting":
        scenario.drafting()
    else:
        scenario.clerk(ask.Begin())
    if when == "evaluation":
        scenario.submit(statement(1))
        scenario.refusal(ask.Submit(document={}), AGENTS[0], (did.ReplyMalformed,))
    expel(scenario, 2)
    if when == "evaluation":  # nobody is heard any more, and one seat is left
        assert scenario.status() is SessionStatus.EVALUATING_STATEMENTS
        left = scenario.refusal(ask.EndUndrafted(), SYSTEM)
        assert place(left) == ("S-29", "someone_left", None)
        scenario.clerk(ask.ChooseDrafter())
        scenario.refusal(ask.Submit(document=[]), AGENTS[0], EXPELLED)
        scenario.tick()
    else:
        expel(scenario, 1)
    assert scenario.status() is SessionStatus.SYNTHESIS
    assert scenario.state.outcome is SessionOutcome.NO_PASSAGE
    assert scenario.signers()[-1] == SYSTEM
    scenario.clerk(ask.Complete())
    assert scenario.status() is SessionStatus.COMPLETE


def test_only_the_clerk_ends_a_session_without_a_bill_and_only_before_one() -> None:
    drafting = ParliamentScenario(2, issues=("security",)).drafting()
    assert drafting.refusal(ask.EndUndrafted(), AGENTS[0]).code == "not_the_clerk"
    debating = ParliamentScenario(2, issues=("security",)).debating()
    assert debating.refusal(ask.EndUndrafted(), SYSTEM).code == "wrong_phase"
    expel(debating, 1)
    expel(debating, 2)
    assert debating.state.status is SessionStatus.DEBATE  # the bill is put to the vote all the same
    error = debating.refusal(ask.ChooseDrafter(), SYSTEM)
    assert place(error) == ("PAR-089", "bad_drafter", "seat")


def test_anyone_who_sends_a_malformed_reply_is_told_what_it_costs() -> None:
    scenario = ParliamentScenario(3).debating()
    first = scenario.refusal(ask.Submit(document={}), AGENTS[0], (did.ReplyMalformed,))
    told = [one for one in first.findings if one.severity == "warning"]
    assert [(one.rule, one.code) for one in told] == [("S-03", "counted")]
    assert "rep_1" in told[0].message
    unread = ask.ReportUnreadable(problem="line 1: unexpected end")
    second = scenario.refusal(unread, AGENTS[0], EXPELLED)
    assert "line 1: unexpected end" in str(second)
    told = [one for one in second.findings if one.severity == "warning"]
    assert [(one.rule, one.code) for one in told] == [("S-03", "now_expelled")]
    after = scenario.refusal(ask.Submit(document={}), AGENTS[0])
    assert not [one for one in after.findings if one.rule == "S-03"]


def test_nothing_is_incorporated_for_an_expelled_drafter() -> None:
    scenario = ParliamentScenario(3).debating()
    scenario.submit(amendment(2))
    scenario.exchange(1, 3, position=("amend-001", "endorse"))
    expel(scenario, 1)
    error = scenario.refusal(ask.Incorporate(amendment_id="amend-001"), SYSTEM)
    assert error.code == "drafter_expelled"


def test_malformed_words_of_others_are_refused_and_not_counted() -> None:
    scenario = ParliamentScenario(3).debating()
    before = scenario.history()
    assert scenario.refused({"type": "SPEAKER_RULING"}, SYSTEM)[1] == "missing_field"
    assert scenario.history() == before
    ended = ParliamentScenario(3).reviewing()
    assert ended.refused({}, AGENTS[0])[1] == "missing_field"  # nobody is heard here
    assert ended.seat(1).malformed == 0


def test_a_malformed_reply_may_cite_what_was_sent() -> None:
    scenario = ParliamentScenario(3).debating()
    raw = scenario.store("{broken")
    scenario.refusal(
        ask.ReportUnreadable(problem="broken", raw=raw), AGENTS[0], (did.ReplyMalformed,)
    )
    with scenario.world.store.read() as view:
        last = list(view.records(STREAM))[-1].body
    assert last.artifacts == (raw,)
