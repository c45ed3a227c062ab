"""Before a command that does more than read, a copy is kept of all work that git lacks: what a
script does is not in the text that starts it, and a person's edits are seen by no hook.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from moot.api.guard.shell.first_look import only_reads
from moot.surfaces.hooks.entry import Reply
from moot.system.git_objects import blob_id, read_blob
from moot.workspace.file_versions import Act
from tests.hooks.test_saved_copies import edit, versions
from tests.hooks.tool_calls import call, reason, told
from tests.project import CRANE, IDENTITY, OTTER, Project

TYPED = "typed by a person\n"
SCRIPT = "git checkout -q -- .\n"
PATCH = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {}\n+patched\n*** End Patch\nEOF"


def ask(project: Project, command: str, root: Path | None = None) -> Reply:
    said = call("claude-bash", root or project.root, tool_input={"command": command})
    return project.hook("claude", said, OTTER)


def run(project: Project, command: str) -> str:
    """The whole of a shell call that is allowed: what the model is told after it."""
    assert ask(project, command) == Reply()
    subprocess.run(
        ["sh", "-c", command],
        cwd=project.root,
        env={**project.env, **IDENTITY},
        check=True,
        timeout=60,
    )
    done = call("claude-bash-done", project.root, tool_input={"command": command})
    reply = project.hook("claude", done, OTTER)
    return told(reply) if reply.out else ""


@pytest.fixture
def scripted(project: Project) -> Project:
    """With a script in git that puts everything back."""
    (project.root / "tidy.sh").write_text(SCRIPT, encoding="utf-8")
    for words in (("add", "tidy.sh"), ("commit", "--quiet", "--message=script")):
        assert project.git(*words).code == 0
    return project


@pytest.mark.parametrize(
    "command", ["sh tidy.sh", "find . -name a.txt -delete", "sed -i s/t/x/ a.txt"]
)
def test_a_persons_edit_that_a_command_destroys_can_be_had_back(
    scripted: Project, command: str
) -> None:
    (scripted.root / "a.txt").write_text(TYPED, encoding="utf-8")
    run(scripted, command)
    assert not (scripted.root / "a.txt").exists() or (
        (scripted.root / "a.txt").read_text("utf-8") != TYPED
    )
    scripted.ok("undo", "a.txt", "--id", blob_id(TYPED.encode()))
    assert (scripted.root / "a.txt").read_text("utf-8") == TYPED


def test_a_file_that_git_does_not_know_is_kept_too(project: Project) -> None:
    (project.root / "new.txt").write_text(TYPED, encoding="utf-8")
    run(project, "echo two > new.txt")
    assert read_blob(project.root, blob_id(TYPED.encode())) == TYPED.encode()


def test_another_worktree_that_the_command_reaches_is_looked_at(project: Project) -> None:
    edit(project, "crane\n", agent=OTTER, root=project.other)
    (project.other / "mine.txt").write_text(TYPED, encoding="utf-8")
    assert ask(project, f"git -C {project.other} checkout -- a.txt") == Reply()
    assert read_blob(project.root, blob_id(TYPED.encode())) == TYPED.encode()


def test_reading_commands_make_no_copies(project: Project) -> None:
    (project.root / "a.txt").write_text(TYPED, encoding="utf-8")
    assert ask(project, "cat a.txt | head -3") == Reply()
    assert versions(project, Act.KEPT) == []


def test_what_was_not_touched_since_is_not_read_again(project: Project) -> None:
    (project.root / "a.txt").write_text(TYPED, encoding="utf-8")
    assert ask(project, "make") == Reply()
    (kept,) = versions(project, Act.KEPT)
    assert (kept.path, kept.agent, kept.why) == ("a.txt", "", "before make")
    os.utime(project.root / "a.txt", (0, 0))
    (project.root / "b.txt").write_text("another\n", encoding="utf-8")
    assert ask(project, "make") == Reply()
    assert [row.path for row in versions(project, Act.KEPT)] == ["b.txt", "a.txt"]


@pytest.mark.requirement("GRD-024")
def test_without_room_for_a_copy_the_command_waits(project: Project) -> None:
    (project.root / "a.txt").write_text(TYPED, encoding="utf-8")
    objects = project.root / ".git/objects"
    blob = blob_id(TYPED.encode())
    (objects / blob[:2]).write_text("in the way", encoding="utf-8")
    assert "copy_failed" in reason(ask(project, "make"))
    (objects / blob[:2]).unlink()
    assert ask(project, "make") == Reply(), "it is looked at again"
    assert read_blob(project.root, blob) == TYPED.encode()


def test_a_script_that_puts_held_work_back_is_told(scripted: Project) -> None:
    """Its own name is the only path in the command, and it may change any file."""
    edit(scripted, "hours of work\n")
    run(scripted, "sh tidy.sh")
    assert [change[:2] for change in scripted.told_changes()] == [(OTTER, "a.txt")]


def test_held_work_whose_end_no_tool_told_is_told_when_it_is_put_back(scripted: Project) -> None:
    """Codex tells nothing after a patch that was typed into its shell."""
    said = call("codex-heredoc", scripted.root, tool_input={"command": PATCH.format("a.txt")})
    assert scripted.hook("codex", said, CRANE).out == ""
    (scripted.root / "a.txt").write_text("patched\n", encoding="utf-8")
    run(scripted, "sh tidy.sh")
    ((_who, path, before, _after),) = scripted.told_changes()
    assert (path, before) == ("a.txt", blob_id(b"patched\n"))


def test_a_file_that_was_gone_before_a_script_ran_is_nobodys_incursion(scripted: Project) -> None:
    """Its folder is newer than the command, and there is an old copy of it."""
    edit(scripted, "hours of work\n", agent=OTTER)
    said = call("codex-heredoc", scripted.root, tool_input={"command": PATCH.format("new.txt")})
    assert scripted.hook("codex", said, CRANE).out == ""
    (scripted.root / "new.txt").write_text("patched\n", encoding="utf-8")
    assert ask(scripted, "make") == Reply()
    (scripted.root / "new.txt").unlink()
    run(scripted, "sh tidy.sh")
    assert (scripted.root / "a.txt").read_text("utf-8") == "one\n"
    assert scripted.events("INCURSION") == []


def test_a_command_that_only_reads_is_nobodys_incursion(project: Project) -> None:
    """A person writes into the same folder while it runs, a moment after it began."""
    edit(project, "hours of work\n")
    assert ask(project, "cat a.txt", project.other) == Reply()
    (project.other / "a.txt").write_text(TYPED, encoding="utf-8")
    done = call("claude-bash-done", project.other, tool_input={"command": "cat a.txt"})
    assert told(project.hook("claude", done, OTTER)).startswith("moot: a.txt is held by ")
    assert project.events("INCURSION") == []


def test_all_that_a_refused_command_would_reach_is_on_record(project: Project) -> None:
    for name in ("a.txt", "b.txt"):
        edit(project, "work\n", file=name)
    assert CRANE in reason(ask(project, "mv a.txt b.txt"))
    assert {noted["scope"] for noted in project.events("INCURSION")} == {"a.txt", "b.txt"}


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "cat a | head -3",
        "git status && git diff",
        "cd src; ls",
        "sed -n 1,2p a",
        "true",
        "sort a | uniq -c",
    ],
)
def test_commands_that_only_read_are_known(command: str) -> None:
    assert only_reads(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "make",
        "sh x",
        "echo a > b",
        "echo $(rm a)",
        "find . -delete",
        "ls; rm a",
        "catx a",
        "ls `x`",
        "uniq a b",
        "git diff --output=a",
        "sed -n 'w a' b",
        "find . -fprint a",
        "moot undo a",
        "sort a -o b",
        'sort a ""-o b',
        "sort a \\-ob",
        "sort a {-o,b}",
        'find . ""-delete',
        "find . \\-delete",
        "find . {-delete,-print}",
        'git diff ""--output=a',
        "git diff --out'put=a'",
        "git diff {--output=a,HEAD}",
    ],
)
def test_what_may_write_does_not_only_read(command: str) -> None:
    assert not only_reads(command)
