"""Texts of a command: said at all, and not too long."""

from __future__ import annotations

import msgspec

from moot.core.wording import empty, too_long


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
