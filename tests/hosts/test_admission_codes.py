"""The word by which a person asks to be admitted: read back as it was made, or Malformed."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.api.presence.admitting import MOST_CHARACTERS, make_admission, read_admission
from moot.core.errors import Malformed
from moot.core.signing import Signer

ORIGIN = "moot.ledger/" + "ab" * 16
CUSTODIAN = "0123456789abcdef" * 2
NAMES = st.from_regex(r"[a-z0-9]{1,16}(-[a-z0-9]{1,15}){1,2}", fullmatch=True)


@given(NAMES, st.binary(min_size=32, max_size=32))
def test_a_word_is_read_back_as_it_was_made(name: str, seed: bytes) -> None:
    asked = make_admission(ORIGIN, name, Signer(seed), CUSTODIAN)
    assert len(asked.text) <= MOST_CHARACTERS
    assert read_admission(f" {asked.text}\n") == asked
    assert asked.kid.startswith(asked.fingerprint.replace(" ", ""))


@given(st.text(max_size=MOST_CHARACTERS + 20))
def test_any_other_text_is_malformed(text: str) -> None:
    for word in (text, f"bob#{text}"):
        with pytest.raises(Malformed) as refused:
            read_admission(word)
        assert (refused.value.code, bool(refused.value.hint)) == ("bad_admission", True)


@given(st.data())
def test_no_changed_word_says_anything_else(data: st.DataObject) -> None:
    """Some spellings of the same bytes are read; they say the same."""
    asked = make_admission(ORIGIN, "bob-one", Signer(bytes(range(32))), CUSTODIAN)
    at = data.draw(st.integers(0, len(asked.text) - 1))
    letter = data.draw(st.characters())
    with suppress(Malformed):
        assert read_admission(asked.text[:at] + letter + asked.text[at + 1 :]) == asked


@pytest.mark.parametrize("packed", ["wA", "kA", "lgHEAA", "3f____8", "2aAAAA"])
def test_bytes_that_hold_something_else_are_malformed(packed: str) -> None:
    with pytest.raises(Malformed):
        read_admission(f"bob#{packed}")
