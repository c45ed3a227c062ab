"""Commands that are made from an operation and a table of what is typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click
import pytest

from moot.api.operation import OPERATIONS
from moot.surfaces.terminal.derive import ROWS, derive, signature_of
from tests.cli.command_tree import commands_with_envelopes


def bake(
    _session: Any,
    cake: str,
    eggs: Sequence[str] = (),
    *,
    minutes: int = 40,
    oven: str = "n/a",
    note: str = "",
    recipe: bytes | None = None,
    quiet: bool = True,
) -> dict[str, Any]:
    return {
        "cake": cake,
        "eggs": list(eggs),
        "minutes": minutes,
        "oven": oven,
        "note": note,
        "recipe": (recipe or b"").decode(),
        "quiet": quiet,
    }


TABLE = """
    CAKE
    --egg KIND = eggs        What goes in.
    --minutes 1..90          How long.
    --oven NAME              Where.
    --note TEXT              What to remember.
    --recipe FILE            How.
    --loud = not quiet       Say when it is done, \
        to everybody.
"""


@pytest.fixture
def made() -> click.Command:
    @derive("bake.new", bake, TABLE)
    def new(done: dict[str, Any], cake: str) -> Iterator[str]:
        """Bake a cake."""
        yield f"{cake}: {done}"

    del ROWS["bake.new"]
    return new


def option(command: click.Command, name: str) -> click.Parameter:
    return next(each for each in command.params if each.name == name)


def test_the_signature_says_what_is_required_repeated_and_shown(made: click.Command) -> None:
    assert made.name == "new"
    assert option(made, "cake").required
    assert option(made, "eggs").multiple
    minutes, oven = option(made, "minutes"), option(made, "oven")
    assert isinstance(minutes, click.Option)
    assert isinstance(oven, click.Option)
    assert (minutes.default, minutes.show_default, oven.show_default) == (40, True, False)
    loud = option(made, "quiet")
    assert isinstance(loud, click.Option)
    assert (loud.is_flag, loud.help) == (True, "Say when it is done, to everybody.")


def test_a_parameter_that_the_operation_does_not_have_fails_at_import() -> None:
    with pytest.raises(KeyError, match="sugar"):
        derive("bake.new", bake, "CAKE\n--sugar GRAMS  How sweet.")


def test_a_row_that_cannot_be_read_fails_at_import() -> None:
    with pytest.raises(AssertionError, match="= = CAKE"):
        derive("bake.new", bake, "= = CAKE")


def test_no_derived_command_names_another_operation_than_it_calls() -> None:
    assert len(commands_with_envelopes()) > 100  # which imports all of them
    assert len(ROWS) > 90
    unknown = {
        dotted: [row.name for row in rows]
        for dotted, rows in ROWS.items()
        if not {row.name for row in rows} <= parameters_of(dotted)
    }
    assert unknown == {}


def parameters_of(operation: str) -> set[str]:
    """What an operation takes, and the fields of its plan."""
    known = signature_of(OPERATIONS[operation].function)
    fields = known["plan"].default.__struct_fields__ if "plan" in known else ()
    return {*known, *fields}
