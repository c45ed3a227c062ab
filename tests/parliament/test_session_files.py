"""The four files: the keys of the protocol, the same bytes every time, only ever added to."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import Malformed
from moot.protocols.parliament import session_files
from moot.protocols.parliament.files.file_shapes import BILL, LEDGER, SESSION, SUMMARIES
from moot.protocols.parliament.messages.message import read_message, to_document
from moot.protocols.parliament.messages.shapes import Check
from moot.protocols.parliament.model import State
from tests.parliament.played_sessions import approved, files, messages_of, sound
from tests.parliament.samples import KINDS, SECTIONS, message
from tests.parliament.scene import ROUND_START, ParliamentScenario

requirement = pytest.mark.requirement
STATE = State(parliament_id="parl-20260210-001", problem_statement='Wörter "und" 雪')


def read(data: bytes) -> Any:
    return json.loads(data)


@requirement("PAR-003")
def test_an_empty_ledger_has_three_keys() -> None:
    assert read(session_files.encode_ledger(STATE, ())) == {
        "parliament_id": "parl-20260210-001",
        "problem_statement": 'Wörter "und" 雪',
        "messages": [],
    }


@requirement("PAR-012")
@given(counts=st.lists(st.integers(0, 4), max_size=6))
def test_adding_gives_the_same_bytes_as_writing_again(counts: list[int]) -> None:
    said = [read_message(message(kind, number)) for number, kind in enumerate(KINDS * 3, 1)]
    file, done = session_files.encode_ledger(STATE, ()), 0
    for count in counts:
        longer = session_files.append_to_ledger(file, said[done : done + count])
        assert read(longer)["messages"][:done] == read(file)["messages"]
        assert longer.startswith(file.removesuffix(b"\n  ]\n}\n").removesuffix(b"]\n}\n"))
        file, done = longer, min(done + count, len(said))
    assert file == session_files.encode_ledger(STATE, said[:done])


def test_a_foreign_ledger_is_not_added_to() -> None:
    said = [read_message(message("MOTION"))]
    with pytest.raises(Malformed):
        session_files.append_to_ledger(b'{"messages": []}', said)


@requirement("PAR-012")
def test_the_same_session_gives_the_same_bytes() -> None:
    scenario = approved()
    assert files(scenario) == sound()
    told = (read_message(dict(reversed(one.items()))) for one in scenario.messages())
    assert session_files.encode_ledger(scenario.state, told) == sound()["ledger.json"]


@requirement("PAR-082")
def test_messages_have_their_keys_in_the_order_of_the_protocol() -> None:
    said = read(sound()["ledger.json"])["messages"]
    order = ["id", "type", "round", "timestamp", "from", "to", "in_reply_to", "content"]
    for one in said:
        assert list(one) == [name for name in order if name in one]
    assert [one["id"] for one in said] == [f"msg-{n:03d}" for n in range(1, len(said) + 1)]


@requirement("PAR-086", "PAR-092", "PAR-098")
def test_the_session_has_exactly_its_keys() -> None:
    session = read(sound()["session.json"])
    assert list(session) == [
        *("parliament_id", "problem_statement", "constituent_issues", "current_round"),
        *("max_rounds", "bill_version", "drafter", "status", "next_message_id"),
        *("representatives", "debate_clock", "vote_history"),
    ]
    assert list(session["representatives"][0]) == [
        *("agent_id", "name", "temperature", "temperature_history", "motives"),
        *("motive_satisfaction", "is_quiet", "quiet_until_round", "voting_record"),
    ]
    assert list(session["debate_clock"]) == [
        *("max_exchanges_per_round", "response_budget", "exchanges_this_round"),
    ]


@requirement("PAR-109", "PAR-110", "PAR-111", "PAR-112")
def test_the_bill_has_exactly_its_keys() -> None:
    bill = read(sound()["bill.json"])
    assert list(bill) == ["bill_id", "title", "version", "drafter", "sections", "amendments"]
    assert (bill["bill_id"], bill["version"]) == ("BILL-001", 3)
    assert list(bill["sections"]["scope"]) == [
        *("in_scope", "out_of_scope", "assumptions", "definitions"),
    ]
    first = bill["amendments"][0]
    assert list(first) == [
        *("amendment_id", "proposed_by", "round", "target_section", "action", "description"),
        *("status", "endorsements"),
    ]
    assert first["endorsements"] == [{"agent_id": "rep_1", "position": "endorse", "round": 1}]


@requirement("PAR-121", "PAR-120", "PAR-126", "PAR-123", "PAR-124", "PAR-125")
def test_the_summaries_have_exactly_their_keys() -> None:
    rows = read(sound()["round-summaries.json"])
    assert [row["round"] for row in rows] == [1, 2, 3]
    assert list(rows[0]) == [
        *("round", "summary", "positions", "key_shifts", "amendments_actioned", "vote_result"),
        "open_issues",
    ]
    assert rows[0]["vote_result"] is None
    assert rows[0]["amendments_actioned"][0] == {
        "amendment_id": "amend-001",
        "status": "incorporated",
    }
    assert rows[0]["open_issues"]
    assert rows[1]["vote_result"]["passed"] is False
    assert rows[1]["positions"]["rep_2"]["lean"] == "NO"


@requirement("PAR-127")
def test_summaries_are_not_in_the_ledger() -> None:
    kinds = {one["type"] for one in read(sound()["ledger.json"])["messages"]}
    assert kinds <= set(KINDS)


@requirement("PAR-098", "PAR-088")
def test_a_new_session_of_five_seats_shows_the_sample_clock() -> None:
    session = to_document(session_files.make_session_file(ParliamentScenario(5).state))
    assert session["debate_clock"] == {
        "max_exchanges_per_round": 10,
        "response_budget": 6,
        "exchanges_this_round": 0,
    }
    assert (session["status"], session["max_rounds"]) == ("setup", 6)
    assert session["representatives"][0]["motive_satisfaction"] == {
        "cost efficiency": None,
        "time-to-market": None,
    }


def test_before_the_first_draft_there_is_a_file_without_a_bill() -> None:
    bill = to_document(session_files.make_bill_file(ParliamentScenario(3).state))
    assert (bill["bill_id"], bill["title"], bill["version"], bill["amendments"]) == (
        *(None, None, 0),
        [],
    )
    assert list(BILL(bill, "")) == []


@requirement("PAR-090")
def test_the_session_knows_the_next_message() -> None:
    scenario = ParliamentScenario(3).debating()
    before = session_files.make_session_file(scenario.state).next_message_id
    scenario.exchange(1, 2)
    after = session_files.make_session_file(scenario.state)
    assert after.next_message_id == before + 2
    assert messages_of(scenario)[-1].id == f"msg-{before + 1:03d}"
    assert after.debate_clock.exchanges_this_round == 1


@requirement("PAR-104")
def test_a_new_round_starts_at_zero() -> None:
    scenario = approved()
    assert scenario.state.round.number == 3
    fresh = ParliamentScenario(3).debating()
    fresh.exchange(1, 2)
    fresh.submit({**ROUND_START, "content": {**ROUND_START["content"], "action": "round_end"}})
    fresh.submit(ROUND_START)
    assert session_files.make_session_file(fresh.state).debate_clock.exchanges_this_round == 0


SESSION_SAMPLE: dict[str, Any] = {
    "parliament_id": "parl-20260210-001",
    "problem_statement": "Uploads fail.",
    "constituent_issues": ["speed", "cost"],
    "current_round": 1,
    "max_rounds": 6,
    "bill_version": 1,
    "drafter": "rep_1",
    "status": "debate",
    "next_message_id": 15,
    "representatives": [
        {
            "agent_id": "rep_1",
            "name": "Rep. Swift",
            "temperature": 42,
            "temperature_history": [{"round": 0, "temperature": 42}],
            "motives": ["speed", "cost"],
            "motive_satisfaction": {"speed": 2, "cost": 3},
            "is_quiet": False,
            "quiet_until_round": None,
            "voting_record": [],
        }
    ],
    "debate_clock": {
        "max_exchanges_per_round": 10,
        "response_budget": 6,
        "exchanges_this_round": 0,
    },
    "vote_history": [],
}
BILL_SAMPLE: dict[str, Any] = {
    "bill_id": "BILL-001",
    "title": "Uploads in parts",
    "version": 1,
    "drafter": "rep_1",
    "sections": {**SECTIONS, "scope": {**SECTIONS["scope"], "definitions": []}},
    "amendments": [
        {
            "amendment_id": "amend-001",
            "proposed_by": "rep_3",
            "round": 2,
            "target_section": "solution",
            "action": "add",
            "description": "A digest for each part",
            "status": "incorporated",
            "endorsements": [
                {"agent_id": "rep_1", "position": "endorse", "round": 2},
                {"agent_id": "rep_4", "position": "oppose", "round": 2},
            ],
        }
    ],
}
SUMMARY_SAMPLE: dict[str, Any] = {
    "round": 1,
    "summary": "They spoke of lost parts. Nobody gave way.",
    "positions": {
        "rep_1": {"lean": "YES", "key_concern": "Wants it soon"},
        "rep_2": {"lean": "NO", "key_concern": "The price"},
    },
    "key_shifts": ["Rep. Swift softened on the price"],
    "amendments_actioned": [{"amendment_id": "amend-001", "status": "incorporated"}],
    "vote_result": None,
    "open_issues": ["Old clients"],
}
LEDGER_SAMPLE: dict[str, Any] = {
    "parliament_id": "parl-20260210-001",
    "problem_statement": "Uploads fail.",
    "messages": [message(kind, number) for number, kind in enumerate(KINDS, 1)],
}


@requirement("PAR-130")
@pytest.mark.parametrize(
    ("shape", "sample"),
    [
        (LEDGER, LEDGER_SAMPLE),
        (SESSION, SESSION_SAMPLE),
        (BILL, BILL_SAMPLE),
        (SUMMARIES, [SUMMARY_SAMPLE]),
    ],
)
def test_files_in_the_shape_of_the_protocol_are_sound(shape: Check, sample: Any) -> None:
    assert list(shape(sample, "")) == []


def each_key(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every key of objects whose keys are fixed."""
    items = (
        list(value.items())
        if isinstance(value, dict)
        else list(enumerate(value))
        if isinstance(value, list)
        else []
    )
    free = path and path[-1] in ("positions", "motive_satisfaction")
    mine = [(*path, name) for name, _ in items] if isinstance(value, dict) and not free else []
    return mine + [deep for name, item in items for deep in each_key(item, (*path, name))]


