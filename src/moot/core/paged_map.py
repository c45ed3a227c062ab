"""A sorted map of many entries, in pages: read from a snapshot page by page, changed page by page.

A hook is a new process for every edit. It looks at one or two of thousands of agents and
reservations, so it must not pay for decoding all of them: a page stays the bytes that it was
stored as until somebody looks into it. A change copies one page and the list of pages, never all
entries, and a page that did not change is stored again as the bytes it was.

Where a page begins depends on the keys alone (`_begins_page`), not on the order of changes: equal
maps have equal pages, and so equal bytes in every process.
"""

# No postponed annotations: msgspec would compile each of them anew in every hook.

from bisect import bisect_left, bisect_right
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, ValuesView
from functools import lru_cache
from operator import attrgetter
from types import GenericAlias
from typing import Any, Final, Generic, TypeVar
from zlib import compress, crc32, decompress

import msgspec

from moot.core.prepared_types import prepare_type

V = TypeVar("V")

PAGE_ENTRIES: Final = 32  # on average
SHORT_BYTES: Final = 1_024  # such a page is stored as it is
FAST: Final = 1  # of zlib's levels


def _begins_page(key: str) -> bool:
    return crc32(key.encode(errors="surrogatepass")) % PAGE_ENTRIES == 0


Note = tuple[str | bool | None, ...]


class _StoredPage(msgspec.Struct, frozen=True, array_like=True):
    """A page as it stands in a snapshot: its first key, how many it has, and their bytes.

    A long page is `compressed`: whoever starts reads and hashes all of them, and looks into few.
    `notes` are the different values, over all entries, of the fields that their type names in
    `NOTED_FIELDS`: worktrees, say. So these are known without decoding the page. `entries` lie in
    the snapshot's own bytes: nothing is copied for a page that nobody looks into. So do `listed`,
    the different values of the one field that their type names as `LISTED_FIELD`: owners, say. They
    are many, and are read only by whoever asks for them. Earlier versions stored no such list.
    """

    first: str
    count: int
    notes: tuple[Note, ...]
    compressed: bool
    entries: memoryview
    listed: memoryview = memoryview(b"")


class _Page(Generic[V]):
    """Some neighbouring entries, in the order of their keys: as stored, as a dict, or both."""

    __slots__ = ("_entries", "_kind", "_stored", "count", "first")

    def __init__(
        self,
        first: str,
        count: int,
        entries: dict[str, V] | None = None,
        stored: _StoredPage | None = None,
        kind: Any = None,
    ) -> None:
        self.first, self.count = first, count
        self._entries, self._stored, self._kind = entries, stored, kind

    @property
    def entries(self) -> dict[str, V]:
        """What it holds; decoded when first asked for. Nobody changes this dict."""
        if self._entries is None:
            self._entries = _page_decoder(self._kind).decode(self.plain)
        return self._entries

    @property
    def plain(self) -> bytes | memoryview:
        """Its entries as they are stored, not compressed."""
        packed = self.stored.entries
        return decompress(packed) if self.stored.compressed else packed

    @property
    def stored(self) -> _StoredPage:
        if self._stored is None:
            notes = tuple(sorted(set(map(_take_note, self.entries.values())), key=repr))
            plain = _encode(self.entries)
            long = len(plain) > SHORT_BYTES
            packed = compress(plain, FAST) if long else plain
            self._stored = _StoredPage(
                self.first,
                self.count,
                notes,
                long,
                memoryview(packed),
                memoryview(_encode(sorted(self._list_values()))),
            )
        return self._stored

    @property
    def listed(self) -> set[str]:
        if self._entries is None and self.stored.listed:
            return _decode_texts(self.stored.listed)
        return self._list_values()

    def _list_values(self) -> set[str]:
        values = self.entries.values()
        field = getattr(next(iter(values)), "LISTED_FIELD", None)
        return set(map(attrgetter(field), values)) if field else set()

    def count_where(self, notes: frozenset[Note], test: Callable[[V], bool]) -> int:
        if self._entries is None and notes.issuperset(self.stored.notes):
            return self.count
        return sum(map(test, self.entries.values()))

    def is_equal(self, other: "_Page[V]") -> bool:
        if self is other:
            return True
        if (self.first, self.count) != (other.first, other.count):
            return False
        return self.entries == other.entries


def _take_note(entry: Any) -> Note:
    return tuple(getattr(entry, name) for name in getattr(entry, "NOTED_FIELDS", ()))


_encode = msgspec.msgpack.Encoder().encode
_decode_texts = msgspec.msgpack.Decoder(set[str]).decode
_decode_pages = msgspec.msgpack.Decoder(tuple[_StoredPage, ...]).decode
_first: Final = attrgetter("first")


@lru_cache
def _page_decoder(kind: Any) -> msgspec.msgpack.Decoder[dict[str, Any]]:
    pages = GenericAlias(dict, (str, kind))
    prepare_type(pages)
    return msgspec.msgpack.Decoder(pages)


