"""Checkpoints as signed notes: their exact form, and that nothing in them can be changed."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nacl.signing import SigningKey, VerifyKey

from moot.core.checkpoint_note import Checkpoint, read_note, sign_note
from moot.core.errors import Malformed
from moot.core.signing import Signer

SEED = hashlib.sha256(b"note test").digest()
SIGNER = Signer(SEED)
OTHER = Signer(hashlib.sha256(b"another").digest())
CHECKPOINT = Checkpoint(
    origin="moot.ledger/" + "a" * 32,
    streams=3,
    root=hashlib.sha256(b"root").digest(),
    number=7,
    events=120,
    at="2026-02-18T16:00:00.000Z",
)
NOTE = sign_note(CHECKPOINT, SIGNER)


def refused(note: str, public: bytes = SIGNER.public) -> None:
    with pytest.raises(Malformed) as caught:
        read_note(note, public)
    assert caught.value.code == "bad_note"


@pytest.mark.requirement("LDG-032")
def test_a_note_has_the_form_that_other_tools_read() -> None:
    """C2SP signed-note: text, empty line, em dash, name, base64 of key hash and signature."""
    text, _, signature_line = NOTE.partition("\n\n")
    origin, streams, root, ours = text.split("\n")
    assert origin == CHECKPOINT.origin
    assert streams == "3"
    assert base64.b64decode(root) == CHECKPOINT.root
    assert ours == "moot 7 120 2026-02-18T16:00:00.000Z"
    dash, name, stamp = signature_line.removesuffix("\n").split(" ")
    assert (dash, name) == ("\u2014", origin)
    raw = base64.b64decode(stamp, validate=True)
    hashed = hashlib.sha256(origin.encode() + b"\n" + b"\x01" + SIGNER.public).digest()
    assert raw[:4] == hashed[:4]
    VerifyKey(SIGNER.public).verify((text + "\n").encode(), raw[4:])


@pytest.mark.requirement("LDG-032")
def test_a_note_written_by_another_tool_is_read() -> None:
    text = CHECKPOINT.text()
    key = SigningKey(SEED)
    hashed = hashlib.sha256(CHECKPOINT.origin.encode() + b"\n\x01" + bytes(key.verify_key)).digest()
    stamp = base64.b64encode(hashed[:4] + key.sign(text.encode()).signature).decode()
    assert read_note(f"{text}\n\u2014 {CHECKPOINT.origin} {stamp}\n", SIGNER.public) == CHECKPOINT


NUMBERS = st.integers(0, 10**16 - 1)


@pytest.mark.requirement("LDG-032")
@given(NUMBERS, NUMBERS, NUMBERS, st.binary(min_size=32, max_size=32))
@example(0, 0, 0, bytes(32))
def test_what_is_signed_reads_back(streams: int, number: int, events: int, root: bytes) -> None:
    made = Checkpoint(CHECKPOINT.origin, streams, root, number, events, CHECKPOINT.at)
    assert read_note(sign_note(made, SIGNER), SIGNER.public) == made


@pytest.mark.requirement("LDG-033")
@pytest.mark.parametrize("change", [1, 2, 0x20])
def test_any_changed_character_is_refused(change: int) -> None:
    for place, character in enumerate(NOTE):
        refused(NOTE[:place] + chr(ord(character) ^ change) + NOTE[place + 1 :])


@pytest.mark.requirement("LDG-033")
@pytest.mark.parametrize("extra", ["\n", " ", "0", "="])
def test_any_added_character_is_refused(extra: str) -> None:
    for place in range(len(NOTE) + 1):
        refused(NOTE[:place] + extra + NOTE[place:])


@pytest.mark.requirement("LDG-033")
def test_any_missing_character_and_any_shorter_note_is_refused() -> None:
    for place in range(len(NOTE)):
        refused(NOTE[:place] + NOTE[place + 1 :])
        refused(NOTE[:place])


@pytest.mark.requirement("LDG-033")
def test_a_note_by_another_key_is_refused() -> None:
    refused(sign_note(CHECKPOINT, OTHER))
    refused(NOTE, OTHER.public)


@pytest.mark.requirement("LDG-033")
def test_the_key_hash_alone_does_not_make_a_note() -> None:
    """A forger who copies the right key hash still lacks the signature."""
    raw = bytearray(base64.b64decode(NOTE.rsplit(" ", 1)[1]))
    forged = base64.b64decode(sign_note(CHECKPOINT, OTHER).rsplit(" ", 1)[1])
    raw[4:] = forged[4:]
    refused(f"{CHECKPOINT.text()}\n\u2014 {CHECKPOINT.origin} {base64.b64encode(raw).decode()}\n")


@pytest.mark.parametrize("number", ["01", "+1", "-1", "", "1.0", "\u0661", "1" * 17])
def test_a_number_has_one_form_even_if_signed(number: str) -> None:
    text = CHECKPOINT.text().replace("\n3\n", f"\n{number}\n")
    stamp = NOTE.rsplit(" ", 1)[1]
    hashed = base64.b64decode(stamp)[:4]
    signed = base64.b64encode(hashed + SIGNER.sign_raw(text.encode())).decode()
    refused(f"{text}\n\u2014 {CHECKPOINT.origin} {signed}\n")


def test_a_root_in_a_second_base64_form_is_refused_even_if_signed() -> None:
    root = base64.b64encode(CHECKPOINT.root).decode()
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    twin = root[:42] + alphabet[alphabet.index(root[42]) ^ 1] + "="
    assert base64.b64decode(twin) == CHECKPOINT.root
    text = CHECKPOINT.text().replace(root, twin)
    hashed = base64.b64decode(NOTE.rsplit(" ", 1)[1])[:4]
    signed = base64.b64encode(hashed + SIGNER.sign_raw(text.encode())).decode()
    refused(f"{text}\n\u2014 {CHECKPOINT.origin} {signed}\n")


@given(st.text(max_size=200))
@example("\n\n")
@example("a\n1\n\n\u2014 ")
@example("\ud800\n\n\ud800")
def test_any_text_is_refused_and_never_crashes(text: str) -> None:
    refused(text)
