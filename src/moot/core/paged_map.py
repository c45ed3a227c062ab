"""A sorted map of many entries, in pages: read from a snapshot page by page, changed page by page.

A hook is a new process for every edit. It needs one or two of thousands of agents and
reservations, so it must not decode all of them: a page stays encoded until an entry of it is read.
A change copies one page and the list of pages, never all entries. A page that did not change is
stored with the same bytes.

Where a page begins depends only on the keys (`_begins_page`), not on the order of changes: equal
maps have equal pages, and so equal bytes in every process.
"""

from __future__ import annotations

from _thread import allocate_lock  # `threading` is loaded by no hook
from bisect import bisect_left, bisect_right
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, ValuesView
from functools import lru_cache
from operator import attrgetter
from types import GenericAlias
from typing import Any, Final, Generic, TypeVar, get_args, get_origin
from zlib import compress, crc32, decompress

import msgspec
from immutables import Map
from msgspec.msgpack import Decoder

# msgspec compiles a type when it first decodes into it, and two threads that do so with a nested
# type at the same moment crash the process. So `prepare_type` compiles each type under one lock.

_lock = allocate_lock()
_prepared: set[Any] = set()


def prepare_type(kind: Any) -> None:
    """Make msgspec compile a type and all types in it; do nothing if that was done before."""
    if kind in _prepared:
        return
    with _lock:
        Decoder(kind)
        _prepared.add(kind)


V = TypeVar("V")

PAGE_ENTRIES: Final = 32  # on average
SHORT_BYTES: Final = 1_024  # a page up to this size is not compressed
FAST: Final = 1  # a zlib level


def _begins_page(key: str) -> bool:
    return crc32(key.encode(errors="surrogatepass")) % PAGE_ENTRIES == 0


Note = tuple[str | bool | None, ...]


class _StoredPage(msgspec.Struct, frozen=True, array_like=True):
    """A page in a snapshot: its first key, the number of its keys, and the encoded entries.

    A long page is `compressed`: a process reads and hashes all pages at its start, but decodes few.
    `notes` are the distinct values of the fields in `NOTED_FIELDS` of the entries' type (worktrees,
    for example), so that these are known without decoding the page. `listed` are the distinct
    values of the field `LISTED_FIELD` (owners, for example): they are many and stay encoded until
    needed. `entries` and `listed` are slices of the snapshot's bytes, so nothing is copied for a
    page that is not read. Earlier versions stored no `listed`.
    """

    first: str
    count: int
    notes: tuple[Note, ...]
    compressed: bool
    entries: memoryview
    listed: memoryview = memoryview(b"")


