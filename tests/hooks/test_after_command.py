"""After a command: its holder is told of each change, with what was there when the command began
and what is there now; and what was so before is nobody's doing.
"""

from __future__ import annotations

import subprocess

import pytest

from moot.surfaces.hooks.entry import Reply
from moot.system.git_objects import blob_id
from moot.workspace.file_versions import FileVersions
from tests.hooks.test_saved_copies import edit
from tests.hooks.tool_calls import call, reason, told
from tests.project import CRANE, IDENTITY, OTTER, Project

TYPED = "typed by a person\n"
WORK = "hours of work\n"
SCRIPTS = {
    "tidy.sh": "git checkout -q -- .\n",
    "format.sh": 'echo formatted > "$1"\n',
    "prune.sh": 'rm -f "$1"\n',
    "clear.sh": "rm -f sub/two.txt\n",
    "retire.sh": "git rm -q sub/one.txt && git commit -qm retired\n",
}


def ask(project: Project, command: str) -> Reply:
    said = call("claude-bash", project.root, tool_input={"command": command})
    return project.hook("claude", said, OTTER)


def tell_end(project: Project, command: str) -> str:
    """What the model is told after the command."""
    done = call("claude-bash-done", project.root, tool_input={"command": command})
    reply = project.hook("claude", done, OTTER)
    return told(reply) if reply.out else ""


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
    return tell_end(project, command)


def write(project: Project, text: str, file: str = "a.txt") -> None:
    (project.root / file).write_text(text, encoding="utf-8")


def last_change(project: Project) -> tuple[str, str, str, str, str]:
    """The newest change that the crane was told of: while whose command, whose, where, and the ids
    before and after."""
    who, path, before, after = project.told_changes()[0]
    return who, CRANE, path, before, after


def blob(text: str) -> str:
    return blob_id(text.encode())


@pytest.fixture
def scripted(project: Project) -> Project:
    """With scripts in git, and a folder `sub` with two files."""
    for name, text in SCRIPTS.items():
        write(project, text, name)
    (project.root / "sub").mkdir()
    for name in ("sub/one.txt", "sub/two.txt"):
        write(project, "one\n", name)
    for words in (("add", "."), ("commit", "--quiet", "--message=scripts")):
        assert project.git(*words).code == 0
    assert project.git("merge", "--quiet", "main", cwd=project.other).code == 0
    return project


def test_a_change_is_told_although_an_attempt_was_before(scripted: Project) -> None:
    """The holder's file was changed by a person since, so nobody was seen to leave it so."""
    edit(scripted, WORK)
    reason(ask(scripted, "git rm -qf a.txt"))
    write(scripted, TYPED)
    run(scripted, "sh format.sh a.txt")
    expected = OTTER, CRANE, "a.txt", blob(TYPED), blob("formatted\n")
    assert last_change(scripted) == expected
    assert len(scripted.told_changes()) == 2


def test_a_removal_is_told_although_an_attempt_was_before(scripted: Project) -> None:
    edit(scripted, WORK)
    reason(ask(scripted, "rm a.txt"))
    write(scripted, TYPED)
    run(scripted, "sh prune.sh a.txt")
    assert last_change(scripted) == (OTTER, CRANE, "a.txt", blob(TYPED), "")


def test_a_held_file_that_was_as_committed_has_its_own_id_before(scripted: Project) -> None:
    """No hook of its holder has ever spoken: it may have done it itself."""
    scripted.reserve(CRANE, "a.txt")
    reason(ask(scripted, "rm a.txt"))
    run(scripted, "sh format.sh a.txt")
    assert last_change(scripted) == ("", CRANE, "a.txt", blob("one\n"), blob("formatted\n"))


def test_what_another_left_and_the_holder_took_is_the_holders(scripted: Project) -> None:
    """The crane may go on with what the otter wrote; it has not written anything itself yet."""
    edit(scripted, WORK, agent=OTTER)
    scripted.ok("release", "--all", MOOT_AGENT=OTTER)
    scripted.reserve(CRANE, "a.txt")
    run(scripted, "sh tidy.sh")
    assert last_change(scripted) == ("", CRANE, "a.txt", blob(WORK), blob("one\n"))


