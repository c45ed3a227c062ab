"""Every message type, field by field: what is sound is read exactly, what is not is named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moot.core.findings import select_errors
from moot.protocols.parliament.messages import contents
from moot.protocols.parliament.messages import message as messages
from moot.protocols.parliament.messages.contents import Answer, Motion
from moot.protocols.parliament.messages.shapes import read_json
from tests.parliament.samples import CONTENTS, KINDS, message, response
from tests.parliament.scene import ParliamentScenario, amendment, answer, question

requirement = pytest.mark.requirement


def found(document: Any) -> list[tuple[str, str, str | None]]:
    said = select_errors(messages.response_findings(document))
    return [(one.rule, one.code, one.where) for one in said]


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every key in a content that the protocol asks for."""
    if not isinstance(value, dict):
        return []
    mine = [(*path, name) for name in value]
    return mine + [deep for name in value for deep in paths(value[name], (*path, name))]


REQUIRED = [
    (kind, path)
    for kind in KINDS
    for path in paths(CONTENTS[kind])
    if path != ("amendment_position",) and "motive_scores" not in path[:-1]
]


@requirement("PAR-129", "PAR-083", "PAR-011")
@pytest.mark.parametrize("kind", KINDS)
def test_each_type_is_read_as_it_is_sent_and_as_it_stands_in_the_ledger(kind: str) -> None:
    assert messages.response_findings(response(kind)) == ()
    said = messages.read_response(response(kind))
    assert messages.to_document(said.content) == CONTENTS[kind]
    document = message(kind)
    assert messages.message_findings(document) == ()
    kept = messages.read_message(document)
    assert json.loads(messages.encode_message(kept)) == document
    document = read_json(messages.encode_message(kept), messages.MAX_MESSAGE)
    assert messages.message_findings(document) == ()
    assert messages.read_message(document) == kept


# What asks for a field: the norm of its own, of the object that holds it, or of its message.
FIELD_NORMS = {
    "BILL_DRAFT": "PAR-014",
    "sections": "PAR-015",
    "scope": "PAR-016",
    "briefing": "PAR-020",
    "direction": "PAR-021",
    "QUESTION": "PAR-025",
    "ANSWER": "PAR-028",
    "ANSWER motive_scores": "PAR-031",
    "amendment_position": "PAR-037",
    "AMENDMENT": "PAR-043",
    "MOTION": "PAR-049",
    "VOTE": "PAR-052",
    "SPEAKER_RULING": "PAR-059",
    "VOTE_TALLY": "PAR-070",
    "PM_DECISION": "PAR-075",
    "OPENING_STATEMENT briefing": "PAR-020",
    "OPENING_STATEMENT direction": "PAR-021",
}


def norm_of_field(kind: str, path: tuple[str, ...]) -> str:
    names = (f"{kind} {path[-1]}", *reversed(path[:-1]), kind)
    return next(FIELD_NORMS[name] for name in names if name in FIELD_NORMS)


REQUIRED_NORMS = [norm_of_field(kind, path) for kind, path in REQUIRED if FIELD_NORMS]


@pytest.mark.parametrize(
    ("kind", "path", "norm"),
    [
        pytest.param(kind, path, norm, id=f"{kind} {'.'.join(path)}", marks=requirement(norm))
        for (kind, path), norm in zip(REQUIRED, REQUIRED_NORMS, strict=True)
    ],
)
def test_each_missing_field_is_named(kind: str, path: tuple[str, ...], norm: str) -> None:
    document = response(kind)
    holder = document["content"]
    for name in path[:-1]:
        holder = holder[name]
    del holder[path[-1]]
    assert found(document) == [(norm, "missing_field", "content." + ".".join(path))]


@requirement("PAR-005")
@pytest.mark.parametrize("name", ["id", "type", "round", "timestamp", "from", "content"])
def test_each_base_key_is_needed_in_the_ledger(name: str) -> None:
    document = message("MOTION")
    del document[name]
    (finding,) = select_errors(messages.message_findings(document))
    assert (finding.rule, finding.code, finding.where) == ("PAR-005", "missing_field", name)


