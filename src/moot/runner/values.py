"""Encode arguments and results of operations as JSON, with types that JSON lacks.

Decoding makes only our own data: Structs, named tuples and enums. A run imports nothing to read
what its program sent; a program may import what its run's answer needs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import Enum
from importlib import import_module
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any, Final

import msgspec

from moot.core import errors
from moot.core.errors import Malformed, MootError

TAG: Final = "!"
OURS: Final = tuple(
    f"moot.{package}." for package in ("api", "core", "runner", "usage", "protocols", "agents")
)

FindModule = Callable[[str], ModuleType]


def encode(value: object) -> bytes:
    return json.dumps(_pack(value)).encode()


def decode(data: bytes, *, may_load: bool = False) -> Any:
    """Return the value. Raises Malformed if it is not ours."""
    find = _find_loading if may_load else _find_loaded
    try:
        return _unpack(json.loads(data), find)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Malformed(f"this is no value of ours: {error}", code="bad_request") from None


def encode_error(error: MootError) -> bytes:
    return encode([type(error).__name__, str(error), dict(vars(error))])


def decode_error(data: bytes) -> MootError:
    """Return the error as it was raised there."""
    name, message, details = decode(data, may_load=True)
    kind = getattr(errors, name, None)
    if not (isinstance(kind, type) and issubclass(kind, MootError)):
        raise Malformed(f"no error is called {name}", code="bad_request")
    error: MootError = kind.__new__(kind)
    Exception.__init__(error, message)
    error.__dict__.update(details)
    return error


def _pack(value: object) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value if not isinstance(value, Enum) else _pack_enum(value)
    if value is msgspec.UNSET:
        return {TAG: "unset", "v": None}
    if isinstance(value, Enum):
        return _pack_enum(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, list):
        return [_pack(each) for each in value]
    for kind, (tag, pack) in _PLAIN.items():
        if isinstance(value, kind) and not hasattr(value, "_fields"):
            return {TAG: tag, "v": pack(value)}
    return _pack_made(value)


def _pack_enum(value: Enum) -> Any:
    return {TAG: "enum", "c": _name_of(type(value)), "v": _pack(value.value)}


def _pack_made(value: object) -> Any:
    if isinstance(value, msgspec.Struct):
        names = value.__struct_fields__
    elif hasattr(value, "_fields"):
        names = value._fields
    else:
        raise TypeError(f"{type(value).__name__} cannot be sent")
    fields = {name: _pack(getattr(value, name)) for name in names}
    return {TAG: "made", "c": _name_of(type(value)), "v": fields}


def _name_of(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _unpack(value: Any, find: FindModule) -> Any:
    if isinstance(value, list):
        return [_unpack(each, find) for each in value]
    if not isinstance(value, dict):
        return value
    tag, content = value[TAG], value["v"]
    if tag == "enum":
        return _find_class(value["c"], find, Enum)(_unpack(content, find))
    if tag == "made":
        kind = _find_class(value["c"], find, msgspec.Struct, tuple)
        return kind(**{name: _unpack(each, find) for name, each in content.items()})
    if tag in _WORDS:
        return _WORDS[tag](content)
    return _COLLECTIONS[tag](_unpack(content, find))


def _find_class(name: str, find: FindModule, *kinds: type) -> Any:
    """Return a data class in one of our modules."""
    module, _, qualname = name.partition(":")
    if not module.startswith(OURS):
        raise ValueError(f"{name} is not ours")
    found: Any = find(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    if not (isinstance(found, type) and issubclass(found, kinds)):
        raise ValueError(f"{name} is no data")
    return found


def _find_loaded(module: str) -> ModuleType:
    return sys.modules[module]


def _find_loading(module: str) -> ModuleType:
    return import_module(module)


def _pack_pairs(value: Any) -> Any:
    return [[_pack(key), _pack(each)] for key, each in value.items()]


def _pack_all(value: Any) -> Any:
    return [_pack(each) for each in value]


# What JSON lacks: its tag, and how it is packed.
_PLAIN: Final[Mapping[type, tuple[str, Callable[[Any], Any]]]] = {
    tuple: ("tuple", _pack_all),
    frozenset: ("frozenset", _pack_all),
    set: ("set", _pack_all),
    bytes: ("bytes", bytes.hex),
    PurePath: ("path", str),
    Decimal: ("decimal", str),
    Mapping: ("dict", _pack_pairs),
}
# How it is unpacked: from a text, or from a list of what was unpacked already.
_WORDS: Final[Mapping[str, Callable[[str], Any]]] = {
    "unset": lambda _nothing: msgspec.UNSET,
    "bytes": bytes.fromhex,
    "path": Path,
    "decimal": Decimal,
}
_COLLECTIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "tuple": tuple,
    "frozenset": frozenset,
    "set": set,
    "dict": dict,
}
