"""Calls that overlap: who is on record, what `moot undo` says, and what the holder is told.

Each test is one interleaving, told by scripted hooks. Nobody is on record who is not proved to have
done it; every change that is not the holder's own reaches the holder as mail at least.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from moot.surfaces.hooks.entry import Reply
from moot.system.git_objects import blob_id
from tests.hooks.tool_calls import call, reason
from tests.project import CRANE, OTTER, Project

HERON = "gray-heron"
TESTS = "python -m pytest -q"
UNKNOWN = "INFO: changed by someone unknown: a.txt"
ONLY_OTTER = (
    f"INFO: changed while {OTTER}'s command ran; no one else known to Moot was at work: a.txt"
)


class Hand:
    """One agent's tool: its calls, before and after."""

    def __init__(
        self, project: Project, agent: str, root: Path | None = None, sub_agent: str = ""
    ) -> None:
        self.project, self.agent, self.root = project, agent, root or project.root
        self._more: dict[str, Any] = {"session_id": f"of-{agent}"}
        if sub_agent:
            self._more |= {"agent_id": sub_agent, "agent_type": "general-purpose"}

    def start(self) -> None:
        self._hook(call("claude-start", self.root, **self._more))

    def end(self) -> None:
        self._hook(call("claude-end", self.root, **self._more))

    def runs(self, command: str, number: int = 1, folder: Path | None = None) -> None:
        asked = {"command": command, **({"workdir": str(folder)} if folder else {})}
        said = call("claude-bash", self.root, tool_input=asked, **self._id(number))
        assert self._hook(said) == Reply()

    def has_run(self, command: str, number: int = 1) -> str:
        done = call(
            "claude-bash-done", self.root, tool_input={"command": command}, **self._id(number)
        )
        return self._hook(done).out

    def writes(self, text: str, file: str = "a.txt", number: int = 2) -> None:
        """The hook lets it write."""
        assert self._hook(self._edit("claude-write", text, file, number)) == Reply()

    def is_told(self, text: str, file: str = "a.txt", number: int = 2) -> None:
        """The hook refuses a whole write over a version that its session has not seen, once."""
        refused = self._hook(self._edit("claude-write", text, file, number))
        assert "after you last saw it" in reason(refused)

    def has_written(self, text: str, file: str = "a.txt", number: int = 2) -> str:
        return self._hook(self._edit("claude-write-done", text, file, number)).out

    def edits(self, text: str, file: str = "a.txt", number: int = 2) -> None:
        """A whole edit."""
        self.writes(text, file, number)
        (self.root / file).write_text(text, encoding="utf-8")
        assert "on record" not in self.has_written(text, file, number)

    def _edit(self, name: str, text: str, file: str, number: int) -> dict[str, Any]:
        sent = {"file_path": str(self.root / file), "content": text}
        return call(name, self.root, file, tool_input=sent, **self._id(number))

    def _id(self, number: int) -> dict[str, Any]:
        return {**self._more, "tool_use_id": f"{self.agent}-{number}"}

    def _hook(self, said: dict[str, Any]) -> Reply:
        return self.project.hook("claude", said, self.agent)


class Scene:
    """Three agents whose hooks have spoken; the crane holds a.txt, in which its first bytes are."""

    def __init__(self, project: Project) -> None:
        project.ok("agent", "register", HERON)
        self.project = project
        self.otter, self.crane = Hand(project, OTTER), Hand(project, CRANE)
        self.heron = Hand(project, HERON)
        for hand in (self.otter, self.crane, self.heron):
            hand.start()
        self.crane.edits("first\n")

    def put(self, text: str, file: str = "a.txt", root: Path | None = None) -> None:
        ((root or self.project.root) / file).write_text(text, encoding="utf-8")

    def accused(self) -> list[tuple[str, str, str]]:
        return [
            (noted["from_agent"], noted["to_agent"], noted["scope"])
            for noted in self.project.events("INCURSION")
        ]

    def mail(self, agent: str = CRANE) -> list[str]:
        inbox = self.project.ok("--as", agent, "mail", "inbox", "--all", "--peek")
        return [message["subject"] for message in inbox["messages"]]

    def author(self, text: str, file: str = "a.txt") -> str | None:
        """Who left these bytes, as `moot undo` lists them once they are gone."""
        (self.project.root / file).write_text("later\n", encoding="utf-8")
        listed = self.project.ok("undo", "--list", file)["versions"]
        agent: str | None
        (agent,) = [each["agent"] for each in listed if each["id"] == blob_id(text.encode())]
        return agent

    def is_silent(self) -> None:
        """Nobody is on record, and nobody was told anything."""
        assert self.accused() == []
        assert {agent: self.mail(agent) for agent in (OTTER, CRANE, HERON)} == {
            OTTER: [],
            CRANE: [],
            HERON: [],
        }