def test_what_slipped_in_and_is_put_back_is_told_twice(scripted: Project) -> None:
    """The holder left just what is committed; it stands there again, but it was changed twice."""
    edit(scripted, "one\n")
    run(scripted, "sh format.sh a.txt")
    run(scripted, "sh tidy.sh")
    assert last_change(scripted) == (OTTER, CRANE, "a.txt", blob("formatted\n"), blob("one\n"))
    assert len(scripted.told_changes()) == 2


def test_bytes_that_came_back_are_what_stood_there(scripted: Project) -> None:
    """Of both there is a copy already; what was last in the file counts."""
    edit(scripted, WORK)
    run(scripted, "sh format.sh a.txt")
    write(scripted, WORK)
    run(scripted, "sh format.sh a.txt")
    assert last_change(scripted) == (OTTER, CRANE, "a.txt", blob(WORK), blob("formatted\n"))
    assert len(scripted.told_changes()) == 3, "the person's, too"


def test_a_file_that_a_command_removes_and_commits_is_told(scripted: Project) -> None:
    """Nothing is left of it that git would call changed."""
    edit(scripted, "one\n", file="sub/one.txt")
    run(scripted, "sh retire.sh")
    assert last_change(scripted) == (OTTER, CRANE, "sub/one.txt", blob("one\n"), "")


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("is_held_here", [False, True])
def test_what_was_gone_before_is_nobodys_incursion(
    scripted: Project, staged: bool, is_held_here: bool
) -> None:
    """Its folder is newer than the command, which removed another file in it."""
    edit(scripted, WORK, file="sub/one.txt", root=scripted.root if is_held_here else scripted.other)
    (scripted.root / "sub/one.txt").unlink()
    if staged:
        assert scripted.git("add", "sub/one.txt").code == 0
    run(scripted, "sh clear.sh")
    assert not (scripted.root / "sub/two.txt").exists()
    assert scripted.events("INCURSION") == []


def test_a_new_file_that_was_gone_before_is_nobodys_incursion(scripted: Project) -> None:
    """Git never knew of it."""
    edit(scripted, WORK, file="sub/new.txt")
    (scripted.root / "sub/new.txt").unlink()
    run(scripted, "sh clear.sh")
    assert scripted.events("INCURSION") == []


def test_a_file_that_a_change_of_the_branch_takes_away_is_told(scripted: Project) -> None:
    """It was committed, so git takes it away without a word."""
    assert scripted.git("branch", "former").code == 0
    edit(scripted, WORK, file="sub/new.txt")
    for words in (("add", "."), ("commit", "--quiet", "--message=new")):
        assert scripted.git(*words).code == 0
    run(scripted, "git reset -q --keep former")
    assert last_change(scripted) == (OTTER, CRANE, "sub/new.txt", blob(WORK), "")


@pytest.fixture
def branched(scripted: Project) -> Project:
    """On `former`, sub/one.txt is as on main, a.txt is not, and there is no sub/two.txt."""
    assert scripted.git("switch", "--quiet", "--create", "former").code == 0
    write(scripted, "former\n")
    for words in (("rm", "--quiet", "sub/two.txt"), ("commit", "--quiet", "--all", "--message=f")):
        assert scripted.git(*words).code == 0
    assert scripted.git("switch", "--quiet", "main").code == 0
    return scripted


@pytest.mark.parametrize("command", ["git reset -q --keep former", "git merge -q former"])
@pytest.mark.parametrize(
    ("held", "before", "after"),
    [("a.txt", "one\n", "former\n"), ("sub/two.txt", "one\n", None), ("sub", "one\n", None)],
)
def test_a_held_file_that_another_commit_has_otherwise_is_told(
    branched: Project, command: str, held: str, before: str, after: str | None
) -> None:
    """Nobody has edited or read it, and git calls it unchanged before and after."""
    branched.reserve(CRANE, held)
    run(branched, command)
    blobs = blob(before), "" if after is None else blob(after)
    named = "sub/two.txt" if held == "sub" else held
    assert last_change(branched) == ("", CRANE, named, *blobs)
    assert len(branched.told_changes()) == 1


