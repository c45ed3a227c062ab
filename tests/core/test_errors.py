"""The tree of expected errors: codes, hints, places, exit codes."""

from __future__ import annotations

import inspect
import re

import pytest

from moot.core import errors
from moot.core.errors import (
    Conflict,
    Malformed,
    MootError,
    NotFound,
    Refused,
    StoreFailed,
    Tampered,
    Unavailable,
)
from moot.core.findings import Finding, Severity


@pytest.mark.parametrize(
    ("error", "exit_code"),
    [
        (Refused("a_code", "m"), 1),
        (Malformed("m", code="a_code"), 1),
        (Conflict("a_code", "m"), 1),
        (NotFound("a_code", "m"), 1),
        (Tampered("m", code="a_code"), 1),
        (Unavailable("a_code", "m"), 4),
        (StoreFailed("a_code", "m"), 4),
    ],
)
def test_every_error_has_a_code_a_message_and_an_exit_code(
    error: MootError, exit_code: int
) -> None:
    assert isinstance(error, MootError)
    assert (error.code, str(error), error.exit_code) == ("a_code", "m", exit_code)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (Malformed("bad", line=3), "line 3: bad"),
        (Malformed("bad", where="packages[3].hash"), "packages[3].hash: bad"),
        (Malformed("bad"), "bad"),
    ],
)
def test_a_malformed_input_is_reported_with_its_place(error: Malformed, text: str) -> None:
    assert str(error) == text
    assert error.code == "malformed"


def test_findings_travel_with_a_refusal() -> None:
    found = Finding(rule="T-1", code="c", message="m")
    assert Refused("c", "m", findings=[found]).findings == (found,)


def test_of_several_findings_the_first_error_speaks_and_all_are_carried() -> None:
    remark = Finding(rule="T-1", code="odd", message="odd", severity=Severity.WARNING)
    wrong = Finding(rule="T-2", code="wrong", message="that is wrong", hint="do otherwise")
    refused = Refused.of([remark, wrong])
    assert (refused.code, str(refused), refused.hint) == ("wrong", "that is wrong", "do otherwise")
    assert refused.findings == (remark, wrong)


def test_a_refusal_of_remarks_alone_speaks_with_the_first() -> None:
    remark = Finding(rule="T-1", code="odd", message="this is odd", severity=Severity.WARNING)
    assert (Refused.of([remark]).code, str(Refused.of([remark]))) == ("odd", "this is odd")


def test_tampering_carries_its_position_and_says_what_to_do() -> None:
    error = Tampered("m", stream="mail/a", seq=4)
    assert (error.stream, error.seq, error.code) == ("mail/a", 4, "tampered")
    assert "moot verify" in error.hint


def test_the_tree_at_the_top_of_the_file_names_every_error() -> None:
    drawn = set(re.findall(r"^ +([A-Z]\w+)", errors.__doc__ or "", re.MULTILINE))
    public = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, MootError)
    }
    assert public == drawn
