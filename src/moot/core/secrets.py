"""Secrets in texts: found before something is run, blotted out before something is stored.

Patterns are data: a trace's policy names its own, everything else uses `SECRET_PATTERNS`. Bytes
are read as Latin-1, so that any output keeps its length but for what is taken out. The value of a
variable whose name sounds like a secret is one, as it is and in base64. A secret that fits no
pattern is not found: this lowers a risk, no more.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

import msgspec

MASK: Final = "[redacted:{name}]"
_FLAGS: Final = re.ASCII
VARIABLE_PATTERN: Final = "variable"
_SECRET_NAME: Final = r"(?i)key|token|secret|pass|pwd|cred|auth"
# A shorter value is an ordinary word too often.
_SHORTEST: Final = 8


class SecretPattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of secret and the expression that finds it."""

    name: str
    expression: str


# Each begins with what is rare and looks a bounded way ahead: none can run away on a long text.
SECRET_PATTERNS: Final = (
    SecretPattern(
        "private-key",
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]|-(?!----)){0,20000}(?:-----END [A-Z ]{0,60}-----)?",
    ),
    SecretPattern("aws-key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    SecretPattern(
        "github-token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})"
    ),
    SecretPattern("slack-token", r"\bxox[abeprs]-[A-Za-z0-9-]{10,250}"),
    SecretPattern("model-key", r"\bsk-[A-Za-z0-9_-]{20,250}"),
    SecretPattern("google-key", r"\bAIza[A-Za-z0-9_-]{35}"),
    SecretPattern(
        "jwt", r"\beyJ[A-Za-z0-9_-]{5,2000}\.[A-Za-z0-9_-]{5,4000}\.[A-Za-z0-9_-]{5,1000}"
    ),
    SecretPattern("bearer", r"(?i)\bbearer[ \t]{1,8}[A-Za-z0-9._~+/-]{16,2000}=*"),
    SecretPattern("url-password", r"://[^\s/:@]{1,100}:[^\s/@]{3,200}@"),
    SecretPattern(
        "flag",
        r"(?i)(?<!\S)--?[a-z-]{0,20}(?:password|passwd|secret|token|api-?key)[ =]"
        r"[^\s-][^\s]{5,300}",
    ),
    SecretPattern(
        "assignment",
        r"(?i)(?:password|passwd|secret|token|api[_-]?key)[\w-]{0,20}"
        r"[\"']?[ \t]{0,4}[=:][ \t]{0,4}[\"']?[^\s\"']{6,500}",
    ),
)

# What a text must hold, in small letters, for one of these to fit: without it the expression is
# neither run nor compiled, which takes longer than all else a hook does with a text.
_TOKEN_WORDS: Final = ("password", "passwd", "secret", "token", "apikey", "api-key", "api_key")
_SIGNS: Final[dict[SecretPattern, tuple[str, ...]]] = dict(
    zip(
        SECRET_PATTERNS,
        (
            ("-----begin ",),
            ("akia", "asia"),
            ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
            ("xox",),
            ("sk-",),
            ("aiza",),
            ("eyj",),
            ("bearer",),
            ("://",),
            _TOKEN_WORDS,
            _TOKEN_WORDS,
        ),
        strict=True,
    )
)


class RedactedBytes(msgspec.Struct, frozen=True):
    """The bytes without their secrets, and the names of the patterns that fitted, each once."""

    data: bytes
    found: tuple[str, ...] = ()


def find_secrets(patterns: tuple[SecretPattern, ...], texts: Iterable[str]) -> tuple[str, ...]:
    """The names of the patterns found in any of `texts`, in the order of the patterns."""
    whole = "\n".join(texts)
    return tuple(pattern.name for pattern in patterns if _find_in(pattern, whole))


def redact_bytes(patterns: tuple[SecretPattern, ...], data: bytes) -> RedactedBytes:
    """`data` without its secrets. Doing it twice changes nothing more."""
    text = data.decode("latin-1")
    names = []
    for pattern in patterns:
        expression = _find_in(pattern, text)
        if expression is not None:
            text = expression.sub(_mask(pattern.name), text)
            names.append(pattern.name)
    return RedactedBytes(text.encode("latin-1"), tuple(names)) if names else RedactedBytes(data)


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
    return tuple(SecretPattern(VARIABLE_PATTERN, re.escape(form)) for form in forms)


def _encodings(value: str) -> Iterator[str]:
    """As it is, and in base64 the part that is the same whatever bytes come before and after."""
    data = value.encode("utf-8", "surrogateescape")
    yield data.decode("latin-1")
    for padding, skip in ((0, 0), (1, 2), (2, 3)):
        encoded = base64.b64encode(bytes(padding) + data).rstrip(b"=")
        stable = encoded[skip:] if (padding + len(data)) % 3 == 0 else encoded[skip:-1]
        yield stable.decode()
        yield stable.translate(bytes.maketrans(b"+/", b"-_")).decode()


def redact_text(patterns: tuple[SecretPattern, ...], text: str) -> str:
    for pattern in patterns:
        expression = _find_in(pattern, text)
        if expression is not None:
            text = expression.sub(_mask(pattern.name), text)
    return text


def _mask(name: str) -> str:
    return MASK.format(name=name)


def _find_in(pattern: SecretPattern, text: str) -> re.Pattern[str] | None:
    """The expression of a pattern that fits somewhere in `text`, else None."""
    signs = _SIGNS.get(pattern)
    if signs is not None:
        small = text.lower()
        if not any(sign in small for sign in signs):
            return None
    expression = _compiled(pattern)
    return expression if expression is not None and expression.search(text) else None


@lru_cache(1024)
def _compiled(pattern: SecretPattern) -> re.Pattern[str] | None:
    """A pattern that does not compile finds nothing: a policy with one is refused at the start."""
    try:
        return re.compile(pattern.expression, _FLAGS)
    except (re.error, OverflowError, RecursionError):
        return None
