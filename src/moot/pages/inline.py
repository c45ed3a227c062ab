"""The small things that stand inside a line: a chip with its sign, an identifier, a digest."""

import re
from typing import Final

from moot.pages.markup import Child, Markup, tag
from moot.pages.model import Tone
from moot.pages.text import one_line
from moot.pages.wording import SIGNS

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


def chip(tone: Tone, text: str) -> Markup:
    look = "neutral" if tone == "plain" else tone
    return tag("span", {"class": f"chip {look}", "dir": "auto"}, *with_tone_sign(tone, text))


def with_tone_sign(tone: Tone, text: str) -> tuple[Child, Child]:
    """A text behind the sign of its tone."""
    sign = SIGNS[tone]
    mark = tag("span", {"class": "sign", "aria-hidden": "true"}, sign) if sign else None
    return mark, tag("bdi", None, one_line(text))


def code_element(text: str) -> Markup:
    """An identifier in fixed width; a digest is cut into two halves, or four quarters."""
    line = one_line(text)
    return tag("code", {"class": "digest" if _DIGEST.fullmatch(line) else "id"}, line)