@pytest.fixture
def scene(project: Project) -> Scene:
    return Scene(project)


# The holder itself is at work.


@pytest.mark.parametrize("command", [TESTS, "make test", "grep -rn x . && make test"])
def test_the_holders_edit_that_has_ended_is_its_own(scene: Scene, command: str) -> None:
    scene.otter.runs(command)
    scene.crane.edits("second\n", number=3)
    assert scene.otter.has_run(command) == ""
    scene.is_silent()
    assert scene.author("second\n") == CRANE


@pytest.mark.parametrize("command", [TESTS, "git fetch; pytest", "grep -rn x . && make test"])
def test_the_holders_edit_whose_end_is_in_flight_is_its_own(scene: Scene, command: str) -> None:
    """The smallest reproduction of the trial."""
    scene.otter.runs(command)
    scene.crane.writes("second\n", number=3)
    scene.put("second\n")
    assert scene.otter.has_run(command) == ""
    assert scene.crane.has_written("second\n", number=3) == ""
    scene.is_silent()
    assert scene.author("second\n") == CRANE


def test_a_new_file_of_the_holder_in_flight_is_its_own(scene: Scene) -> None:
    scene.otter.runs(TESTS)
    scene.crane.writes("new\n", "n.txt")
    scene.put("new\n", "n.txt")
    assert scene.otter.has_run(TESTS) == ""
    scene.crane.has_written("new\n", "n.txt")
    scene.is_silent()
    assert scene.author("new\n", "n.txt") == CRANE


def test_several_commands_at_once_accuse_nobody_of_the_holders_edit(scene: Scene) -> None:
    for hand in (scene.otter, scene.heron):
        hand.runs(TESTS)
    scene.crane.writes("second\n", number=3)
    scene.put("second\n")
    for hand in (scene.otter, scene.heron):
        assert hand.has_run(TESTS) == ""
    scene.crane.has_written("second\n", number=3)
    scene.is_silent()


def test_two_edits_of_the_holder_in_flight_are_its_own(scene: Scene) -> None:
    """A tool may ask for both before it makes the first."""
    sent = {"file_path": str(scene.project.root / "a.txt")}
    both = [{**sent, "old_string": old, "new_string": new} for old, new in (("f", "F"), ("t", "T"))]
    for number, each in enumerate(both):
        more = {"session_id": f"of-{CRANE}", "tool_use_id": f"both-{number}"}
        said = call("claude-edit", scene.project.root, tool_input=each, **more)
        assert scene.project.hook("claude", said, CRANE) == Reply()
    scene.otter.runs(TESTS)
    scene.put("FirsT\n")
    assert scene.otter.has_run(TESTS) == ""
    scene.is_silent()


def test_the_holders_command_that_still_runs_makes_it_unknown(scene: Scene) -> None:
    scene.otter.runs(TESTS)
    scene.crane.runs("make fmt", 3)
    scene.put("formatted\n")
    assert scene.otter.has_run(TESTS) == ""
    assert "on record" not in scene.crane.has_run("make fmt", 3)
    assert scene.accused() == []
    assert scene.mail() == [UNKNOWN]
    assert scene.author("formatted\n") is None


def test_the_holders_command_that_has_ended_is_its_own_if_it_was_alone(scene: Scene) -> None:
    scene.crane.runs("make fmt", 3)
    scene.put("formatted\n")
    assert scene.crane.has_run("make fmt", 3) == ""
    scene.otter.runs(TESTS)
    assert scene.otter.has_run(TESTS) == ""
    scene.is_silent()
    assert scene.author("formatted\n") == CRANE


