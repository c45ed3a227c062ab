"""Where `moot` starts: a coding tool's hook goes straight to its door, without loading the rest.

A hook runs before every edit of every agent, so each import counts.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Final, NoReturn

from moot.flows.tools import HOOK_TOOLS

# Modules that msgspec loads and no hook uses, with the names that it takes from them: schemas, and
# formats other than JSON.
_NOT_FOR_HOOKS: Final[Mapping[str, tuple[str, ...]]] = {
    "msgspec.inspect": (),
    "msgspec._json_schema": ("schema", "schema_components"),
    "msgspec.toml": (),
    "msgspec.yaml": (),
}


def main() -> NoReturn:
    words = sys.argv[1:]
    if len(words) == 2 and words[0] == "hook" and words[1] in HOOK_TOOLS:
        _answer(words[1])
    _start_lightly()
    from moot.surfaces.cli.main import main as run

    run()


def _start_lightly() -> None:
    """Modules are no garbage: look for it late. msgspec gets by without typing_extensions."""
    gc.set_threshold(100_000)
    hidden = sys.modules.setdefault("typing_extensions", None) is None  # type: ignore[arg-type]
    import_module("msgspec")
    if hidden:
        del sys.modules["typing_extensions"]


def _answer(tool: str) -> NoReturn:
    """For a tenth of a second: no garbage is collected, and what is not needed is not loaded."""
    gc.disable()
    _load_msgspec_for_a_hook()
    from moot.surfaces.hooks.entry import main as answer

    answer(tool)


def _load_msgspec_for_a_hook() -> None:
    """Without what it loads for others: together that costs as much as half of our own modules.

    It looks for typing_extensions and does without. In place of the rest it gets empty modules.
    Whoever does need one imports it as usual, for instead of them nothing is left behind.
    """
    sys.modules.setdefault("typing_extensions", None)  # type: ignore[arg-type]
    left_out = [name for name in _NOT_FOR_HOOKS if name not in sys.modules]
    for name in left_out:
        empty = ModuleType(name)
        empty.__dict__.update(dict.fromkeys(_NOT_FOR_HOOKS[name]))
        sys.modules[name] = empty
    import_module("msgspec")
    for name in left_out:
        del sys.modules[name]
