"""Find secrets in texts before a command runs, and redact them before anything is stored.

Patterns are data: a trace's policy names its own; everything else uses `SECRET_PATTERNS`. Bytes are
read as Latin-1, so that all bytes outside of a secret stay as they are. The value of a variable
with a name like SECRET or TOKEN counts as a secret, plain or in base64, on one line or wrapped. A
secret that matches no pattern is not found: this lowers a risk and does not remove it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

# The known kinds of secrets. Each expression begins with rare characters and has bounded
# quantifiers, so that none takes quadratic time on a long text. For each, the test has an example
# that matches and one that does not.


class SecretPattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of secret and the expression that finds it."""

    name: str
    expression: str


class SecretKind(NamedTuple):
    """A known kind of secret. A match always contains one of `signs`, in lower case.

    If a text contains none of them, the expression is not even compiled: that would take longer
    than everything else that a hook does with the text.
    """

    name: str
    expression: str
    signs: tuple[str, ...]


_WORDS: Final = ("password", "passwd", "secret", "token", "apikey", "api-key", "api_key")
_NAMED: Final = r"(?:password|passwd|secret|token|api[_-]?key)"
_END: Final = r"(?![A-Za-z0-9])"

SECRET_KINDS: Final = (
    SecretKind(
        "private-key",
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]|-(?!----)){0,20000}(?:-----END [A-Z ]{0,60}-----)?",
        ("-----begin ",),
    ),
    SecretKind("age-key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{58}", ("age-secret-key-",)),
    # Clouds and hosts.
    SecretKind("aws-key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b",
               ("akia", "asia", "abia", "acca")),
    SecretKind("google-key", r"\bAIza[A-Za-z0-9_-]{35}", ("aiza",)),
    SecretKind("google-oauth", r"\b(?:ya29\.[A-Za-z0-9_-]{20,2000}|GOCSPX-[A-Za-z0-9_-]{20,60})",
               ("ya29.", "gocspx-")),
    SecretKind("azure-key", r"(?i)\bAccountKey=[A-Za-z0-9+/]{60,120}={0,2}", ("accountkey=",)),
    SecretKind("digitalocean-token", r"\bdo[opr]_v1_[a-f0-9]{64}",
               ("doo_v1_", "dop_v1_", "dor_v1_")),
    SecretKind("databricks-token", rf"\bdapi[a-f0-9]{{32}}{_END}", ("dapi",)),
    SecretKind("vault-token", r"\bhv[bs]\.[A-Za-z0-9_-]{20,300}", ("hvs.", "hvb.")),
    SecretKind("heroku-key", r"\bHRKU-[A-Za-z0-9_-]{30,100}", ("hrku-",)),
    # Code and packages.
    SecretKind("github-token",
               r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})",
               ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_")),
    SecretKind("gitlab-token", r"\bgl(?:pat|rt|ptt|dt|cbt|soat)-[A-Za-z0-9_.-]{20,300}",
               ("glpat-", "glrt-", "glptt-", "gldt-", "glcbt-", "glsoat-")),
    SecretKind("npm-token", rf"\bnpm_[A-Za-z0-9]{{36}}{_END}", ("npm_",)),
    SecretKind("pypi-token", r"\bpypi-AgE[A-Za-z0-9_-]{50,1000}", ("pypi-age",)),
    SecretKind("docker-token", r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,100}",
               ("dckr_pat_", "dckr_oat_")),
    SecretKind("linear-key", r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,64}", ("lin_api_", "lin_oauth_")),
    SecretKind("atlassian-token", r"\bATATT3[A-Za-z0-9_=-]{60,300}", ("atatt3",)),
    # Models.
    SecretKind("model-key", r"\bsk-[A-Za-z0-9_-]{20,250}", ("sk-",)),
    SecretKind("other-model-key",
               r"\b(?:gsk_[A-Za-z0-9]{40,100}|xai-[A-Za-z0-9]{40,120}|pplx-[A-Za-z0-9]{40,100}"
               r"|r8_[A-Za-z0-9]{37,60}|hf_[A-Za-z0-9]{30,60})",
               ("gsk_", "xai-", "pplx-", "r8_", "hf_")),
    # Messages and money.
    SecretKind("slack-token", r"\bx(?:ox[abeprs]|app)-[A-Za-z0-9-]{10,250}", ("xox", "xapp-")),
    SecretKind("webhook",
               r"\b(?:hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,200}"
               r"|discord(?:app)?\.com/api/webhooks/[0-9]{5,25}/[A-Za-z0-9_-]{30,120})",
               ("hooks.slack.com/", "/api/webhooks/")),
    SecretKind("telegram-token", rf"\b[0-9]{{8,10}}:AA[A-Za-z0-9_-]{{33}}{_END}", (":aa",)),
    SecretKind("sendgrid-key", r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}", ("sg.",)),
    SecretKind("mail-key", rf"\bkey-[0-9a-f]{{32}}{_END}", ("key-",)),
    SecretKind("twilio-key", rf"\bSK[0-9a-f]{{32}}{_END}", ("sk",)),
    SecretKind("stripe-key", r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,250}",
               ("sk_live_", "sk_test_", "rk_live_", "rk_test_")),
    SecretKind("square-token", r"\bsq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,60}", ("sq0",)),
    SecretKind("shopify-token", r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", ("shp",)),
    SecretKind("grafana-token", r"\bgl(?:sa|c)_[A-Za-z0-9_=-]{32,400}", ("glsa_", "glc_")),
    # Recognised by the text around the secret.
    SecretKind("jwt",
               r"\beyJ[A-Za-z0-9_-]{5,2000}\.[A-Za-z0-9_-]{5,4000}\.[A-Za-z0-9_-]{5,1000}",
               ("eyj",)),
    SecretKind("bearer", r"(?i)\bbearer[ \t]{1,8}[A-Za-z0-9._~+/-]{16,2000}=*", ("bearer",)),
    SecretKind("basic-auth",
               r"(?i)\bauthorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?basic[ \t]{1,8}"
               r"[A-Za-z0-9+/_-]{6,2000}={0,2}",
               ("authorization",)),
    # A number and a slash after the colon are a port and a path; a password may contain @ and /.
    SecretKind("url-password",
               r"://[^\s/:@\"']{0,100}:(?![0-9]{1,5}(?:[/?#\s\"']|$))[^\s\"'<>]{3,200}@"
               r"(?=[A-Za-z0-9\[])",
               ("://",)),
    SecretKind("flag", rf"(?i)(?<!\S)--?[a-z-]{{0,20}}{_NAMED}[ =][^\s-][^\s]{{5,300}}", _WORDS),
    SecretKind("assignment",
               rf"(?i){_NAMED}[\w-]{{0,20}}[\"']?[ \t]{{0,4}}[=:][ \t]{{0,4}}"
               r"(?:\"[^\"\n]{6,500}\"|'[^'\n]{6,500}'|[\"']?[^\s\"']{6,500})",
               _WORDS),
)  # fmt: skip
SECRET_PATTERNS: Final = tuple(SecretPattern(kind.name, kind.expression) for kind in SECRET_KINDS)
SIGNS: Final = {
    pattern: kind.signs for pattern, kind in zip(SECRET_PATTERNS, SECRET_KINDS, strict=True)
}


