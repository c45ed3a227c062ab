"""Two maps with as many entries are equal only if their entries are."""

from __future__ import annotations

import pytest

from moot.core.paged_map import PagedMap


@pytest.mark.parametrize("other", [{"b": 1, "c": 2}, {"a": 1, "d": 2}, {"a": 1, "c": 3}, {"a": 1}])
def test_maps_that_differ_are_not_equal(other: dict[str, int]) -> None:
    assert PagedMap({"a": 1, "c": 2}) == PagedMap({"c": 2, "a": 1})
    assert PagedMap({"a": 1, "c": 2}) != PagedMap(other)


def test_maps_that_share_pages_are_equal_if_the_others_are() -> None:
    paged = PagedMap({f"key-{number}": number for number in range(500)})
    assert paged == paged.set("key-7", 7)
    assert paged != paged.set("key-7", 8)


def test_a_map_equals_no_dict() -> None:
    assert PagedMap({"a": 1}) != {"a": 1}
