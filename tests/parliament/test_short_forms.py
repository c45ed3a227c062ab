"""What a short form fills in, and what it asks for."""

from __future__ import annotations

from typing import Any

import pytest
from immutables import Map

from moot.core.errors import Malformed
from moot.protocols.parliament.messages.contents import Scope, Sections
from moot.protocols.parliament.model import Bill, OpenQuestion, Round, Seat, State
from moot.protocols.parliament.short_forms import compose

SECTIONS = Sections("Old problem.", Scope(("in",), ("out",), ("as",), ("de",)), "Old.", "Later.")
BILL = Bill(version=3, title="Old", summary="Sum", sections=SECTIONS)
SCORES: dict[str, Any] = {"scores": ["4"]}


def a_seat(name: str, *scores: int | None) -> Seat:
    return Seat(
        id=name,
        name=name,
        agent=name,
        bound=True,
        motives=("speed", "good care"),
        scores=scores or (None, None),
        temperature=50,
        heat=(0, 50),
    )


def a_state(*questions: OpenQuestion, bill: Bill | None = None, **seats: Seat) -> State:
    waiting = Map({each.id: each for each in questions})
    seated = {"rep_1": a_seat("rep_1"), **seats}
    return State(
        seats=Map(seated),
        holders=Map({"otter": "rep_2"}),
        bill=bill,
        round=Round(questions=waiting),
    )


def say(form: str, state: State | None = None, sender: str = "rep_1", **words: Any) -> Any:
    return compose(state or a_state(), form, sender, words)


def refuse(form: str, state: State | None = None, **words: Any) -> tuple[str, str, str]:
    with pytest.raises(Malformed) as refused:
        say(form, state, **words)
    return refused.value.code, str(refused.value), str(refused.value.hint)


def test_an_unknown_form_or_word_is_refused() -> None:
    assert refuse("shout")[0] == "unknown_form"
    code, what, hint = refuse("motion", zeal="x", motion="recess")
    assert (code, what, hint) == (
        "unknown_word",
        "motion takes no zeal",
        "motion takes motion, reason",
    )
    motion = say("motion", motion="recess", reason="Late.")
    assert motion["content"] == {"motion_type": "recess", "reason": "Late."}
    assert motion["from"] == "rep_1"


def test_a_draft_keeps_what_is_not_said() -> None:
    first = say("draft", title="New")["content"]
    assert (first["bill_version"], first["title"], first["summary"]) == (1, "New", "")
    assert first["sections"] == {
        "problem": "",
        "scope": {"in_scope": [], "out_of_scope": [], "assumptions": [], "definitions": []},
        "solution": "",
        "implementation": "",
    }
    assert say("draft")["content"]["bill_version"] == 1
    later = a_state(bill=BILL)
    assert refuse("draft", later, title="")[0] == "empty_draft"
    same = {"title": "Old", "summary": "Sum"}
    sections: dict[str, Any] = {
        "problem": "Old problem.",
        "scope": {
            "in_scope": ["in"],
            "out_of_scope": ["out"],
            "assumptions": ["as"],
            "definitions": ["de"],
        },
        "solution": "Old.",
        "implementation": "Later.",
    }
    for name in ("title", "summary"):
        content = say("draft", later, **{name: "New"})["content"]
        assert content == {"bill_version": 4, **same, name: "New", "sections": sections}
    for name in ("problem", "solution", "implementation"):
        content = say("draft", later, **{name: "New"})["content"]
        assert content == {"bill_version": 4, **same, "sections": {**sections, name: "New"}}
    for name in sections["scope"]:
        words: dict[str, Any] = {name: ["New"]}
        content = say("draft", later, **words)["content"]
        assert content["sections"]["scope"] == {**sections["scope"], name: ["New"]}


def test_a_question_has_a_topic_of_sixty_bytes_and_goes_to_a_seat_or_its_agent() -> None:
    asked = say("ask", to="otter", question="a" * 60, because="Why.")
    assert (asked["to"], asked["content"]["topic"]) == ("rep_2", "a" * 60)
    assert asked["content"]["motive_context"] == "Why."
    longer = say("ask", to="rep_3", question="a" * 61)
    assert longer["to"] == "rep_3"
    assert longer["content"]["topic"] != "a" * 61
    assert say("ask", to="rep_3", question="a", topic="b")["content"]["topic"] == "b"


FIRST = OpenQuestion("msg-2", "rep_2", "rep_1", "one", ("amend-001",))
SECOND = OpenQuestion("msg-10", "rep_3", "rep_1", "two")
OTHERS = OpenQuestion("msg-3", "rep_2", "rep_2", "three", ("amend-002",))


