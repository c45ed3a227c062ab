"""The nine settings of a session: what section 5 allows for each, and their values from text.

`SCHEMA` is the document's own JSON Schema; `KEYS` reads each setting by it. A value that is not
sound is a `Problem`, and only nine sound ones make `Rules`. `OPTIONS` are what our readings leave
to whoever begins a session: comments among the rules (R19), which other programs pass over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

import msgspec

from moot.protocols.debate.model import (
    DECIMAL,
    DefaultAction,
    Escalation,
    Mode,
    OutputFormat,
    Rules,
    Scalar,
    Setting,
    Settings,
    TurnOrder,
)
from moot.protocols.debate.runtime import MODES

AGENT_PATTERN: Final = "^[a-z0-9][a-z0-9-]*[a-z0-9]$"
_AGENT = re.compile(r"[a-z0-9][a-z0-9-]*[a-z0-9]")
ODD_NAME: Final = "odd_agent_name"
ODD_OPTION: Final = "unknown_option"
# What is said of settings that count all the same.
_MILD: Final = frozenset({ODD_NAME, ODD_OPTION})
_WHOLE = re.compile(r"-?[0-9]{1,9}")
_LIMITS = {
    "max-turns-per-round": (1, 10),
    "turn-timeout": (1, 86_400),
    "max-rounds": (1, 100),
}
_CHOICES: dict[str, type[StrEnum]] = {
    "turn-order": TurnOrder,
    "consensus-mode": Mode,
    "escalation": Escalation,
    "output-format": OutputFormat,
}


class Problem(msgspec.Struct, frozen=True):
    """A setting that is not sound: which one, the code of its flaw, a sentence, the line.

    `is_name`: an agent's name has a form that the schema does not allow.
    """

    key: str
    code: str
    message: str
    line: int
    is_name: bool = False


class Known(msgspec.Struct, frozen=True):
    """What the rules block says: `rules` only if all of it is sound.

    The agents and the format are kept even then, so that one flaw does not raise ten findings.
    """

    agents: tuple[str, ...] = ()
    structured: bool = False
    rules: Rules | None = None
    problems: tuple[Problem, ...] = ()


Read = Callable[[Setting], Any]


def read_known(settings: Settings | None, lenient: bool = False) -> Known:
    """The settings as values, and everything that is wrong with them.

    `lenient` (A-14): names that the schema does not allow are odd, no more.
    """
    if settings is None:
        return Known()
    values: dict[str, Any] = {}
    problems = list(_missing(settings))
    for key, read in KEYS.items():
        setting = settings.get(key)
        if setting is not None:
            values[key] = value = read(setting)
            problems += value if isinstance(value, list) else ()
    agents = settings.get("agents")
    if lenient and agents is not None:
        problems, values["agents"] = _leniently(problems, agents, values["agents"])
    grave = [one for one in problems if one.code not in _MILD]
    chosen, odd = _options(settings)
    values |= chosen
    return Known(
        tuple(dict.fromkeys(item.text for item in (agents.items if agents else ()) or ())),
        values.get("output-format") is OutputFormat.STRUCTURED,
        None if grave else Rules(**{_snake(key): value for key, value in values.items()}),
        (*problems, *odd),
    )


def _options(settings: Settings) -> tuple[dict[str, Any], list[Problem]]:
    """The options among the comments; one that is odd, or comes again, changes nothing."""
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for comment in settings.comments:
        allowed = OPTIONS.get(comment.key)
        said = comment.value.text if comment.value else ""
        if allowed is None:
            continue
        if comment.key not in values and said in allowed:
            values[comment.key] = allowed[said]
        else:
            again = "it is given already" if comment.key in values else f"not {said!r}"
            message = f"{comment.key} is {' or '.join(allowed)}: {again}"
            problems.append(Problem(comment.key, ODD_OPTION, message, comment.line))
    return values, problems


def _leniently(problems: list[Problem], agents: Setting, names: Any) -> tuple[list[Problem], Any]:
    """A-14: a name of another form is odd; the list counts if nothing else is wrong with it."""
    eased = [
        msgspec.structs.replace(one, code=ODD_NAME) if one.is_name else one for one in problems
    ]
    listed = [one for one in eased if one.key == "agents"]
    if any(one.code != ODD_NAME for one in listed):
        return eased, names
    return eased, tuple(item.text for item in agents.items or ())


def _snake(key: str) -> str:
    return key.replace("-", "_")


def _missing(settings: Settings) -> Iterator[Problem]:
    for key in KEYS:
        if settings.get(key) is None:
            message = f"the setting {key} is missing"
            yield Problem(key, "MISSING_REQUIRED_RULE", message, settings.line)


def _wrong(setting: Setting, expected: str, scalar: Scalar | None = None) -> list[Problem]:
    given = scalar or setting.value
    said = repr(given.text) if given else "a list" if setting.items is not None else "nothing"
    message = f"{setting.key} is {said}; it must be {expected}"
    line = given.line if given else setting.line
    return [Problem(setting.key, "INVALID_RULE_VALUE", message, line)]


def _names(setting: Setting) -> tuple[str, ...] | list[Problem]:
    if setting.items is None and setting.value is not None:
        return _wrong(setting, "a list of names")
    if not setting.items:
        return [Problem("agents", "EMPTY_AGENTS_LIST", "no agent is listed", setting.line)]
    problems: list[Problem] = []
    seen: set[str] = set()
    for item in setting.items:
        if not _AGENT.fullmatch(item.text):
            wrong = _wrong(setting, "names of a-z, 0-9 and hyphens, two or more", item)
            problems += [msgspec.structs.replace(one, is_name=True) for one in wrong]
        if item.text in seen:
            message = f"{item.text} is listed twice"
            problems.append(Problem("agents", "DUPLICATE_AGENT_NAME", message, item.line))
        seen.add(item.text)
    return problems or tuple(item.text for item in setting.items)


def _whole(setting: Setting) -> int | list[Problem]:
    low, high = _LIMITS[setting.key]
    given = setting.value
    # a quoted number is a text, and 300.0 is no whole number.
    if given is not None and not given.quoted and _WHOLE.fullmatch(given.text):
        number = int(given.text)
        if low <= number <= high:
            return number
    return _wrong(setting, f"a whole number from {low} to {high}")


def _fraction(setting: Setting) -> Decimal | list[Problem]:
    given = setting.value
    if given is not None and not given.quoted and DECIMAL.fullmatch(given.text):
        number = Decimal(given.text)
        if number <= 1:
            return number
    return _wrong(setting, "a number from 0.0 to 1.0")


def _choice(setting: Setting) -> StrEnum | list[Problem]:
    kind = _CHOICES[setting.key]
    given = setting.value
    if given is not None and given.text in set(kind):
        return kind(given.text)
    if kind is TurnOrder and given is not None and given.text in MODES:
        return _wrong(setting, MODES[given.text])
    return _wrong(setting, f"one of {', '.join(kind)}")


KEYS: Final[dict[str, Read]] = {
    "agents": _names,
    "turn-order": _choice,
    "max-turns-per-round": _whole,
    "turn-timeout": _whole,
    "consensus-threshold": _fraction,
    "consensus-mode": _choice,
    "escalation": _choice,
    "max-rounds": _whole,
    "output-format": _choice,
}


_SWITCH: Final = {"true": True, "false": False}
OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "defer-in-denominator": _SWITCH,
    "supervisor-only": _SWITCH,
    "default-action": {action.value: action for action in DefaultAction},
}


def settings_of(rules: Rules) -> dict[str, Any]:
    """The nine values as plain data, a decimal as its text; `rules_from` reads them back.

    Of the options only those that were chosen.
    """
    plain: dict[str, Any] = msgspec.to_builtins(rules)
    for key in OPTIONS.keys() - options_of(rules).keys():
        del plain[_snake(key)]
    return plain


def options_of(rules: Rules) -> dict[str, str]:
    """The options that are not as usual, as the words that say so."""
    usual = Rules(rules.agents)
    return {
        key: next(word for word, value in allowed.items() if value == getattr(rules, _snake(key)))
        for key, allowed in OPTIONS.items()
        if getattr(rules, _snake(key)) != getattr(usual, _snake(key))
    }


def rules_from(settings: dict[str, Any]) -> Rules | None:
    try:
        rules = msgspec.convert(settings, Rules)
    except msgspec.ValidationError:
        return None
    return rules if rules.agents else None


def _property(key: str) -> dict[str, Any]:
    if key in _CHOICES:
        return {"type": "string", "enum": [value.value for value in _CHOICES[key]]}
    if key in _LIMITS:
        low, high = _LIMITS[key]
        return {"type": "integer", "minimum": low, "maximum": high}
    return {"type": "number", "minimum": 0.0, "maximum": 1.0}


_LISTED: Final = {
    "type": "array",
    "minItems": 1,
    "items": {"type": "string", "pattern": AGENT_PATTERN},
    "uniqueItems": True,
}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": list(KEYS),
    "properties": {key: _LISTED if key == "agents" else _property(key) for key in KEYS},
}
