"""Codes that stand in the source where an error is raised or a finding is made.

The source is read, not run: what is only raised on a bad day is known all the same. Values that
are filled in when it is raised are shown as `…`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

SOURCE: Final = Path(__file__).parents[2]
# The class of an error, and where its code stands among the arguments.
KINDS: Final = ("Refused", "Conflict", "NotFound", "Unavailable", "StoreFailed", "MootError")
CODED: Final = ("Malformed", "Tampered")
FINDING: Final = "Finding"
VERDICT_FINDING: Final = "VerdictFinding"  # of a check of exported bytes, which shares no code
_CALLS: Final = tuple(f"{kind}(" for kind in (*KINDS, *CODED, FINDING))


class RaisedCode(NamedTuple):
    """A code, the class of its error (or `Finding`), what it says and what it tells to do. `rule`
    is the id that a finding is shown with."""

    code: str
    kind: str
    message: str
    hint: str
    rule: str = ""


@cache
def raised_codes() -> tuple[RaisedCode, ...]:
    """All codes of errors, sorted; one code may stand in several places."""
    found = {each for text in _read_sources() for each in _codes_in(text)}
    return tuple(sorted(each for each in found if each.kind != FINDING))


def places_of(code: str) -> list[RaisedCode]:
    """Where one code stands, errors first. Only files that name it are parsed: that is quick."""
    quoted = f'"{code}"'
    found = [each for text in _read_sources() if quoted in text for each in _codes_in(text)]
    matching = dict.fromkeys(each for each in found if each.code == code)
    return sorted(matching, key=lambda each: (each.kind == FINDING, not each.hint))


def findings_with(rule: str) -> list[RaisedCode]:
    """The findings that are shown with this id, such as B-11; format-7 means format-7/x, too."""
    wanted = rule.lower()
    found = [each for text in _read_sources() if wanted in text.lower() for each in _codes_in(text)]
    ids = {each: each.rule.lower() for each in found if each.rule}
    return sorted(each for each, own in ids.items() if wanted in (own, own.partition("/")[0]))


@cache
def _read_sources() -> tuple[str, ...]:
    return tuple(file.read_text("utf-8") for file in sorted(SOURCE.rglob("*.py")))


@cache
def _codes_in(text: str) -> tuple[RaisedCode, ...]:
    # Parsing takes a thousand times as long as this look.
    return tuple(_parse_codes(text)) if any(call in text for call in _CALLS) else ()


def _parse_codes(text: str) -> Iterator[RaisedCode]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            kind, named = node.func.id, {word.arg: word.value for word in node.keywords}
            texts = [_text(argument) for argument in node.args]
            hint, code = _text(named.get("hint")), _text(named.get("code"))
            if kind in KINDS and texts and texts[0].isidentifier():
                message = texts[1] if len(texts) > 1 else ""
                yield RaisedCode(texts[0], kind, message, hint)
            elif kind in CODED and texts and code.isidentifier():
                yield RaisedCode(code, kind, texts[0], hint)
            elif kind == FINDING and code.isidentifier():
                rule = _text(named.get("rule"))
                yield RaisedCode(code, kind, _text(named.get("message")), hint, rule)
            elif kind == VERDICT_FINDING and code.isidentifier():
                rule = _text(named.get("rule"))
                yield RaisedCode(code, FINDING, _text(named.get("message")), hint, rule)


def _text(node: ast.expr | None) -> str:
    """What is written there; values that are filled in are shown as `…`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _text(part) if isinstance(part, ast.Constant) else "…" for part in node.values
        )
    return "" if node is None else "…"
