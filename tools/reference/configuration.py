"""Environment variables and settings: what each means. A test holds them against the source."""

from __future__ import annotations

from typing import Final

from tools.reference.markdown import table

from moot.workspace.settings import SETTINGS, Setting

VARIABLES: Final = {
    "MOOT_AGENT": "who acts; `moot run` sets it for the program it starts; a `--as` that names another is refused",
    "MOOT_EPOCH": "which holder of that name the program was started as; set by `moot run`. If the name was adopted since, its acts are refused",
    "MOOT_HOME": "the workspace to use, instead of the nearest `.moot/` upward; `--home DIR` overrides it",
    "MOOT_CONFIG": "the user's own settings file, instead of `moot/moot.toml` in the user's folder for settings",
    "MOOT_KEYS": "the key folder, instead of the one in the user's data folder; `moot run` sets it to one with the agent's key alone",
    "MOOT_SOCKET": "where the `moot run` listens that started this program; a hook asks it first; set by `moot run`",
    "MOOT_PASSPHRASE_FILE": "a file with a person's passphrase, for automation; what is signed so is recorded as unattended. Never handed to programs that `moot run` starts",
    "MOOT_ACK_MINUTES": "how long answers may take: `60`, or by type `QUESTION=10,60`",
    "BB_AGENT_STALE_MINUTES": "after how many minutes without a sign of life this reader calls an agent stale; at `moot init` it becomes the workspace's own",
    "MOOT_HOOK_SECONDS": "how long a hook may take before it holds the edit back; below the coding tool's own limit",
    "MOOT_CLOCK": "a fixed time, for tests: only with no workspace, or in one that was made under it",
    "MOOT_OTEL": "`1` exports spans and metrics of moot itself to where `OTEL_EXPORTER_OTLP_ENDPOINT` says, `0` does not, whatever `telemetry.export` says (see [telemetry](../how-to/measure-usage.md)); `moot run` sets it for its program",
    "MOOT_DEBUG": "`1` tells on standard error what was opened, locked, decided and committed, with times, and shows where an internal error came from",
    "MOOT_EXECUTION": "set for programs that `moot trace exec` starts: marks what they leave behind",
    "MOOT_MOMENT": "set for `notify.command`: blocked, decision, incursion, unguarded or permission",
    "MOOT_UTC": "`1` shows whole times in UTC at a terminal too, like `--utc`",
    "NO_COLOR": "no colour on the terminal",
}


def page() -> str:
    rows = [(f"`{name}`", meaning) for name, meaning in VARIABLES.items()]
    lines = [
        "# Configuration",
        "",
        "## Variables",
        "",
        "They are read by the command line and the hooks. The library reads none of them: what it",
        "needs is handed to `moot.open`.",
        "",
        *table(("variable", "meaning"), rows),
        "",
        "## Settings",
        "",
        "`moot.toml` in the root of a worktree holds the repository's settings, a file of the same form",
        "a user's own (`MOOT_CONFIG`, else `moot/moot.toml` in the user's folder for settings). A",
        "repository's file comes with whatever one clones: it may only name things and make rules",
        "stricter. Where both set a rule, the stricter one counts. A key that is not in this table is",
        "refused (`bad_setting`) with the nearest one that is; a file that cannot be read",
        "(`settings_unreadable`) makes every rule as strict as it can be until it is fixed.",
        "`moot ledger doctor` says so. No agent writes the repository's file.",
        "",
        *table(
            ("key", "values, the default first", "in the repository's file", "meaning"),
            [_setting_row(setting) for setting in SETTINGS],
        ),
    ]
    return "\n".join(lines)


def _default_first(setting: Setting) -> list[str]:
    return sorted(setting.choices, key=lambda choice: choice != setting.default)


def _setting_row(setting: Setting) -> tuple[str, str, str, str]:
    values = ", ".join(f"`{choice}`" for choice in _default_first(setting)) or "text"
    return f"`{setting.name}`", values, "yes" if setting.in_repository else "no", setting.sentence
