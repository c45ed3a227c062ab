"""The nine settings of a session: what section 5 allows for each, and their values from text.

`SCHEMA` is the document's own JSON Schema; `SETTING_READERS` reads each setting by it. A value
that is not sound is a `SettingProblem`, and only nine sound ones make `Rules`. `OPTIONS` are what
our readings leave to whoever begins a session: comments among the rules (R19), which other
programs pass over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

import msgspec

from moot.protocols.debate.model import (
    DECIMAL_PATTERN,
    ConsensusMode,
    DefaultAction,
    Escalation,
    OutputFormat,
    Rules,
    Setting,
    SettingsBlock,
    TextValue,
    TurnOrder,
)
from moot.protocols.debate.runtime import RUNTIME_MODES

# BNC-036, BNC-037: two characters or more, and no hyphen at the ends.
AGENT_PATTERN: Final = "^[a-z0-9][a-z0-9-]*[a-z0-9]$"
_AGENT = re.compile(r"[a-z0-9][a-z0-9-]*[a-z0-9]")
# what can be read back from an entry and found again in a request, whatever the schema says.
_USABLE = re.compile(r"\w[\w.-]{0,98}")
NAME_LIMIT: Final = "names of 1 to 99 letters, digits, `.`, `_` or `-`, a letter or digit first"
ODD_NAME_CODE: Final = "odd_agent_name"
ODD_OPTION_CODE: Final = "unknown_option"
# Problems that are only remarked on: the settings count all the same.
_MILD: Final = frozenset({ODD_NAME_CODE, ODD_OPTION_CODE})
_WHOLE = re.compile(r"-?[0-9]{1,9}")
_LIMITS = {
    "max-turns-per-round": (1, 10),  # BNC-042
    "turn-timeout": (1, 86_400),  # BNC-044, in seconds
    "max-rounds": (1, 100),  # BNC-054
}
_CHOICES: dict[str, type[StrEnum]] = {
    "turn-order": TurnOrder,  # BNC-038
    "consensus-mode": ConsensusMode,  # BNC-049
    "escalation": Escalation,  # BNC-050
    "output-format": OutputFormat,  # BNC-055
}


class SettingProblem(msgspec.Struct, frozen=True):
    """A setting that is not sound: which one, the code of its flaw, a sentence, the line.

    `is_about_name_form`: an agent's name has a form that the schema does not allow.
    """

    key: str
    code: str
    message: str
    line: int
    is_about_name_form: bool = False


class KnownSettings(msgspec.Struct, frozen=True):
    """What the rules block says: `rules` only if all of it is sound.

    The agents and the format are kept even then, so that one flaw does not raise ten findings
    (BNC-156).
    """

    agents: tuple[str, ...] = ()
    is_structured: bool = False
    rules: Rules | None = None
    problems: tuple[SettingProblem, ...] = ()


SettingReader = Callable[[Setting], Any]


def interpret_settings(settings: SettingsBlock | None, lenient: bool = False) -> KnownSettings:
    """The settings as values, and everything that is wrong with them.

    A-14: a name that the schema does not allow is odd, no more; `lenient` says so even of one
    that no entry could be written under.
    """
    if settings is None:
        return KnownSettings()
    values: dict[str, Any] = {}
    problems = list(_missing_settings(settings))
    for key, read in SETTING_READERS.items():
        setting = settings.get(key)
        if setting is not None:
            values[key] = value = read(setting)
            problems += value if isinstance(value, list) else ()
    agents = settings.get("agents")
    if agents is not None:
        problems = _ease_names(problems) if lenient else problems
        values["agents"] = tuple(item.text for item in agents.items or ())
    grave = [problem for problem in problems if problem.code not in _MILD]
    chosen, odd = _options(settings, values.get("agents", ()))
    values |= chosen
    return KnownSettings(
        tuple(dict.fromkeys(item.text for item in (agents.items if agents else ()) or ())),
        values.get("output-format") is OutputFormat.STRUCTURED,
        None if grave else Rules(**{_snake(key): value for key, value in values.items()}),
        (*problems, *odd),
    )


def _options(
    settings: SettingsBlock, agents: tuple[str, ...]
) -> tuple[dict[str, Any], list[SettingProblem]]:
    """BNC-127: the options among the comments; one that is odd, or comes again, changes nothing."""
    values: dict[str, Any] = {}
    problems: list[SettingProblem] = []
    for comment in settings.comments:
        word = comment.value.text if comment.value else ""
        if comment.key == PEOPLE:
            names = tuple(name.strip() for name in word.split(","))
            listed = set(names) <= set(agents) and len(set(names)) == len(names)
            allowed = {word: names} if listed else {"some of the agents": ()}
        elif comment.key in OPTIONS:
            allowed = OPTIONS[comment.key]
        else:
            continue
        if comment.key not in values and word in allowed:
            values[comment.key] = allowed[word]
        else:
            flaw = "it is given already" if comment.key in values else f"not {word!r}"
            message = f"{comment.key} is {' or '.join(allowed)}: {flaw}"
            problems.append(SettingProblem(comment.key, ODD_OPTION_CODE, message, comment.line))
    return values, problems


def _ease_names(problems: list[SettingProblem]) -> list[SettingProblem]:
    """A-14: a name of another form is odd, no more."""
    return [
        msgspec.structs.replace(problem, code=ODD_NAME_CODE)
        if problem.is_about_name_form
        else problem
        for problem in problems
    ]


def _snake(key: str) -> str:
    return key.replace("-", "_")


def _missing_settings(settings: SettingsBlock) -> Iterator[SettingProblem]:
    """BNC-033: each of the nine, by its name."""
    for key in SETTING_READERS:
        if settings.get(key) is None:
            message = f"the setting {key} is missing"
            yield SettingProblem(key, "MISSING_REQUIRED_RULE", message, settings.line)


def _wrong(
    setting: Setting, expected: str, scalar: TextValue | None = None
) -> list[SettingProblem]:
    value = scalar or setting.value
    shown = repr(value.text) if value else "a list" if setting.items is not None else "nothing"
    message = f"{setting.key} is {shown}; it must be {expected}"
    line = value.line if value else setting.line
    return [SettingProblem(setting.key, "INVALID_RULE_VALUE", message, line)]


def _read_names(setting: Setting) -> tuple[str, ...] | list[SettingProblem]:
    """BNC-034, BNC-035, BNC-037: a list, not empty, of different names in the schema's form."""
    if setting.items is None and setting.value is not None:
        return _wrong(setting, "a list of names")
    if not setting.items:
        return [SettingProblem("agents", "EMPTY_AGENTS_LIST", "no agent is listed", setting.line)]
    problems: list[SettingProblem] = []
    seen: set[str] = set()
    for item in setting.items:
        if not _AGENT.fullmatch(item.text):
            problems.append(_judge_name_form(setting, item))
        if item.text in seen:
            message = f"{item.text} is listed twice"
            problems.append(SettingProblem("agents", "DUPLICATE_AGENT_NAME", message, item.line))
        seen.add(item.text)
    return problems or tuple(item.text for item in setting.items)


