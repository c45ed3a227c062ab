"""The user's own data folder, which has the keys unless `MOOT_KEYS` is set.

`platformdirs` knows the folder on every system, but loading it takes half as long as a hook's own
work. So the common case is handled here: a home folder, and no variable that names another one.
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
    """Return the key folder: `MOOT_KEYS`, else a folder in the user's data folder."""
    chosen = env.get("MOOT_KEYS")
    return _require_folder(chosen) if chosen else user_data_folder() / "keys"


def _require_folder(chosen: str) -> Path:
    """Return the folder that `MOOT_KEYS` names, which may not exist yet; Malformed if it cannot."""
    problem = next((words for is_so, words in _NONSENSE if is_so(chosen)), None)
    if problem is None:
        folder = Path(chosen).absolute()
        if all(not above.exists() or above.is_dir() for above in (folder, *folder.parents)):
            return folder
        problem = "is not a folder"
    raise Malformed(
        f"MOOT_KEYS={chosen[:200]!r} {problem}",
        code="no_key_folder",
        hint="set MOOT_KEYS to your own folder outside every project, or unset it",
    )


_NONSENSE: Final[tuple[tuple[Callable[[str], bool], str], ...]] = (
    (lambda text: not text.isprintable(), "contains a control character"),
    (lambda text: text.startswith("~"), "begins with ~, which only a shell expands"),
    (lambda text: not text.strip(), "is blank"),
)


def require_outside(folder: Path, project: Path) -> None:
    """Raise Refused if this key folder is in the project, where agents work and commits are made.

    The user's own data folder is allowed, for projects in the home folder itself.
    """
    inside = folder.resolve().is_relative_to(project.resolve())
    if inside and folder.resolve() != (user_data_folder() / "keys").resolve():
        raise Refused(
            "keys_in_project",
            f"the key folder {folder} is in the project {project}",
            hint="move it elsewhere and set MOOT_KEYS to its new path; rotate keys that another "
            "user or a commit may have copied",
        )


def user_data_folder() -> Path:
    """Return Moot's folder in the folder where this user's programs keep their data."""
    home, usual = os.environ.get("HOME", ""), _USUAL.get(sys.platform)
    if usual and os.path.isabs(home) and not any(map(os.environ.get, _ELSEWHERE)):
        return Path(home, usual, "moot")
    from platformdirs import user_data_path

    return user_data_path("moot", appauthor=False)


# The user's own settings file. Every command looks for it; few users have one.

FILE: Final = "moot.toml"
VARIABLE: Final = "MOOT_CONFIG"


def user_settings_file(env: Mapping[str, str]) -> Path | None:
    """Return the user's own file: `MOOT_CONFIG`, else the one in the folder for settings.

    None if that folder is unknown: for an account without a home folder, or a program that passes
    on no environment.
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
