"""A message as a file, and ids of threads: read back as written; only Malformed is raised."""

from __future__ import annotations

import json
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import Malformed
from moot.protocols.mail.codec import (
    MessageFile,
    find_front_matter,
    fix_front_matter,
    read_message_file,
)
from moot.protocols.mail.model import (
    ThreadKind,
    is_thread_id,
    require_thread_id,
    require_thread_kind,
)

TEXT = st.text()
NAMES = st.lists(st.from_regex(r"[a-z]{3,8}", fullmatch=True)).map(tuple)


MESSAGES = st.builds(
    MessageFile,
    subject=TEXT.filter(bool),
    body=TEXT,
    sender=TEXT,
    to=NAMES,
    cc=NAMES,
    id=TEXT,
    thread_id=TEXT,
    ack_required=st.none() | st.booleans(),
    importance=TEXT,
    created_at=st.sampled_from(["", "2026-02-18T16:00:00Z"]),
)


def as_file(message: MessageFile) -> str:
    """Front matter whose values are JSON, which is YAML too, and the body unchanged."""
    fields = msgspec.structs.asdict(message)
    fields["from"] = fields.pop("sender")
    body = fields.pop("body")
    head = (f"{name}: {json.dumps(said)}\n" for name, said in fields.items() if said is not None)
    return f"---\n{''.join(head)}---\n{body}"


@given(MESSAGES)
def test_a_message_is_read_back_as_written(message: MessageFile) -> None:
    written = as_file(message)
    assert read_message_file(written) == message
    assert read_message_file(written.encode()) == message


@given(MESSAGES, TEXT.filter(bool), st.booleans())
def test_a_fixed_head_differs_only_in_subject_and_flag(
    message: MessageFile, subject: str, ack: bool
) -> None:
    head = find_front_matter(as_file(message))
    assert head is not None
    said = ack if message.ack_required is not None else None
    wanted = msgspec.structs.replace(message, subject=subject, ack_required=said)
    assert read_message_file(fix_front_matter(head, subject, ack) + message.body) == wanted


def test_a_json_object_has_no_head() -> None:
    assert find_front_matter('{"subject": "INFO: x"}') is None


def test_plain_front_matter_is_read_too() -> None:
    text = (
        "\ufeff---\r\nfrom: amber-otter\r\nto:\r\n  - teal-crane\r\n  - coral-finch\r\n"
        "cc: [a-b, 'c-d']\r\nsubject: KICKOFF: go\r\nack_required: yes\r\n# remark\r\n"
        "mood: fine\r\n---\r\n# Go\r\n"
    )
    assert read_message_file(text.encode()) == MessageFile(
        subject="KICKOFF: go",
        body="# Go\r\n",
        sender="amber-otter",
        to=("teal-crane", "coral-finch"),
        cc=("a-b", "c-d"),
        ack_required=True,
    )


def test_a_json_object_is_read_too() -> None:
    text = (
        '{"id": 7, "sender_name": "amber-otter", "to": ["teal-crane"], "subject": "INFO: x",'
        ' "body_md": "# Information", "ack_required": false, "thread": "auth"}'
    )
    assert read_message_file(text) == MessageFile(
        id="7",
        subject="INFO: x",
        body="# Information",
        sender="amber-otter",
        to=("teal-crane",),
        thread_id="auth",
        ack_required=False,
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no front matter",
        "---\nsubject: x\n",
        "---\nfrom: x\n---\nno subject",
        "---\nsubject: a\nsubject: b\n---\n",
        "---\nfrom: a\nsender: b\nsubject: x\n---\n",
        "---\nsubject\n---\n",
        "---\nsubject: x\nack_required: maybe\n---\n",
        "---\nsubject: x\ncreated_at: yesterday\n---\n",
        "{",
        "[]",
        '{"subject": 1.5}',
        '{"subject": "x", "to": 7}',
        '{"subject": "x", "subject": "y"}',
        '{"subject": "x", "body": "a", "body_md": "b"}',
        '{"subject": "\\ud800"}',
        "---\nsubject: \ud800\n---\n",
        b"---\nsubject: \xff\n---\n",
    ],
)
def test_anything_else_is_malformed(text: str | bytes) -> None:
    with pytest.raises(Malformed):
        read_message_file(text)


@given(st.binary() | st.text().map(lambda text: f"---\n{text}\n---\n".encode("utf-8", "replace")))
def test_any_bytes_are_read_or_malformed(data: bytes) -> None:
    with suppress(Malformed):
        assert read_message_file(data).subject


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("brenner_bot-5so.3.4", ThreadKind.WORK),
        ("auth-cache", ThreadKind.WORK),
        ("RS-20251230-cell-fate", ThreadKind.RESEARCH),
        ("COORD-release-2", ThreadKind.COORDINATION),
    ],
)
def test_a_thread_is_named_in_one_of_three_ways(text: str, kind: ThreadKind) -> None:
    assert require_thread_kind(text) is kind
    assert require_thread_id(text) == text
    assert is_thread_id(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "invalid_bead_id"),
        ("a..b", "invalid_bead_id"),
        ("a b", "invalid_bead_id"),
        ("a\n", "invalid_bead_id"),
        ("a" * 200, "invalid_bead_id"),
        ("RS-2025-x", "invalid_rs_thread_id"),
        ("RS-٢٠٢٥١٢١٥-xx", "invalid_rs_thread_id"),
        ("COORD-x", "invalid_coord_thread_id"),
        ("COORD-Release!", "invalid_coord_thread_id"),
    ],
)
def test_another_id_is_refused_with_its_own_code(text: str, code: str) -> None:
    with pytest.raises(Malformed) as caught:
        require_thread_id(text)
    assert caught.value.code == code
    assert caught.value.hint
    assert not is_thread_id(text)


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("RS-20251215-mRNA-decay-paradox", "RS-20251215-mrna-decay-paradox"),
        ("rs-20251230-cell", "RS-20251230-cell"),
        ("COORD-Release", "COORD-release"),
        ("Auth", "auth"),
    ],
)
def test_an_id_with_other_capitals_is_written_in_ours(typed: str, written: str) -> None:
    assert require_thread_id(typed) == written
    assert not is_thread_id(typed)
    assert is_thread_id(written)


@pytest.mark.parametrize(
    ("said", "flag"),
    [("1", True), ('"true"', True), ("0", False), ('"No"', False), ("null", None), ("true", True)],
)
def test_a_flag_is_read_however_it_was_written(said: str, flag: bool | None) -> None:
    assert (
        read_message_file(f'{{"subject": "INFO: x", "ack_required": {said}}}').ack_required is flag
    )
    front = f"---\nsubject: INFO: x\nack_required: {said}\n---\n"
    assert read_message_file(front).ack_required is flag


@pytest.mark.parametrize("line", ["ack_required: perhaps", "ack_required: 2", "created_at: 5 May"])
def test_what_cannot_be_read_is_reported_with_what_to_do(line: str) -> None:
    with pytest.raises(Malformed) as caught:
        read_message_file(f"---\nsubject: INFO: x\n{line}\n---\n")
    assert caught.value.hint
    assert line.partition(":")[0] in str(caught.value)
