"""Secrets in texts: found before something is run, blotted out before something is stored.

Patterns are data: a trace's policy names its own, everything else uses `SECRET_PATTERNS`, the table
in `secret_kinds.py`. Bytes are read as Latin-1, so that any output keeps its length but for what is
taken out. The value of a variable whose name sounds like a secret is one, as it is and in base64,
in one line or wrapped. A secret that fits no pattern is not found: this lowers a risk, no more.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from moot.core.secret_kinds import SECRET_PATTERNS, SIGNS, SecretPattern

MASK: Final = "[redacted:{name}]"
_FLAGS: Final = re.ASCII
VARIABLE_PATTERN: Final = "variable"
_SECRET_NAME: Final = r"(?i)key|token|secret|pass|pwd|cred|auth"
# A shorter value is an ordinary word too often.
_SHORTEST: Final = 8

__all__ = [
    "SECRET_PATTERNS",
    "RedactedBytes",
    "SecretPattern",
    "find_secrets",
    "patterns_of_variables",
    "redact_bytes",
    "redact_strings",
    "redact_text",
]


class RedactedBytes(msgspec.Struct, frozen=True):
    """The bytes without their secrets, and the names of the patterns that fitted, each once."""

    data: bytes
    found: tuple[str, ...] = ()


def find_secrets(patterns: tuple[SecretPattern, ...], texts: Iterable[str]) -> tuple[str, ...]:
    """The names of the patterns found in any of `texts`, in the order of the patterns."""
    searched = _SearchedText("\n".join(texts))
    return tuple(pattern.name for pattern in patterns if searched.find(pattern))


def redact_bytes(patterns: tuple[SecretPattern, ...], data: bytes) -> RedactedBytes:
    """`data` without its secrets. Doing it twice changes nothing more."""
    text, names = _redact(patterns, data.decode("latin-1"))
    return RedactedBytes(text.encode("latin-1"), names) if names else RedactedBytes(data)


def redact_text(patterns: tuple[SecretPattern, ...], text: str) -> str:
    return _redact(patterns, text)[0]


def redact_strings(patterns: tuple[SecretPattern, ...], value: Any) -> tuple[Any, tuple[str, ...]]:
    """A JSON value with every text in it redacted, and the names of what was found.

    Before it is encoded: in the encoded form a quotation mark in a text is two characters, and what
    stands between two of them no longer looks like a secret.
    """
    names: dict[str, None] = {}

    def redact(part: Any) -> Any:
        if isinstance(part, str):
            text, found = _redact(patterns, part)
            names.update(dict.fromkeys(found))
            return text
        if isinstance(part, dict):
            return {redact(key): redact(child) for key, child in part.items()}
        return [redact(child) for child in part] if isinstance(part, list | tuple) else part

    return redact(value), tuple(names)


def _redact(patterns: tuple[SecretPattern, ...], text: str) -> tuple[str, tuple[str, ...]]:
    searched, names = _SearchedText(text), []
    for pattern in patterns:
        expression = searched.find(pattern)
        if expression is not None:
            searched = _SearchedText(expression.sub(_mask(pattern.name), searched.text))
            names.append(pattern.name)
    return searched.text, tuple(names)


def patterns_of_variables(
    env: Mapping[str, str], names: Iterable[str]
) -> tuple[SecretPattern, ...]:
    """Patterns for the values of those variables whose names sound secret.

    They serve one run and are never recorded: a pattern here is the secret itself.
    """
    values = [env.get(name, "") for name in names if re.search(_SECRET_NAME, name)]
    forms = dict.fromkeys(
        form for value in values if len(value) >= _SHORTEST for form in _encodings(value)
    )
    return tuple(SecretPattern(VARIABLE_PATTERN, form) for form in forms)


def _encodings(value: str) -> Iterator[str]:
    """Expressions for it as it is, and in base64, wherever a line may end in that.

    Of base64 the part is taken that is the same whatever bytes come before and after.
    """
    data = value.encode("utf-8", "surrogateescape")
    yield re.escape(data.decode("latin-1"))
    for padding, skip in ((0, 0), (1, 2), (2, 3)):
        encoded = base64.b64encode(bytes(padding) + data).rstrip(b"=")
        stable = encoded[skip:] if (padding + len(data)) % 3 == 0 else encoded[skip:-1]
        yield _wrapped(stable.decode())
        yield _wrapped(stable.translate(bytes.maketrans(b"+/", b"-_")).decode())


def _wrapped(encoded: str) -> str:
    return r"(?:\r?\n[ \t]{0,8})?".join(map(re.escape, encoded))


def _mask(name: str) -> str:
    return MASK.format(name=name)


class _SearchedText:
    """A text, and the same in small letters: made once, however many patterns ask."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._small = text.lower()

    def find(self, pattern: SecretPattern) -> re.Pattern[str] | None:
        """The expression of a pattern that fits somewhere here, else None."""
        signs = SIGNS.get(pattern)
        if signs is not None and not any(sign in self._small for sign in signs):
            return None
        expression = _compiled(pattern)
        return expression if expression is not None and expression.search(self.text) else None


@lru_cache(1024)
def _compiled(pattern: SecretPattern) -> re.Pattern[str] | None:
    """A pattern that does not compile finds nothing: a policy with one is refused at the start."""
    try:
        return re.compile(pattern.expression, _FLAGS)
    except (re.error, OverflowError, RecursionError):
        return None