class PagedMap(Mapping[str, V]):
    """Entries by text keys, in their order. Immutable: `set` and `delete` give another map.

    Values are of one type that msgspec stores as it is, without other maps of this kind inside.
    """

    __slots__ = ("_count", "_pages")

    def __init__(self, entries: Mapping[str, V] | None = None) -> None:
        self._pages = tuple(_cut(sorted(entries.items()) if entries else ()))
        self._count = len(entries) if entries else 0

    @classmethod
    def from_stored(cls, stored: bytes, kind: type[V]) -> "PagedMap[V]":
        """The map that `to_stored` wrote, with values of `kind`; no page is decoded for it."""
        pages: tuple[_Page[V], ...] = tuple(
            _Page(page.first, page.count, stored=page, kind=kind) for page in _decode_pages(stored)
        )
        return _map_of(pages, sum(page.count for page in pages))

    def to_stored(self) -> bytes:
        return _encode([page.stored for page in self._pages])

    def __getitem__(self, key: str) -> V:
        # As `_page_at(_place(key))`, without their calls: every command looks up who acts.
        pages = self._pages
        if not pages or not isinstance(key, str):  # `None in agents` is no error
            raise KeyError(key)
        place = bisect_right(pages, key, key=_first) - 1
        return pages[place if place > 0 else 0].entries[key]

    def __iter__(self) -> Iterator[str]:
        for page in self._pages:
            yield from page.entries

    def __len__(self) -> int:
        return self._count

    def values(self) -> ValuesView[V]:
        return _Values(self)

    def items(self) -> ItemsView[str, V]:
        return _Items(self)

    def pages(self) -> Iterator[dict[str, V]]:
        """The entries, page after page, each decoded when its turn comes."""
        return (page.entries for page in self._pages)

    def notes(self) -> set[Note]:
        """The different values of what the entries' type names in `NOTED_FIELDS`."""
        return {note for page in self._pages for note in page.stored.notes}

    def listed(self) -> Iterator[set[str]]:
        """Of every page, the different values of what the entries' type names as `LISTED_FIELD`."""
        return (page.listed for page in self._pages)

    def page(self, number: int) -> Mapping[str, V]:
        """The entries of one page, by its place among what `listed` gave."""
        return self._pages[number].entries

    def count_where(self, notes: frozenset[Note], test: Callable[[V], bool]) -> int:
        """How many entries pass the test; all of a page whose every note is among `notes` do, so
        such a page is not decoded."""
        return sum(page.count_where(notes, test) for page in self._pages)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PagedMap):
            return NotImplemented
        mine, theirs = self._pages, other._pages
        return len(mine) == len(theirs) and all(map(_Page.is_equal, mine, theirs))

    def __hash__(self) -> int:
        return hash(tuple((page.first, page.count) for page in self._pages))

    def __repr__(self) -> str:
        return f"PagedMap({dict(self)!r})"

    def between(self, start: str, stop: str) -> tuple[V, ...]:
        """The values from `start` up to and without `stop`, in the order of their keys."""
        last = bisect_left(self._pages, stop, key=_first)
        return tuple(
            value
            for page in self._pages[self._place(start) : last]
            for key, value in page.entries.items()
            if start <= key < stop
        )

    def set(self, key: str, value: V) -> "PagedMap[V]":
        """With `value` under `key`, instead of what is there."""
        at = self._place(key)
        entries = self._page_at(at)
        changed = {**entries, key: value}
        if key in entries:
            return self._with(at, at + 1, (_page_of(changed),), 0)
        return self._with(at, at + 1, tuple(_cut(sorted(changed.items()))), 1)

    def delete(self, key: str) -> "PagedMap[V]":
        """Without `key`, which must be there."""
        at = self._place(key)
        rest = {**self._page_at(at)}
        del rest[key]
        if at and not (rest and _begins_page(next(iter(rest)))):  # it goes on from the one before
            joined = {**self._page_at(at - 1), **rest}
            return self._with(at - 1, at + 1, (_page_of(joined),), -1)
        return self._with(at, at + 1, (_page_of(rest),) if rest else (), -1)

    def _place(self, key: str) -> int:
        """Which page has the key, if any has: the last that begins at or before it."""
        return max(bisect_right(self._pages, key, key=_first) - 1, 0)

    def _page_at(self, place: int) -> dict[str, V]:
        return self._pages[place].entries if self._pages else {}

    def _with(
        self, start: int, stop: int, instead: tuple[_Page[V], ...], more: int
    ) -> "PagedMap[V]":
        return _map_of(self._pages[:start] + instead + self._pages[stop:], self._count + more)


class _Values(ValuesView[V]):
    """All values; without a search for each key, which is the usual way of a mapping."""

    _mapping: PagedMap[V]

    def __iter__(self) -> Iterator[V]:
        for entries in self._mapping.pages():
            yield from entries.values()


class _Items(ItemsView[str, V]):
    _mapping: PagedMap[V]

    def __iter__(self) -> Iterator[tuple[str, V]]:
        for entries in self._mapping.pages():
            yield from entries.items()


def _map_of(pages: tuple[_Page[V], ...], count: int) -> PagedMap[V]:
    made: PagedMap[V] = PagedMap.__new__(PagedMap)
    made._pages, made._count = pages, count
    return made


def _cut(entries: Iterable[tuple[str, V]]) -> Iterator[_Page[V]]:
    """Sorted entries as pages: one begins at the first of them, and wherever a key begins one."""
    page: dict[str, V] = {}
    for key, value in entries:
        if page and _begins_page(key):
            yield _page_of(page)
            page = {}
        page[key] = value
    if page:
        yield _page_of(page)


def _page_of(entries: dict[str, V]) -> _Page[V]:
    return _Page(next(iter(entries)), len(entries), entries)
