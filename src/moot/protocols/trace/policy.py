"""What a trace allows, fixed when it begins: risks of tools, bounds, who must agree, secrets.

A policy is data inside the first event, so it is signed, hashed and never changes. `parse_policy`
reads one from JSON and raises only `Malformed`.
"""

from __future__ import annotations

import hashlib
import re
from enum import StrEnum
from typing import Any, Final

import msgspec

from moot.core.canonical import canonical, check_profile
from moot.core.errors import Malformed
from moot.core.secrets import SECRET_PATTERNS, SecretPattern

# The defaults when the first traces were signed. They may never change.
#
# They apply to records that lack a key; otherwise a record has its whole policy. A new trace begins
# with `DEFAULT_POLICY`, which may become stricter.

FIRST_HIGH_RISK: Final = (
    *("bash", "busybox", "cmd", "curl", "dash", "docker", "env", "fish", "git push", "ksh"),
    *("nice", "nohup", "npm publish", "podman", "powershell", "pwsh", "rm", "rsync", "scp"),
    *("script", "setsid", "sh", "ssh", "stdbuf", "time", "timeout", "watch", "wget", "xargs"),
    "zsh",
)
FIRST_CRITICAL_RISK: Final = (
    *("dd", "doas", "kubectl", "mkfs", "shutdown", "su", "sudo", "terraform"),
)
FIRST_SECRETS: Final = (
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


MAX_BYTES: Final = 16_384
MAX_TOOLS, MAX_PATTERNS, MAX_NAMES = 200, 64, 200
MAX_PATTERN, MAX_NAME = 300, 200
MAX_ATTEMPTS, MAX_EVIDENCE = 100, 100
SECOND_MS: Final = 1_000
DAY_MS: Final = 24 * 60 * 60 * SECOND_MS
MAX_OUTPUT: Final = 1 << 30
_PATTERN_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,47}\Z")
_VARIABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}\Z")


class Risk(StrEnum):
    """How much harm a tool can do; the order is that of the words here."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class OnForgery(StrEnum):
    """What a forged signature in a participant's name does: end the trace, or only be refused."""

    FAIL = "fail"
    REJECT = "reject"


class ToolRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The risk of a tool, and the first words of its commands; none: the tool's name."""

    tool: str
    risk: Risk
    commands: tuple[tuple[str, ...], ...] = ()


def _tool_rules(programs: dict[Risk, tuple[str, ...]]) -> tuple[ToolRule, ...]:
    return tuple(
        ToolRule(tool=name, risk=risk) for risk, names in programs.items() for name in names
    )


