"""What is exactly as much as mail allows is taken, one more is not; and how much of it is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moot.core.errors import Malformed, MootError
from moot.protocols.mail import commands as ask
from moot.protocols.mail.artifact import ArtifactItem, new_artifact
from moot.protocols.mail.body import read_facts
from moot.protocols.mail.body_writer import write_body
from moot.protocols.mail.merge import merge_deltas
from moot.protocols.mail.message_rules import lint_message
from moot.protocols.mail.model import ThreadKind, require_thread_kind
from moot.protocols.mail.types import MessageType

from . import scene
from .bodies import delta
from .scene import (
    CLAIM,
    CRANE,
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
from .test_merge import given_by

Z = "z" * 250


@pytest.fixture
def scenario() -> MailScenario:
    return MailScenario()


def told(scenario: MailScenario, actor: str, command: Any) -> str:
    """In which words it is refused."""
    length = scenario.length
    with pytest.raises(MootError) as caught:
        scenario.run(actor, command)
    assert scenario.length == length
    return " ".join([str(caught.value), *(one.message for one in caught.value.findings)])


def outside(**more: Any) -> ask.Import:
    named = {"outside_id": "ext-1", "sender": "RedCreek", "subject": "INFO: Done", "body": "x"}
    return ask.Import(**{**named, "to": (party(CRANE),), **more})


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (info(to=(party(Z, 0),)), f"no agent {'z' * 60!r} is registered here"),
        (info(re=f"{THREAD}:{Z}"), f"no message {f'{THREAD}:{Z}'[:80]!r} in {THREAD}"),
        (
            outside(sender=Z, sender_here=True),
            f"{'z' * 60} is an agent here and has not signed this",
        ),
        (question(ack_minutes=10_081), "10081 is not 1 to 10080 minutes"),
        (question(ack_minutes=0), "0 is not 1 to 10080 minutes"),
        (
            outside(sender="z" * 201),
            "from is not 1 to 200 printable characters",
        ),
        (
            outside(outside_thread="z" * 201),
            "thread_id is not 1 to 200 printable characters",
        ),
        (outside(outside_id=" "), "id is not 1 to 200 printable characters"),
    ],
)
def test_a_refusal_says_how_much_is_allowed(
    scenario: MailScenario, command: Any, words: str
) -> None:
    assert words in told(scenario, OTTER, command)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            send("HANDOFF: T-7 to teal-crane", handoff(to=Z)),
            f"the work is handed to {'z' * 60}, who does not get this message",
        ),
        (
            send("CLAIM: T-7", CLAIM.replace("amber-otter", Z)),
            f"the work is claimed for {'z' * 60}, not for you",
        ),
    ],
)
def test_a_warning_names_who_takes_the_work(
    scenario: MailScenario, command: Any, words: str
) -> None:
    findings = scenario.run(OTTER, command).findings
    assert words in [finding.message for finding in findings]


@pytest.mark.parametrize(
    "command",
    [
        question(ack_minutes=10_080),
        question(ack_minutes=1),
        outside(sender="z" * 200, outside_thread="z" * 200, outside_id="z" * 200),
        info(*(f"agent-{number}" for number in range(64))),
    ],
)
def test_as_much_as_is_allowed_is_sent(scenario: MailScenario, command: Any) -> None:
    assert len(scenario.run(OTTER, command).recorded) == 1


def test_sixty_five_receivers_are_too_many(scenario: MailScenario) -> None:
    crowd = info(*(f"agent-{number}" for number in range(65)))
    assert "65 receivers, the limit is 64" in told(scenario, OTTER, crowd)


def test_notes_are_as_long_as_this_and_no_longer(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    words = told(scenario, CRANE, ack(1, notes="x" * 4_001))
    assert "the notes have 4001 characters, the limit is 4000" in words
    assert f"{'z' * 40!r} is no status" in told(scenario, CRANE, ack(1, status=Z))
    scenario.run(CRANE, ack(1, notes="x" * 4_000))


def test_a_thread_id_is_as_long_as_this_and_no_longer() -> None:
    assert require_thread_kind("x" * 120) is ThreadKind.WORK
    with pytest.raises(Malformed) as caught:
        require_thread_kind("x" * 121)
    assert str(caught.value).startswith(f"{'x' * 80!r} is not a thread id")
    assert caught.value.code == "invalid_bead_id"


@pytest.mark.parametrize("thread", ["RS-20260218-cell", "COORD-release", "rs-1", "coord-"])
def test_how_an_id_begins_says_what_it_must_be(thread: str) -> None:
    kinds = {"RS": ThreadKind.RESEARCH, "COORD": ThreadKind.COORDINATION}
    start = thread.partition("-")[0]
    if start.isupper():
        assert require_thread_kind(thread) is kinds[start]
        return
    with pytest.raises(Malformed) as caught:
        require_thread_kind(thread)
    assert caught.value.code == f"invalid_{start}_thread_id"


@pytest.mark.parametrize(
    ("kind", "body", "name", "most"),
    [
        (MessageType.CLAIM, "## Item\n{}\n\n## Agent\n@otter\n", "item", 200),
        (MessageType.BLOCKED, "## Item\n{}\n", "item", 200),
        (MessageType.HANDOFF, "## To\n@{}\n", "taker", 199),
        (MessageType.KICKOFF, "# {}\n", "title", 200),
        (MessageType.KICKOFF, "# T\n\n## Research Question\n{}\n", "title", 200),
    ],
)
def test_the_record_keeps_the_beginning_of_what_a_body_says(
    kind: MessageType, body: str, name: str, most: int
) -> None:
    assert getattr(read_facts(kind, body.format(Z)), name) == "z" * most


@pytest.mark.parametrize(
    ("body", "version"),
    [
        ("# Compiled v3\n\n## Summary\nAfter v2.\n", 3),
        ("# Compiled\n\n## Summary\nThis is v2.\n", 2),
        ("# Compiled\n\n## Summary\nNothing new.\n", None),
        ("## Summary\nv4\n", 4),
        ("# v1234567890\n", 123_456_789),
    ],
)
def test_which_version_a_message_names(body: str, version: int | None) -> None:
    assert read_facts(MessageType.COMPILED, body).version == version
    assert read_facts(MessageType.INFO, body).version is None
    assert read_facts(None, body).version is None


@pytest.mark.parametrize(
    ("subject", "body", "around", "words"),
    [
        (
            "HANDOFF: T-7 to teal-crane",
            handoff(to=Z),
            {},
            f"the subject names 'teal-crane', `## To` {'z' * 48!r}",
        ),
        (
            "HANDOFF: T-7 to teal-crane",
            handoff(sender=Z),
            {"sender": OTTER},
            f"`## From` says {'z' * 48!r}, the sender is '{OTTER}'",
        ),
        (
            "CLAIM: T-7",
            CLAIM.replace("amber-otter", Z),
            {"agents": (OTTER,)},
            f"no agent {'z' * 48!r} is known here",
        ),
        (
            "CLAIM: T-7",
            CLAIM.replace("T-7", f"T-{Z}"),
            {"items": ("T-7",)},
            f"there is no work item {f'T-{Z}'[:48]!r} here",
        ),
        (
            "DELTA[opus]: x",
            f"```delta\n{json.dumps(delta(target_id=Z))}\n```\n",
            {},
            f"adds, but names {'z' * 40!r}",
        ),
        (
            "DELTA[opus]: x",
            f"```delta\n{json.dumps(delta(operation='EDIT', target_id=Z))}\n```\n",
            {},
            f"names {'z' * 40!r}, but the items of hypothesis_slate are H1, H2, ...",
        ),
        (
            "DELTA[opus]: x",
            "```delta\n"
            + json.dumps(delta(operation="EDIT", section="research_thread", target_id=Z))
            + "\n```\n",
            {},
            f"names {'z' * 40!r}, and the thread has no items",
        ),
        (f"DELTA[{Z}]: x", "", {}, f"{'z' * 40!r} is not one of the usual roles"),
        (f"{Z}: x", "", {}, f"{'z' * 80!r} begins with none of the ten types"),
        (
            "CRITIQUE: H1",
            scene.CRITIQUE.replace("Major", Z),
            {},
            f"`## Severity` says {'z' * 60!r}",
        ),
        (
            "CRITIQUE: H1",
            scene.CRITIQUE.replace("No.", f"{{{Z}}}"),
            {},
            f"`## Attack` still holds the template text {{{'z' * 59}",
        ),
    ],
)
def test_of_a_long_name_a_finding_tells_the_beginning(
    subject: str, body: str, around: dict[str, Any], words: str
) -> None:
    found = [finding.message for finding in lint_message(subject, body, **around).findings]
    assert any(message.endswith(words) for message in found), found


def test_of_a_word_that_is_none_of_the_choices_the_beginning_is_reported() -> None:
    with pytest.raises(Malformed) as caught:
        write_body(MessageType.CRITIQUE, {"Target": "H1", "Attack": "No.", "Severity": Z})
    assert str(caught.value).endswith(f"Severity may not be {'z' * 40!r}")
    assert (caught.value.code, caught.value.where) == ("field_invalid", "Severity")


def test_two_who_set_the_same_field_are_reported_with_the_beginning_of_its_name() -> None:
    artifact = merge_deltas(
        new_artifact("RS-20260218-cell-fate", 1_000, "Why?"),
        [given_by(OTTER, 1, "ADD", name="n", claim="c", mechanism="m", anchors=["§1"])],
    ).artifact
    edits = [
        given_by(OTTER, 2, "EDIT", "H1", **{Z: "a"}),
        given_by(CRANE, 3, "EDIT", "H1", **{Z: "b"}),
    ]
    (finding,) = merge_deltas(artifact, edits).findings
    both = f"{OTTER} and {CRANE} both set `{'z' * 40}` of H1"
    assert finding.message == f"{both}; what {CRANE} wrote stands"


@pytest.mark.parametrize(
    ("value", "score"), [(0, 3), (3, 6), (4, None), (-1, None), (True, None), ("1", None)]
)
def test_a_score_is_a_whole_number_from_0_to_3_in_each_dimension(
    value: object, score: int | None
) -> None:
    fields = {"likelihood_ratio": value, "cost": 1, "speed": 1, "ambiguity": 1}
    assert ArtifactItem("T1", {"score": fields}, OTTER, 0).score == score
    assert ArtifactItem("T1", {"score": {"cost": 1}}, OTTER, 0).score is None