BROKEN: list[tuple[str, tuple[Any, ...], Any, str, str]] = [
    ("BILL_DRAFT", ("bill_version",), 0, "PAR-014", "out_of_range"),
    ("BILL_DRAFT", ("bill_version",), True, "PAR-014", "bad_type"),
    ("BILL_DRAFT", ("title",), "  ", "PAR-014", "blank_text"),
    ("BILL_DRAFT", ("sections",), [], "PAR-015", "bad_type"),
    ("BILL_DRAFT", ("sections", "scope", "in_scope"), "all", "PAR-016", "bad_type"),
    ("BILL_DRAFT", ("sections", "scope", "assumptions"), [1], "PAR-016", "bad_type"),
    ("OPENING_STATEMENT", ("briefing", "facts"), "many", "PAR-020", "bad_type"),
    ("OPENING_STATEMENT", ("direction", "principle"), "", "PAR-021", "blank_text"),
    ("QUESTION", ("topic",), " ", "PAR-025", "blank_text"),
    ("QUESTION", ("question",), 7, "PAR-025", "bad_type"),
    ("QUESTION", ("motive_context",), None, "PAR-025", "bad_type"),
    ("ANSWER", ("stance",), "agree", "PAR-029", "bad_value"),
    ("ANSWER", ("motive_scores",), {}, "PAR-031", "empty"),
    ("ANSWER", ("amendment_position", "position"), "like", "PAR-038", "bad_value"),
    ("ANSWER", ("amendment_position", "amendment_id"), "a1", "PAR-037", "bad_form"),
    ("AMENDMENT", ("action",), "delete", "PAR-045", "bad_value"),
    ("AMENDMENT", ("target_section",), "budget", "PAR-046", "bad_value"),
    ("AMENDMENT", ("amendment_id",), "amend-1", "PAR-044", "bad_form"),
    ("AMENDMENT", ("description",), "", "PAR-043", "blank_text"),
    ("AMENDMENT", ("rationale",), 7, "PAR-043", "bad_type"),
    ("AMENDMENT", ("proposed_text",), None, "PAR-043", "bad_type"),
    ("AMENDMENT", ("proposed_text",), " ", "PAR-043", "text_required"),
    ("MOTION", ("motion_type",), "call", "PAR-050", "bad_value"),
    ("VOTE", ("vote",), "yes", "PAR-053", "bad_value"),
    ("VOTE", ("vote",), "ABSTAIN", "PAR-053", "bad_value"),
    ("VOTE", ("reasoning",), None, "PAR-054", "bad_type"),
    ("VOTE", ("motive_scores",), {}, "PAR-054", "empty"),
    ("VOTE", ("reservations",), 3, "PAR-054", "bad_type"),
    ("VOTE", ("conditions",), "none", "PAR-055", "bad_type"),
    ("SPEAKER_RULING", ("target",), None, "PAR-059", "target_required"),
    ("SPEAKER_RULING", ("action",), "silence", "PAR-068", "bad_value"),
    ("VOTE_TALLY", ("tally", "yes"), 3, "PAR-071", "wrong_tally"),
    ("VOTE_TALLY", ("passed",), False, "PAR-071", "wrong_tally"),
    ("VOTE_TALLY", ("no_votes",), ["rep_1"], "PAR-071", "wrong_tally"),
    ("VOTE_TALLY", ("key_objections", 0, "from"), "speaker", "PAR-070", "bad_form"),
    ("PM_DECISION", ("decision",), "reject", "PAR-076", "bad_value"),
    ("PM_DECISION", ("guidance",), "", "PAR-075", "guidance_required"),
]


@pytest.mark.parametrize(
    ("kind", "path", "value", "rule", "code"),
    [
        pytest.param(kind, path, value, norm, code, marks=requirement(norm))
        for kind, path, value, norm, code in BROKEN
    ],
)
def test_each_wrong_value_is_named_with_its_norm_and_path(
    kind: str, path: tuple[Any, ...], value: Any, rule: str, code: str
) -> None:
    document = response(kind)
    holder = document["content"]
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = value
    first = found(document)[0]
    assert first[:2] == (rule, code)
    assert (first[2] or "").startswith("content.")


@requirement("PAR-033")
@pytest.mark.parametrize("score", [0, 6, 3.5, 3.0, "4", True, None, [4], 10**30])
def test_a_score_is_a_whole_number_from_1_to_5(score: Any) -> None:
    for kind in ("ANSWER", "VOTE"):
        ((rule, _, where),) = found(response(kind, motive_scores={"speed": score}))
        assert (rule, where) == ("PAR-033", "content.motive_scores.speed")


@requirement("PAR-033")
@pytest.mark.parametrize("score", [1, 2, 3, 4, 5])
def test_each_of_the_five_scores_is_sound(score: int) -> None:
    assert found(response("ANSWER", motive_scores={"speed": score})) == []


PAIRS = {
    ("order", "redirect"): "PAR-060",
    ("order", "quiet"): "PAR-061",
    ("order", "call_vote"): "PAR-062",
    ("observation", "deadlock_warning"): "PAR-063",
    ("observation", "progress_note"): "PAR-064",
    ("procedure", "next_speaker"): "PAR-065",
    ("procedure", "round_start"): "PAR-066",
    ("procedure", "round_end"): "PAR-067",
}


