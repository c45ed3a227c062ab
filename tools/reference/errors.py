"""Every code that an error may carry: raised in the code, or a rule's."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tools.reference.markdown import first_paragraph, table
from tools.reference.rules import packages, rules_of

from moot.core import errors

SOURCE: Final = Path(__file__).parents[2] / "src" / "moot"
# The class of an error, and where its code stands among the arguments.
KINDS: Final = ("Refused", "Conflict", "NotFound", "Unavailable", "StoreFailed", "MootError")
CODED: Final = ("Malformed", "Tampered")


class Raised(NamedTuple):
    code: str
    kind: str
    message: str
    hint: str


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
    return sorted({rule.code for package in packages() for rule in rules_of(package)})


def raised() -> list[Raised]:
    found = {each for file in sorted(SOURCE.rglob("*.py")) for each in _raised_in(file)}
    return sorted(found)


def _rows() -> Iterator[tuple[str, ...]]:
    shown: set[tuple[str, str]] = set()
    for each in raised():
        if (each.code, each.kind) not in shown:  # one example is enough
            shown.add((each.code, each.kind))
            yield f"`{each.code}`", each.kind, each.message, each.hint


def _raised_in(file: Path) -> Iterator[Raised]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            kind, named = node.func.id, {word.arg: word.value for word in node.keywords}
            texts = [_text(argument) for argument in node.args]
            if kind in KINDS and texts and texts[0].isidentifier():
                message = texts[1] if len(texts) > 1 else ""
                yield Raised(texts[0], kind, message, _text(named.get("hint")))
            elif kind in CODED and texts and _text(named.get("code")).isidentifier():
                yield Raised(_text(named["code"]), kind, texts[0], _text(named.get("hint")))


def _text(node: ast.expr | None) -> str:
    """What is written there; values that are filled in are shown as `…`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _text(part) if isinstance(part, ast.Constant) else "…" for part in node.values
        )
    return "" if node is None else "…"
