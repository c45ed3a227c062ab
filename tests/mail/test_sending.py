"""Sending: checked before it is on record, signed by its sender, to those who are meant."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from moot.core.errors import Conflict, Refused
from moot.core.machine import Command, Context, KeyClass, VerifiedActor
from moot.core.record import MAX_TEXT_BYTES, ArtifactRef
from moot.protocols.mail import commands as ask
from moot.protocols.mail import events as did
from moot.protocols.mail.command_rules import MAX_RECEIVERS, MAX_SUBJECT
from moot.protocols.mail.machine import MACHINE
from moot.protocols.mail.model import MAX_OPEN, Importance
from moot.protocols.mail.types import MessageType

from . import scene
from .scene import CRANE, FINCH, OTTER, STREAM, THREAD, MailScenario, info, party, question, send


@pytest.fixture
def scenario() -> MailScenario:
    return MailScenario()


@pytest.mark.requirement("BRN-074")
def test_a_question_is_on_record_with_all_its_fields(scenario: MailScenario) -> None:
    (sent,) = scenario.run(OTTER, question(cc=(party(FINCH),), importance="high")).recorded
    now = scenario.world.clock.now
    assert sent.event == did.MessageSent(
        id=f"{THREAD}:1",
        type=MessageType.QUESTION,
        role="",
        status=None,
        subject="QUESTION: Which cache?",
        body=scene.QUESTION,
        size=len(scene.QUESTION),
        sha256=None,
        to=(party(CRANE),),
        cc=(party(FINCH),),
        ack_required=True,
        ack_by=now + scene.HALF_HOUR,
        ack_millis=scene.HALF_HOUR,
        importance=Importance.HIGH,
        re=None,
        event=None,
        title="",
        version=None,
        item="",
        taker="",
    )
    assert sent.actor.id == OTTER


@pytest.mark.requirement("BRN-078")
@pytest.mark.parametrize(
    ("subject", "body", "code"),
    [
        ("HELLO: x", scene.INFO, "invalid_subject_prefix"),
        ("INFO:", scene.INFO, "empty_subject_description"),
        ("QUESTION: x", "# Question\n", None),
        ("KICKOFF: x", "# T\n", None),
        ("HANDOFF: T-7 to teal-crane", scene.handoff().replace("amber-otter", ""), None),
        ("DELTA[opus]: x", "# Delta Contribution\n", None),
        ("COMPILED: v1", "# Compiled Artifact\n", None),
        ("ACK: x", "# Acknowledgement\n\n## Status\nOK\n", None),
    ],
)
def test_a_message_with_an_error_is_not_sent(
    scenario: MailScenario, subject: str, body: str, code: str | None
) -> None:
    found = scenario.refused(OTTER, send(subject, body))
    assert found == code if code else found != "not refused"


@pytest.mark.requirement("BRN-078")
def test_warnings_travel_with_a_message_that_is_sent(scenario: MailScenario) -> None:
    done = scenario.run(OTTER, question(ack_required=False))
    assert "MB-011" in {finding.rule for finding in done.findings}
    assert len(done.recorded) == 1


@pytest.mark.requirement("BRN-053")
def test_a_forged_from_is_refused(scenario: MailScenario) -> None:
    forged = send("HANDOFF: T-7 to teal-crane", scene.handoff(sender=FINCH))
    assert scenario.refused(OTTER, forged) != "not refused"
    scenario.run(OTTER, send("HANDOFF: T-7 to teal-crane", scene.handoff()))


REFUSED: dict[str, tuple[str, Any]] = {
    "nobody": ("no_receiver", ask.Send(subject="INFO: x", body="x", to=())),
    "unknown": ("agent_not_found", info(to=(party("no-body", 0),))),
    "unknown copy": ("agent_not_found", info(cc=(party("no-body", 0),))),
    "oneself": ("to_yourself", info(OTTER)),
    "crowd": (
        "too_many_receivers",
        info(*(f"agent-{number}" for number in range(MAX_RECEIVERS + 1))),
    ),
    "long subject": ("subject_too_long", send("INFO: " + "x" * MAX_SUBJECT, "x")),
    "importance": ("bad_importance", info(importance="!!")),
    "no time": ("bad_ack_minutes", question(ack_minutes=0)),
    "unknown message": ("message_not_found", info(re=f"{THREAD}:9")),
    "another thread": ("message_not_found", info(re="other:1")),
    "version": (
        "version_out_of_order",
        send("COMPILED: v2 x", "# Compiled Artifact v2\n\n## Contributors\n- amber-otter\n"),
    ),
    "not stored": ("body_not_stored", send("INFO: x", "x" * (MAX_TEXT_BYTES + 1))),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_refused_with_its_own_code(scenario: MailScenario, case: str) -> None:
    code, command = REFUSED[case]
    assert scenario.refused(OTTER, command) == code


def test_a_thread_has_a_proper_id(scenario: MailScenario) -> None:
    engine = scenario.world.engine
    for bad in ("RS-x", "COORD-", "Upper", "a..b"):
        with pytest.raises(Refused) as refused:
            engine.execute(f"mail/{bad}", info(), OTTER)
        assert refused.value.code == "bad_thread_id"
    with pytest.raises(Refused):
        engine.execute("mail", info(), OTTER)


def test_a_receiver_named_twice_gets_it_once(scenario: MailScenario) -> None:
    (sent,) = scenario.run(OTTER, info(CRANE, CRANE, cc=(party(CRANE), party(FINCH)))).recorded
    assert isinstance(sent.event, did.MessageSent)
    assert sent.event.to == (party(CRANE),)
    assert sent.event.cc == (party(FINCH),)


def test_the_same_key_sends_once(scenario: MailScenario) -> None:
    first = scenario.run(OTTER, info(), key="k1")
    again = scenario.run(OTTER, info(), key="k1")
    assert again.replayed
    assert first.recorded[0].hash == again.recorded[0].hash
    assert scenario.state.count == 1
    with pytest.raises(Conflict):
        scenario.run(OTTER, question(), key="k1")


@pytest.mark.requirement("LDG-028")
@pytest.mark.parametrize("size", [MAX_TEXT_BYTES, MAX_TEXT_BYTES + 1, 10_000_000])
def test_a_long_body_is_stored_first_and_cited(scenario: MailScenario, size: int) -> None:
    body = "x" * size
    kept = scenario.world.artifacts.put(body.encode(), "text/markdown")
    (sent,) = scenario.run(OTTER, send("INFO: long", body, artifact=kept)).recorded
    long = size > MAX_TEXT_BYTES
    assert isinstance(sent.event, did.MessageSent)
    assert sent.event.size == size
    assert sent.event.sha256 == (kept.sha256 if long else None)
    assert sent.artifacts == ((kept,) if long else ())
    assert len(sent.event.body) <= MAX_TEXT_BYTES


def test_a_short_body_full_of_escapes_is_stored_too(scenario: MailScenario) -> None:
    body = "\x01" * 12_000
    stored = scenario.world.artifacts.put(body.encode(), "text/markdown")
    (sent,) = scenario.run(OTTER, send("INFO: odd", body, artifact=stored)).recorded
    assert isinstance(sent.event, did.MessageSent)
    assert sent.event.sha256 == stored.sha256


@pytest.mark.requirement("LDG-028")
def test_a_citation_is_of_exactly_this_text(scenario: MailScenario) -> None:
    body, other = "x" * (MAX_TEXT_BYTES + 1), "y" * (MAX_TEXT_BYTES + 1)
    stored = scenario.world.artifacts.put(other.encode(), "text/markdown")
    assert scenario.refused(OTTER, send("INFO: long", body, artifact=stored)) == "body_not_stored"
    digest = hashlib.sha256(body.encode()).hexdigest()
    absent = ArtifactRef(digest, len(body), "text/markdown")
    assert scenario.refused(OTTER, send("INFO: long", body, artifact=absent)) == "artifact_missing"


def test_half_a_character_is_refused_not_raised(scenario: MailScenario) -> None:
    assert scenario.refused(OTTER, send("INFO: x", "\ud800")) != "not refused"


@pytest.mark.requirement("BRN-012")
def test_the_research_question_becomes_the_title_of_the_thread(scenario: MailScenario) -> None:
    scenario.run(OTTER, send("KICKOFF: logins", scene.KICKOFF, CRANE, FINCH))
    assert scenario.state.title == "Why are logins slow?"


def test_a_thread_full_of_waiting_messages_takes_no_more(
    scenario: MailScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MAX_OPEN == 1_000
    monkeypatch.setattr("moot.protocols.mail.command_rules.MAX_OPEN", 2)
    scenario.run(OTTER, question())
    scenario.run(OTTER, question())
    assert scenario.refused(OTTER, question()) == "thread_full"


def test_versions_count_from_one_and_skip_none(scenario: MailScenario) -> None:
    def compiled(version: int) -> ask.Send:
        body = f"# Compiled Artifact v{version}\n\n## Contributors\n- teal-crane\n"
        return send("COMPILED: x", body)

    scenario.run(OTTER, compiled(1))
    assert scenario.refused(OTTER, compiled(1)) == "version_out_of_order"
    for other in (0, 3, 10**12, 10**4_000):
        assert scenario.refused(OTTER, compiled(other)) == "version_out_of_order"
    scenario.run(OTTER, compiled(2))
    assert scenario.state.compiled == 2


def test_a_command_that_mail_does_not_know_is_refused() -> None:
    context = Context(0, VerifiedActor(OTTER, 1, "", KeyClass.AGENT), STREAM, "")
    decision = MACHINE.decide(MACHINE.initial, Command(), context)
    assert decision.refused
