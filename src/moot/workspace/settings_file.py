"""Where a user's own settings are. Every command asks that, and hardly any reads them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

FILE: Final = "moot.toml"
VARIABLE: Final = "MOOT_CONFIG"


def user_settings_file(env: Mapping[str, str]) -> Path | None:
    """The user's own file: `MOOT_CONFIG`, else the one in the folder for settings.

    None if nobody could say where that is: an account without a home folder has none, and neither
    has a program that hands on no environment.
    """
    if env.get(VARIABLE):
        return Path(env[VARIABLE])
    home = env.get("HOME", "")
    if sys.platform == "linux" and os.path.isabs(home):  # without loading platformdirs
        return Path(env.get("XDG_CONFIG_HOME") or f"{home}/.config", "moot", FILE)
    if not env:
        return None
    from platformdirs import user_config_path

    try:
        return user_config_path("moot", appauthor=False) / FILE
    except (RuntimeError, OSError):
        return None
