"""Every command, option and argument of the command line: a test fails when one changes.

`python -m tests.golden.test_commands --write` writes the snapshot again. Help texts are not in it.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from tools.reference.commands import walk

from moot.surfaces.cli.main import cli

SNAPSHOT = Path(__file__).with_name("commands.txt")


def command_lines() -> list[str]:
    """List each command, then its parameters in the order of its declaration."""
    return [line for context in walk(cli, None, "moot") for line in _describe(context)]


def _describe(context: click.Context) -> Iterator[str]:
    path, command = context.command_path, context.command
    yield f"{path} (hidden)" if command.hidden else path
    for parameter in command.params:
        names = "/".join(parameter.opts + parameter.secondary_opts)
        yield " ".join([path, names, *_properties(parameter, context)])


def _properties(parameter: click.Parameter, context: click.Context) -> Iterator[str]:
    is_flag = isinstance(parameter, click.Option) and parameter.is_flag
    if not is_flag:
        yield parameter.make_metavar(context)
    if parameter.required:
        yield "required"
    if parameter.multiple or parameter.nargs == -1:
        yield "repeatable"
    if isinstance(parameter, click.Option) and parameter.hidden:
        yield "hidden"
    for bound in ("min", "max"):
        value = getattr(parameter.type, bound, None)
        if value is not None:
            yield f"{bound}={value}"
    default = parameter.to_info_dict()["default"]
    if default not in (None, False, ()) and not callable(default):
        yield f"default={default.value if isinstance(default, enum.Enum) else default}"


def test_no_command_has_changed_by_accident() -> None:
    kept = SNAPSHOT.read_text("utf-8").splitlines()
    advice = "on purpose? `python -m tests.golden.test_commands --write`, and a changelog line"
    assert command_lines() == kept, advice


def test_a_required_parameter_cannot_be_left_out() -> None:
    """An option with the default None is never missing, although it says that it is required."""
    for context in walk(cli, None, "moot"):
        for parameter in (one for one in context.command.params if one.required):
            value, _source = parameter.consume_value(context, {})
            with pytest.raises(click.MissingParameter):
                parameter.process_value(context, value)


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    SNAPSHOT.write_text("\n".join(command_lines()) + "\n", "utf-8")
