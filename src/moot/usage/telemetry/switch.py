"""Is telemetry of Moot itself on? Every command asks, so this must be cheap when it is off.

MOOT_OTEL decides, else `telemetry.export` in the user's own settings; never a repository's file.
OpenTelemetry's variables say where to export. A hook reads only MOOT_OTEL: `moot run` sets it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from moot.core.errors import MootError

if TYPE_CHECKING:
    from moot.usage.telemetry.exporting import Telemetry
    from moot.workspace.settings import Telemetry as TelemetrySettings


VARIABLE: Final = "MOOT_OTEL"
_ON: Final = frozenset({"1", "on", "true", "yes"})

# The exporters of this process, if it has started to export.
_started: list[Telemetry] = []


def is_export_on(env: Mapping[str, str]) -> bool:
    value = env.get(VARIABLE)
    if value is not None:
        return value.strip().lower() in _ON
    return is_named_in_settings(env) and read_telemetry_settings(env).export == "on"


def is_hook_export_on(env: Mapping[str, str]) -> bool:
    return env.get(VARIABLE, "").strip().lower() in _ON


def started_telemetry() -> Telemetry | None:
    """Return the exporters of this process; None if it exports nothing."""
    return _started[0] if _started else None


def set_started(telemetry: Telemetry | None) -> None:
    _started[:] = [] if telemetry is None else [telemetry]


_TABLE: Final = b"telemetry"


def is_named_in_settings(env: Mapping[str, str]) -> bool:
    """Return True if the user's settings contain the word: only then they are parsed."""
    from moot.workspace.user_folders import user_settings_file

    file = user_settings_file(env)
    try:
        return file is not None and _TABLE in file.read_bytes()
    except OSError:
        return False


def read_telemetry_settings(env: Mapping[str, str]) -> TelemetrySettings:
    """Return the user's settings for telemetry; the defaults if they cannot be read."""
    from moot.workspace.settings import Telemetry as TelemetrySettings
    from moot.workspace.settings import read_user_settings

    try:
        return read_user_settings(env).telemetry
    except (OSError, MootError):
        return TelemetrySettings()
