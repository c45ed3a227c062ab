"""What the user's own settings say about telemetry; a file that cannot be read says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from moot.core.errors import MootError

if TYPE_CHECKING:
    from moot.workspace.settings import Telemetry

_TABLE: Final = b"telemetry"


def read_telemetry_settings(env: Mapping[str, str]) -> Telemetry:
    """Every command asks, so a file that does not name it is not even parsed."""
    from moot.workspace.settings import Telemetry, read_user_settings, user_settings_file

    file = user_settings_file(env)
    try:
        if file is None or _TABLE not in file.read_bytes():
            return Telemetry()
        return read_user_settings(env).telemetry
    except (OSError, MootError):
        return Telemetry()