def test_what_the_holder_puts_back_in_flight_accuses_nobody(scene: Scene) -> None:
    scene.otter.runs("git fetch; pytest")
    scene.crane.runs("git checkout -- a.txt", 3)
    scene.put("one\n")
    assert scene.otter.has_run("git fetch; pytest") == ""
    scene.crane.has_run("git checkout -- a.txt", 3)
    assert scene.accused() == []
    assert scene.mail() in ([], [UNKNOWN])


def test_what_the_holder_commits_accuses_nobody(scene: Scene) -> None:
    scene.otter.runs(TESTS)
    scene.crane.runs("git commit -qm x a.txt", 3)
    assert scene.project.git("commit", "-qm", "x", "a.txt").code == 0
    assert scene.otter.has_run(TESTS) == ""
    scene.crane.has_run("git commit -qm x a.txt", 3)
    scene.is_silent()


# Somebody else.


@pytest.mark.parametrize("command", [TESTS, "pytest -q src"])
@pytest.mark.parametrize("text", ["typed by a person\n", None])
def test_a_person_is_not_known_and_the_command_is_not_accused(
    scene: Scene, command: str, text: str | None
) -> None:
    scene.otter.runs(command)
    if text is None:
        (scene.project.root / "a.txt").unlink()
    else:
        scene.put(text)
    assert scene.otter.has_run(command) == ""
    assert scene.accused() == []
    assert scene.mail() == [ONLY_OTTER]
    if text is not None:
        assert scene.author(text) is None
    assert scene.author("first\n") == CRANE


@pytest.mark.requirement("GRD-020")
def test_a_third_agents_script_is_not_laid_on_the_one_who_ends_first(scene: Scene) -> None:
    scene.otter.runs(TESTS)
    scene.heron.runs("sh destroy.sh")
    scene.put("destroyed\n")
    assert scene.otter.has_run(TESTS) == ""
    assert scene.heron.has_run("sh destroy.sh") == ""
    assert scene.accused() == []
    assert scene.mail() == [UNKNOWN]
    assert scene.author("destroyed\n") is None


@pytest.mark.requirement("GRD-020")
def test_a_script_that_was_alone_is_told_in_neutral_words(scene: Scene) -> None:
    """It is not proved: a person may have typed just then."""
    scene.otter.runs("sh destroy.sh")
    scene.put("destroyed\n")
    assert scene.otter.has_run("sh destroy.sh") == ""
    assert scene.accused() == []
    assert scene.mail() == [ONLY_OTTER]
    (letter,) = scene.project.ok("--as", CRANE, "mail", "inbox")["messages"]
    shown = scene.project.ok("--as", CRANE, "mail", "show", letter["id"])["message"]["body"]
    assert f"while {OTTER}'s command ran; no one else known to Moot was at work" in shown
    assert scene.author("destroyed\n") is None


def test_an_edit_of_another_file_beside_it_makes_it_unknown(scene: Scene) -> None:
    scene.otter.runs("sh destroy.sh")
    scene.heron.writes("elsewhere\n", "h.txt")
    scene.put("destroyed\n")
    scene.otter.has_run("sh destroy.sh")
    assert (scene.accused(), scene.mail()) == ([], [UNKNOWN])


def test_an_agent_without_hooks_in_another_worktree_makes_it_unknown(scene: Scene) -> None:
    scene.project.ok("agent", "register", "coral-finch")
    scene.project.ok("--as", "coral-finch", "join", cwd=scene.project.other)
    scene.otter.runs("sh destroy.sh")
    scene.put("destroyed\n")
    scene.otter.has_run("sh destroy.sh")
    assert (scene.accused(), scene.mail()) == ([], [UNKNOWN])


# Sub-agents of one session.


@pytest.mark.parametrize("runner", ["", "second"])
def test_a_sub_agents_edit_in_flight_accuses_neither_main_agent_nor_sibling(
    scene: Scene, runner: str
) -> None:
    first = Hand(scene.project, OTTER, sub_agent="first")
    other = Hand(scene.project, OTTER, sub_agent=runner)
    first.edits("sub\n", "s.txt", 3)
    other.runs(TESTS)
    first.writes("sub two\n", "s.txt", 4)
    scene.put("sub two\n", "s.txt")
    assert other.has_run(TESTS) == ""
    first.has_written("sub two\n", "s.txt", 4)
    scene.is_silent()


