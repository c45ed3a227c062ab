"""The nine settings of a session: what section 5 allows for each, and their values from text.

`SCHEMA` is the document's own JSON Schema; `SETTING_READERS` reads each setting by it. An invalid
value is a `SettingProblem`, and only nine valid ones make `Rules`. `OPTIONS` are choices that our
readings add: comments among the rules (R19), which other programs ignore.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

import msgspec

from moot.core.errors import Malformed
from moot.core.markdown import MarkdownLine
from moot.protocols.debate.consensus import DebateVote
from moot.protocols.debate.model import (
    DECIMAL_PATTERN,
    ConsensusMode,
    DefaultAction,
    Escalation,
    OutputFormat,
    Rules,
    Setting,
    SettingsBlock,
    Stance,
    TextValue,
    TurnOrder,
)

# The rules block, read line by line: the small part of YAML that a session needs.
#
# Keys with a scalar, block lists, flow lists, quotes and comments. Scalars stay text: `- 007` and
# `- yes` are names. Anchors, tags, maps in maps and second documents are not accepted, and nothing
# here raises: a line that is not understood is kept as unread.

_KEY = re.compile(r"(?P<key>[A-Za-z][A-Za-z0-9_-]*)[ \t]*:(?:[ \t]+(?P<rest>.*))?\Z")
_ITEM = re.compile(r"[ \t]*-(?:[ \t]+(?P<rest>.*))?\Z")
_COMMENT = re.compile(r"(?:\A|[ \t]+)#.*\Z")
_QUOTED = re.compile(r"""(?P<bar>["'])(?P<text>[^"'\\]*)(?P=bar)[ \t]*(?:#.*)?\Z""")
_FLOW = re.compile(r"\[(?P<inside>[^\[\]{}]*)\][ \t]*(?:#.*)?\Z")
# What begins an anchor, alias, tag, flow map, block text or directive in YAML.
_BEYOND = tuple("&*!{[]}|>%@`\"'")


def read_settings(lines: Iterable[MarkdownLine], number: int) -> SettingsBlock:
    """Return the settings in the lines of a fenced block that opens on line `number`."""
    settings: list[Setting] = []
    unread: list[TextValue] = []
    for line in lines:
        text = line.text.rstrip()
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        setting = _read_item(settings, text, line.number) or _read_key(text, line.number)
        if setting is None:
            unread.append(TextValue(text.strip(), line.number))
        elif settings and (setting.key, setting.line) == (settings[-1].key, settings[-1].line):
            settings[-1] = setting  # the last one, with one more item
        else:
            settings.append(setting)
    return SettingsBlock(number, tuple(settings), tuple(unread))


def _read_item(settings: list[Setting], text: str, number: int) -> Setting | None:
    """Return the last setting with one more item, if the line is an item of its list."""
    match = _ITEM.match(text)
    if match is None or not settings or settings[-1].value is not None:
        return None
    last = settings[-1]
    scalar = _read_scalar(match["rest"] or "", number)
    if scalar is None or _KEY.match(scalar.text):
        return None
    return Setting(last.key, last.line, None, (*(last.items or ()), scalar))


def _read_key(text: str, number: int) -> Setting | None:
    match = _KEY.match(text)
    if match is None:
        return None
    rest = _COMMENT.sub("", match["rest"] or "").strip() if match["rest"] else ""
    if not rest:
        return Setting(match["key"], number)
    flow = _FLOW.match(match["rest"].strip())
    if flow is not None:
        return _read_flow_list(match["key"], flow["inside"], number)
    scalar = _read_scalar(match["rest"], number)
    return Setting(match["key"], number, scalar) if scalar else None


def _read_flow_list(key: str, inside: str, number: int) -> Setting | None:
    parts = inside.split(",") if inside.strip() else []
    items = [_read_scalar(part, number) for part in parts]
    if None in items:
        return None
    return Setting(key, number, None, tuple(item for item in items if item is not None))


def _read_scalar(text: str, number: int) -> TextValue | None:
    text = text.strip()
    quoted = _QUOTED.match(text)
    if quoted is not None:
        return TextValue(quoted["text"], number, quoted=True)
    text = _COMMENT.sub("", text).strip()
    if not text or text.startswith(_BEYOND):
        return None
    return TextValue(text, number)


# The vocabulary of the runtime that this format grew out of, and what it becomes in a file.
#
# The tables are the appendix of the document. A runtime has seven stances, a file four; for
# `refine` (yes, but) a file has a lower confidence. `rules_from_runtime` and `vote_from_runtime`
# are for programs that write a runtime's debate as a file; a file with a runtime's own words gets
# a finding that names the words of a file.

# BNC-158
RUNTIME_MODES: Final = {"sequential": TurnOrder.ROUND_ROBIN, "parallel": TurnOrder.FREE_FORM}
# BNC-159
RUNTIME_SETTINGS: Final = {
    "maxRounds": "max-rounds",
    "consensusThreshold": "consensus-threshold",
}
# BNC-160: seven stances become four; a `refine` is this much less sure.
REFINE_FACTOR: Final = Decimal("0.8")
_STANCES: Final = {
    "strongly_agree": (Stance.APPROVE, Decimal(1)),
    "agree": (Stance.APPROVE, Decimal(1)),
    "refine": (Stance.APPROVE, REFINE_FACTOR),
    "synthesize": (Stance.NEUTRAL, Decimal(1)),
    "neutral": (Stance.NEUTRAL, Decimal(1)),
    "disagree": (Stance.REJECT, Decimal(1)),
    "strongly_disagree": (Stance.REJECT, Decimal(1)),
}
# BNC-161: a participant that was skipped, or a pause; there is no runtime stance for it.
SKIPPED_VOTE: Final = DebateVote(Stance.DEFER, Decimal(0))


def vote_from_runtime(
    stance: str | None, confidence: Decimal = SKIPPED_VOTE.confidence
) -> DebateVote:
    """Return a runtime's answer as a vote; no answer at all is a deferral."""
    if stance is None:
        return SKIPPED_VOTE
    if stance not in _STANCES:
        raise Malformed(
            f"{stance!r} is no runtime stance",
            code="unknown_stance",
            hint=f"one of {', '.join(_STANCES)}",
        )
    file_stance, factor = _STANCES[stance]
    return DebateVote(file_stance, confidence * factor)


def rules_from_runtime(agents: Iterable[str], config: Mapping[str, Any]) -> Rules:
    """Return a runtime's settings as those of a file, with defaults for all others.

    The range of the values is checked when a session is made with them.
    """
    mode = config.get("mode")
    if mode not in tuple(RUNTIME_MODES):
        raise _unknown_runtime(f"{mode!r} is no runtime mode")
    settings = {
        name.replace("-", "_"): str(config[key]) if name == "consensus-threshold" else config[key]
        for key, name in RUNTIME_SETTINGS.items()
        if key in config
    }
    try:
        return msgspec.convert(
            {"agents": tuple(agents), "turn_order": RUNTIME_MODES[mode], **settings}, Rules
        )
    except msgspec.ValidationError as error:
        raise _unknown_runtime(str(error)) from None


def _unknown_runtime(message: str) -> Malformed:
    hint = f"mode is {' or '.join(RUNTIME_MODES)}; {', '.join(RUNTIME_SETTINGS)} are as in a file"
    return Malformed(message, code="unknown_runtime", hint=hint)


def explain_runtime_stance(word: str) -> str:
    """Return what a file says for a runtime's stance, in words; nothing for any other word."""
    known = _STANCES.get(word.replace("-", "_"))
    if known is None:
        return ""
    less = ", with four fifths of the confidence" if known[1] is REFINE_FACTOR else ""
    return f"a file says {known[0].value}{less}"


def explain_runtime_setting(key: str) -> str:
    """Return what a file calls a runtime's setting, in words; nothing for any other."""
    return f"a file says {RUNTIME_SETTINGS[key]}" if key in RUNTIME_SETTINGS else ""


# BNC-036, BNC-037: two characters or more, and no hyphen at the ends.
AGENT_PATTERN: Final = "^[a-z0-9][a-z0-9-]*[a-z0-9]$"
_AGENT = re.compile(r"[a-z0-9][a-z0-9-]*[a-z0-9]")
# names that can be read back from an entry and found in a request, even outside the schema.
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
    """An invalid setting: which one, the code of its flaw, a sentence, the line.

    `is_about_name_form`: an agent's name has a form that the schema does not allow.
    """

    key: str
    code: str
    message: str
    line: int
    is_about_name_form: bool = False


class KnownSettings(msgspec.Struct, frozen=True):
    """What the rules block says; `rules` is None if a setting is invalid.

    The agents and the format are kept even then, so that one flaw does not give ten findings
    (BNC-156).
    """

    agents: tuple[str, ...] = ()
    is_structured: bool = False
    rules: Rules | None = None
    problems: tuple[SettingProblem, ...] = ()


SettingReader = Callable[[Setting], Any]


def interpret_settings(settings: SettingsBlock | None, lenient: bool = False) -> KnownSettings:
    """Return the settings as values, and everything that is wrong with them.

    A-14: a name that the schema does not allow is only odd; with `lenient`, also one that no entry
    could be written under.
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
    """BNC-127: read the options among the comments; a bad or repeated one changes nothing."""
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
    """A-14: turn problems with a name's form into warnings."""
    return [
        msgspec.structs.replace(problem, code=ODD_NAME_CODE)
        if problem.is_about_name_form
        else problem
        for problem in problems
    ]


def _snake(key: str) -> str:
    return key.replace("-", "_")


def _missing_settings(settings: SettingsBlock) -> Iterator[SettingProblem]:
    """BNC-033: report each missing setting by its name."""
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
    """BNC-034, BNC-035, BNC-037: read a list, not empty, of different names in the right form."""
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
    """True if an entry can be written under this name; the schema has no limit of length."""
    return bool(_USABLE.fullmatch(name) or _AGENT.fullmatch(name))


def _judge_name_form(setting: Setting, item: TextValue) -> SettingProblem:
    """BNC-036: warn of a usable name in another form, because lower case is a SHOULD (3.3)."""
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
    # BNC-158: for a runtime's mode, name the turn order of a file.
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
    """Return the nine values and the chosen options as plain data, a decimal as its text.

    `rules_from_settings` reads them back.
    """
    plain: dict[str, Any] = msgspec.to_builtins(rules)
    for key in {*OPTIONS, PEOPLE} - list_chosen_options(rules).keys():
        del plain[_snake(key)]
    return plain


def list_chosen_options(rules: Rules) -> dict[str, str]:
    """Return the options that differ from the default, with their texts."""
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
# BNC-058: made from the tables by which values are read, so the two cannot differ.
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": list(SETTING_READERS),
    "properties": {key: _LISTED if key == "agents" else _property(key) for key in SETTING_READERS},
}
