"""Moot: agents that share a repository, kept off each other's files, on the record.

    import moot

    with moot.open("path/to/repository", agent="amber-otter") as session:
        moot.api.scopes.reserve(session, ["src/auth"])

Five protocols are five pure state machines over one signed, append-only ledger. Start reading with
`core/machine.py` (the shape of a protocol), then `protocols/example/` (the smallest one), then
`engine/` (the only place where pure meets IO). ARCHITECTURE.md draws the picture.

Nothing is imported until it is used: every hook of every edit imports this package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from moot import api as api
    from moot.api.opening import open as open  # noqa: A004 - moot.open, like gzip.open
    from moot.api.session import Session as Session
    from moot.core.errors import MootError as MootError
    from moot.core.version import VERSION

    __version__ = VERSION

_EXPORTS = {
    "open": "moot.api.opening:open",
    "Session": "moot.api.session:Session",
    "MootError": "moot.core.errors:MootError",
    "__version__": "moot.core.version:VERSION",
}
__all__ = ["MootError", "Session", "__version__", "api", "open"]


def __getattr__(name: str) -> Any:
    if name == "api":
        return import_module("moot.api")
    if name not in _EXPORTS:
        raise AttributeError(f"module 'moot' has no attribute {name!r}")
    module, _, attribute = _EXPORTS[name].partition(":")
    return getattr(import_module(module), attribute)