# Two worktrees.


def test_a_person_in_the_other_worktree_accuses_nobody(scene: Scene) -> None:
    otter = Hand(scene.project, OTTER, scene.project.other)
    otter.runs("pytest -q other_file.py")
    scene.put("typed\n", root=scene.project.other)
    assert otter.has_run("pytest -q other_file.py") == ""
    assert scene.accused() == []
    assert scene.mail() == [ONLY_OTTER]


def test_a_command_that_reads_another_worktree_accuses_nobody(scene: Scene) -> None:
    otter = Hand(scene.project, OTTER, scene.project.other)
    command = f"cat {scene.project.root}/a.txt; make test"
    otter.runs(command)
    scene.crane.writes("second\n", number=3)
    scene.put("second\n")
    assert "on record" not in otter.has_run(command)
    scene.crane.has_written("second\n", number=3)
    scene.is_silent()


def test_a_command_that_writes_into_another_worktree_is_told_to_its_holder(scene: Scene) -> None:
    otter = Hand(scene.project, OTTER, scene.project.other)
    otter.runs("make deploy")
    scene.put("deployed\n")
    otter.has_run("make deploy")
    assert (scene.accused(), scene.mail()) == ([], [ONLY_OTTER])


# Calls whose end is missing, or that have no id.


def test_a_tool_without_call_ids_accuses_nobody(scene: Scene) -> None:
    name, asked = "run_shell_command", {"command": TESTS}
    more: dict[str, Any] = {"tool_name": name, "tool_input": asked}
    before = call("gemini-replace", scene.project.root, **more)
    assert scene.project.hook("gemini", before, OTTER) == Reply()
    scene.crane.writes("second\n", number=3)
    scene.put("second\n")
    done = call("gemini-replace-done", scene.project.root, **more, tool_response={})
    assert scene.project.hook("gemini", done, OTTER) == Reply()
    scene.crane.has_written("second\n", number=3)
    scene.is_silent()


def patch_by_shell(scene: Scene, agent: str) -> None:
    """Codex takes the patch out of the command, applies it, and tells no end."""
    text = (
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.txt\n@@\n-first\n+patched\n"
        "*** End Patch\nEOF"
    )
    said = call("codex-heredoc", scene.project.root, tool_input={"command": text})
    assert scene.project.hook("codex", said, agent) == Reply()


def test_a_patch_in_a_shell_command_of_the_holder_is_its_own(scene: Scene) -> None:
    patch_by_shell(scene, CRANE)
    scene.otter.runs(TESTS)
    scene.put("patched\n")
    assert scene.otter.has_run(TESTS) == ""
    scene.is_silent()
    assert scene.author("patched\n") == CRANE


def test_an_unended_call_remains_a_possible_explanation_until_its_session_ends(
    scene: Scene,
) -> None:
    scene.heron.runs("make")  # and its end is never told
    scene.otter.runs("sh destroy.sh")
    scene.put("destroyed\n")
    scene.otter.has_run("sh destroy.sh")
    assert scene.mail() == [UNKNOWN]
    scene.heron.end()
    scene.crane.is_told("again\n", number=5)
    scene.crane.edits("again\n", number=5)
    scene.otter.runs("sh destroy.sh", 6)
    scene.put("destroyed again\n")
    scene.otter.has_run("sh destroy.sh", 6)
    assert sorted(scene.mail()) == sorted([UNKNOWN, ONLY_OTTER])
    assert scene.accused() == []


@pytest.mark.skipif(not os.path.exists("/proc/loadavg"), reason="processes are counted on Linux")
def test_a_background_command_remains_possible_until_its_processes_are_gone(scene: Scene) -> None:
    scene.heron.runs("make watch &")
    left = subprocess.Popen(["sleep", "600"], cwd=scene.project.root)
    try:
        scene.heron.has_run("make watch &")
        scene.otter.runs("sh destroy.sh")
        scene.put("destroyed\n")
        scene.otter.has_run("sh destroy.sh")
        assert scene.mail() == [UNKNOWN]
    finally:
        left.kill()
        left.wait(60)
    scene.crane.is_told("again\n", number=5)
    scene.crane.edits("again\n", number=5)
    scene.otter.runs("make", 6)  # this look finds that it is gone
    scene.otter.has_run("make", 6)
    scene.otter.runs("sh destroy.sh", 7)
    scene.put("destroyed again\n")
    scene.otter.has_run("sh destroy.sh", 7)
    assert sorted(scene.mail()) == sorted([UNKNOWN, ONLY_OTTER])


