"""Texts of a command: said at all, and not too long."""

from __future__ import annotations

import msgspec
import pytest

from moot.core.machine import empty, too_long
from moot.core.text import plural


class Say(msgspec.Struct, frozen=True):
    title: str
    why: str = "because"


class Asked(msgspec.Struct, frozen=True):
    command: Say


def test_a_text_of_nothing_but_white_space_says_nothing() -> None:
    check = empty("title", "why")
    assert list(check(Asked(Say(" \n\t", "")))) == [
        ("title is empty", "title"),
        ("why is empty", "why"),
    ]
    assert list(check(Asked(Say("x")))) == []


def test_a_text_may_be_exactly_as_long_as_allowed() -> None:
    check = too_long(3, "title")
    assert list(check(Asked(Say("ééé")))) == []
    assert list(check(Asked(Say("abcd")))) == [("title is longer than 3 characters", "title")]


# How many of something, in words that fit.


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 events"), (1, "1 event"), (2, "2 events"), (412, "412 events")]
)
def test_only_one_is_one(number: int, said: str) -> None:
    assert plural(number, "event") == said


def test_a_noun_may_have_a_form_of_its_own() -> None:
    assert plural(1, "entry", "entries") == "1 entry"
    assert plural(2, "entry", "entries") == "2 entries"