_FIRST_TOOLS: Final = _tool_rules({Risk.HIGH: FIRST_HIGH_RISK, Risk.CRITICAL: FIRST_CRITICAL_RISK})
# Programs that can do much harm, or that run other programs. An interpreter runs a file that one
# can read: medium. With the code among its arguments it is like a shell: high.
_PYTHONS: Final = ("python", "python2", "python3", *(f"python3.{minor}" for minor in range(8, 20)))
_INTERPRETERS: Final = (
    *("awk", "bun", "deno", "find", "gawk", "lua", "make", "mawk", "ninja", "node", "npx"),
    *("osascript", "perl", "php", "r", "rscript", "ruby", "tclsh", "uvx", *_PYTHONS),
)
_PROGRAM_IN_WORDS: Final = (
    *("bun -e", "deno eval", "find -delete", "find -exec", "find -execdir", "find -ok"),
    *("find -okdir", "lua -e", "node --eval", "node -e", "node -p", "osascript -e", "perl -E"),
    *("perl -e", "php -r", "rscript -e", "ruby -e", *(f"{name} -c" for name in _PYTHONS)),
)
DEFAULT_TOOLS: Final = _tool_rules(
    {
        Risk.MEDIUM: _INTERPRETERS,
        Risk.HIGH: (*FIRST_HIGH_RISK, *_PROGRAM_IN_WORDS),
        Risk.CRITICAL: FIRST_CRITICAL_RISK,
    }
)
DEFAULT_ENVIRONMENT: Final = (
    *("HOME", "LANG", "LC_ALL", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"),
    *("APPDATA", "COMSPEC", "LOCALAPPDATA", "PATHEXT", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE"),
)


class Policy(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, cache_hash=True
):
    """The rules of one trace. Every default is the safest that still lets work continue.

    `default_risk` is that of a tool which `tools` does not name. `distinct_roles` asks for four
    different agents; even without it the executor never judges its own work. `environment` are the
    variables that a command gets without naming them in its intent.
    """

    approval_required_from: Risk = Risk.HIGH
    default_risk: Risk = Risk.LOW
    tools: tuple[ToolRule, ...] = _FIRST_TOOLS
    max_attempts: int = 3
    min_evidence: int = 1
    allow_fallback: bool = True
    on_invalid_signature: OnForgery = OnForgery.FAIL
    distinct_roles: bool = True
    require_reservation: bool = False
    default_timeout_ms: int = 600 * SECOND_MS
    max_timeout_ms: int = 3_600 * SECOND_MS
    max_output_bytes: int = 8 << 20
    environment: tuple[str, ...] = DEFAULT_ENVIRONMENT
    secrets: tuple[SecretPattern, ...] = FIRST_SECRETS


# The policy of a record without one; the policy of a new trace.
FIRST_POLICY: Final = Policy()
DEFAULT_POLICY: Final = Policy(tools=DEFAULT_TOOLS, secrets=SECRET_PATTERNS)


def parse_policy(data: bytes | str) -> Policy:
    """Return a policy from its JSON; keys that are left out take their defaults."""
    if len(data) > MAX_BYTES:
        raise Malformed(
            f"larger than {MAX_BYTES} bytes", code="too_large", hint="name fewer tools and patterns"
        )
    try:
        policy = _complete(msgspec.json.decode(data, type=Policy), msgspec.json.decode(data))
    except msgspec.ValidationError as error:
        raise _bad_policy(str(error)) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Malformed(
            f"not JSON: {error}", code="not_json", hint="an object such as {} with what differs"
        ) from None
    for problem in find_problems(policy):
        raise _bad_policy(problem)
    return policy


def _complete(policy: Policy, given: dict[str, Any]) -> Policy:
    """Use today's defaults for the keys that were left out."""
    usual = {"tools": DEFAULT_POLICY.tools, "secrets": DEFAULT_POLICY.secrets}
    left_out = {key: value for key, value in usual.items() if key not in given}
    return msgspec.structs.replace(policy, **left_out)


def find_problems(policy: Policy) -> tuple[str, ...]:
    """Return what makes a policy unusable, in the order of its fields."""
    return (
        *_tool_problems(policy.tools),
        *_range_problems("max_attempts", policy.max_attempts, 1, MAX_ATTEMPTS),
        *_range_problems("min_evidence", policy.min_evidence, 1, MAX_EVIDENCE),
        *_range_problems("max_timeout_ms", policy.max_timeout_ms, SECOND_MS, DAY_MS),
        *_range_problems("default_timeout_ms", policy.default_timeout_ms, 1, policy.max_timeout_ms),
        *_range_problems("max_output_bytes", policy.max_output_bytes, 1_024, MAX_OUTPUT),
        *_environment_problems(policy.environment),
        *_secret_problems(policy.secrets),
    )


def policy_document(policy: Policy) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.to_builtins(policy)
    return document


def policy_hash(policy: Policy) -> str:
    """Return the hash of its canonical bytes; empty if it has none."""
    try:
        return hashlib.sha256(canonical(policy_document(policy))).hexdigest()
    except Malformed:
        return ""


def _range_problems(name: str, value: int, least: int, most: int) -> tuple[str, ...]:
    return () if least <= value <= most else (f"{name}: {value} is not within {least} to {most}",)


def _tool_problems(tools: tuple[ToolRule, ...]) -> list[str]:
    if len(tools) > MAX_TOOLS:
        return [f"tools: more than {MAX_TOOLS}"]
    names = [rule.tool for rule in tools]
    twice = sorted({name for name in names if names.count(name) > 1})
    flaws = [f"tools: {name!r} is named twice" for name in twice]
    flaws += [f"tools: {name[:40]!r} is no name" for name in names if not _is_word(name)]
    words = [word for rule in tools for first in rule.commands for word in (first or ("",))]
    return flaws + [f"tools: {word[:40]!r} is no command" for word in words if not _is_word(word)]


def _is_word(text: str) -> bool:
    return 0 < len(text) <= MAX_NAME and text.isprintable() and bool(text.strip())


def _environment_problems(names: tuple[str, ...]) -> list[str]:
    if len(names) > MAX_NAMES:
        return [f"environment: more than {MAX_NAMES} names"]
    bad = (name for name in names if not _VARIABLE_NAME.match(name))
    return [f"environment: {name[:40]!r} is no name of a variable" for name in bad]


def _secret_problems(patterns: tuple[SecretPattern, ...]) -> list[str]:
    if len(patterns) > MAX_PATTERNS:
        return [f"secrets: more than {MAX_PATTERNS} patterns"]
    return [problem for pattern in patterns for problem in _pattern_problems(pattern)]


def _pattern_problems(pattern: SecretPattern) -> list[str]:
    if not _PATTERN_NAME.match(pattern.name):
        return [f"secrets: {pattern.name[:40]!r} is no name"]
    if not 0 < len(pattern.expression) <= MAX_PATTERN:
        return [f"secrets.{pattern.name}: 1 to {MAX_PATTERN} characters"]
    try:
        check_profile(pattern.expression)
        compiled = re.compile(pattern.expression)
    except (re.error, OverflowError, RecursionError, Malformed) as error:
        return [f"secrets.{pattern.name}: {error}"]
    return [f"secrets.{pattern.name}: finds the empty text"] if compiled.search("") else []


def _bad_policy(problem: str) -> Malformed:
    where, _, rest = problem.partition(": ")
    return Malformed(
        rest or problem,
        code="bad_policy",
        where=where if rest else "",
        hint="docs/traces.md lists every key of a policy with its default",
    )