def test_an_answer_goes_to_the_question_that_is_meant() -> None:
    one, two = a_state(FIRST, OTHERS), a_state(SECOND, FIRST, OTHERS)
    answer = say("answer", one, answer="Yes.", **SCORES)
    assert (answer["to"], answer["in_reply_to"]) == ("rep_2", "msg-2")
    assert answer["content"] == {
        "answer": "Yes.",
        "concessions": "",
        "stance": "maintain",
        "motive_scores": {"speed": 4, "good care": 4},
    }
    assert say("answer", two, answer="Yes.", re="msg-10", **SCORES)["to"] == "rep_3"
    assert say("endorse", two, amendment="amend-001", **SCORES)["in_reply_to"] == "msg-2"
    assert say("endorse", one, amendment="amend-009", **SCORES)["in_reply_to"] == "msg-2"
    code, what, hint = refuse("answer", two, answer="Yes.", **SCORES)
    assert code == "question_required"
    assert "msg-2 (one), msg-10 (two)" in what
    assert "--re msg-2," in hint
    assert refuse("endorse", two, amendment="amend-002", **SCORES)[0] == "question_required"


def test_without_a_question_there_is_nothing_to_answer() -> None:
    code, what, hint = refuse("answer", a_state(OTHERS), answer="Yes.", **SCORES)
    assert (code, what) == ("no_open_question", "no question waits: rep_1 has nothing to answer")
    assert "QUESTION`;" in hint
    code, what, hint = refuse("oppose", a_state(FIRST), amendment="amend-001", re="msg-3", **SCORES)
    assert (code, what[:30]) == ("no_open_question", "msg-3 does not wait for rep_1:")
    assert "QUESTION` about amend-001;" in hint


def test_a_position_is_the_answer_if_no_reason_is_said() -> None:
    content = say("oppose", a_state(FIRST), amendment="amend-001", **SCORES)["content"]
    assert content["answer"] == "I oppose amend-001."
    content = say("abstain", a_state(FIRST), amendment="amend-001", reason="So.", **SCORES)[
        "content"
    ]
    assert content["answer"] == "So."
    assert content["amendment_position"] == {
        "amendment_id": "amend-001",
        "position": "abstain",
        "reason": "So.",
    }


@pytest.mark.parametrize(
    ("typed", "before", "scores"),
    [
        (["4"], (), {"speed": 4, "good care": 4}),
        ([" 4 "], (), {"speed": 4, "good care": 4}),
        (["speed=3"], (), {"speed": 3}),
        ([" speed =3"], (None, 2), {"speed": 3, "good care": 2}),
        ([], (1, None), {"speed": 1}),
        (["2", "good care=5"], (), {"speed": 2, "good care": 5}),
        (["a=b=3"], (), {"a=b": 3}),
    ],
)
def test_scores_are_typed_over_the_last_ones(
    typed: list[str], before: tuple[int | None, ...], scores: dict[str, int]
) -> None:
    state = a_state(rep_1=a_seat("rep_1", *before))
    vote = say("vote", state, vote="yes", scores=typed, conditions=["c"])["content"]
    assert vote["motive_scores"] == scores
    assert (vote["vote"], vote["conditions"], vote["reservations"]) == ("YES", ["c"], "")


def test_what_is_no_score_is_refused_with_an_example() -> None:
    for text in ("speed", "speed=", "=3", " =3", "speed=-1", ""):
        code, what, hint = refuse("vote", vote="yes", scores=[text])
        assert (code, what) == ("bad_score", f"{text!r} is no score")
        assert "--score speed=4;" in hint
    code, what, hint = refuse("vote", vote="yes")
    assert (code, what) == (
        "scores_required",
        "rep_1 has scored none of its motives: speed, good care",
    )
    assert "--score speed=4 for one" in hint


def test_an_amendment_has_a_text_or_a_description() -> None:
    assert refuse("amend", action="add", section="solution")[0] == "text_required"
    content = say("amend", action="add", section="solution", text="a" * 61)["content"]
    assert content["amendment_id"] == "amend-001"
    assert content["proposed_text"] == "a" * 61
    assert content["description"].startswith("aaa")
    assert len(content["description"]) < 61
    described = say("amend", action="modify", section="scope", description="Less.")["content"]
    assert (described["description"], described["proposed_text"]) == ("Less.", "")


def test_a_ruling_has_the_type_of_its_action() -> None:
    quiet = say("rule", sender="speaker", action="quiet", target="otter")["content"]
    assert quiet == {
        "ruling_type": "order",
        "ruling": "This seat is quiet until the next round.",
        "target": "rep_2",
        "action": "quiet",
    }
    said = say("rule", sender="speaker", action="round_start", text="Go.")["content"]
    assert (said["ruling_type"], said["ruling"], said["target"]) == ("procedure", "Go.", None)
    unknown = say("rule", sender="speaker", action="dance", target="rep_9")["content"]
    assert (unknown["ruling_type"], unknown["ruling"], unknown["target"]) == ("", "", "rep_9")