MASK: Final = "[redacted:{name}]"
_FLAGS: Final = re.ASCII
VARIABLE_PATTERN: Final = "variable"
_SECRET_NAME: Final = r"(?i)key|token|secret|pass|pwd|cred|auth"
# A shorter value is too often an ordinary word.
_SHORTEST: Final = 8


class RedactedBytes(msgspec.Struct, frozen=True):
    """The bytes without their secrets, and the names of the patterns that matched."""

    data: bytes
    found: tuple[str, ...] = ()


def find_secrets(patterns: tuple[SecretPattern, ...], texts: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the patterns that match in `texts`, in the order of the patterns."""
    searched = _SearchedText("\n".join(texts))
    return tuple(pattern.name for pattern in patterns if searched.find(pattern))


def redact_bytes(patterns: tuple[SecretPattern, ...], data: bytes) -> RedactedBytes:
    """Redact the secrets in `data`. A second call changes nothing more."""
    text, names = _redact(patterns, data.decode("latin-1"))
    return RedactedBytes(text.encode("latin-1"), names) if names else RedactedBytes(data)


def redact_text(patterns: tuple[SecretPattern, ...], text: str) -> str:
    return _redact(patterns, text)[0]


def redact_strings(patterns: tuple[SecretPattern, ...], value: Any) -> tuple[Any, tuple[str, ...]]:
    """Redact every text in a JSON value; return it with the names of the patterns that matched.

    Call it before encoding: in JSON a quotation mark becomes two characters, and a quoted secret no
    longer matches.
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
    """Return patterns for the values of variables with a name like TOKEN or PASSWORD.

    Never record these patterns: each one is the secret itself.
    """
    values = [env.get(name, "") for name in names if re.search(_SECRET_NAME, name)]
    forms = dict.fromkeys(
        form for value in values if len(value) >= _SHORTEST for form in _encodings(value)
    )
    return tuple(SecretPattern(VARIABLE_PATTERN, form) for form in forms)


def _encodings(value: str) -> Iterator[str]:
    """Yield expressions that match a value as it is and in base64, with or without line breaks.

    A secret inside a longer text has one of three base64 forms, depending on its offset. Each
    expression is the part that does not depend on the bytes before and after.
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
    """A text with its lower-case form, which is made once for all patterns."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lower = text.lower()

    def find(self, pattern: SecretPattern) -> re.Pattern[str] | None:
        """Return the compiled expression of a pattern if it matches this text, else None."""
        signs = SIGNS.get(pattern)
        if signs is not None and not any(sign in self._lower for sign in signs):
            return None
        expression = _compiled(pattern)
        return expression if expression is not None and expression.search(self.text) else None


@lru_cache(1024)
def _compiled(pattern: SecretPattern) -> re.Pattern[str] | None:
    """Compile a pattern; None if it is invalid. A policy with such a pattern is refused earlier."""
    try:
        return re.compile(pattern.expression, _FLAGS)
    except (re.error, OverflowError, RecursionError):
        return None
