"""Messages typed in a few words, a session named by its id, a seat by its own."""

from __future__ import annotations

from typing import Any

import click
import pytest

from moot.protocols.parliament.short_forms import SHORT_FORMS
from moot.surfaces.cli.main import cli
from tests.cli.parliament_session import FILES, FOLDER, MOTIVES, ParliamentSession, check_sound
from tests.project import Project

DIRECTION = ("--approach", "Cut. Send. Check.", "--principle", "Small steps.")


def said(parliament: ParliamentSession, form: str, *words: str, **settings: str) -> Any:
    """The first message that a short form brought into the ledger."""
    return parliament.moot(form, *words, **settings)["messages"][0]


def messages(parliament: ParliamentSession) -> list[Any]:
    found: list[Any] = parliament.document("ledger.json")["messages"]
    return found


@pytest.fixture
def debating(parliament: ParliamentSession) -> ParliamentSession:
    for seat in MOTIVES:
        said(parliament, "statement", *DIRECTION, "--from", seat)
    parliament.moot("drafter", "rep_1")
    bill = ("--title", "Parts", "--problem", "Uploads fail.", "--solution", "Send parts.")
    said(parliament, "draft", *bill, "--in-scope", "uploads", "--from", "rep_1")
    said(parliament, "rule", "round_start")
    return parliament


@pytest.mark.requirement("PAR-001", "PAR-081", "PAR-082")
def test_every_form_makes_the_message_of_its_type(debating: ParliamentSession) -> None:
    opening = messages(debating)[0]
    assert opening["content"]["direction"] == {
        "approach": "Cut. Send. Check.",
        "principle": "Small steps.",
        "trade_offs": "",
    }
    draft = said(debating, "draft", "--implementation", "In June.", "--from", "rep_1")["content"]
    assert (draft["bill_version"], draft["title"]) == (2, "Parts")
    assert draft["sections"]["scope"]["in_scope"] == ["uploads"]
    assert draft["sections"]["implementation"] == "In June."

    amendment = said(debating, "amend", "add", "solution", "With digests.", "--from", "rep_3")
    assert amendment["content"] == {
        "amendment_id": "amend-001",
        "target_section": "solution",
        "action": "add",
        "description": "With digests.",
        "rationale": "",
        "proposed_text": "With digests.",
    }
    for seat, form in (("rep_1", "endorse"), ("rep_2", "oppose"), ("rep_3", "abstain")):
        asker = "rep_2" if seat == "rep_1" else "rep_1"
        words = (seat, "What of amend-001?", "--topic", "digests", "--because", "Time.")
        asked = said(debating, "ask", *words, "--from", asker)
        assert (asked["to"], asked["content"]["motive_context"]) == (seat, "Time.")
        taken = said(debating, form, "amend-001", "--score", "4", "--from", seat)
        assert (taken["type"], taken["in_reply_to"]) == ("ANSWER", asked["id"])
        position = taken["content"]["amendment_position"]
        assert (position["amendment_id"], position["position"]) == ("amend-001", form)
        assert taken["content"]["motive_scores"] == {MOTIVES[seat]: 4}
    said(debating, "ask", "rep_2", "And now?", "--from", "rep_1")
    stance = ("--stance", "challenge", "--concede", "A little.", "--score", "cost=3")
    answered = said(debating, "answer", "It costs.", *stance, "--from", "rep_2")["content"]
    assert answered == {
        "answer": "It costs.",
        "concessions": "A little.",
        "stance": "challenge",
        "motive_scores": {"cost": 3},
    }
    motion = said(debating, "motion", "call_vote", "--reason", "Enough.", "--from", "rep_2")
    assert motion["content"] == {"motion_type": "call_vote", "reason": "Enough."}
    quiet = said(debating, "rule", "quiet", "--target", "rep_3", "--text", "Enough.")["content"]
    assert (quiet["ruling_type"], quiet["target"]) == ("order", "rep_3")
    said(debating, "rule", "call_vote")
    votes = {
        "rep_1": ("yes", "--reservation", "The price."),
        "rep_2": ("NO", "--condition", "Half", "--condition", "of it", "--score", "2"),
        "rep_3": ("YES",),
    }
    cast = [
        said(debating, "vote", *words, "--reason", "So.", "--from", seat)["content"]
        for seat, words in votes.items()
    ]
    assert [vote["vote"] for vote in cast] == ["YES", "NO", "YES"]
    assert (cast[0]["reservations"], cast[0]["motive_scores"]) == ("The price.", {"speed": 4})
    assert (cast[1]["conditions"], cast[1]["motive_scores"]) == (["Half", "of it"], {"cost": 2})
    assert debating.moot("tally")["status"] == "pm_review"
    check_sound(debating)
    used = {message["type"] for message in messages(debating)}
    assert {str(form.kind) for form in SHORT_FORMS.values()} <= used


