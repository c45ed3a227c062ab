"""All pages of the reference, by the name of their file."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from tools.reference import commands, configuration, data, errors, events, library, rules, states

FOLDER: Final = Path(__file__).parents[2] / "docs" / "reference"
MADE_BY: Final = "<!-- Made by `python -m tools.reference` from the code; edit that, not this. -->"
PAGES: Final[dict[str, Callable[[], str]]] = {
    "commands.md": commands.page,
    "errors.md": errors.page,
    "rules.md": rules.page,
    "events.md": events.page,
    "states.md": states.page,
    "data.md": data.page,
    "configuration.md": configuration.page,
    "library.md": library.page,
}
# Long, and of use only to someone who reads them on the site: git does not have these.
NOT_IN_GIT: Final = frozenset({"data.md", "library.md"})


@cache
def pages() -> dict[str, str]:
    return {name: f"{MADE_BY}\n\n{make().strip()}\n" for name, make in PAGES.items()}