def test_what_both_commits_have_alike_is_nobodys_incursion(branched: Project) -> None:
    branched.reserve(CRANE, "sub/one.txt")
    assert run(branched, "git reset -q --keep former") == ""
    branched.reserve(CRANE, "b.txt")
    write(branched, TYPED, "b.txt")
    for words in (("add", "b.txt"), ("commit", "--quiet", "--message=b")):
        assert branched.git(*words).code == 0
    assert run(branched, "git commit -q --allow-empty -m nothing") == ""
    assert branched.events("INCURSION") == []


def test_a_commit_that_somebody_else_went_to_meanwhile_is_not_the_commands(
    branched: Project,
) -> None:
    branched.reserve(CRANE, "a.txt")
    assert ask(branched, "make") == Reply()
    assert branched.git("switch", "--quiet", "former").code == 0
    assert tell_end(branched, "make") == ""
    assert branched.events("INCURSION") == []


def test_a_touched_file_whose_bytes_are_the_same_is_nobodys_incursion(scripted: Project) -> None:
    """It was put back by a person before: that is not the command's."""
    edit(scripted, WORK)
    write(scripted, "one\n")
    run(scripted, "touch a.txt")
    assert scripted.events("INCURSION") == []


def test_what_its_holder_wrote_meanwhile_is_nobodys_incursion(scripted: Project) -> None:
    """It was as committed when the command began."""
    assert ask(scripted, "make") == Reply()
    edit(scripted, WORK)
    assert tell_end(scripted, "make") == ""
    assert scripted.events("INCURSION") == []


def test_a_copy_that_another_command_made_meanwhile_hides_nothing(scripted: Project) -> None:
    """It is of what the first command had written."""
    edit(scripted, WORK)
    command = "sh format.sh a.txt"
    assert ask(scripted, command) == Reply()
    write(scripted, "formatted\n")
    other = {"session_id": "of-the-crane", "tool_use_id": "its-own"}
    said = call("claude-bash", scripted.root, tool_input={"command": "make"}, **other)
    assert scripted.hook("claude", said, CRANE) == Reply()
    tell_end(scripted, command)
    # The other command may have begun within a tick of the disk's clock.
    assert last_change(scripted)[2:] == ("a.txt", blob(WORK), blob("formatted\n"))


def test_a_command_that_ran_in_another_worktree_is_compared_there(scripted: Project) -> None:
    """The session stands in one worktree, its shell was sent into another one."""
    edit(scripted, WORK, root=scripted.other)
    write(scripted, "standing where the session is\n", "b.txt")
    (scripted.other / "a.txt").write_text(TYPED, encoding="utf-8")
    asked = {"command": "sh format.sh a.txt", "workdir": str(scripted.other)}
    said = call("claude-bash", scripted.root, tool_input=asked)
    assert scripted.hook("claude", said, OTTER) == Reply()
    (scripted.other / "a.txt").write_text("formatted\n", encoding="utf-8")
    done = call("claude-bash-done", scripted.root, tool_input=asked)
    assert scripted.hook("claude", done, OTTER) == Reply()
    assert last_change(scripted) == (OTTER, CRANE, "a.txt", blob(TYPED), blob("formatted\n"))


def test_a_change_in_another_worktree_than_the_holders_is_told_once(scripted: Project) -> None:
    edit(scripted, WORK, root=scripted.other)
    run(scripted, "sh format.sh a.txt")
    write(scripted, TYPED)
    assert run(scripted, "sh format.sh a.txt") == ""
    assert len(scripted.told_changes()) == 1


def test_without_a_look_at_the_beginning_what_the_holder_left_counts(scripted: Project) -> None:
    """What was remembered of the beginning is damaged; when it was is still known."""
    edit(scripted, WORK)
    command = "sh format.sh a.txt"
    assert ask(scripted, command) == Reply()
    with FileVersions(scripted.root / ".moot") as memory, memory.transaction() as db:
        db.execute("UPDATE calls SET state = substr(state, 1, 20) WHERE state <> x''")
    write(scripted, "formatted\n")
    tell_end(scripted, command)
    assert last_change(scripted) == (OTTER, CRANE, "a.txt", blob(WORK), blob("formatted\n"))