@pytest.mark.parametrize("form", SHORT_FORMS)
def test_each_form_has_a_command_with_examples_for_its_words(form: str, project: Project) -> None:
    context = click.Context(cli)
    group = cli.get_command(context, "parliament")
    assert isinstance(group, click.Group)
    command = group.get_command(context, form)
    assert command is not None
    words = {parameter.name for parameter in command.params} - {"folder", "sender"}
    assert words == set(SHORT_FORMS[form].words)
    assert (
        f"Examples:\n    moot parliament {form} " in project.run("parliament", form, "--help").out
    )


BAD: dict[str, tuple[str, tuple[str, ...]]] = {
    "nobody speaks": ("seat_required", ("ask", "rep_2", "Why?")),
    "no such seat": ("unknown_seat", ("ask", "rep_2", "Why?", "--from", "rep_9")),
    "no such receiver": ("unknown_seat", ("ask", "rep_9", "Why?", "--from", "rep_1")),
    "to oneself": ("asks_itself", ("ask", "rep_1", "Why?", "--from", "rep_1")),
    "an empty question": ("blank_text", ("ask", "rep_2", " ", "--from", "rep_1")),
    "nothing asked": ("no_open_question", ("answer", "So.", "--score", "4", "--from", "rep_2")),
    "another's question": (
        *("no_open_question",),
        ("answer", "So.", "--score", "4", "--re", "msg-006", "--from", "rep_2"),
    ),
    "an amendment nobody knows": (
        *("unknown_amendment",),
        ("oppose", "amend-009", "--score", "4", "--from", "rep_3"),
    ),
    "no score yet": ("scores_required", ("answer", "So.", "--from", "rep_3")),
    "a score of six": ("out_of_range", ("answer", "So.", "--score", "6", "--from", "rep_3")),
    "a score in words": ("bad_score", ("answer", "So.", "--score", "good", "--from", "rep_3")),
    "a foreign motive": (
        *("foreign_motive",),
        ("answer", "So.", "--score", "speed=4", "--from", "rep_3"),
    ),
    "an empty draft": ("empty_draft", ("draft", "--from", "rep_1")),
    "a draft by another": ("not_the_drafter", ("draft", "--title", "Mine", "--from", "rep_2")),
    "an amendment of nothing": ("text_required", ("amend", "add", "solution", "--from", "rep_2")),
    "nobody to be quiet": ("target_required", ("rule", "quiet")),
    "a vote too early": (
        *("wrong_phase",),
        ("vote", "YES", "--reason", "So.", "--score", "4", "--from", "rep_1"),
    ),
}


@pytest.mark.requirement("PAR-084")
@pytest.mark.parametrize("name", BAD)
def test_bad_words_are_refused_with_a_hint_and_never_counted(
    name: str, debating: ParliamentSession
) -> None:
    code, words = BAD[name]
    said(debating, "ask", "rep_3", "Is it safe?", "--from", "rep_1")
    before = {file: (debating.project.root / FOLDER / file).read_bytes() for file in FILES}
    for _ in range(3):
        assert debating.refused(words[0], *words[1:]) == code
    assert {file: (debating.project.root / FOLDER / file).read_bytes() for file in FILES} == before
    assert not any(seat["expelled"] for seat in debating.moot("status")["seats"])


