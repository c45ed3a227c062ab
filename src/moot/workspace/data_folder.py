"""The user's own data folder, where keys are unless `MOOT_KEYS` says otherwise.

`platformdirs` knows the place on every system. Loading it takes a hook as long as half of its own
work, so the plain case is answered here: a home folder, and nothing that asks for another place.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

# Below the home folder, by `sys.platform`.
_USUAL: Final[Mapping[str, str]] = {
    "linux": ".local/share",
    "darwin": "Library/Application Support",
}
# Variables that may lead elsewhere.
_ELSEWHERE: Final = ("XDG_DATA_HOME", "ANDROID_DATA")


def key_folder_path(env: Mapping[str, str]) -> Path:
    """Where the keys are: `MOOT_KEYS`, else a folder in the user's data folder."""
    chosen = env.get("MOOT_KEYS")
    return Path(chosen).absolute() if chosen else user_data_folder() / "keys"


def user_data_folder() -> Path:
    """Where this user's programs keep their data, with a folder of ours in it."""
    home, usual = os.environ.get("HOME", ""), _USUAL.get(sys.platform)
    if usual and os.path.isabs(home) and not any(map(os.environ.get, _ELSEWHERE)):
        return Path(home, usual, "moot")
    from platformdirs import user_data_path

    return user_data_path("moot", appauthor=False)