# May be left out; what it means then is tested with the files of scripts.
OPTIONAL = {"motive_satisfaction"}
MISSING = [
    (name, shape, sample, path)
    for name, shape, sample in (
        ("session", SESSION, SESSION_SAMPLE),
        ("bill", BILL, BILL_SAMPLE),
        ("summaries", SUMMARIES, [SUMMARY_SAMPLE]),
    )
    for path in each_key(sample)
    if path[-1] not in OPTIONAL
]


# By the object that holds a key: the norm that asks for it.
NORMS = {
    "session": "PAR-086",
    "representatives": "PAR-092",
    "temperature_history": "PAR-094",
    "voting_record": "PAR-057",
    "debate_clock": "PAR-098",
    "vote_history": "PAR-097",
    "bill": "PAR-109",
    "sections": "PAR-109",
    "scope": "PAR-110",
    "amendments": "PAR-111",
    "endorsements": "PAR-112",
    "summaries": "PAR-121",
    "positions": "PAR-123",
    "amendments_actioned": "PAR-124",
    "vote_result": "PAR-125",
}


def norm_of(name: str, path: tuple[Any, ...]) -> str:
    holders = [name, *(step for step in path[:-1] if step in NORMS)]
    return NORMS[holders[-1]]


MISSING_NORMS = [norm_of(name, path) for name, _shape, _sample, path in MISSING if NORMS]


