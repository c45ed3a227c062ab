"""Why there is no answer: told in one sentence, and read back only if it is told to the letter."""

from __future__ import annotations

import pytest

from moot.core.failed_answer import REASONS, FailedAnswer, FailureKind, find_failed_answer

CRASHED = FailureKind.CRASHED


@pytest.mark.parametrize(
    "failure",
    [
        *(FailedAnswer(kind, 3) for kind in FailureKind),
        FailedAnswer(CRASHED, 0, exit_status=1),
        FailedAnswer(CRASHED, 12, signal=9),
    ],
)
def test_every_failure_is_read_back_as_it_was_written(failure: FailedAnswer) -> None:
    assert find_failed_answer(failure.sentence) == failure
    assert find_failed_answer(f"{failure.sentence} And more.") == failure
    assert REASONS[failure.kind] in failure.reason


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (FailedAnswer(CRASHED, 3, exit_status=1), "No usable answer: crashed, exit 1, after 3 s."),
        (FailedAnswer(CRASHED, 3, signal=9), "No usable answer: crashed, signal 9, after 3 s."),
        (FailedAnswer(FailureKind.SILENT), "No usable answer: said nothing, after 0 s."),
        (FailedAnswer(FailureKind.SILENT, 1, 1), "No usable answer: said nothing, after 1 s."),
    ],
)
def test_only_a_crash_has_a_number(failure: FailedAnswer, sentence: str) -> None:
    assert failure.sentence == sentence


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It crashed.",
        "no usable answer: crashed, after 3 s.",
        "No usable answer: tired, after 3 s.",
        "No usable answer: said nothing, exit 1, after 3 s.",
        "No usable answer: crashed, exit 01, after 3 s.",
        "No usable answer: crashed, after 03 s.",
    ],
)
def test_a_sentence_in_another_form_is_not_a_failure(text: str) -> None:
    assert find_failed_answer(text) is None
