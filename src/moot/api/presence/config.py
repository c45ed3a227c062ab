"""Settings of the workspace that are in its record: everyone reads them, only people set them.

SETTINGS_ON_RECORD has one row for each. Settings in files (`moot.toml`) are in workspace/settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.api.operation import operation
from moot.api.session import read_presence
from moot.core.clock import MINUTE
from moot.core.errors import Malformed, NotFound

if TYPE_CHECKING:
    from moot.api.session import Session


class ConfigValue(msgspec.Struct, frozen=True):
    """One setting, its value, and what it is about."""

    key: str
    value: str
    about: str


class Config(msgspec.Struct, frozen=True):
    """The settings asked for; `changed_by` is the person who has just set one."""

    settings: tuple[ConfigValue, ...]
    changed_by: str | None = None


class _RecordSetting(NamedTuple):
    about: str
    read: Callable[[Session], str]
    write: Callable[[Session, str, str | None], str]


@operation("config", writes=True)
def config(
    session: Session, name: str | None = None, value: str | None = None, *, key: str | None = None
) -> Config:
    """Return the settings of this workspace, or the one called `name`; a person sets its `value`.

    A person signs each change; agents are refused as `human_key_required`. An unknown name is
    refused as `config_not_found`. The same `key` sets it once.
    """
    known = SETTINGS_ON_RECORD
    if name is not None and name not in known:
        from difflib import get_close_matches

        nearest = get_close_matches(name, known, 1, 0) or list(known)
        raise NotFound(
            "config_not_found", f"no setting is called {name}", hint=f"`moot config {nearest[0]}`"
        )
    if name is None:
        return Config(tuple(_read(session, each) for each in known))
    person = None if value is None else known[name].write(session, value, key)
    return Config((_read(session, name),), person)


def _read(session: Session, name: str) -> ConfigValue:
    setting = SETTINGS_ON_RECORD[name]
    return ConfigValue(name, setting.read(session), setting.about)


def _read_stale_minutes(session: Session) -> str:
    millis = read_presence(session.workspace).stale_millis
    return f"{millis / MINUTE:g}"


def _set_stale_minutes(session: Session, value: str, key: str | None) -> str:
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.commands import SetStaleMinutes
    from moot.protocols.presence.liveness import read_stale_minutes

    millis, problem = read_stale_minutes(value)
    if millis is None or problem is not None:
        raise Malformed(
            f"{value[:40]!r} is not a number of minutes",
            code="bad_stale_minutes",
            hint="type a positive number such as 15 or 7.5",
        )
    person = session.person("setting when agents count as stale")
    command = SetStaleMinutes(stale_millis=millis)
    session.workspace.engine.execute(STREAM, command, person, key=key)
    return person


SETTINGS_ON_RECORD: Final[Mapping[str, _RecordSetting]] = {
    "stale-minutes": _RecordSetting(
        "minutes without a sign of life after which an agent counts as stale, after twice that as"
        " evicted",
        _read_stale_minutes,
        _set_stale_minutes,
    ),
}
