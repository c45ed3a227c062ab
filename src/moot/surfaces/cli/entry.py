"""Where `moot` starts: a coding tool's hook goes straight to its door, without loading the rest.

A hook runs before every edit of every agent, so each import counts.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any, Final, NoReturn

from moot.flows.tools import HOOK_TOOLS


def _forward(module: str, name: str) -> Callable[..., Any]:
    """In place of a function: it is loaded when it is called."""

    def call(*args: Any, **options: Any) -> Any:
        return getattr(import_module(module), name)(*args, **options)

    return call


# Modules that libraries load and hardly any command uses, with the names that they take from them.
# We give msgspec no UUID, and ask for what forwards in a few places.
_STAND_INS: Final[Mapping[str, Mapping[str, object]]] = {
    "uuid": {"UUID": type("UUID", (), {}), "SafeUUID": type("SafeUUID", (), {"unknown": None})},
    "urllib.parse": {"quote_from_bytes": _forward("urllib.parse", "quote_from_bytes")},
    "immutables._protocols": dict.fromkeys(("MapKeys", "MapValues", "MapItems", "MapMutation")),
    "msgspec.inspect": {},
    "msgspec._json_schema": {
        name: _forward("msgspec._json_schema", name) for name in ("schema", "schema_components")
    },
    "msgspec.toml": {},
    "msgspec.yaml": {},
}
# Nor does a hook give msgspec a decimal number.
_STAND_INS_FOR_HOOKS: Final[Mapping[str, Mapping[str, object]]] = {
    **_STAND_INS,
    "decimal": {"Decimal": type("Decimal", (), {})},
}


def main() -> NoReturn:
    words = sys.argv[1:]
    if len(words) == 2 and words[0] == "hook" and words[1] in HOOK_TOOLS:
        _answer(words[1])
    _start_lightly()
    from moot.surfaces.cli.main import main as run

    run()


def _start_lightly() -> None:
    """Modules are no garbage: look for it late."""
    gc.set_threshold(100_000)
    _load_libraries_without(_STAND_INS)


def _answer(tool: str) -> NoReturn:
    """For a tenth of a second: no garbage is collected, and what is not needed is not loaded."""
    gc.disable()
    _load_libraries_without(_STAND_INS_FOR_HOOKS)
    from moot.surfaces.hooks.entry import main as answer

    answer(tool)


def _load_libraries_without(stand_ins: Mapping[str, Mapping[str, object]]) -> None:
    """Without what they load for others: together that costs as much as half of our own modules.

    msgspec looks for typing_extensions and does without. In place of the rest they get modules with
    just the names that they ask for. Whoever does need one imports it as usual, for nothing is
    left behind.
    """
    _use_compiled_datetime()
    hidden = sys.modules.setdefault("typing_extensions", None) is None  # type: ignore[arg-type]
    absent = [name for name in stand_ins if name not in sys.modules]
    for name in absent:
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__dict__.update(stand_ins[name])
    for name in ("msgspec", "pathlib", "immutables"):
        import_module(name)
    for name in absent:
        del sys.modules[name]
        package, _, last = name.rpartition(".")
        if package in sys.modules:
            sys.modules[package].__dict__.pop(last, None)
    if hidden:
        del sys.modules["typing_extensions"]


def _use_compiled_datetime() -> None:
    """Python 3.11 runs a second datetime, written in Python, before it takes the compiled one."""
    if sys.version_info < (3, 12) and "datetime" not in sys.modules:
        with suppress(ImportError):
            sys.modules["datetime"] = import_module("_datetime")
