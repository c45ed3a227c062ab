"""Every code that an error may carry: raised in the code, or a rule's."""

from __future__ import annotations

from collections.abc import Iterator

from tools.reference.markdown import first_paragraph, table

from moot.api.workspace.explaining import CODED, KINDS, packages_with_rules, raised_codes, rules_of
from moot.core import errors


def page() -> str:
    kinds = [
        (
            f"`{name}`",
            str(getattr(errors, name).exit_code),
            first_paragraph(getattr(errors, name).__doc__),
        )
        for name in (*KINDS[:-1], *CODED)
    ]
    lines = [
        "# Errors",
        "",
        "An error has a stable code, a sentence, and a hint that says what to do next. Codes keep",
        "their meaning for ever. `…` stands for a value.",
        "",
        *table(("kind", "exit code", "meaning"), kinds),
        "",
        "## Codes",
        "",
        *table(("code", "kind", "says", "what to do"), _rows()),
        "",
        "## Codes of rules",
        "",
        "A refusal carries the code of the first rule that was broken: [rules.md](rules.md).",
        "",
        ", ".join(f"`{code}`" for code in rule_codes()),
    ]
    return "\n".join(lines)


def rule_codes() -> list[str]:
    return sorted({rule.code for package in packages_with_rules() for rule in rules_of(package)})


def _rows() -> Iterator[tuple[str, ...]]:
    shown: set[tuple[str, str]] = set()
    for each in raised_codes():
        if (each.code, each.kind) not in shown:  # one example is enough
            shown.add((each.code, each.kind))
            yield f"`{each.code}`", each.kind, each.message, each.hint
