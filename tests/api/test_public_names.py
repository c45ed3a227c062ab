"""A program calls an operation by the public name of its subject, wherever the module is."""

from __future__ import annotations

import subprocess
import sys

import pytest

import moot
from moot.api.operation import SUBJECTS, all_operations

# What programs call, from README.md and docs/how-to/use-the-library.md, and the three whose module
# is elsewhere.
NAMES = (
    "scopes.reserve",
    "agents.register",
    "mail.sending.send",
    "debates.writing.add",
    "decisions.ask",
    "presence.present",
    "presence.run",
    "machine_leaving.leave_machine",
    "councils.answer",
)


def test_every_operation_is_found_under_the_public_name_of_its_subject() -> None:
    modules = {module: name for name, module in SUBJECTS.items()}
    for entry in all_operations():
        found: object = moot.api
        for part in modules[entry.function.__module__].split("."):
            found = getattr(found, part)
        assert getattr(found, entry.function.__name__) is entry.function, entry.name


@pytest.mark.parametrize("name", NAMES)
def test_a_program_that_imports_only_moot_finds_it(name: str) -> None:
    """In a fresh process, where nothing has loaded the module before."""
    done = subprocess.run(
        [sys.executable, "-c", f"import moot; assert callable(moot.api.{name})"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("place", ["moot.api", "moot.api.presence", "moot.api.decisions"])
def test_a_name_that_is_not_there_is_an_attribute_error(place: str) -> None:
    code = (
        f"import moot\ntry:\n    {place}.nosuch\nexcept AttributeError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == f"module '{place}' has no attribute 'nosuch'\n", done.stderr
