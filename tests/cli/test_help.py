"""`--help` of everything: whole lines at 80 columns, every option explained, slips asked back."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.surfaces.cli.bb import bb
from moot.surfaces.cli.bb_commands import bb_init
from moot.surfaces.cli.main import cli
from moot.surfaces.terminal.lazy import SHOW_ALL
from moot.surfaces.terminal.shell import clean_docstring
from tests.project import Project

COLUMNS = 80


def walk(command: click.Command, above: click.Context | None, name: str) -> Iterator[click.Context]:
    """A command and all below it, each in a context as narrow as an old terminal."""
    names = ["-h", "--help"]
    here = click.Context(command, above, name, terminal_width=COLUMNS, help_option_names=names)
    here.meta[SHOW_ALL] = True
    yield here
    if isinstance(command, click.Group):
        for word in command.list_commands(here):
            below = command.get_command(here, word)
            assert below is not None, f"{here.command_path} {word}"
            yield from walk(below, here, word)


EVERYTHING = [
    *walk(cli, None, "moot"),
    *walk(bb, None, "bb"),
    *walk(bb_init, None, "bb-init"),
]
GROUPS = [one for one in EVERYTHING if isinstance(one.command, click.Group)]


def path(context: click.Context) -> str:
    return context.command_path


def test_every_option_says_what_it_is_for() -> None:
    silent = [
        f"{path(context)} {option.opts[0]}"
        for context in EVERYTHING
        for option in context.command.params
        if isinstance(option, click.Option) and not option.help
    ]
    assert silent == []


def test_every_command_says_what_it_does() -> None:
    assert [path(one) for one in EVERYTHING if not one.command.help] == []


@pytest.mark.parametrize("group", GROUPS, ids=path)
def test_a_group_tells_each_of_its_commands_in_one_whole_line(group: click.Context) -> None:
    assert isinstance(group.command, click.Group)
    lines = group.command.get_help(group).splitlines()
    assert [line for line in lines if len(line) > COLUMNS] == []
    rows = dict(
        line.split(maxsplit=1) for line in lines if line.startswith("  ") and "  " in line.strip()
    )
    names = group.command.list_commands(group)
    assert len(names) == len(set(names))
    for name in names:
        below = group.command.get_command(group, name)
        assert below is not None
        assert rows[name], name
        assert not rows[name].endswith("...") or group.command is cli, f"{name}: {rows[name]}"


def test_what_is_told_of_a_command_is_on_its_own_line_to_the_end() -> None:
    """A line that is broken begins again where no name stands."""
    for group in GROUPS:
        assert isinstance(group.command, click.Group)
        names = group.command.list_commands(group)
        told = group.command.get_help(group).partition(_first_heading(group))[2].splitlines()
        begun = [line for line in told if line.startswith("  ")]
        assert [line.split()[0] for line in begun] == names, path(group)


def _first_heading(group: click.Context) -> str:
    """What stands after the options."""
    said = group.command.get_help(group)
    return next(line for line in said.splitlines()[::-1] if line.startswith("  -"))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("resrve", "src"), "reserve"),
        (("stats",), "status"),
        (("debate", "ad"), "add"),
        (("parliament", "desicde"), "decide"),
        (("trace", "porpose"), "propose"),
        (("mail", "lnit"), "lint"),
        (("agent", "regster", "x"), "register"),
        (("flow", "question-to-debte"), "question-to-debate"),
    ],
)
def test_a_mistyped_command_is_asked_back(
    bare: Project, typed: tuple[str, ...], meant: str
) -> None:
    done = bare.json(*typed)
    assert (done.error["code"], done.code) == ("usage", 2)
    assert f"Did you mean '{meant}'?" in done.error["message"]


def test_a_word_like_no_command_gets_no_guess(bare: Project) -> None:
    assert "Did you mean" not in bare.json("xyzzy").error["message"]
    assert "Did you mean" not in bare.json("debate", "--nothing").error["message"]


def test_help_shows_what_to_start_with_and_says_where_the_rest_is(bare: Project) -> None:
    short = bare.run("--help").out
    assert short == bare.run("help").out
    assert short.index("run ") < short.index("status ") < short.index("ask ") < short.index("init ")
    assert "parliament" not in short
    assert re.search(r"^\d+ more: `moot help --all`$", short, re.MULTILINE)
    everything = bare.run("help", "--all").out
    assert "parliament" in everything
    assert "more: `moot" not in everything


def test_help_explains_any_command_by_its_words(bare: Project) -> None:
    assert bare.run("help", "trace", "propose").out == bare.run("trace", "propose", "--help").out
    assert bare.ok("help", "status")["command"] == "status"
    done = bare.json("help", "trace", "nosuch")
    assert (done.error["code"], done.code) == ("usage", 2)
    assert done.error["hint"] == "`moot trace --help` shows how"


# Help texts are cleaned as Python's own library does it.

LINES = st.text(" ab\t", max_size=8)


@given(st.lists(LINES, max_size=6).map("\n".join))
def test_a_docstring_is_cleaned_as_the_library_does(text: str) -> None:
    assert clean_docstring(text) == inspect.cleandoc(text)
