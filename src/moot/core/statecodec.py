"""States as bytes, for snapshots: msgpack, with persistent maps written as plain ones or in pages.

Equal states give equal bytes in every process, so that a snapshot can be compared with one made
anew: maps are written in the order of their keys, not of their hashes.
"""

from __future__ import annotations

from types import GenericAlias
from typing import Any, TypeVar, get_args, get_origin

import msgspec
from immutables import Map

from moot.core.paged_map import PagedMap
from moot.core.prepared_types import prepare_type

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
    """Raises msgspec.DecodeError or ValidationError; the caller drops such a snapshot."""
    prepare_type(kind)
    return msgspec.msgpack.decode(data, type=kind, dec_hook=_from_plain)
