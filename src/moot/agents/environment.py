"""Which environment variables a program behind `cmd:` gets: a table of what each is known to need.

A program needs to find itself, its settings, its own key and the network, and nothing else of what
its user has exported: tokens of other services stay here. `*` at the end of a row means every
variable that begins so. `--env NAME` adds what a program needs besides.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Final

from moot.core.errors import Malformed

# Never handed on: a person's passphrase, and the name of whoever started us.
WITHHELD: Final = frozenset({"MOOT_PASSPHRASE_FILE", "MOOT_AGENT", "MOOT_EPOCH"})
# What any program may see: who and where it is, how it prints, how it reaches the network.
COMMON: Final = (
    *("HOME", "USER", "LOGNAME", "PATH", "SHELL", "PWD", "TMPDIR", "TMP", "TEMP", "TZ"),
    *("LANG", "LANGUAGE", "LC_*", "TERM", "COLORTERM", "COLUMNS", "LINES", "NO_COLOR", "CI"),
    *("XDG_*", "DBUS_SESSION_BUS_ADDRESS"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"),
    *("NODE_EXTRA_CA_CERTS", "NODE_USE_ENV_PROXY", "VIRTUAL_ENV", "PYTHONIOENCODING", "PYTHONUTF8"),
    *("APPDATA", "COMSPEC", "LOCALAPPDATA", "PATHEXT", "PROGRAMDATA", "PROGRAMFILES"),
    *("SYSTEMDRIVE", "SYSTEMROOT", "USERPROFILE", "WINDIR"),
)
_AMAZON: Final = ("AWS_*",)
_GOOGLE: Final = ("GOOGLE_*", "GEMINI_*", "CLOUD_ML_REGION", "VERTEX_*")
_KEYS_OF_MODELS: Final = (
    *("ANTHROPIC_*", "OPENAI_*", "AZURE_*", "OPENROUTER_*", "GROQ_*", "MISTRAL_*", "DEEPSEEK_*"),
    *("XAI_*", "TOGETHER_*", "FIREWORKS_*", "CEREBRAS_*", "OLLAMA_*", "HF_TOKEN", *_GOOGLE),
)
# By the program's own name: its settings and its key; several providers where it speaks to several.
KNOWN_PROGRAMS: Final[dict[str, tuple[str, ...]]] = {
    "aider": ("AIDER_*", *_KEYS_OF_MODELS, *_AMAZON),
    "amp": ("AMP_*",),
    "claude": ("ANTHROPIC_*", "CLAUDE_*", "IS_SANDBOX", *_GOOGLE, *_AMAZON),
    "codex": ("CODEX_*", "OPENAI_*", "AZURE_OPENAI_*"),
    "copilot": ("COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN"),
    "cursor-agent": ("CURSOR_*",),
    "gemini": _GOOGLE,
    "goose": ("GOOSE_*", *_KEYS_OF_MODELS),
    "llm": ("LLM_*", *_KEYS_OF_MODELS),
    "ollama": ("OLLAMA_*",),
    "opencode": ("OPENCODE_*", "GITHUB_TOKEN", *_KEYS_OF_MODELS, *_AMAZON),
    "qwen": ("QWEN_*", "DASHSCOPE_*", "OPENAI_*"),
}
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}\Z")


def environment_for(
    program: str, env: Mapping[str, str], added: Iterable[str] = ()
) -> dict[str, str]:
    """The part of `env` that this program gets; `added` are names that its user allows besides."""
    name = re.split(r"[/\\]", program)[-1].lower().removesuffix(".exe").removesuffix(".cmd")
    rows = (*COMMON, *KNOWN_PROGRAMS.get(name, ()), *map(_require_name, added))
    return {
        variable: value
        for variable, value in env.items()
        if variable not in WITHHELD and any(_fits(row, variable) for row in rows)
    }


def _fits(row: str, variable: str) -> bool:
    if os.name == "nt":  # where names are the same in any case
        row, variable = row.upper(), variable.upper()
    return variable.startswith(row[:-1]) if row.endswith("*") else variable == row


def _require_name(name: str) -> str:
    if not _NAME.match(name) or name in WITHHELD:
        why = "is never handed on" if name in WITHHELD else "is no name of a variable"
        raise Malformed(
            f"--env: {name[:60]!r} {why}", code="bad_variable", hint="such as --env MY_API_KEY"
        )
    return name