@pytest.mark.parametrize(
    ("kind", "action"),
    [pytest.param(*pair, marks=requirement(norm)) for pair, norm in PAIRS.items()],
)
def test_each_of_the_eight_rulings_is_sound(kind: str, action: str) -> None:
    assert found(response("SPEAKER_RULING", ruling_type=kind, action=action)) == []


@requirement("PAR-068")
@pytest.mark.parametrize("kind", contents.RulingType)
@pytest.mark.parametrize("action", contents.RulingAction)
def test_eight_pairs_of_ruling_and_action_and_no_other(
    kind: contents.RulingType, action: contents.RulingAction
) -> None:
    document = response("SPEAKER_RULING", ruling_type=str(kind), action=str(action))
    codes = [code for _, code, _ in found(document)]
    assert codes == ([] if (str(kind), str(action)) in PAIRS else ["bad_ruling"])


@pytest.mark.parametrize("action", contents.RulingAction)
def test_only_rulings_about_one_seat_need_a_target(action: contents.RulingAction) -> None:
    kind = next(
        kind for kind, actions in contents.ACTIONS_BY_RULING_TYPE.items() if action in actions
    )
    document = response("SPEAKER_RULING", ruling_type=str(kind), action=str(action), target=None)
    codes = [code for _, code, _ in found(document)]
    assert codes == (["target_required"] if action in contents.RULINGS_ABOUT_A_SEAT else [])


# Who sends what; the norm is that of the type, or the one for all.
SENDERS = [
    ("BILL_DRAFT", "rep_1", "PAR-013"),
    ("OPENING_STATEMENT", "rep_1", "PAR-009"),
    ("QUESTION", "rep_1", "PAR-009"),
    ("ANSWER", "rep_1", "PAR-009"),
    ("AMENDMENT", "rep_1", "PAR-042"),
    ("MOTION", "rep_1", "PAR-048"),
    ("VOTE", "rep_1", "PAR-009"),
    ("SPEAKER_RULING", "speaker", "PAR-058"),
    ("VOTE_TALLY", "speaker", "PAR-069"),
    ("PM_DECISION", "prime_minister", "PAR-074"),
]


@pytest.mark.parametrize(
    ("kind", "office"),
    [pytest.param(*row, marks=requirement(norm)) for *row, norm in SENDERS],
)
@pytest.mark.parametrize("sender", ["rep_1", "speaker", "prime_minister", "nobody", "rep_0", 7])
def test_each_type_has_its_sender(kind: str, office: str, sender: Any) -> None:
    document = {**response(kind), "from": sender}
    codes = [code for _, code, where in found(document) if where == "from"]
    assert codes == ([] if sender == office else ["wrong_sender"])


@pytest.mark.requirement("PAR-048")
def test_a_motion_goes_to_no_seat() -> None:
    assert found(response("MOTION")) == []
    assert found({**response("MOTION"), "to": "rep_2"}) == [("PAR-005", "unknown_field", "to")]


def test_every_type_has_a_sender() -> None:
    assert [kind for kind, _office, _norm in SENDERS] == list(KINDS)


@requirement("PAR-024", "PAR-027")
@pytest.mark.parametrize("kind", ["QUESTION", "ANSWER"])
@pytest.mark.parametrize("to", [None, "rep_1", "speaker", "Rep. One", 3])
def test_who_is_asked_is_another_seat(kind: str, to: Any) -> None:
    document = {**response(kind), "to": to}
    assert {where for _, _, where in found(document)} == {"to"}
    del document["to"]
    assert [(code, where) for _, code, where in found(document)] == [("missing_field", "to")]


@requirement("PAR-027")
@pytest.mark.parametrize("reply", [None, "", "msg-1", 3, "amend-001"])
def test_an_answer_names_its_question(reply: Any) -> None:
    document = {**response("ANSWER"), "in_reply_to": reply}
    assert [(rule, where) for rule, _, where in found(document)] == [("PAR-027", "in_reply_to")]
    del document["in_reply_to"]
    assert [code for _, code, _ in found(document)] == ["missing_field"]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("QUESTION", "ANSWER")])
def test_what_is_addressed_to_nobody_has_no_address(kind: str) -> None:
    assert [where for _, _, where in found({**response(kind), "to": "rep_2"})] == ["to"]


