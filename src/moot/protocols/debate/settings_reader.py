"""The rules block, read line by line: the small part of YAML that a session needs (A-40).

Keys with a scalar, block lists, flow lists, quotes and comments. Scalars stay text: `- 007` and
`- yes` are names. Anchors, tags, maps in maps and second documents are not accepted, and nothing
here raises: a line that is not understood is kept as unread.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from moot.core.markdown import MarkdownLine
from moot.protocols.debate.model import Setting, SettingsBlock, TextValue

_KEY = re.compile(r"(?P<key>[A-Za-z][A-Za-z0-9_-]*)[ \t]*:(?:[ \t]+(?P<rest>.*))?\Z")
_ITEM = re.compile(r"[ \t]*-(?:[ \t]+(?P<rest>.*))?\Z")
_COMMENT = re.compile(r"(?:\A|[ \t]+)#.*\Z")
_QUOTED = re.compile(r"""(?P<bar>["'])(?P<text>[^"'\\]*)(?P=bar)[ \t]*(?:#.*)?\Z""")
_FLOW = re.compile(r"\[(?P<inside>[^\[\]{}]*)\][ \t]*(?:#.*)?\Z")
# What begins an anchor, alias, tag, flow map, block text or directive in YAML.
_BEYOND = tuple("&*!{[]}|>%@`\"'")


def read_settings(lines: Iterable[MarkdownLine], number: int) -> SettingsBlock:
    """The settings in the lines of a fenced block that opens on line `number`."""
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
    """The last setting with one more item, if the line is an item of its list."""
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
