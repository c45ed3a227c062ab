"""Maps in pages: like a dict that is always sorted, and read only where one looks."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.paged_map import PAGE_ENTRIES, SHORT_BYTES, PagedMap, _begins_page
from tests.core.paged_map_reads import count_decoded


class Entry(msgspec.Struct, frozen=True, array_like=True):
    key: str
    size: int
    place: str = ""

    NOTED_FIELDS = ("place",)


# Few names, so that they meet again, of both kinds: those that begin a page and those that do not.
BEGINNING = [name for name in (f"n{number}" for number in range(900)) if _begins_page(name)][:12]
NAMES = st.sampled_from([*BEGINNING, *(f"n{number}" for number in range(24)), "", "z", "\ud800"])
STEPS = st.lists(st.tuples(NAMES, st.none() | st.integers(0, 9)), max_size=60)


def many(count: int) -> dict[str, Entry]:
    return {f"key-{n}": Entry(f"key-{n}", n, f"/place-{n % 2}") for n in range(count)}


def stored(entries: PagedMap[Entry]) -> PagedMap[Entry]:
    return PagedMap.from_stored(entries.to_stored(), Entry)


@given(STEPS)
def test_it_is_a_sorted_dict_whatever_was_set_and_deleted(
    steps: list[tuple[str, int | None]],
) -> None:
    plain: dict[str, Entry] = {}
    paged: PagedMap[Entry] = PagedMap()
    for name, size in steps:
        if size is not None:
            plain[name] = Entry(name, size)
            paged = paged.set(name, plain[name])
        elif name in plain:
            del plain[name]
            paged = paged.delete(name)
        assert list(paged.items()) == sorted(plain.items())
        assert paged == PagedMap(plain), "pages depend on the entries alone"
        assert hash(paged) == hash(PagedMap(plain))
        assert len(paged) == len(plain)
        assert paged.get(name) == plain.get(name)


@given(STEPS, NAMES, NAMES)
def test_a_run_of_keys_is_what_a_scan_would_find(
    steps: list[tuple[str, int | None]], start: str, stop: str
) -> None:
    plain = {name: Entry(name, size or 0) for name, size in steps}
    wanted = tuple(plain[name] for name in sorted(plain) if start <= name < stop)
    assert PagedMap(plain).between(start, stop) == wanted


def test_what_is_not_there_is_a_key_error_and_changes_nothing() -> None:
    for paged in (PagedMap[Entry](), PagedMap(many(3))):
        before = dict(paged)
        with pytest.raises(KeyError):
            paged.delete("nobody")
        with pytest.raises(KeyError):
            paged["nobody"]
        assert "nobody" not in paged
        assert None not in paged
        assert dict(paged) == before


def test_a_stored_map_is_decoded_only_where_it_is_looked_at() -> None:
    paged = PagedMap(many(5_000))
    again = stored(paged)
    assert (len(again), count_decoded(again)) == (5_000, 0)
    assert again["key-77"] == paged["key-77"]
    assert "no-key" not in again
    assert count_decoded(again) <= 2
    assert again == paged
    assert list(again.values()) == [paged[key] for key in sorted(paged)]


def test_a_change_touches_one_page_and_stores_the_others_as_they_were() -> None:
    again = stored(PagedMap(many(5_000)))
    changed = again.set("key-77", Entry("key-77", -1))
    changed.to_stored()
    assert count_decoded(changed) == 1
    assert (
        changed.to_stored() == PagedMap({**many(5_000), "key-77": Entry("key-77", -1)}).to_stored()
    )
    assert again["key-77"].size == 77, "the map before has not changed"


def test_stored_bytes_do_not_depend_on_the_way_there() -> None:
    forward, backward = PagedMap[Entry](), PagedMap[Entry]()
    entries = many(300)
    for key in entries:
        forward = forward.set(key, entries[key])
    for key in reversed(entries):
        backward = stored(backward.set(key, Entry(key, -1)).set(key, entries[key]))
    assert forward.to_stored() == backward.to_stored() == PagedMap(entries).to_stored()


def test_pages_are_as_long_as_meant_and_long_ones_are_compressed() -> None:
    paged = PagedMap(many(5_000))
    pages = len(list(paged.pages()))
    assert 5_000 / PAGE_ENTRIES / 2 < pages < 5_000 / PAGE_ENTRIES * 2
    alike = PagedMap({key: Entry(key, 0, "a long place " * 20) for key in many(200)})
    assert len(alike.to_stored()) < 200 * len("a long place " * 20) / 4
    small = PagedMap(many(3))
    assert len(small.to_stored()) < SHORT_BYTES
    assert b"key-2" in small.to_stored()


def test_what_the_entries_note_is_known_before_and_after_a_change() -> None:
    again = stored(PagedMap(many(500)))
    assert again.notes() == {("/place-0",), ("/place-1",)}
    assert count_decoded(again) == 0
    assert again.set("x", Entry("x", 1, "/other")).notes() == {*again.notes(), ("/other",)}
    assert PagedMap(many(1)).delete("key-0").notes() == set()


def test_entries_are_counted_by_the_notes_of_their_pages_where_these_suffice() -> None:
    def is_at_first_place(entry: Entry) -> bool:
        return entry.place == "/first"

    here = {f"a-{n}": Entry(f"a-{n}", n, "/first") for n in range(10 * PAGE_ENTRIES)}
    there = {"b": Entry("b", 1, "/second")}
    again = stored(PagedMap({**here, **there}))
    assert again.count_where(frozenset({("/first",)}), is_at_first_place) == len(here)
    assert count_decoded(again) == 1, "the page that has the other one"
    assert (
        again.set("c", Entry("c", 1, "/first")).count_where(
            frozenset({("/first",)}), is_at_first_place
        )
        == len(here) + 1
    )
    assert PagedMap[Entry]().count_where(frozenset(), is_at_first_place) == 0


class Owned(msgspec.Struct, frozen=True, array_like=True):
    key: str
    owner: str

    LISTED_FIELD = "owner"


def owned(count: int) -> PagedMap[Owned]:
    return PagedMap({f"key-{n}": Owned(f"key-{n}", f"owner-{n % 7}") for n in range(count)})


def test_what_pages_list_is_known_without_decoding_them() -> None:
    again = PagedMap.from_stored(owned(200).to_stored(), Owned)
    seen = list(again.listed())
    assert count_decoded(again) == 0
    assert set().union(*seen) == {f"owner-{n}" for n in range(7)}
    assert seen == list(owned(200).listed())
    assert seen[1] == {one.owner for one in again.page(1).values()}
    assert count_decoded(again) == 1
    assert list(again.listed()) == seen


def test_a_changed_page_lists_what_it_holds_now() -> None:
    again = PagedMap.from_stored(owned(200).to_stored(), Owned)
    changed = again.set("key-5", Owned("key-5", "somebody"))
    for entries in (changed, PagedMap.from_stored(changed.to_stored(), Owned)):
        assert "somebody" in set().union(*entries.listed())


def test_pages_stored_without_a_list_are_decoded_for_it() -> None:
    """As earlier versions stored them."""
    pages = msgspec.msgpack.decode(owned(200).to_stored())
    earlier = msgspec.msgpack.encode([page[:5] for page in pages])
    again = PagedMap.from_stored(earlier, Owned)
    assert list(again.listed()) == list(owned(200).listed())


def test_entries_without_such_a_field_list_nothing() -> None:
    assert set().union(*PagedMap(many(100)).listed()) == set()
    assert set().union(*stored(PagedMap(many(100))).listed()) == set()


def test_a_page_is_compressed_only_if_it_is_longer_than_a_kibibyte() -> None:
    around = 6  # bytes of msgpack around the value of one entry
    short, long = ("x" * (1_024 - around + more) for more in (0, 1))
    assert short.encode() in PagedMap({"a": short}).to_stored()
    assert long.encode() not in PagedMap({"a": long}).to_stored()


def test_maps_of_different_sizes_differ_without_reading_their_pages() -> None:
    names = [f"n{number}" for number in range(9) if not _begins_page(f"n{number}")]
    few, more = (stored(PagedMap({n: Entry(n, 0) for n in names[:count]})) for count in (3, 4))
    assert few != more
    assert (count_decoded(few), count_decoded(more)) == (0, 0)


# Two maps with as many entries are equal only if their entries are.


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