@requirement("PAR-026", "PAR-040", "PAR-041")
def test_a_motion_rides_on_a_question_or_an_answer_only() -> None:
    motion = dict(CONTENTS["MOTION"])
    for kind in KINDS:
        document = {**response(kind), "motion": motion}
        allowed = kind in ("QUESTION", "ANSWER")
        assert [code for _, code, _ in found(document)] == (
            [] if allowed else ["motion_not_allowed"]
        )
    asked = messages.read_response({**response("QUESTION"), "motion": motion})
    assert asked.motion == Motion(contents.MotionType.CALL_VOTE, "All has been said.")
    as_message = {"type": "MOTION", "from": "rep_1", "content": motion}
    assert messages.read_response({**response("QUESTION"), "motion": as_message}) == asked
    bad = {**response("ANSWER"), "motion": {"motion_type": "stop"}}
    assert [where for _, _, where in found(bad)] == ["motion.motion_type", "motion.reason"]


def test_a_motion_is_never_left_in_the_ledger() -> None:
    document = {**message("QUESTION"), "motion": dict(CONTENTS["MOTION"])}
    assert [one.where for one in messages.message_findings(document)] == ["motion"]


@requirement("PAR-081", "PAR-082")
def test_what_the_clerk_fills_in_is_ignored_with_a_warning() -> None:
    document = {**response("MOTION"), "id": "msg-999", "round": -4, "timestamp": "now"}
    said = messages.response_findings(document)
    assert [(one.code, one.where, one.severity.value) for one in said] == [
        ("field_ignored", name, "warning") for name in ("id", "round", "timestamp")
    ]
    kept = messages.make_message(messages.read_response(document), 15, 2, 1_770_733_800_123)
    assert (kept.id, kept.round, kept.timestamp) == ("msg-015", 2, "2026-02-10T14:30:00Z")


@requirement("PAR-006")
def test_message_ids_count_on_past_999() -> None:
    assert [messages.format_message_id(number) for number in (1, 2, 999, 1000)] == [
        *("msg-001", "msg-002", "msg-999", "msg-1000")
    ]


BROKEN_KEYS = [
    ("id", "7", "PAR-006"),
    ("id", "msg-7", "PAR-006"),
    ("round", -1, "PAR-007"),
    ("round", "1", "PAR-007"),
    ("timestamp", "2026-02-10 14:30", "PAR-008"),
    ("timestamp", "2026-02-10T14:30:00+02:00", "PAR-008"),
    ("content", "said", "PAR-010"),
    ("content", None, "PAR-010"),
]


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [pytest.param(*row, norm, marks=requirement(norm)) for *row, norm in BROKEN_KEYS],
)
def test_the_base_keys_hold_what_they_must(name: str, value: Any, rule: str) -> None:
    said = messages.message_findings({**message("MOTION"), name: value})
    assert [(one.rule, one.where) for one in said] == [(rule, name)]


@requirement("PAR-011")
@pytest.mark.parametrize("kind", ["SPEECH", "question", "", None, 3, [], {}])
def test_an_eleventh_type_is_refused(kind: Any) -> None:
    document = {"type": kind, "from": "rep_1", "content": {}}
    assert ("PAR-011", "bad_value", "type") in found(document)


def test_unknown_fields_are_refused_at_every_depth() -> None:
    for path in ((), ("content",), ("content", "amendment_position")):
        document = response("ANSWER")
        holder: Any = document
        for name in path:
            holder = holder[name]
        holder["mood"] = "good"
        assert [(code, where) for _, code, where in found(document)] == [
            ("unknown_field", ".".join((*path, "mood")))
        ]


@requirement("PAR-036")
def test_an_answer_takes_a_position_on_a_pending_amendment_and_on_no_other() -> None:
    scenario = ParliamentScenario(3).debating()
    scenario.submit(amendment(3))
    scenario.exchange(3, 2, position=("amend-001", "oppose"))
    (taken,) = scenario.state.amendments["amend-001"].endorsements
    assert (taken.agent_id, taken.position, taken.round) == ("rep_2", "oppose", 1)
    asked = scenario.submit(question(3, 1))
    unknown = answer(1, 3, asked, scenario.scores(1), position=("amend-777", "endorse"))
    assert scenario.refused(unknown)[1] == "unknown_amendment"
    scenario.submit(answer(1, 3, asked, scenario.scores(1)))  # and none need be taken
    assert scenario.state.amendments["amend-001"].endorsements == (taken,)


@requirement("PAR-036")
def test_an_absent_position_and_absent_definitions_stay_absent() -> None:
    document = response("ANSWER")
    document["content"]["amendment_position"] = None
    said = messages.read_response(document).content
    assert isinstance(said, Answer)
    assert said.amendment_position is None
    assert "amendment_position" not in messages.to_document(said)
