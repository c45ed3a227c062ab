"""Where `moot` starts: a coding tool's hook goes straight to its door, without loading the rest.

A hook runs before every edit of every agent, so each import counts.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from typing import NoReturn

from moot.flows.tools import HOOK_TOOLS


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
    """For a tenth of a second: no garbage is collected, and what is not needed is not loaded.

    msgspec looks for typing_extensions and does without; loading it costs as much as half of our
    own modules.
    """
    gc.disable()
    sys.modules.setdefault("typing_extensions", None)  # type: ignore[arg-type]
    from moot.surfaces.hooks.entry import main as answer

    answer(tool)
