"""Every command that any agenda, error, refusal or line of ours names can be typed.

They are found in the source, so that those of a bad day are among them. Each is led through the
command line's own tree: its command exists, and so do its options. What an agenda says is typed
for real, and does what it says.
"""

from __future__ import annotations

import ast
import re
import shlex
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import moot
from tests.cli.test_lapsed_duties import BLOCKED, CRANE, HANDOFF, OTTER, as_, ask_question
from tests.cli.typeable import FILLED, commands_in, find_untypeable
from tests.project import Project

SOURCE = Path(moot.__file__).parent


def texts_in(file: Path) -> Iterator[str]:
    """Every text in a file that is shown to somebody: no docstring, which is for readers of code
    and for `--help`, whose examples tests/cli/test_help.py looks at."""
    tree = ast.parse(file.read_text("utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    inner = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else FILLED
                for part in node.values
            )
        elif id(node) in docstrings | inner:
            continue
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@cache
def all_commands() -> list[tuple[str, str]]:
    files = [file for file in sorted(SOURCE.rglob("*.py")) if "demo" not in file.parts]
    found = {
        (file.relative_to(SOURCE).as_posix(), line)
        for file in files
        for text in texts_in(file)
        for line in commands_in(text)
    }
    return sorted(found)


def test_there_are_many() -> None:
    assert len(all_commands()) > 150


def test_every_command_that_we_name_exists_with_its_options() -> None:
    wrong = [f"{file}: {why}" for file, line in all_commands() for why in find_untypeable(line)]
    assert wrong == []


# The agenda, typed --------------------------------------------------------------------------------


def agenda_of(project: Project, who: str) -> list[dict[str, str]]:
    due: list[dict[str, str]] = project.ok("agenda", "--agent", who)["due"]
    return due


def type_hints(project: Project, who: str) -> None:
    """Type what the agenda says until nothing is left that a command could do."""
    for _ in range(10):
        items = [item for item in agenda_of(project, who) if item["hint"].startswith("moot ")]
        if not items:
            return
        words = shlex.split(items[0]["hint"].replace("TEXT", "'port 3000'"))[1:]
        done = project.json(*as_(who, *words))
        assert done.code == 0, (items[0], done)
    raise AssertionError(f"never ends: {agenda_of(project, who)}")


@pytest.mark.parametrize("ended", [False, True])
def test_what_the_agenda_says_can_be_typed_and_ends_the_duty(project: Project, ended: bool) -> None:
    ask_question(project)
    project.ok(*as_(OTTER, "blocked", CRANE, *BLOCKED))
    project.ok(*as_(OTTER, "handoff", CRANE, *HANDOFF))
    project.ok(*as_(OTTER, "send", CRANE, "INFO: hello"))
    if ended:
        project.ok("agent", "retire", CRANE)
    else:
        type_hints(project, CRANE)
        assert agenda_of(project, CRANE) == []
    type_hints(project, OTTER)
    assert agenda_of(project, OTTER) == []
    assert project.ok("mail", "pending")["pending"] == []


# Refusals, typed ----------------------------------------------------------------------------------

PROGRAM = f"{sys.executable} -c pass"
PLACEHOLDERS = {
    "COMMAND": PROGRAM,
    "NAME": "blue-heron",
    "TEXT": "'because of it'",
    "WORDS": "port",
    "FILE": "plan.md",
    "SCOPE": "docs",
}
# What is typed, and which command of its hint (from 0) is typed then, as whom.
REFUSALS: tuple[tuple[tuple[str, ...], int, str | None], ...] = (
    (("--as", "nobody-here", "reserve", "x"), 0, None),
    (("--as", "nobody here", "reserve", "x"), 0, None),
    (("--as", CRANE, "reserve", "src"), 0, None),
    (("--as", CRANE, "release", "src"), 0, CRANE),
    (("run", "--adopt", "coral-finch", "--", "true"), 0, None),
    (("run", "--adopt", "coral-finch", "--", "true"), 1, None),
    (("run", "--adopt", OTTER, "--", "true"), 0, None),
    (("run", "--adopt", "nobody-here", "--", "true"), 0, None),
    (("--as", CRANE, "send", "coral-finch", "INFO: x"), 0, CRANE),
    (("--as", CRANE, "event", "accept", "nothing"), 0, CRANE),
    (("--as", CRANE, "mail", "show", "nothing"), 0, CRANE),
    (("--as", CRANE, "mail", "show", "nothing"), 1, CRANE),
    (("--as", CRANE, "mail", "ack", "nothing", "--status", "Received"), 0, CRANE),
    (("--as", CRANE, "plan", "W-1", "--amend", "plan.md", "--version", "7"), 0, CRANE),
    (("agent", "show", "nobody-here"), 0, None),
    (("agent", "retire", "nobody-here"), 0, None),
    (("explain", "nonsense"), 0, None),
    (("trace", "status", "nothing"), 0, None),
    (("report", "nothing"), 0, None),
    (("ledger", "log", "nothing"), 0, None),
    (("verify", "nothing"), 0, None),
    (("ask", "--resume", "q-9"), 0, None),
    (("reserve",), 0, None),
)


@pytest.mark.parametrize(
    ("words", "place", "who"), REFUSALS, ids=lambda value: value if isinstance(value, str) else None
)
def test_what_a_refusal_says_can_be_typed(
    project: Project, words: tuple[str, ...], place: int, who: str | None
) -> None:
    project.ok("--as", OTTER, "join", "--scope", "src")
    project.ok("--as", CRANE, "join")
    project.ok("run", "--name", "coral-finch", "--", *shlex.split(PROGRAM))
    (project.root / "plan.md").write_text("a plan")
    done = project.json(*words)
    assert done.code != 0
    line = list(commands_in(done.error["hint"]))[place]
    for placeholder, value in PLACEHOLDERS.items():
        line = re.sub(rf"\b{placeholder}\b", value, line)
    acting = () if who is None else ("--as", who)
    typed = project.run(*acting, *shlex.split(line)[1:])
    assert typed.code == 0, (line, typed)


def test_before_there_is_a_workspace_the_hint_makes_one(bare: Project) -> None:
    (line,) = commands_in(bare.json("status").error["hint"])
    bare.ok(*shlex.split(line)[1:])
    assert bare.ok("status")["agents"] == []