def is_usable_name(name: str) -> bool:
    """Can an entry be written under this name? The schema's pattern alone has no longest name."""
    return bool(_USABLE.fullmatch(name) or _AGENT.fullmatch(name))


def _judge_name_form(setting: Setting, item: TextValue) -> SettingProblem:
    """BNC-036: names SHOULD be in lower case (3.3), so one that can be used is only warned of."""
    if is_usable_name(item.text):
        return SettingProblem(setting.key, ODD_NAME_CODE, repr(item.text), item.line)
    (wrong,) = _wrong(setting, NAME_LIMIT, item)
    return msgspec.structs.replace(wrong, is_about_name_form=True)


def _read_whole_number(setting: Setting) -> int | list[SettingProblem]:
    low, high = _LIMITS[setting.key]
    value = setting.value
    # a quoted number is a text, and 300.0 is no whole number.
    if value is not None and not value.quoted and _WHOLE.fullmatch(value.text):
        number = int(value.text)
        if low <= number <= high:
            return number
    return _wrong(setting, f"a whole number from {low} to {high}")


def _read_threshold(setting: Setting) -> Decimal | list[SettingProblem]:
    """BNC-045."""
    value = setting.value
    if value is not None and not value.quoted and DECIMAL_PATTERN.fullmatch(value.text):
        number = Decimal(value.text)
        if number <= 1:
            return number
    return _wrong(setting, "a number from 0.0 to 1.0")


def _read_choice(setting: Setting) -> StrEnum | list[SettingProblem]:
    kind = _CHOICES[setting.key]
    value = setting.value
    if value is not None and value.text in set(kind):
        return kind(value.text)
    # BNC-158: a runtime's word is told what it is called here.
    if kind is TurnOrder and value is not None and value.text in RUNTIME_MODES:
        return _wrong(setting, RUNTIME_MODES[value.text])
    return _wrong(setting, f"one of {', '.join(kind)}")


SETTING_READERS: Final[dict[str, SettingReader]] = {
    "agents": _read_names,
    "turn-order": _read_choice,
    "max-turns-per-round": _read_whole_number,
    "turn-timeout": _read_whole_number,
    "consensus-threshold": _read_threshold,
    "consensus-mode": _read_choice,
    "escalation": _read_choice,
    "max-rounds": _read_whole_number,
    "output-format": _read_choice,
}


_SWITCH: Final = {"true": True, "false": False}
# which of the agents are people; names that begin with `human` need not be here.
PEOPLE: Final = "people"
OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "defer-in-denominator": _SWITCH,
    "supervisor-only": _SWITCH,
    "default-action": {action.value: action for action in DefaultAction},
}


def rules_to_settings(rules: Rules) -> dict[str, Any]:
    """The nine values as plain data, a decimal as its text; `rules_from_settings` reads them back.

    Of the options only those that were chosen.
    """
    plain: dict[str, Any] = msgspec.to_builtins(rules)
    for key in {*OPTIONS, PEOPLE} - list_chosen_options(rules).keys():
        del plain[_snake(key)]
    return plain


def list_chosen_options(rules: Rules) -> dict[str, str]:
    """The options that are not as usual, as the words that say so."""
    usual = Rules(rules.agents)
    people = {PEOPLE: ", ".join(rules.people)} if rules.people else {}
    return people | {
        key: next(word for word, value in allowed.items() if value == getattr(rules, _snake(key)))
        for key, allowed in OPTIONS.items()
        if getattr(rules, _snake(key)) != getattr(usual, _snake(key))
    }


def rules_from_settings(settings: dict[str, Any]) -> Rules | None:
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
# BNC-058: made from the same tables that the values are read by, so the two cannot differ.
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": list(SETTING_READERS),
    "properties": {key: _LISTED if key == "agents" else _property(key) for key in SETTING_READERS},
}