# What is changed while nobody looks.


def test_what_a_background_process_changes_between_calls_is_told(scene: Scene) -> None:
    """No command runs when it happens; the next one finds it, and is not named for it."""
    scene.put("changed between\n")
    scene.otter.runs(TESTS)
    assert scene.otter.has_run(TESTS) == ""
    assert (scene.accused(), scene.mail()) == ([], [UNKNOWN])
    assert scene.author("changed between\n") is None


def test_what_changes_between_two_edits_of_the_holder_is_told(scene: Scene) -> None:
    scene.put("changed between\n")
    scene.crane.is_told("second\n", number=3)
    scene.crane.edits("second\n", number=3)
    assert (scene.accused(), scene.mail()) == ([], [UNKNOWN])


def test_an_overwriting_in_the_middle_of_the_holders_edit_is_told(scene: Scene) -> None:
    """The script came behind the edit; the holder's own end must not take the bytes for its own."""
    scene.otter.runs("sh destroy.sh")
    scene.crane.writes("second\n", number=3)
    scene.put("second\n")
    scene.put("destroyed\n")
    scene.crane.has_written("second\n", number=3)
    scene.otter.has_run("sh destroy.sh")
    assert (scene.accused(), scene.mail()) == ([], [UNKNOWN])
    assert scene.author("destroyed\n") is None


# What followed from false blame.


def test_the_holders_next_whole_write_is_not_refused_for_its_own_bytes(scene: Scene) -> None:
    gemini = {"session_id": "of-gemini"}

    def write(text: str) -> Reply:
        sent = {"file_path": "g.txt", "content": text}
        said = call("gemini-write", scene.project.root, "g.txt", tool_input=sent, **gemini)
        return scene.project.hook("gemini", said, CRANE)

    scene.project.hook("gemini", call("gemini-start", scene.project.root, **gemini), CRANE)
    assert write("one\n") == Reply()
    scene.otter.runs(TESTS)
    scene.put("one\n", "g.txt")
    scene.otter.has_run(TESTS)
    assert write("two\n") == Reply()
    scene.is_silent()


@pytest.mark.requirement("GRD-021")
def test_a_change_is_told_once_however_many_commands_ended_after_it(scene: Scene) -> None:
    for hand in (scene.otter, scene.heron):
        hand.runs(TESTS)
    scene.put("typed\n")
    for hand in (scene.otter, scene.heron, scene.otter):
        hand.has_run(TESTS)
    assert (scene.accused(), scene.mail()) == ([], [UNKNOWN])


@pytest.mark.requirement("GRD-019")
def test_what_is_proved_is_on_record_with_both_versions(scene: Scene) -> None:
    """The heron announced just these bytes before the crane took the file back."""
    scene.crane.end()
    scene.project.ok("--as", CRANE, "release", "--all")
    scene.heron.writes("the heron's\n", "p.txt")
    scene.project.ok("--as", HERON, "release", "--all")
    scene.project.reserve(CRANE, "p.txt")
    scene.put("the heron's\n", "p.txt")
    assert "on record" in scene.heron.has_written("the heron's\n", "p.txt")
    assert scene.accused() == [(HERON, CRANE, "p.txt")]


def test_a_person_who_writes_while_the_holder_edits_is_not_taken_for_the_holder(
    scene: Scene,
) -> None:
    scene.crane.writes("second\n", number=3)
    scene.put("a person's\n")
    scene.crane.has_written("second\n", number=3)
    assert scene.accused() == []
    assert scene.mail() == ["INFO: changed by someone unknown: a.txt"]
    assert scene.author("a person's\n") is None


def test_a_formatter_behind_the_holders_edit_makes_no_letter(scene: Scene) -> None:
    scene.otter.runs("python -m pytest -q")
    scene.crane.writes("f( 1,2 )\n", number=3)
    scene.put("f(1, 2)\n")
    scene.crane.has_written("f( 1,2 )\n", number=3)
    scene.is_silent()
    assert scene.author("f(1, 2)\n") == CRANE
