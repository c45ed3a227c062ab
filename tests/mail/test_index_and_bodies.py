"""The index of mail, what waits in presence, and what a body and a head keep."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from immutables import Map

from moot.core.errors import MootError
from moot.core.machine import Drop, Put, RowChange
from moot.protocols.mail import events as did
from moot.protocols.mail.artifact import ArtifactItem, new_artifact, write_artifact_markdown
from moot.protocols.mail.body import MessageBody, unwrap_text_block
from moot.protocols.mail.case import encode_text, fits_in_event
from moot.protocols.mail.codec import find_front_matter, fix_front_matter
from moot.protocols.mail.machine import MACHINE
from moot.protocols.mail.merge import merge_deltas
from moot.protocols.mail.message_rules import lint_message
from moot.protocols.mail.model import MailMessage, Receiver, State
from moot.protocols.mail.types import AckStatus, MessageType
from moot.protocols.mail.views import describe_standing

from .scene import (
    CLAIM,
    CRANE,
    FINCH,
    OTTER,
    THREAD,
    MailScenario,
    ack,
    handoff,
    info,
    party,
    question,
    send,
)
from .test_imports import incoming
from .test_merge import H, fields, given_by, hypothesis

ACK = "# Acknowledgement\n\n## Status\nReceived\n"


@pytest.fixture
def scenario() -> MailScenario:
    return MailScenario()


# The head of a file


def test_a_head_is_found_behind_a_byte_order_mark() -> None:
    head = "---\nsubject: INFO: x\n---\n"
    assert find_front_matter(f"{head}body\n") == head
    assert find_front_matter(f"\ufeff{head}body\n") == f"\ufeff{head}"
    assert find_front_matter(f"x{head}body\n") is None


def test_only_the_two_lines_that_differ_are_fixed() -> None:
    head = "---\nfrom: red\nsubject: a\r\nack_required: no\nthread: t\n---\n"
    assert fix_front_matter(head, "INFO: b", True) == (
        '---\nfrom: red\nsubject: "INFO: b"\r\nack_required: true\nthread: t\n---\n'
    )
    assert fix_front_matter(head, "a", False) == head


# Bodies


def test_a_smaller_heading_stays_in_its_section() -> None:
    body = MessageBody("# T\n\n## A\none\n\n### B\ntwo\n\n## C\nthree\n")
    assert [(part.key, part.text.strip()) for part in body.sections] == [
        ("a", "one\n\n### B\ntwo"),
        ("c", "three"),
    ]
    assert [mark.value for mark in body.others] == ["B"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```text\na\n```\n", "a"),
        ("\n```text\na\n```\n\n", "a"),
        ("before\n```text\na\n```\n", None),
        ("```text\na\n```\nbehind\n", None),
        ("```text\na\n", None),
        ("```json\na\n```\n", None),
        ("```text\na\n```\n```text\nb\n```\n", None),
    ],
)
def test_a_text_that_is_one_block_is_taken_out_of_it(text: str, code: str | None) -> None:
    assert unwrap_text_block(text) == (text if code is None else code)


def test_a_line_that_looks_like_a_heading_is_named_by_its_number() -> None:
    body = "\n### Research Question\nWhy?\n"
    lines = {
        one.line for one in lint_message("KICKOFF: x", body).findings if "looks like" in one.message
    }
    assert lines == {2}


@pytest.mark.parametrize(("quotes", "fits"), [(16_382, True), (16_383, False)])
def test_a_text_fits_as_it_is_and_as_it_is_escaped(quotes: int, fits: bool) -> None:
    text = '"' * quotes + "\n"
    assert fits_in_event(text, encode_text(text)) is fits
    plain = "x" * (16_384 if fits else 16_385)
    assert fits_in_event(plain, encode_text(plain)) is fits


# What is said of a message that is sent


def test_a_sound_message_is_sent_without_a_remark(scenario: MailScenario) -> None:
    assert scenario.run(OTTER, info()).findings == ()


def test_an_ack_that_fits_nothing_or_too_much_says_so(scenario: MailScenario) -> None:
    def remark() -> list[str]:
        found = scenario.run(CRANE, send("ACK: Which cache?", ACK, OTTER)).findings
        return [one.message for one in found if "nothing is acknowledged" in one.message]

    behind = "this subject, so nothing is acknowledged"
    assert remark() == [f"no message to you has {behind}"]
    scenario.run(OTTER, question())
    scenario.run(OTTER, question())
    assert remark() == [f"2 messages have {behind}"]


def test_an_ack_that_says_nothing_fits_nothing(scenario: MailScenario) -> None:
    with pytest.raises(MootError) as caught:
        scenario.run(CRANE, send("ACK: Which cache?", "# Acknowledgement\n", OTTER))
    told = [one.message for one in caught.value.findings if "acknowledged" in one.message]
    assert told == ["no message to you has this subject, so nothing is acknowledged"]


def test_an_ack_is_on_record_with_its_status(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    sent, _ = scenario.run(CRANE, send("ACK: Which cache?", ACK, OTTER)).recorded
    assert isinstance(sent.event, did.MessageSent)
    assert (sent.event.type, sent.event.status) == (MessageType.ACK, AckStatus.ACK)


def test_who_was_never_addressed_is_reported_so_and_nothing_else(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    assert scenario.refused(FINCH, ack(1)) == "not_addressed"
    with pytest.raises(MootError) as caught:
        scenario.run(FINCH, ack(1))
    assert [one.message for one in caught.value.findings] == [f"{THREAD}:1 was not sent to {FINCH}"]


def test_what_was_sent_here_is_proved(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    assert describe_standing(scenario.message(1), 0).proved
    plain = MailMessage("t:1", None, "red", 0, "x", 0, ())
    assert not describe_standing(plain, 0).proved
    assert (plain.ack_required, plain.resent, plain.closed) == (False, False, False)


# From outside


def test_a_message_from_outside_is_read_as_one(scenario: MailScenario) -> None:
    (reply,) = scenario.run(CRANE, incoming("Re: INFO: hello")).recorded
    assert isinstance(reply.event, did.MessageImported)
    assert (reply.event.type, reply.event.ack_required) == (MessageType.INFO, False)
    body = handoff(sender="somebody", to=CRANE)
    command = incoming("HANDOFF: T-7 to teal-crane", body, outside_id="ext-8")
    (kept,) = scenario.run(CRANE, command).recorded
    assert isinstance(kept.event, did.MessageImported)
    assert {str(flag.severity) for flag in kept.event.flags} == {"warning"}


@pytest.mark.parametrize(
    ("flag", "epoch", "owed"), [(True, 1, True), (True, 0, False), (False, 1, False)]
)
def test_only_somebody_here_owes_an_answer_to_what_asks_for_one(
    scenario: MailScenario, flag: bool, epoch: int, owed: bool
) -> None:
    command = incoming(ack_required=flag, to=(party(CRANE, epoch),))
    (kept, *_) = scenario.run(CRANE, command).recorded
    assert isinstance(kept.event, did.MessageImported)
    assert (kept.event.ack_required, kept.event.ack_by is not None) == (owed, owed)


# What is found quickly


def rows_of(outcome: Any) -> list[RowChange]:
    return [row for recorded in outcome.recorded for row in MACHINE.index(recorded)]


def puts(rows: list[RowChange], space: str) -> list[tuple[str, Any]]:
    return [(row.key, row.value) for row in rows if isinstance(row, Put) and row.space == space]


def test_a_claim_names_who_does_the_work_and_nothing_else_does(scenario: MailScenario) -> None:
    claimed = rows_of(scenario.run(OTTER, send("CLAIM: T-7", CLAIM)))
    assert puts(claimed, "mail.items") == [("T-7", {"owner": OTTER, "by": f"{THREAD}:1"})]
    handed = rows_of(scenario.run(OTTER, send("HANDOFF: T-7 to teal-crane", handoff())))
    assert puts(handed, "mail.items") == []
    assert puts(rows_of(scenario.run(OTTER, info())), "mail.items") == []


def test_a_message_from_outside_is_found_by_its_id_there(scenario: MailScenario) -> None:
    rows = rows_of(scenario.run(CRANE, incoming()))
    assert puts(rows, "mail.outside") == [("ext-7", {"id": f"{THREAD}:1"})]


def test_a_long_message_is_found_by_what_is_stored(scenario: MailScenario) -> None:
    body = "# Information\n\n" + "x" * 20_000 + "\n"
    ref = scenario.world.artifacts.put(body.encode(), "text/markdown")
    rows = rows_of(scenario.run(OTTER, send("INFO: long", body, artifact=ref)))
    assert puts(rows, "mail.long") == [(f"{THREAD}:1", {"sha256": ref.sha256, "size": len(body)})]
    assert puts(rows_of(scenario.run(OTTER, info())), "mail.long") == []


def test_what_is_sent_again_is_in_an_inbox_once_and_still_addressed(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    scenario.world.clock.forward(minutes=31)
    done = scenario.world.engine.tick(f"mail/{THREAD}")
    rows = [row for row in rows_of(done) if row.space == "mail.inbox"]
    dropped, put = rows
    assert isinstance(dropped, Drop)
    assert isinstance(put, Put)
    assert (put.value["cc"], put.value["ack_required"], put.value["resent"]) == (False, True, True)


# What waits in presence


@pytest.mark.parametrize(
    ("event", "status", "ack_required", "dues"),
    [
        (None, None, True, 1),
        (None, None, False, 1),
        (None, AckStatus.ACK, True, 1),
        ("proto_1", None, True, 0),
        ("proto_1", None, False, 0),
        ("proto_1", AckStatus.ACK, True, 1),
    ],
)
def test_a_message_with_an_event_waits_in_presence_until_it_is_accepted(
    event: str | None, status: AckStatus | None, ack_required: bool, dues: int
) -> None:
    message = MailMessage(
        "t:1",
        MessageType.HANDOFF,
        OTTER,
        1,
        "HANDOFF: T-7",
        0,
        (Receiver(CRANE, 1, status),),
        ack_required=ack_required,
        event=event,
    )
    state = State(count=1, open=Map({"t:1": message}))
    assert [due.who for due in MACHINE.agenda(state, 0)] == [CRANE] * dues


# Artifacts


def test_two_who_add_to_one_list_do_not_contradict_each_other() -> None:
    new = new_artifact("RS-20260218-cell-fate", 1_000, "Why?")
    artifact = merge_deltas(new, [hypothesis(1)]).artifact
    edits = [
        given_by(OTTER, 2, "EDIT", "H1", anchors=["§2"]),
        given_by(CRANE, 3, "EDIT", "H1", anchors=["§3"]),
    ]
    merged = merge_deltas(artifact, edits)
    assert merged.findings == ()
    assert fields(merged.artifact, "H1")["anchors"] == ["§1", "§2", "§3"]


def test_what_is_no_text_is_written_as_it_is() -> None:
    new = new_artifact("RS-20260218-cell-fate", 1_000, "Why?")
    added = merge_deltas(new, [hypothesis(1, note={"é": ["ü"]}, list=[])]).artifact
    text = write_artifact_markdown(added)
    assert '- note: {"é": ["ü"]}\n' in text
    assert "- list: []\n" in text


def test_a_test_without_a_score_stands_with_those_that_score_nothing() -> None:
    nothing = dict.fromkeys(("likelihood_ratio", "cost", "speed", "ambiguity"), 0)
    items = (
        ArtifactItem("T1", {"name": "a", "score": nothing}, OTTER, 0),
        ArtifactItem("T2", {"name": "b"}, OTTER, 0),
        ArtifactItem("T3", {"name": "c", "score": {**nothing, "cost": 1}}, OTTER, 0),
    )
    new = new_artifact("RS-20260218-cell-fate", 1_000, "Why?")
    text = write_artifact_markdown(
        msgspec.structs.replace(new, items=Map({"discriminative_tests": items, H: ()}))
    )
    places = [text.index(f"### {name}") for name in ("T3", "T1", "T2")]
    assert places == sorted(places)
