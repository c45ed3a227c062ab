"""Every rule row of every protocol."""

from __future__ import annotations

from typing import Any

from tools.reference.markdown import table

from moot.api.workspace.explaining import packages_with_rules, rules_of, short_name
from moot.core.findings import Rule


def page() -> str:
    lines = [
        "# Rules",
        "",
        "What the protocols forbid (error) or remark on (warning, info). The prefixes of ids are",
        "explained in the [glossary](../glossary.md); `requirement` names the rows of",
        "tests/requirements that a rule enforces where its own id is none.",
        "",
    ]
    for package in packages_with_rules():
        found = list(rules_of(package))
        if found:
            lines += [f"## {short_name(package)}", ""]
            lines += table(
                ("id", "code", "severity", "sentence", "what to do", "requirement"),
                map(_row, found),
            )
            lines += [""]
    return "\n".join(lines)


def _row(rule: Rule[Any]) -> tuple[str, ...]:
    requirement = " ".join(rule.requirement)
    return rule.id, f"`{rule.code}`", str(rule.severity), rule.sentence, rule.hint, requirement
