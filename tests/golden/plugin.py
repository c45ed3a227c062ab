"""Holds every answer that a test prints to the golden; a test that prints another shape fails.

`print_answer` is the one place an answer goes through, printed as JSON or as lines for a person;
what a process of its own printed is shown to `check_data` by who reads it. With MOOT_RECORD_DATA
the shapes are written into that folder instead, a file for each process that runs tests.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from moot.surfaces.terminal import answer as answers
from tests.golden.data_shapes import GOLDEN, RENEW, Shape, compare, merge, read, shape_of, write

FOLDER = os.environ.get("MOOT_RECORD_DATA")  # read before a test gives itself another environment
_golden: dict[str, Shape] = read(GOLDEN) if GOLDEN.exists() else {}
_recorded: dict[str, Shape] = {}
_differences: list[str] = []
_print_answer = answers.print_answer


def check_data(command: str, data: Any) -> None:
    """Fail the running test, once it ends, if this is not how the command has answered so far."""
    shape = shape_of(data)
    if FOLDER is not None:
        known = _recorded.get(command)
        _recorded[command] = merge(known, shape) if known is not None else shape
    else:
        _differences.extend(differences(_golden, command, shape))


def differences(golden: dict[str, Shape], command: str, shape: Shape) -> list[str]:
    """Sentences for a developer who changed an answer."""
    if command not in golden:
        return [f"`{command}` is not in the golden; if it is new: {RENEW}"]
    broken, grown = compare(golden[command], shape)
    return [
        *(f"the data of `{command}` may never change, but {one}" for one in broken),
        *(f"the data of `{command}` has grown by {one}; if on purpose: {RENEW}" for one in grown),
    ]


def print_and_check(command: str, answer: answers.Answer, as_json: bool) -> None:
    """`print_answer`, watched."""
    check_data(command, json.loads(answers.encode_json(answer.data)))
    _print_answer(command, answer, as_json)


# Now, before a conftest or a test loads the command line: who imports it then gets this one.
answers.print_answer = print_and_check


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    """What its fixtures printed counts as the test's own."""
    try:
        yield
        if _differences:
            pytest.fail("\n".join(dict.fromkeys(_differences)), pytrace=False)
    finally:
        _differences.clear()


def pytest_sessionfinish() -> None:
    if FOLDER is not None and _recorded:
        place = Path(FOLDER)
        place.mkdir(parents=True, exist_ok=True)
        write(place / f"{uuid4().hex}.json", _recorded)
