"""Rules as rows of a table, findings as values."""

from __future__ import annotations

from collections.abc import Iterator

from moot.core.findings import (
    Breach,
    Finding,
    Rule,
    Severity,
    check_all,
    fill_hint,
    fill_hints,
    select_errors,
)


def too_long(words: list[str]) -> Iterator[tuple[str, str | None]]:
    for place, word in enumerate(words):
        if len(word) > 3:
            yield f"{word} is long", f"[{place}]"


def empty(words: list[str]) -> Iterator[tuple[str, str | None]]:
    if not words:
        yield "", None


RULES = (
    Rule("W-1", "empty", "there are no words", empty, hint="add one"),
    Rule("W-2", "too_long", "words are short", too_long, severity=Severity.WARNING),
)


def test_a_rule_reports_every_place() -> None:
    assert check_all(RULES, ["abc", "abcd", "efghi"]) == (
        Finding(
            rule="W-2",
            code="too_long",
            message="abcd is long",
            severity=Severity.WARNING,
            where="[1]",
        ),
        Finding(
            rule="W-2",
            code="too_long",
            message="efghi is long",
            severity=Severity.WARNING,
            where="[2]",
        ),
    )


def test_a_breach_without_a_message_shows_the_rules_sentence() -> None:
    (found,) = check_all(RULES, [])
    assert (found.message, found.hint, found.severity) == (
        "there are no words",
        "add one",
        Severity.ERROR,
    )


def test_findings_stand_in_the_order_of_the_table() -> None:
    both = (RULES[1], RULES[0])
    assert [f.rule for f in check_all(both, ["abcd"])] == ["W-2"]
    assert [f.rule for f in check_all((*RULES, *both), [])] == ["W-1", "W-1"]


def test_only_errors_count_as_errors() -> None:
    warning, error = check_all(RULES, ["abcd"])[0], check_all(RULES, [])[0]
    note = Finding(rule="W-3", code="c", message="m", severity=Severity.INFO)
    assert select_errors([warning, error, note]) == (error,)


def test_a_hint_is_filled_with_what_the_check_knows() -> None:
    def held(words: list[str]) -> Iterator[Breach]:
        for word in words:
            yield "it is held", None, None, {"HOLDER": word}

    row = Rule("W-3", "held", "held by another", held, hint="ask: `moot blocked HOLDER --work ID`")
    assert [one.hint for one in check_all((row,), ["ann", "bob b"])] == [
        "ask: `moot blocked ann --work ID`",
        "ask: `moot blocked 'bob b' --work ID`",
    ]


def test_what_a_command_would_write_is_never_filled_with_what_was_read() -> None:
    """Else the hint, typed, would destroy what it speaks of."""
    hint = "`moot ledger export -o FILE ID` proves it; `moot verify FILE`"
    filled_hint = "`moot ledger export -o FILE q-1` proves it; `moot verify r.moot`"
    assert fill_hint(hint, {"FILE": "r.moot", "ID": "q-1"}) == filled_hint


def test_only_whole_words_in_capitals_are_filled() -> None:
    known = {"ID": "q-1", "NAME": "x", "SHA256": "ab"}
    assert (
        fill_hint("ID, IDS, key=NAME, X-NAME, SHA256, Id, ID.html, ID.", known)
        == "q-1, IDS, key=NAME, X-NAME, ab, Id, ID.html, q-1."
    )
    (found,) = fill_hints(check_all(RULES, []), {"ADD": "no"})
    assert found.hint == "add one"
