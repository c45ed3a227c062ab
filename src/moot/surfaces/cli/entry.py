"""Where `moot` starts: a coding tool's hook goes straight to its door, without loading the rest.

A hook runs before every edit of every agent, so each import counts.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any, Final, NoReturn

from moot.flows.tools import HOOK_TOOLS


class _StandIn(ModuleType):
    """A module with a few names of another; that one is loaded for any further name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module(self.__name__), name)


def _forward(module: str, name: str) -> Callable[..., Any]:
    """In place of a function: its module is loaded when it is called."""

    def call(*args: Any, **options: Any) -> Any:
        return getattr(import_module(module), name)(*args, **options)

    return call


class _Uuid:
    """In place of `uuid.UUID`: making one makes a real one. We give msgspec none."""

    def __new__(cls, *args: Any, **options: Any) -> Any:
        return import_module("uuid").UUID(*args, **options)


def _choose_number(singular: str, plural: str, count: int) -> str:
    return singular if count == 1 else plural


# Modules that libraries load and hardly any command uses, with the names that they take from them.
_STAND_INS: Final[Mapping[str, Mapping[str, object]]] = {
    "uuid": {"UUID": _Uuid, "SafeUUID": type("SafeUUID", (), {"unknown": None})},
    "urllib.parse": {"quote_from_bytes": _forward("urllib.parse", "quote_from_bytes")},
    "immutables._protocols": dict.fromkeys(("MapKeys", "MapValues", "MapItems", "MapMutation")),
    "msgspec.inspect": {},
    "msgspec._json_schema": {
        name: _forward("msgspec._json_schema", name) for name in ("schema", "schema_components")
    },
    "msgspec.toml": {},
    "msgspec.yaml": {},
}
# For hooks: they give msgspec no decimal number.
_FOR_HOOKS: Final[Mapping[str, Mapping[str, object]]] = {
    **_STAND_INS,
    "decimal": {"Decimal": type("Decimal", (), {})},
}
# For commands: what click loads. Its own words are not translated, for nobody has translated ours.
_FOR_COMMANDS: Final[Mapping[str, Mapping[str, object]]] = {
    **_STAND_INS,
    "inspect": {
        "cleandoc": _forward("moot.surfaces.terminal.docstrings", "clean_docstring"),
        "isfunction": lambda value: isinstance(value, FunctionType),
    },
    "gettext": {"gettext": str, "ngettext": _choose_number},
}


def main() -> NoReturn:
    words = sys.argv[1:]
    if len(words) == 2 and words[0] == "hook" and words[1] in HOOK_TOOLS:
        _ask_server(words[1])
        _answer(words[1])
    _start_lightly()
    from moot.surfaces.cli.main import main as run

    run()


def hook() -> NoReturn:
    """The same for a hook that has asked whoever is beside the tool: it answers itself."""
    _answer(sys.argv[2])


def _ask_server(tool: str) -> None:
    """Ends with the answer if a server beside the tool gives one."""
    import moot.surfaces.hooks.thin as client

    if not client.under_run():
        client.answer_beside(tool)


def _start_lightly() -> None:
    """Modules are no garbage: look for it late."""
    gc.set_threshold(100_000)
    _load_libraries(("msgspec", "pathlib", "immutables", "click"), _FOR_COMMANDS)


def _answer(tool: str) -> NoReturn:
    """For a tenth of a second: no garbage is collected, and what is not needed is not loaded."""
    gc.disable()
    _load_libraries(("msgspec", "pathlib", "immutables"), _FOR_HOOKS)
    from moot.surfaces.hooks.entry import main as answer

    answer(tool)


def _load_libraries(
    libraries: tuple[str, ...], stand_ins: Mapping[str, Mapping[str, object]]
) -> None:
    """Without what they load for others: together that costs as much as half of our own modules.

    msgspec looks for typing_extensions and does without. In place of the rest they get modules with
    just the names that they ask for. Whoever else needs one imports it as usual, for no stand-in is
    left where modules are looked for.
    """
    _use_compiled_datetime()
    hidden = sys.modules.setdefault("typing_extensions", None) is None  # type: ignore[arg-type]
    absent = [name for name in stand_ins if name not in sys.modules]
    for name in absent:
        sys.modules[name] = _StandIn(name)
        sys.modules[name].__dict__.update(stand_ins[name])
    for name in libraries:
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
