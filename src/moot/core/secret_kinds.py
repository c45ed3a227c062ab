"""The kinds of secrets that are known, as one table: a name, an expression, and its signs.

Most have a prefix that their makers chose so that scanners find them; the others are recognised by
what stands around them. Each begins with what is rare and looks a bounded way ahead: none can run
away on a long text. Every kind has an example that fits, and one that does not, in its test.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec


class SecretPattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of secret and the expression that finds it."""

    name: str
    expression: str


class SecretKind(NamedTuple):
    """`signs`: what a text must hold, in small letters, for the expression to fit.

    Without one it is neither run nor compiled, which takes longer than all else a hook does with a
    text.
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
    # What stands around it says what it is.
    SecretKind("jwt",
               r"\beyJ[A-Za-z0-9_-]{5,2000}\.[A-Za-z0-9_-]{5,4000}\.[A-Za-z0-9_-]{5,1000}",
               ("eyj",)),
    SecretKind("bearer", r"(?i)\bbearer[ \t]{1,8}[A-Za-z0-9._~+/-]{16,2000}=*", ("bearer",)),
    SecretKind("basic-auth",
               r"(?i)\bauthorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?basic[ \t]{1,8}"
               r"[A-Za-z0-9+/_-]{6,2000}={0,2}",
               ("authorization",)),
    # A number and a slash behind the colon are a port and a path; a password may hold @ and /.
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