def test_of_several_questions_the_one_that_is_meant_is_answered(
    debating: ParliamentSession,
) -> None:
    said(debating, "amend", "add", "solution", "With digests.", "--from", "rep_3")
    plain = said(debating, "ask", "rep_2", "What does it cost?", "--from", "rep_1")
    about = said(debating, "ask", "rep_2", "What of amend-001?", "--from", "rep_3")
    assert debating.refused("answer", "So.", "--score", "4", "--from", "rep_2") == (
        "question_required"
    )
    endorsed = said(debating, "endorse", "amend-001", "--score", "4", "--from", "rep_2")
    assert endorsed["in_reply_to"] == about["id"]
    answered = said(debating, "answer", "Little.", "--re", plain["id"], "--from", "rep_2")
    assert answered["in_reply_to"] == plain["id"]


def test_a_text_may_come_from_a_file_or_a_pipe(debating: ParliamentSession) -> None:
    (debating.project.root / "why.txt").write_text("What does it cost?\n", encoding="utf-8")
    asked = said(debating, "ask", "rep_2", "@why.txt", "--from", "rep_1")
    assert asked["content"]["question"] == "What does it cost?"


def test_nobody_speaks_for_another_seat(debating: ParliamentSession) -> None:
    words = ("ask", "rep_2", "Why?", "--from", "rep_3")
    assert debating.refused(*words, MOOT_AGENT="rep_1") == "not_you"
    asked = said(debating, *words[:3], MOOT_AGENT="rep_1")
    assert asked["from"] == "rep_1"


def test_a_seat_takes_back_its_amendment_under_its_own_id(debating: ParliamentSession) -> None:
    said(debating, "amend", "add", "solution", "More.", "--from", "rep_2")
    assert debating.refused("withdraw", "amend-001", MOOT_AGENT="rep_1") == "not_you"
    withdrawn = debating.project.ok(
        *("--as", "rep_2", "parliament", "withdraw", FOLDER, "amend-001")
    )
    assert withdrawn["amendment"] == "amend-001"
    assert debating.moot("status")["amendments"][0]["status"] == "withdrawn"


def test_a_session_is_named_by_its_id_wherever_a_folder_is(debating: ParliamentSession) -> None:
    name = debating.document("session.json")["parliament_id"]

    def moot(word: str, *more: str) -> Any:
        return debating.project.ok("parliament", word, name, *more)

    assert moot("status") == debating.moot("status")
    assert moot("next")["due"] == debating.moot("next")["due"]
    assert moot("context") == debating.moot("context")
    assert moot("history") == debating.moot("history")
    assert moot("check") == {"valid": True, "findings": []}
    assert moot("export")["put_aside"] == []
    question = {"topic": "t", "question": "Why?", "motive_context": ""}
    document = {"type": "QUESTION", "from": "rep_1", "to": "rep_2", "content": question}
    moot("submit", debating.file(document))
    moot("answer", "So.", "--score", "4", "--from", "rep_2")
    assert len(messages(debating)) == 7
    assert not (debating.project.root / name).exists()

    unknown = ("parliament", "status", "parl-20200101-001")
    assert debating.project.refused(*unknown)[0] == "session_not_found"
    (debating.project.root / FOLDER).rename(debating.project.root / "elsewhere")
    lost = debating.project.json("parliament", "status", name)
    assert lost.error["code"] == "no_session"
    assert f"`moot parliament export {name} --id {name}`" in lost.error["hint"]
    assert debating.project.ok("parliament", "status", "elsewhere")["parliament_id"] == name


def test_a_bare_no_is_remarked_and_counts(debating: ParliamentSession) -> None:
    for asker, asked in (("rep_1", "rep_2"), ("rep_2", "rep_3"), ("rep_3", "rep_1")):
        said(debating, "ask", asked, "Well?", "--from", asker)
        said(debating, "answer", "Well.", "--score", "4", "--from", asked)
    said(debating, "rule", "call_vote")
    voted = debating.moot("vote", "NO", "--reason", "No.", "--from", "rep_2")
    assert [(row["code"], row["severity"]) for row in voted["findings"]] == [
        ("conditions_required", "warning")
    ]
    content = {**voted["messages"][0]["content"], "motive_scores": {"safety": 4}}
    debating.submit({"type": "VOTE", "from": "rep_3", "content": content})
    said(debating, "vote", "YES", "--reason", "Yes.", "--from", "rep_1")
    tally = debating.moot("tally")["tally"]
    assert (tally["no_votes"], tally["tally"]["no"]) == (["rep_2", "rep_3"], 2)
    check = debating.moot("check")
    assert (check["valid"], len(check["findings"])) == (True, 2)