class _Page(Generic[V]):
    """Neighbouring entries in the order of their keys: encoded, as a dict, or both."""

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
        """The entries, decoded on first use. Do not change this dict."""
        if self._entries is None:
            self._entries = _page_decoder(self._kind).decode(self.plain)
        return self._entries

    @property
    def plain(self) -> bytes | memoryview:
        """The encoded entries, decompressed."""
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

    def is_equal(self, other: _Page[V]) -> bool:
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
    """An immutable map with text keys, in order; `set` and `delete` return another map.

    All values have one type that msgspec can encode, without a `PagedMap` inside.
    """

    __slots__ = ("_count", "_pages")

    def __init__(self, entries: Mapping[str, V] | None = None) -> None:
        self._pages = tuple(_cut(sorted(entries.items()) if entries else ()))
        self._count = len(entries) if entries else 0

    @classmethod
    def from_stored(cls, stored: bytes, kind: type[V]) -> PagedMap[V]:
        """Read the map that `to_stored` wrote, with values of `kind`; this decodes no page."""
        pages: tuple[_Page[V], ...] = tuple(
            _Page(page.first, page.count, stored=page, kind=kind) for page in _decode_pages(stored)
        )
        return _map_of(pages, sum(page.count for page in pages))

    def to_stored(self) -> bytes:
        return _encode([page.stored for page in self._pages])

    def __getitem__(self, key: str) -> V:
        # The same as `_page_at(_place(key))`, inlined because every command calls this.
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
        """Yield the entries page by page; each page is decoded when it is reached."""
        return (page.entries for page in self._pages)

    def notes(self) -> set[Note]:
        """Return the distinct values of the fields in `NOTED_FIELDS` of the entries' type."""
        return {note for page in self._pages for note in page.stored.notes}

    def listed(self) -> Iterator[set[str]]:
        """Yield, for each page, the distinct values of the field `LISTED_FIELD`."""
        return (page.listed for page in self._pages)

    def page(self, number: int) -> Mapping[str, V]:
        """Return the entries of one page, numbered as in `listed`."""
        return self._pages[number].entries

    def count_where(self, notes: frozenset[Note], test: Callable[[V], bool]) -> int:
        """Count the entries that pass the test.

        If all notes of a page are in `notes`, then all of its entries pass and it is not decoded.
        """
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
        """Return the values with `start <= key < stop`, in the order of their keys."""
        last = bisect_left(self._pages, stop, key=_first)
        return tuple(
            value
            for page in self._pages[self._place(start) : last]
            for key, value in page.entries.items()
            if start <= key < stop
        )

    def set(self, key: str, value: V) -> PagedMap[V]:
        """Return a map with `value` under `key`."""
        at = self._place(key)
        entries = self._page_at(at)
        changed = {**entries, key: value}
        if key in entries:
            return self._with(at, at + 1, (_page_of(changed),), 0)
        return self._with(at, at + 1, tuple(_cut(sorted(changed.items()))), 1)

    def delete(self, key: str) -> PagedMap[V]:
        """Return a map without `key`; KeyError if it is absent."""
        at = self._place(key)
        rest = {**self._page_at(at)}
        del rest[key]
        if at and not (rest and _begins_page(next(iter(rest)))):  # join it to the page before
            joined = {**self._page_at(at - 1), **rest}
            return self._with(at - 1, at + 1, (_page_of(joined),), -1)
        return self._with(at, at + 1, (_page_of(rest),) if rest else (), -1)

    def _place(self, key: str) -> int:
        """Return the number of the only page that may have the key: the last that begins at or
        before it."""
        return max(bisect_right(self._pages, key, key=_first) - 1, 0)

    def _page_at(self, place: int) -> dict[str, V]:
        return self._pages[place].entries if self._pages else {}

    def _with(self, start: int, stop: int, instead: tuple[_Page[V], ...], more: int) -> PagedMap[V]:
        return _map_of(self._pages[:start] + instead + self._pages[stop:], self._count + more)


class _Values(ValuesView[V]):
    """The values, read page by page; `ValuesView` would search for each key."""

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
    """Cut sorted entries into pages; a page begins at the first entry and at each key for which
    `_begins_page` is true."""
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


# Encoding of states for snapshots: msgpack with sorted maps, so that equal states give equal bytes
# in every process.

S = TypeVar("S")


def _to_plain(value: Any) -> Any:
    if isinstance(value, Map):
        return {key: value[key] for key in sorted(value)}
    if isinstance(value, PagedMap):
        return value.to_stored()
    raise NotImplementedError(type(value).__name__)


def _from_plain(kind: Any, value: Any) -> Any:
    if get_origin(kind) is PagedMap:
        return PagedMap.from_stored(msgspec.convert(value, bytes), *get_args(kind))
    plain = GenericAlias(dict, get_args(kind))
    prepare_type(plain)
    return Map(msgspec.convert(value, plain, dec_hook=_from_plain))


_encoder = msgspec.msgpack.Encoder(enc_hook=_to_plain)


def encode_state(state: Any) -> bytes:
    return _encoder.encode(state)


def decode_state(kind: type[S], data: bytes | msgspec.Raw) -> S:
    """Decode a state. On msgspec.DecodeError or ValidationError the caller drops the snapshot."""
    prepare_type(kind)
    return msgspec.msgpack.decode(data, type=kind, dec_hook=_from_plain)
