"""Where `moot` starts: a coding tool's hook goes straight to its door, without loading the rest.

A hook runs before every edit of every agent, so each import counts.
"""

from __future__ import annotations

import sys
from typing import NoReturn

HOOK_TOOLS = ("claude", "codex", "gemini", "opencode")


def main() -> NoReturn:
    words = sys.argv[1:]
    if len(words) == 2 and words[0] == "hook" and words[1] in HOOK_TOOLS:
        from moot.surfaces.hooks.door import main as answer

        answer(words[1])
    from moot.surfaces.cli.main import main as run

    run()
