"""Is telemetry of moot itself on? Asked by every command, so it costs next to nothing when off.

MOOT_OTEL says so, else `telemetry.export` in the user's own settings; never a repository's. Where
to, is said by the variables of OpenTelemetry. A hook asks the variable alone: `moot run` sets it.
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

# What this process exports with, once it has begun to.
_started: list[Telemetry] = []


def is_export_on(env: Mapping[str, str]) -> bool:
    said = env.get(VARIABLE)
    if said is not None:
        return said.strip().lower() in _ON

    return is_named_in_settings(env) and read_telemetry_settings(env).export == "on"


def is_hook_export_on(env: Mapping[str, str]) -> bool:
    return env.get(VARIABLE, "").strip().lower() in _ON


def started_telemetry() -> Telemetry | None:
    """What this process exports with; None if it exports nothing."""
    return _started[0] if _started else None


def set_started(telemetry: Telemetry | None) -> None:
    _started[:] = [] if telemetry is None else [telemetry]


# What the user's own settings say about telemetry; a file that cannot be read says nothing.

_TABLE: Final = b"telemetry"


def is_named_in_settings(env: Mapping[str, str]) -> bool:
    """Every command asks, so a file that does not name telemetry is not even parsed."""
    from moot.workspace.user_folders import user_settings_file

    file = user_settings_file(env)
    try:
        return file is not None and _TABLE in file.read_bytes()
    except OSError:
        return False


def read_telemetry_settings(env: Mapping[str, str]) -> TelemetrySettings:
    """A file that cannot be read says nothing."""
    from moot.workspace.settings import Telemetry as TelemetrySettings
    from moot.workspace.settings import read_user_settings

    try:
        return read_user_settings(env).telemetry
    except (OSError, MootError):
        return TelemetrySettings()
