"""What an event keeps of a long text: its beginning, and the words of the rest."""

from __future__ import annotations

import pytest

from moot.core.record import MAX_TEXT_BYTES, ArtifactRef
from moot.mail.excerpt import EXCERPT_BYTES, kept

SOMEWHERE = ArtifactRef(sha256="0" * 64, size=1, media_type="text/markdown")


def test_a_short_text_is_kept_as_it_is() -> None:
    assert kept("a b\n", None) == kept("a b\n", SOMEWHERE) == ("a b\n", 4, None, "")


def test_each_further_word_is_kept_once_in_order() -> None:
    text = "start " * 4_000 + "one Two_three TWO start\n\x1b[31m one — four"
    found = kept(text, SOMEWHERE)
    assert found.text == text[:EXCERPT_BYTES]
    assert (found.size, found.sha256) == (len(text.encode()), SOMEWHERE.sha256)
    assert found.words == "one two three 31m four"


def test_a_word_that_the_beginning_cuts_is_found() -> None:
    text = "x" * (EXCERPT_BYTES - 3) + " hypothalamus " + "y " * 10_000
    assert "hypothalamus" in kept(text, SOMEWHERE).words.split()


@pytest.mark.parametrize("letter", ["a", "é", "雪", "𝒳"])
def test_words_never_outgrow_an_event(letter: str) -> None:
    text = " ".join(f"{letter}{number}" for number in range(20_000))
    words = kept(text, SOMEWHERE).words
    assert MAX_TEXT_BYTES - 100 < len(words.encode()) <= MAX_TEXT_BYTES
    assert set(words.split()) <= set(text.split())
