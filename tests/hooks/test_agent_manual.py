"""What agents are told is what there is: every command, option, enum and label of the manual."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click
import pytest

from moot.api.hook_setup.manual import manual
from moot.protocols.presence import labels
from moot.protocols.presence.liveness import STALE_VARIABLE
from moot.protocols.presence.model import (
    DEFAULT_STALE_MILLIS,
    EventType,
    Liveness,
    ResumeReason,
    Urgency,
)
from moot.surfaces.cli.main import cli
from moot.surfaces.hooks.briefing import IN_SHELL
from moot.surfaces.mcp.tools import BY_NAME
from tests.hooks.tool_calls import call, reason
from tests.project import CRANE, Project

_CODE = re.compile(r"`(?:[^`]*/)?(moot [^`]+)`")  # also by its whole path


def commands(text: str) -> list[str]:
    """Every command line in backquotes, also one that is broken over two lines."""
    return [" ".join(found.split()) for found in _CODE.findall(text)]


def parsed(line: str) -> tuple[click.Command, list[str]]:
    """The command that a line names, and the words that follow it."""
    words = shlex.split(line)[1:]
    if words[0] == "--as":
        words = words[2:]
    found: click.Command = cli
    while isinstance(found, click.Group) and words:
        inner = found.get_command(click.Context(found), words[0])
        assert inner is not None, f"{line}: there is no {words[0]}"
        found, words = inner, words[1:]
    return found, words


def options(command: click.Command) -> Iterator[str]:
    for parameter in command.params:
        yield from parameter.opts + parameter.secondary_opts


def check(line: str) -> None:
    command, words = parsed(line)
    assert not isinstance(command, click.Group), f"{line} is not a whole command"
    named = {word for word in words if word.startswith("--")}
    assert named <= set(options(command)), f"{line}: {named - set(options(command))}"
    required = [one for one in command.params if one.required and isinstance(one, click.Option)]
    assert all(named & set(one.opts) for one in required), f"{line} leaves out a required option"
    arguments = [one for one in command.params if isinstance(one, click.Argument) and one.required]
    rest = [word for word in words if not word.startswith("--")]
    assert len(rest) >= len(arguments) + len(named) - _flags(command, named)


def _flags(command: click.Command, named: set[str]) -> int:
    found = [one for one in command.params if isinstance(one, click.Option) and one.is_flag]
    return sum(bool(named & set(one.opts)) for one in found)


@pytest.mark.requirement("OPR-097")
@pytest.mark.parametrize("line", commands(manual(beads=True)))
def test_every_command_of_the_manual_exists_with_these_options(line: str) -> None:
    if line != "moot --as NAME":
        check(line)


@pytest.mark.requirement("OPR-097")
def test_the_manual_speaks_of_the_same_states_enums_and_labels() -> None:
    text = manual(beads=True)
    for word in (*Liveness, *Urgency, *ResumeReason):
        assert f"`{word}`" in text
    for kind in EventType:
        assert kind in text
        assert f'"{labels.EVENT_LABELS[kind]}"' in text
    for label in ("Seen", "Accepted"):
        assert f'"{label}"' in text
    assert STALE_VARIABLE in text
    assert f"{DEFAULT_STALE_MILLIS // 60_000} minutes" in text
    assert ".beads/issues.jsonl" in text


@pytest.mark.requirement("OPR-091")
def test_the_manual_is_installed_where_a_tool_reads_it(project: Project) -> None:
    project.ok("hook", "install", "claude")
    installed = (project.root / ".claude/skills/moot/SKILL.md").read_text("utf-8")
    assert manual(beads=False) in installed


def test_of_beads_it_speaks_only_where_there_are_beads(project: Project) -> None:
    (project.root / ".beads").mkdir()
    project.ok("hook", "install", "claude")
    installed = (project.root / ".claude/skills/moot/SKILL.md").read_text("utf-8")
    assert manual(beads=True) in installed
    assert "bead" not in manual(beads=False)


# About as a model's tokenizer cuts English: short words whole, long ones in pieces, signs alone.
_TOKEN = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,3}|[^\sA-Za-z0-9]")


def test_the_manual_is_under_a_page() -> None:
    text = manual(beads=True)
    assert len(text.splitlines()) <= 40
    assert len(_TOKEN.findall(text)) <= 800


def test_what_a_session_is_told_at_its_start_exists() -> None:
    lines = commands(IN_SHELL.format(me="amber-otter", moot="moot --as amber-otter"))
    assert lines
    for line in lines:
        check(line)


def test_the_tools_that_the_manual_names_are_those_of_the_server() -> None:
    section = manual(beads=False).partition("If you are offered tools of moot")[2]
    section = section.partition("What others")[0]
    assert set(re.findall(r"`(\w+)`", section)) == set(BY_NAME)


@pytest.mark.requirement("OPR-104")
def test_what_a_refused_agent_is_told_to_do_exists(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    lines = commands(reason(project.hook("claude", call("claude-write", project.root))))
    assert len(lines) == 2
    for line in lines:
        check(line)
    assert len(project.events("INCURSION")) == 1