@pytest.mark.parametrize(
    ("name", "shape", "sample", "path"),
    [
        pytest.param(*row, id=f"{row[0]} {row[3]}", marks=requirement(norm))
        for row, norm in zip(MISSING, MISSING_NORMS, strict=True)
    ],
)
def test_no_key_may_be_missing_and_none_added(
    name: str, shape: Check, sample: Any, path: tuple[Any, ...]
) -> None:
    norm = norm_of(name, path)
    changed = json.loads(json.dumps(sample))
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    kept = holder.pop(path[-1])
    assert [(one.rule, one.code) for one in shape(changed, "")] == [(norm, "missing_field")]
    holder[path[-1]] = kept
    holder["more"] = 1
    assert [(one.rule, one.code) for one in shape(changed, "")] == [(norm, "unknown_field")]


WRONG_VALUES: list[tuple[str, tuple[Any, ...], Any]] = [
    ("PAR-087", ("constituent_issues",), "cost"),
    ("PAR-087", ("constituent_issues",), [1]),
    ("PAR-087", ("constituent_issues",), [None]),
    ("PAR-087", ("constituent_issues",), {}),
    ("PAR-087", ("constituent_issues",), None),
    ("PAR-094", ("representatives", 0, "temperature"), 4.5),
    ("PAR-094", ("representatives", 0, "temperature"), "4"),
    ("PAR-094", ("representatives", 0, "temperature"), -1),
    ("PAR-094", ("representatives", 0, "temperature"), 101),
    ("PAR-094", ("representatives", 0, "temperature_history"), {}),
    ("PAR-094", ("representatives", 0, "temperature_history"), [7]),
    ("PAR-095", ("representatives", 0, "motive_satisfaction"), []),
    ("PAR-095", ("representatives", 0, "motive_satisfaction"), {"security": 0}),
    ("PAR-095", ("representatives", 0, "motive_satisfaction"), {"security": 6}),
    ("PAR-095", ("representatives", 0, "motive_satisfaction"), {"security": "4"}),
]


@pytest.mark.parametrize(
    ("norm", "path", "value"),
    [pytest.param(norm, *row, marks=requirement(norm)) for norm, *row in WRONG_VALUES],
)
def test_a_value_of_another_kind_is_named_by_its_norm(
    norm: str, path: tuple[Any, ...], value: Any
) -> None:
    changed = json.loads(json.dumps(SESSION_SAMPLE))
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    wrong = list(SESSION(changed, ""))
    assert {one.rule for one in wrong} == {norm}
    assert wrong[0].where is not None
    assert str(path[-1]) in wrong[0].where
