"""Families are read off the names alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.presence.agent_names import family_of, list_family, next_in_family

NAMES = frozenset({"alice", "alice-2", "alice-10", "agent-7", "amber-otter", "amber-otter-2"})


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("alice", "alice"),
        ("alice-2", "alice"),
        ("alice-10", "alice"),
        ("alice-1", "alice-1"),  # nobody is numbered 1: that is a name somebody chose
        ("alice-02", "alice-02"),
        ("agent-7", "agent-7"),  # nobody is called agent
        ("amber-otter-2", "amber-otter"),
        ("amber-otter", "amber-otter"),
    ],
)
def test_a_number_behind_a_registered_name_is_its_family(name: str, family: str) -> None:
    assert family_of(name, NAMES) == family


def test_a_family_is_listed_by_number() -> None:
    assert list_family("alice-2", NAMES) == ("alice", "alice-2", "alice-10")
    assert list_family("teal-crane", NAMES) == ()


names = st.sets(st.from_regex(r"\A[ab](-[2-9])?\Z"), min_size=1)


@given(names, st.from_regex(r"\A[ab](-[2-9])?\Z"))
def test_the_next_of_a_family_is_nobodys_name_and_of_that_family(
    registered: set[str], name: str
) -> None:
    registered |= {name}
    following = next_in_family(name, registered)
    assert following not in registered
    assert family_of(following, {*registered, following}) == family_of(name, registered)
