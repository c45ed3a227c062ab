"""Secrets in texts: found before something is run, blotted out before something is kept.

Patterns are data of the policy. Bytes are read one to one, so that any output keeps its length
but for what is taken out. The value of a variable that is named like a secret is one, as it is
and in base64. What none of this knows is not found: this lowers a risk, no more.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

import msgspec

from moot.protocols.trace.policy import Pattern

MASK: Final = "[redacted:{name}]"
_FLAGS: Final = re.ASCII
VARIABLE: Final = "variable"
_SECRET_NAME: Final = re.compile(r"(?i)key|token|secret|pass|pwd|cred|auth")
# A shorter value is an ordinary word too often.
_LEAST: Final = 8


class Redacted(msgspec.Struct, frozen=True):
    """What is kept, and the names of the patterns that were found, each once."""

    data: bytes
    found: tuple[str, ...] = ()


def find(patterns: tuple[Pattern, ...], texts: Iterable[str]) -> tuple[str, ...]:
    """The names of the patterns found in any of `texts`, in the policy's order."""
    whole = "\n".join(texts)
    return tuple(name for name, pattern in _compiled(patterns) if pattern.search(whole))


def redact(patterns: tuple[Pattern, ...], data: bytes) -> Redacted:
    """`data` without its secrets. Doing it twice changes nothing more."""
    text = data.decode("latin-1")
    found = []
    for name, pattern in _compiled(patterns):
        text, count = pattern.subn(_blot(name), text)
        if count:
            found.append(name)
    return Redacted(text.encode("latin-1"), tuple(found)) if found else Redacted(data)


def told(env: Mapping[str, str], names: Iterable[str]) -> tuple[Pattern, ...]:
    """What the variables of these names give away, as patterns for one run, on no record."""
    values = [env.get(name, "") for name in names if _SECRET_NAME.search(name)]
    found = dict.fromkeys(form for one in values if len(one) >= _LEAST for form in _forms(one))
    return tuple(Pattern(VARIABLE, re.escape(form)) for form in found)


def _forms(value: str) -> Iterator[str]:
    """As it is, and the part of its base64 that is the same whatever stands around it."""
    data = value.encode("utf-8", "surrogateescape")
    yield data.decode("latin-1")
    for before, skip in ((0, 0), (1, 2), (2, 3)):
        whole = base64.b64encode(bytes(before) + data).rstrip(b"=")
        sure = whole[skip:] if (before + len(data)) % 3 == 0 else whole[skip:-1]
        yield sure.decode()
        yield sure.translate(bytes.maketrans(b"+/", b"-_")).decode()


def redact_text(patterns: tuple[Pattern, ...], text: str) -> str:
    for name, pattern in _compiled(patterns):
        text = pattern.sub(_blot(name), text)
    return text


def _blot(name: str) -> str:
    return MASK.format(name=name)


@lru_cache(32)
def _compiled(patterns: tuple[Pattern, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """A pattern that does not compile finds nothing: a policy with one is refused at the start."""
    made = []
    for one in patterns:
        try:
            made.append((one.name, re.compile(one.expression, _FLAGS)))
        except (re.error, OverflowError, RecursionError):
            continue
    return tuple(made)
