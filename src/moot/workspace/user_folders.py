"""The user's own data folder, where keys are unless `MOOT_KEYS` says otherwise.

`platformdirs` knows the place on every system. Loading it takes a hook as long as half of its own
work, so the plain case is answered here: a home folder, and nothing that asks for another place.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from moot.core.errors import Malformed, Refused

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
    return _require_folder(chosen) if chosen else user_data_folder() / "keys"


def _require_folder(chosen: str) -> Path:
    """The folder that `MOOT_KEYS` names, which may not be there yet; else Malformed."""
    problem = next((words for is_so, words in _NONSENSE if is_so(chosen)), None)
    if problem is None:
        folder = Path(chosen).absolute()
        if all(not above.exists() or above.is_dir() for above in (folder, *folder.parents)):
            return folder
        problem = "is not a folder"
    raise Malformed(
        f"MOOT_KEYS={chosen[:200]!r} {problem}",
        code="no_key_folder",
        hint="set MOOT_KEYS to a folder of yours outside of every project, or unset it",
    )


_NONSENSE: Final[tuple[tuple[Callable[[str], bool], str], ...]] = (
    (lambda text: not text.isprintable(), "holds a character that no folder should have"),
    (lambda text: text.startswith("~"), "begins with ~, which only a shell replaces"),
    (lambda text: not text.strip(), "names nothing"),
)


def require_outside(folder: Path, project: Path) -> None:
    """Refused if this key folder lies in the project, where agents work and commits are made.

    The user's own data folder may: who makes a project of the home folder cannot do otherwise.
    """
    inside = folder.resolve().is_relative_to(project.resolve())
    if inside and folder.resolve() != (user_data_folder() / "keys").resolve():
        raise Refused(
            "keys_in_project",
            f"the key folder {folder} lies in the project {project}",
            hint="move it out of there and set MOOT_KEYS to its new place; whoever saw the keys "
            "may sign with them",
        )


def user_data_folder() -> Path:
    """Where this user's programs keep their data, with a folder of ours in it."""
    home, usual = os.environ.get("HOME", ""), _USUAL.get(sys.platform)
    if usual and os.path.isabs(home) and not any(map(os.environ.get, _ELSEWHERE)):
        return Path(home, usual, "moot")
    from platformdirs import user_data_path

    return user_data_path("moot", appauthor=False)


# Where a user's own settings are. Every command asks that, and hardly any reads them.

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
