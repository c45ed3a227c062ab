"""How many of something, in words that fit."""

from __future__ import annotations

import pytest

from moot.core.plural import plural


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 events"), (1, "1 event"), (2, "2 events"), (412, "412 events")]
)
def test_only_one_is_one(number: int, said: str) -> None:
    assert plural(number, "event") == said


def test_a_noun_may_have_a_form_of_its_own() -> None:
    assert plural(1, "entry", "entries") == "1 entry"
    assert plural(2, "entry", "entries") == "2 entries"
