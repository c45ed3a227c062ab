"""What the user's own settings say about telemetry; a file that cannot be read says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from moot.core.errors import MootError

if TYPE_CHECKING:
    from moot.workspace.settings import Telemetry

_TABLE: Final = b"telemetry"


def is_named_in_settings(env: Mapping[str, str]) -> bool:
    """Every command asks, so a file that does not name telemetry is not even parsed."""
    from moot.workspace.settings_file import user_settings_file

    file = user_settings_file(env)
    try:
        return file is not None and _TABLE in file.read_bytes()
    except OSError:
        return False


def read_telemetry_settings(env: Mapping[str, str]) -> Telemetry:
    """A file that cannot be read says nothing."""
    from moot.workspace.settings import Telemetry, read_user_settings

    try:
        return read_user_settings(env).telemetry
    except (OSError, MootError):
        return Telemetry()
