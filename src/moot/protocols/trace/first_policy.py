"""What the keys of a policy meant when the first traces were signed, and for ever in their records.

A trace's record holds its policy whole, so nothing is read from here but a record that lacks a
key. A new trace begins with `DEFAULT_POLICY`, which may become stricter; these may not change.
"""

from __future__ import annotations

from typing import Final

from moot.core.secrets import SecretPattern

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
