"""Start `moot`; a coding tool's hook is answered without loading the rest of the command line.

A hook runs before every edit of every agent, so each import counts. Libraries are therefore loaded
with placeholders for modules that they do not need here: 17 ms less for every command (decision
0047).
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any, Final, NoReturn

from moot.coding_tools import NAMES as HOOK_TOOLS


class _StandIn(ModuleType):
    """A placeholder with a few names of a module; any other name loads the real module."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module(self.__name__), name)


def _forward(module: str, name: str) -> Callable[..., Any]:
    """Return a function that loads the real one's module when it is called."""

    def call(*args: Any, **options: Any) -> Any:
        return getattr(import_module(module), name)(*args, **options)

    return call


class _Uuid:
    """Stand for `uuid.UUID`: a call makes a real one. Moot gives msgspec no such value."""

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
# For hooks, which give msgspec no decimal number.
_FOR_HOOKS: Final[Mapping[str, Mapping[str, object]]] = {
    **_STAND_INS,
    "decimal": {"Decimal": type("Decimal", (), {})},
}
# For commands: what click loads. Its messages are not translated, as ours are not.
_FOR_COMMANDS: Final[Mapping[str, Mapping[str, object]]] = {
    **_STAND_INS,
    "inspect": {
        "cleandoc": _forward("moot.surfaces.terminal.shell", "clean_docstring"),
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
    """Answer a hook in this process, after no server next to the tool has answered."""
    _answer(sys.argv[2])


def _ask_server(tool: str) -> None:
    """Exit with the answer of a server next to the tool, if there is one."""
    import moot.surfaces.hooks.thin as client

    if not client.is_under_run():
        client.answer_by_server(tool)


def _start_lightly() -> None:
    """Load the libraries, and raise the GC threshold: imported modules are never collected."""
    gc.set_threshold(100_000)
    _load_libraries(("msgspec", "pathlib", "immutables", "click"), _FOR_COMMANDS)


def _answer(tool: str) -> NoReturn:
    """Answer a hook; the process is too short-lived to collect garbage."""
    gc.disable()
    _load_libraries(("msgspec", "pathlib", "immutables"), _FOR_HOOKS)
    from moot.surfaces.hooks.entry import main as answer

    answer(tool)


def _load_libraries(
    libraries: tuple[str, ...], stand_ins: Mapping[str, Mapping[str, object]]
) -> None:
    """Import the libraries with placeholders for modules they do not need, then remove those.

    msgspec tries to import typing_extensions and works without it. Code that imports one of these
    modules later gets the real one, for no placeholder is left in `sys.modules`.
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
    """Skip the datetime written in Python, which Python 3.11 runs before the compiled one."""
    if sys.version_info < (3, 12) and "datetime" not in sys.modules:
        with suppress(ImportError):
            sys.modules["datetime"] = import_module("_datetime")
