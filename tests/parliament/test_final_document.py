"""The final document and its page: seven sections, every dissent, nothing forged from within."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot import pages as page
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament.documents.final_document import (
    list_ballots,
    list_bill_versions,
    write_final_document,
)
from moot.protocols.parliament.documents.report import make_report
from tests.parliament.played_sessions import approved, played, proceedings
from tests.parliament.scene import (
    CALL_VOTE,
    ROUND_START,
    ParliamentScenario,
    bill,
    draft,
    statement,
    vote,
)

SECTIONS = [
    *("1. Problem", "2. Scope", "3. Solution", "4. Implementation", "5. Deliberation Record"),
    *("6. Dissenting Opinions", "7. Vote Record"),
]


def headings(text: str) -> list[str]:
    return re.findall(r"(?m)^## (.*)$", text)


def section(text: str, number: int) -> str:
    return text.split(f"## {SECTIONS[number - 1]}\n")[1].split("\n## ")[0]


def test_seven_sections_in_their_order() -> None:
    text = write_final_document(proceedings(approved()))
    assert headings(text) == SECTIONS
    assert text == write_final_document(proceedings(approved()))


def test_the_head_says_what_and_how() -> None:
    head = write_final_document(proceedings(approved())).split("## 1.")[0]
    for line in (
        "# A cache",
        "- Bill: BILL-001, version 3",
        "- Drafter: Rep. Pragmatis",
        "- Rounds: 3 of 6",
        "- Vote: 2 yes, 1 no of 3 seats",
        "- Status: Approved",
    ):
        assert line in head.splitlines()


def test_dissent_is_kept_in_full() -> None:
    said = section(write_final_document(proceedings(approved())), 6)
    assert "### Rep. Innovatus" in said
    assert "**Core objection:**\n\nrep\\_3 says NO." in said
    assert "- a cheaper cache" in said


def test_the_vote_record_has_every_ballot() -> None:
    said = section(write_final_document(proceedings(approved())), 7)
    assert "| 2 | 2 | 1 | 2 | 3 | failed | no |" in said
    assert "| 3 | 3 | 2 | 1 | 3 | passed | no |" in said
    assert "| Rep. Innovatus | NO | rep\\_3 says NO. |  |" in said


def test_the_deliberation_is_told() -> None:
    said = section(write_final_document(proceedings(approved())), 5)
    assert "### Round 1" in said
    assert "| amend-001 | Rep. Innovatus | solution | An audit before deployment |" in said
    assert "approve: so" in said


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("approve", "Approved"),
        ("amend_and_approve", "Approved with Amendments"),
    ],
)
def test_each_ending_has_its_words(word: str, status: str) -> None:
    scenario = ParliamentScenario(3).reviewing()
    amended = draft(2, solution="Two caches.") if word == "amend_and_approve" else None
    scenario.decide(word, draft=amended)
    text = write_final_document(proceedings(scenario))
    assert f"- Status: {status}" in text
    assert "*Nobody voted against" in section(text, 6)


def test_a_last_veto_and_a_last_defeat_have_a_document_too() -> None:
    vetoed = ParliamentScenario(3, max_rounds=1).reviewing()
    vetoed.decide("veto", "Not like this.")
    assert "- Status: Vetoed" in write_final_document(proceedings(vetoed))
    failed = ParliamentScenario(3, max_rounds=1).voting().vote("NO", "NO", "YES")
    failed.clerk(ask.CountVotes())
    assert "- Status: Not Passed" in write_final_document(proceedings(failed))


def test_a_session_without_a_bill_has_a_document() -> None:
    text = write_final_document(proceedings(ParliamentScenario(3)))
    assert headings(text) == SECTIONS
    assert text.startswith("# No bill was drafted")


HOSTILE = "# Not\n## 7. Vote Record\n\n| a | b |\n<script>alert(1)</script>\n---\n```\n"


def hostile() -> ParliamentScenario:
    scenario = ParliamentScenario(3).drafting()
    document: dict[str, Any] = bill(problem=HOSTILE, solution=HOSTILE)
    document["content"]["title"] = HOSTILE
    scenario.submit(document)
    scenario.submit(
        {
            "type": "SPEAKER_RULING",
            "from": "speaker",
            "content": {
                "ruling_type": "procedure",
                "ruling": HOSTILE,
                "target": None,
                "action": "round_start",
            },
        }
    )
    scenario.satisfied().submit(CALL_VOTE)
    for number in (1, 2, 3):
        said = {"reasoning": HOSTILE, "reservations": HOSTILE, "conditions": [HOSTILE]}
        scenario.submit(vote(number, "NO", scenario.scores(number), **said))
    scenario.clerk(ask.CountVotes())
    return scenario


def test_no_text_can_forge_a_section_or_a_script() -> None:
    record = proceedings(hostile())
    text = write_final_document(record)
    assert headings(text) == SECTIONS
    assert "<script" not in text
    assert "\n```" not in text
    html = page.to_html(make_report(record))
    assert "<script" not in html.lower()


@given(text=st.text(max_size=80))
def test_any_title_stays_a_title(text: str) -> None:
    import msgspec

    state = approved().state
    assert state.bill is not None
    named = msgspec.structs.replace(state.bill, title=text)
    record = proceedings(approved())
    odd = msgspec.structs.replace(record, state=msgspec.structs.replace(state, bill=named))
    assert headings(write_final_document(odd)) == SECTIONS
    page.to_html(make_report(odd))


def test_the_page_shows_chamber_vote_motives_and_history() -> None:
    shown = make_report(proceedings(approved()))
    (drawn,) = (block for block in shown.blocks if isinstance(block, page.Chamber))
    counted, changed = (block for block in shown.blocks if isinstance(block, page.Fold))
    assert [type(block).__name__ for block in counted.blocks] == ["BarChart", "Table", "LineChart"]
    assert [voice.stance for voice in shown.decision.reasons] == ["YES", "YES"]
    assert shown.verdict.label == "APPROVED"
    assert shown.dissent is not None
    assert [voice.author for voice in shown.dissent.voices] == ["Rep. Innovatus"]
    assert [seat.tone for seat in drawn.seats] == ["good", "good", "bad"]
    (history,) = changed.blocks
    assert isinstance(history, page.Table)
    assert {row[0] for row in history.rows} == {"1", "2", "3"}
    html = page.to_html(shown)
    assert html.count("<svg") > 3
    assert page.to_markdown(shown)
    assert page.to_json(shown)


def test_a_page_can_be_drawn_at_any_moment() -> None:
    scenario = ParliamentScenario(3)
    assert make_report(proceedings(scenario)).verdict.label == "NOT DECIDED"
    scenario.debating().exchange(1, 2)
    assert page.to_html(make_report(proceedings(scenario)))


def test_every_version_and_every_ballot_is_found() -> None:
    record = proceedings(approved())
    assert [one.draft.bill_version for one in list_bill_versions(record)] == [1, 2, 3]
    counted = list_ballots(record)
    assert [len(one.votes) for one in counted] == [3, 3]
    scenario = played()
    scenario.decide("amend_and_approve", draft=draft(4, solution="Two caches."))
    last = list_bill_versions(proceedings(scenario))[-1]
    assert (last.by, last.draft.sections.solution) == ("prime_minister", "Two caches.")


def test_an_open_ballot_is_known_too() -> None:
    scenario = ParliamentScenario(3).voting().vote("YES", "", "")
    (only,) = list_ballots(proceedings(scenario))
    assert (only.tally, list(only.votes)) == (None, ["rep_1"])


def test_an_earlier_word_is_not_the_reason_of_a_defeat() -> None:
    scenario = ParliamentScenario(3, max_rounds=1)
    scenario.clerk(ask.Begin())
    scenario.decide("opening_guidance", "Let rep_1 draft.")
    for number in (1, 2, 3):
        scenario.submit(statement(number))
    scenario.tick()
    scenario.clerk(ask.ChooseDrafter())
    scenario.submit(bill())
    scenario.submit(ROUND_START)
    scenario.submit(CALL_VOTE)
    scenario.vote("NO", "NO", "NO").clerk(ask.CountVotes())
    assert make_report(proceedings(scenario)).decision.statement == "Not Passed."
    assert make_report(proceedings(approved())).decision.statement == "Approved. so"


def test_who_decided_is_named_and_so_is_what_nobody_signed() -> None:
    record = proceedings(approved())
    word = next(one for one in reversed(record.messages) if one.type == "PM_DECISION")
    signed = msgspec.structs.replace(record, signers={word.id: "operator"})
    assert "approve by operator: so" in write_final_document(signed)
    assert page.Fact("decided by", "operator") in make_report(signed).decision.facts
    count = len(record.messages)
    state = msgspec.structs.replace(record.state, imported=count)
    foreign = msgspec.structs.replace(signed, state=state)
    assert "approve by someone elsewhere: so" in write_final_document(foreign)
    origin = f"{count} of {count} messages were read from files, not signed here"
    assert page.Fact("origin", origin) in make_report(foreign).decision.facts


def test_the_page_labels_scripted_voices_at_the_vote_and_at_their_seats() -> None:
    record = proceedings(approved())
    first, *_others = record.state.seats_in_order()
    shown = make_report(record, scripted=(first.agent,))
    note = f"{first.agent}: scripted; no model and no person thought about these words"
    assert page.Fact("note", note) in shown.decision.facts
    (drawn,) = (block for block in shown.blocks if isinstance(block, page.Chamber))
    labelled = [seat.name for seat in drawn.seats if seat.note.startswith("scripted voice")]
    assert labelled == [first.name]


def test_before_there_is_a_bill_the_first_line_of_the_problem_is_the_title() -> None:
    record = proceedings(ParliamentScenario(3))
    text = "Payments fail\n\n### Item\n\n> pay-7"
    state = msgspec.structs.replace(record.state, problem_statement=text)
    shown = make_report(msgspec.structs.replace(record, state=state))
    assert shown.title == "Payments fail"
    assert page.Prose(text, "Problem", markdown=True) in shown.blocks


def test_one_round_is_one_round() -> None:
    scenario = ParliamentScenario(3).debating()
    assert "3 seats, 1 round, " in make_report(proceedings(scenario)).subtitle
