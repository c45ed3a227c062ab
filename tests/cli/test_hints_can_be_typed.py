"""Every command that any agenda, error, refusal or line of ours names can be typed.

They are found in the source, so that those of a bad day are among them. Each is led through the
command line's own tree: its command exists, and so do its options. What an agenda says is typed
for real, and does what it says.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import moot
from moot.surfaces.cli.main import cli
from tests.cli.project import Project
from tests.cli.test_duties_end import BLOCKED, CRANE, HANDOFF, OTTER, as_, ask_question

SOURCE = Path(moot.__file__).parent
_IN_BACKTICKS = re.compile(r"`(?:[A-Z_]+=\S+ )?(moot [^`]+)`")
# A value that is filled in, and the word that stands for it while we try.
FILLED = "x9"


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


def commands_in(text: str) -> Iterator[str]:
    yield from _IN_BACKTICKS.findall(text)
    is_sentence = text.startswith("moot is ")
    if text.startswith("moot ") and not is_sentence and "\n" not in text and "`" not in text:
        yield text


def all_commands() -> list[tuple[str, str]]:
    files = [file for file in sorted(SOURCE.rglob("*.py")) if "demo" not in file.parts]
    found = {
        (file.relative_to(SOURCE).as_posix(), line)
        for file in files
        for text in texts_in(file)
        for line in commands_in(text)
    }
    return sorted(found)


def words_of(line: str) -> list[str]:
    """As a shell would split it; of `a|b` one, and without what is optional."""
    line = re.sub(r"\[[^\]]*\]", "", line).replace("'", "").replace('"', "")
    line = re.split(r"\s(?:&&|\(|then |keeps |and |or |first)|[;,:]\s|\s-- ", line)[0]
    words = [word for word in shlex.split(line)[1:] if word not in ("…", "--")]
    return [FILLED if word == "..." else word.split("|")[0] for word in words]


def require_typeable(words: list[str]) -> None:
    """Raises click's own usage error if there is no such command, or no such option of it."""
    command: click.Command = cli
    context = click.Context(cli, info_name="moot")
    while words:
        if isinstance(command, click.Group):
            parser = command.make_parser(context)
            parser.allow_interspersed_args = False
            _, rest, _ = parser.parse_args(args=list(words))
            if not rest:
                return
            below = command.get_command(context, rest[0])
            if below is None and rest[0].isupper() | (FILLED in rest[0]):
                return
            assert below is not None, f"no command {rest[0]!r} in {context.command_path}"
            context = click.Context(below, context, rest[0])
            command, words = below, rest[1:]
            continue
        command.make_parser(context).parse_args(args=list(words))
        return


def test_there_are_many() -> None:
    assert len(all_commands()) > 150


def test_every_command_that_we_name_exists_with_its_options() -> None:
    wrong = []
    for file, line in all_commands():
        words = words_of(line)
        if "--json" in words:
            words.remove("--json")
        try:
            require_typeable(words)
        except (click.UsageError, AssertionError, ValueError) as error:
            wrong.append(f"{file}: {line!r}: {error}")
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
