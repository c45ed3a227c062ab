"""What a run's watcher notices reaches the person's own program, each once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.test_user_notifications import Bell
from tests.hooks.tool_calls import call, reason
from tests.project import CRANE, OTTER, Project
from tests.watching.watching_run import hold, letters

WRITE = "open('a.txt', 'w').write('changed')"


@pytest.fixture
def bell(tmp_path: Path) -> Iterator[Bell]:
    folder = tmp_path / "bell-of-person"
    folder.mkdir()
    bell = Bell(folder)
    yield bell
    bell.close()


def run_program(project: Project, bell: Bell, text: str) -> None:
    words = ("run", "--name", "coral-finch", "--", sys.executable, "-c", text)
    assert project.spawn(*words, MOOT_CONFIG=str(bell.settings)).code == 0


def test_a_change_of_what_another_holds_rings_once(project: Project, bell: Bell) -> None:
    hold(project, CRANE, project.other, "a.txt")
    run_program(project, bell, f"{WRITE}; {WRITE}")
    expected = (
        "a.txt: changed while coral-finch's command ran; no one else known to Moot was at work,"
        " while teal-crane holds it"
    )
    assert bell.next() == f"incursion: moot: {expected}"
    # What rings next is another happening: nothing was told in between.
    project.ok(
        "ask", "Is it?", "--with", "rules:approve,rules:approve", MOOT_CONFIG=str(bell.settings)
    )
    assert bell.next().startswith("decision: ")


def test_a_change_by_someone_unknown_rings_too(project: Project, bell: Bell) -> None:
    hold(project, CRANE, project.other, "a.txt")
    project.ok("--as", "amber-otter", "join")  # a second one here: nobody can tell who it was
    run_program(project, bell, WRITE)
    expected = "a.txt: changed by someone unknown, while teal-crane holds it"
    assert bell.next() == f"incursion: moot: {expected}"


# A person edits while agents work: a clear line, nothing lost, and nobody accused.

WRITE_ELSEWHERE = (
    "import subprocess, sys; subprocess.run([sys.executable, '-c',"
    " \"open('a.txt', 'w').write('typed by a person')\"], check=True, timeout=60)"
)


def test_a_persons_edit_of_what_an_agent_holds_is_told_and_the_copy_is_kept(
    project: Project,
) -> None:
    """Two agents are here, so that nobody can be named: the holder gets a letter, not a guess."""
    hold(project, CRANE, project.other, "a.txt")
    project.ok("--as", OTTER, "join")
    words = ("run", "--name", "coral-finch", "--", sys.executable, "-c", WRITE_ELSEWHERE)
    done = project.spawn(*words)
    assert done.code == 0
    assert "a.txt: changed by someone unknown, while teal-crane holds it" in done.err
    assert [letter for letter in letters(project) if "a.txt" in str(letter)]
    assert project.owners() == {"a.txt": CRANE}
    assert project.events("INCURSION") == []  # nobody is accused


def test_what_a_person_typed_since_is_not_written_over_unseen(project: Project) -> None:
    project.hook("codex", call("codex-start", project.root))
    (project.root / "a.txt").write_text("a person was here")
    patch = "*** Begin Patch\n*** Add File: a.txt\n+mine\n*** End Patch\n"
    asked = call("codex-patch", project.root, tool_input={"command": patch})
    assert "a.txt" in reason(project.hook("codex", asked))
    assert (project.root / "a.txt").read_text() == "a person was here"
