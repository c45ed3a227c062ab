"""Files that Moot writes for its caller: never over others' work, never into git's folder."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from moot.surfaces.cli.main import cli
from moot.surfaces.hooks.entry import Reply
from moot.surfaces.terminal.output import OutputPath
from tests.hooks.tool_calls import call
from tests.project import CRANE, OTTER, Project

WORK = "the holder's work\n"
# Every command with a file or folder that it writes for its caller.
WRITING = {
    "artifact show": "--output",
    "debate new": "file",
    "debate report": "--output",
    "demo": "--out",
    "flow blocked-to-debate": "--file",
    "flow consensus-to-parliament": "--dir",
    "flow critique-to-debate": "--file",
    "flow deadlock-to-parliament": "--dir",
    "flow kickoff-to-debate": "--file",
    "flow question-to-debate": "--file",
    "ledger backup": "file",
    "ledger checkpoint": "--output",
    "ledger export": "--output",
    "ledger verify": "--output",
    "machine move-here": "--into",
    "mail compile": "--output",
    "parliament final": "--output",
    "receipt": "--output",
    "report": "--output",
    "story": "--output",
    "trace audit": "--output",
    "trace export": "--output",
    "trace report": "--output",
    "trace verify": "--output",
    "track": "--output",
    "trust export": "--output",
    "undo": "--output",
    "verify": "--output",
}
TRIED = (
    ("undo", "b.txt", "-o"),
    ("ledger", "export", "-o"),
    ("ledger", "checkpoint", "-o"),
    ("ledger", "backup"),
    ("trust", "export", "-o"),
    ("report", "--all", "-o"),
    ("flow", "blocked-to-debate", "m-1", "--file"),
)


@pytest.fixture
def shared(project: Project) -> Project:
    """a.txt is held and changed by the crane; there is a copy of b.txt."""
    for agent, name in ((CRANE, "a.txt"), (OTTER, "b.txt")):
        sent = {"file_path": str(project.root / name), "content": WORK}
        asked = call("claude-write", project.root, name, tool_input=sent)
        assert project.hook("claude", asked, agent) == Reply()
        (project.root / name).write_text(WORK, encoding="utf-8")
    done = call("claude-write-done", project.root, "b.txt", tool_input=sent)
    assert project.hook("claude", done, OTTER) == Reply()
    (project.root / "b.txt").write_text("newer\n", encoding="utf-8")
    return project


def commands(
    group: click.Group, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))
        else:
            yield (*words, name), command


def test_every_output_of_the_command_line_is_known_as_one() -> None:
    found = {
        " ".join(words): " ".join(
            max(parameter.opts, key=len)
            for parameter in command.params
            if isinstance(parameter.type, OutputPath)
        )
        for words, command in commands(cli)
    }
    assert {name: options for name, options in found.items() if options} == WRITING


@pytest.mark.parametrize("words", TRIED, ids=" ".join)
def test_no_output_goes_over_what_another_holds(shared: Project, words: tuple[str, ...]) -> None:
    done = shared.run("--json", *words, "a.txt", MOOT_AGENT=OTTER)
    assert (done.code, done.envelope["error"]["code"]) == (1, "reservation_conflict")
    assert f"{CRANE} holds a.txt" in done.envelope["error"]["message"]
    assert done.envelope["error"]["hint"] == "name a file that no agent holds"
    assert (shared.root / "a.txt").read_text("utf-8") == WORK


@pytest.mark.parametrize("target", [".git/hooks/pre-commit", "sub/../.GIT/config", ".git/new/x"])
@pytest.mark.parametrize("words", TRIED, ids=" ".join)
def test_no_output_goes_into_gits_folder(
    shared: Project, words: tuple[str, ...], target: str
) -> None:
    files = sorted(file for file in (shared.root / ".git").rglob("*") if file.is_file())
    before = {file: file.read_bytes() for file in files}
    done = shared.run("--json", *words, target, MOOT_AGENT=OTTER)
    assert (done.code, done.envelope["error"]["code"]) == (1, "not_for_agents")
    assert done.envelope["error"]["hint"] == "name a file outside of .git"
    files = sorted(file for file in (shared.root / ".git").rglob("*") if file.is_file())
    assert {file: file.read_bytes() for file in files} == before


def test_an_output_next_to_it_passes(shared: Project) -> None:
    assert shared.run("undo", "b.txt", "-o", "c.txt", MOOT_AGENT=OTTER).code == 0
    assert (shared.root / "c.txt").read_text("utf-8") == WORK
    assert shared.run("ledger", "checkpoint", "-o", "../note.txt", MOOT_AGENT=OTTER).code == 0
    assert shared.run("undo", "b.txt", "-o", "b.txt", MOOT_AGENT=OTTER).code == 0, (
        "held by the otter"
    )


def test_what_a_receipt_writes_next_to_it_counts_too(shared: Project) -> None:
    assert shared.hook("claude", call("claude-write", shared.root, "r.json"), CRANE) == Reply()
    (shared.root / "r.json").write_text(WORK, encoding="utf-8")
    done = shared.run("--json", "receipt", "q-1", "-o", "r.md", MOOT_AGENT=OTTER)
    assert done.envelope["error"]["code"] == "reservation_conflict"
