"""What a run notices of files that others hold, and what comes of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import Event

import msgspec
import pytest

from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import NoteIncursion
from moot.system.folder_watch import TooManyWatches
from moot.workspace.file_versions import Act, FileVersions
from tests.project import CRANE, OTTER, Project
from tests.watching.watching_run import (
    blob,
    command,
    edit,
    hold,
    incursions,
    join,
    letters,
    spoke,
    told_paths,
    until,
    watching_run,
)

UNKNOWN = "INFO: changed by someone unknown: "
ONLY = "changed while amber-otter's command ran; no one else known to Moot was at work"
ONLY_OTTER = f"INFO: {ONLY}: "


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


# Somebody is named.


def test_bytes_that_the_runs_agent_announced_are_on_record_with_both_versions(
    project: Project,
) -> None:
    hold(project, CRANE, project.root, "a.txt")
    join(project, OTTER, project.root)
    spoke(project, CRANE)
    with watching_run(project) as otter, edit(project, OTTER, project.root, "announced\n"):
        write(project.root / "a.txt", "announced\n")
        otter.wait_for_line("a.txt: amber-otter changed what others hold; this is on record")
    assert incursions(project) == [(OTTER, "a.txt", blob("one\n"), blob("announced\n"))]
    assert letters(project) == []


def has_count(project: Project, count: int) -> bool:
    return len(incursions(project)) == count


def test_every_proved_change_is_one_more_and_the_same_bytes_are_none(project: Project) -> None:
    hold(project, CRANE, project.root, "a.txt")
    join(project, OTTER, project.root)
    spoke(project, CRANE)
    with watching_run(project) as otter:
        for count, text in enumerate(("two\n", "three\n"), 1):
            with edit(project, OTTER, project.root, text):
                write(project.root / "a.txt", text)
                until(partial(has_count, project, count))
                write(project.root / "a.txt", text)
        assert len(otter.lines) == 2
    assert len({once for once, _ in otter.person}) == 2  # and the person is told of each, once
    ids = [("one\n", "two\n"), ("two\n", "three\n")]
    assert incursions(project) == [(OTTER, "a.txt", blob(was), blob(now)) for was, now in ids]


def test_if_the_hook_was_faster_it_is_on_record_once(project: Project) -> None:
    hold(project, CRANE, project.root, "a.txt")
    join(project, OTTER, project.root)

    def late(_folders: Sequence[Path], over: Event, _pause: int) -> Iterator[frozenset[str]]:
        over.wait()
        yield frozenset()

    spoke(project, CRANE)
    with watching_run(project, watch=late):
        with edit(project, OTTER, project.root, "two\n"):
            write(project.root / "a.txt", "two\n")
        root = str(project.root)
        note = NoteIncursion(paths=("a.txt",), project_root=root, worktree=root)
        project.execute(OTTER, note, stream=STREAM)
    assert incursions(project) == [(OTTER, "a.txt", None, None)]


def test_what_another_agent_announced_is_left_to_its_own_run(project: Project) -> None:
    """Nobody signs under another's name."""
    project.ok("agent", "register", "gray-heron")
    hold(project, CRANE, project.root, "a.txt")
    for name in (OTTER, "gray-heron"):
        join(project, name, project.root)
        spoke(project, name)
    spoke(project, CRANE)
    with (
        watching_run(project, OTTER) as otter,
        watching_run(project, "gray-heron") as heron,
        edit(project, "gray-heron", project.root, "two\n"),
    ):
        write(project.root / "a.txt", "two\n")
        heron.wait_for_line("gray-heron changed what others hold")
    assert [name for name, *_ in incursions(project)] == ["gray-heron"]
    assert otter.lines == []
    assert letters(project) == []


# Only one is known.


def test_a_program_without_hooks_that_is_alone_is_told_in_neutral_words(project: Project) -> None:
    hold(project, CRANE, project.other, "a.txt")
    join(project, OTTER, project.root)
    spoke(project, CRANE)
    with watching_run(project) as otter:
        write(project.root / "a.txt", "changed\n")
        otter.wait_for_line(f"a.txt: {ONLY}, while teal-crane holds it")
    assert incursions(project) == []
    assert letters(project) == [f"{ONLY_OTTER}a.txt"]


def test_the_only_command_is_told_in_neutral_words(project: Project) -> None:
    hold(project, CRANE, project.root, "a.txt")
    join(project, OTTER, project.root)
    spoke(project, CRANE)
    with watching_run(project) as otter, command(project, OTTER, project.root):
        write(project.root / "a.txt", "changed\n")
        otter.wait_for_line(ONLY)
    assert incursions(project) == []
    assert letters(project) == [f"{ONLY_OTTER}a.txt"]


# Nobody is named.


@pytest.mark.requirement("GRD-039")
def test_a_change_by_someone_unknown_is_told_to_the_holder_once(project: Project) -> None:
    hold(project, CRANE, project.root, "a.txt")
    join(project, OTTER, project.root)
    spoke(project, OTTER)
    with watching_run(project) as otter, watching_run(project, root=project.root) as second:
        write(project.root / "a.txt", "who was it\n")
        until(lambda: otter.lines or second.lines)
    assert incursions(project) == []
    assert letters(project) == [f"{UNKNOWN}a.txt"]
    (line,) = otter.lines + second.lines
    assert line == "a.txt: changed by someone unknown, while teal-crane holds it"


def test_two_commands_at_the_same_time_name_nobody(project: Project) -> None:
    hold(project, CRANE, project.root, "a.txt")
    join(project, OTTER, project.root)
    with (
        watching_run(project) as otter,
        command(project, CRANE, project.root),
        command(project, OTTER, project.root),
    ):
        write(project.root / "a.txt", "two\n")
        otter.wait_for_line("changed by someone unknown")
    assert incursions(project) == []
    assert letters(project) == [f"{UNKNOWN}a.txt"]


def test_the_letter_says_what_and_not_who(project: Project) -> None:
    hold(project, CRANE, project.root, "src")
    join(project, OTTER, project.root)
    with (
        watching_run(project) as otter,
        command(project, CRANE, project.root),
        command(project, OTTER, project.root),
    ):
        for number in range(30):
            write(project.root / "src" / "new" / f"f{number}.txt", f"{number}\n")
        otter.wait_for_line("changed by someone unknown")
    (first, *_more) = project.ok("--as", CRANE, "mail", "inbox")["messages"]
    body = project.ok("--as", CRANE, "mail", "show", first["id"])["message"]["body"]
    assert "What you hold was changed by someone unknown:" in body
    assert OTTER not in body
    assert f"in {project.root}: made (nothing -> " in body
    assert len(letters(project)) <= 2  # all of it together; the rest when the run ends


def test_a_holder_without_hooks_may_have_done_it_itself(project: Project) -> None:
    hold(project, CRANE, project.root, "a.txt", speaks=False)
    join(project, OTTER, project.root)
    with watching_run(project) as otter, command(project, OTTER, project.root):
        write(project.root / "a.txt", "two\n")
        otter.wait_for_line("changed by someone unknown")
    assert incursions(project) == []
    assert letters(project) == [f"{UNKNOWN}a.txt"]


# Nothing to report.


def test_the_holders_own_edit_is_none_and_its_bytes_are_kept(project: Project) -> None:
    hold(project, CRANE, project.root, "a.txt")
    join(project, OTTER, project.root)
    with watching_run(project) as otter:
        with edit(project, CRANE, project.root, "the holder's\n"):
            write(project.root / "a.txt", "the holder's\n")
        until(lambda: _is_kept(project, "the holder's\n"))
    assert otter.lines == []
    assert incursions(project) == []
    assert letters(project) == []


def _is_kept(project: Project, text: str) -> bool:
    with FileVersions(project.root / ".moot") as memory:
        kept = memory.last(str(project.root), "a.txt", Act.KEPT)
    if kept is None or kept.blob != blob(text):
        return False
    return project.git("cat-file", "blob", kept.blob).out == text


def test_what_git_does_not_have_is_kept_from_the_start(project: Project) -> None:
    write(project.root / "a.txt", "not committed\n")
    hold(project, CRANE, project.root, "a.txt")
    with watching_run(project):
        assert _is_kept(project, "not committed\n")


def test_a_holder_without_hooks_works_in_its_own_worktree(project: Project) -> None:
    hold(project, CRANE, project.root, "a.txt", speaks=False)
    join(project, OTTER, project.root)
    spoke(project, OTTER)
    with watching_run(project) as otter:
        write(project.root / "a.txt", "mine\n")
        until(lambda: _is_kept(project, "mine\n"))
    assert otter.lines == []
    assert (incursions(project), letters(project)) == ([], [])


def test_what_git_ignores_is_none(project: Project) -> None:
    write(project.root / ".git" / "info" / "exclude", "*.log\n.moot\n")
    hold(project, CRANE, project.other, "src")
    join(project, OTTER, project.root)
    (project.root / "src").mkdir()
    with watching_run(project):
        write(project.root / "src" / "build.log", "noise\n")
        write(project.root / "src" / "real.txt", "text\n")
        until(lambda: letters(project))
        write(project.root / "src" / "build.log", "more noise\n")
        write(project.root / "src" / "other.txt", "more text\n")
    assert told_paths(project) == {"src/real.txt", "src/other.txt"}


def test_a_file_that_nobody_holds_is_none(project: Project) -> None:
    hold(project, CRANE, project.other, "a.txt")
    join(project, OTTER, project.root)
    with watching_run(project) as otter:
        write(project.root / "b.txt", "free\n")
        write(project.root / "a.txt", "held\n")
        otter.wait_for_line("a.txt: ")
    assert told_paths(project) == {"a.txt"}


# What is held changes; what is watched goes away.


def test_what_is_reserved_later_is_watched_too(project: Project) -> None:
    join(project, OTTER, project.root)
    with watching_run(project):
        hold(project, CRANE, project.other, "a.txt")
        until(lambda: _is_watched(project))
    assert told_paths(project) == {"a.txt"}


def _is_watched(project: Project) -> bool:
    """Writes on until it is noticed: when the thread looks at the ledger is its own affair."""
    file = project.root / "a.txt"
    file.write_text(file.read_text("utf-8") + "more\n", encoding="utf-8")
    return bool(letters(project))


def test_a_new_folder_below_a_held_one_is_watched(project: Project) -> None:
    hold(project, CRANE, project.other, "src")
    join(project, OTTER, project.root)
    (project.root / "src").mkdir()
    with watching_run(project):
        write(project.root / "src" / "deep" / "er" / "x.txt", "1\n")
        until(lambda: letters(project))
        write(project.root / "src" / "deep" / "er" / "y.txt", "2\n")
    assert told_paths(project) == {"src/deep/er/x.txt", "src/deep/er/y.txt"}


def test_a_worktree_that_is_removed_ends_nothing(project: Project) -> None:
    hold(project, CRANE, project.other, "a.txt", "src")
    join(project, OTTER, project.root)
    with watching_run(project) as otter:
        assert project.git("worktree", "remove", "--force", str(project.other)).code == 0
        write(project.root / "a.txt", "still noticed\n")
        otter.wait_for_line("a.txt: ")


def test_a_holder_is_told_that_its_worktree_was_removed(project: Project) -> None:
    hold(project, CRANE, project.other, "a.txt")
    join(project, OTTER, project.root)
    spoke(project, OTTER)
    with watching_run(project) as otter:
        assert project.git("worktree", "remove", "--force", str(project.other)).code == 0
        otter.wait_for_line("a.txt: changed by someone unknown, while teal-crane holds it")
    assert letters(project) == [f"{UNKNOWN}a.txt"]
    assert incursions(project) == []


def test_the_runs_own_folder_may_be_deleted(project: Project) -> None:
    hold(project, CRANE, project.root, "src")
    join(project, OTTER, project.other)
    write(project.other / "src" / "x.txt", "1\n")
    with watching_run(project, root=project.other) as otter:
        shutil.rmtree(project.other / "src")
        otter.wait_for_line("src/x.txt: ")
        shutil.rmtree(project.other)
    assert letters(project) == [f"{ONLY_OTTER}src/x.txt"]


# Limits and faults.


def test_thousands_at_once_are_bounded_and_told_together(project: Project) -> None:
    hold(project, CRANE, project.other, "src")
    join(project, OTTER, project.root)
    for number in range(400):
        write(project.root / "src" / f"f{number}.txt", "1\n")
    with watching_run(project) as otter, command(project, OTTER, project.root):
        for number in range(400):
            (project.root / "src" / f"f{number}.txt").write_text("2\n", encoding="utf-8")
        otter.wait_for_line("src/f")
    assert 1 <= len(letters(project)) <= 4
    assert len(otter.lines) < 20


def test_at_the_systems_limit_it_says_so_and_compares(project: Project) -> None:
    hold(project, CRANE, project.other, "a.txt")
    join(project, OTTER, project.root)

    def at_the_limit(_1: Sequence[Path], _2: Event, _3: int) -> Iterator[frozenset[str]]:
        raise TooManyWatches("OS file watch limit reached")
        yield frozenset()

    with watching_run(project, watch=at_the_limit, beat=0.05) as otter:
        otter.wait_for_line("the system watches no more folders (OS file watch limit reached)")
        write(project.root / "a.txt", "noticed all the same\n")
        otter.wait_for_line("a.txt: ")
    assert len([line for line in otter.lines if "watches no more" in line]) == 1
    assert letters(project) == [f"{ONLY_OTTER}a.txt"]


def test_where_no_copy_can_be_made_the_rest_goes_on(project: Project) -> None:
    """As on a full disk: git's folder for this object cannot be made."""
    hold(project, CRANE, project.root, "a.txt")
    join(project, OTTER, project.root)
    write(project.root / ".git" / "objects" / blob("mine\n")[:2], "in the way")
    with watching_run(project) as otter:
        with command(project, CRANE, project.root):
            write(project.root / "a.txt", "mine\n")
            otter.wait_for_line("files that others hold are not copied")
        with command(project, OTTER, project.root):
            write(project.root / "a.txt", "not mine\n")
            otter.wait_for_line("a.txt")
    assert all("not watched" not in line for line in otter.lines)
    assert len([line for line in otter.lines if "are not copied" in line]) == 1


def test_a_run_that_ends_at_once_still_looks(project: Project) -> None:
    hold(project, CRANE, project.other, "a.txt")
    join(project, OTTER, project.root)
    with watching_run(project):
        write(project.root / "a.txt", "quick\n")
    assert letters(project) == [f"{ONLY_OTTER}a.txt"]


@pytest.mark.parametrize("scope", ["port:3000", "no/such/folder/file.txt"])
def test_what_is_no_file_yet_can_be_held(project: Project, scope: str) -> None:
    hold(project, CRANE, project.root, scope)
    with watching_run(project) as otter:
        pass
    assert otter.lines == []


def test_moot_run_watches_for_its_program(project: Project) -> None:
    hold(project, CRANE, project.other, "a.txt")
    done = project.spawn(
        "run", "--name", "gray-heron", "--", "sh", "-c", "echo changed > a.txt", cwd=project.root
    )
    assert done.code == 0, done
    only = ONLY.replace(OTTER, "gray-heron")
    assert f"moot: a.txt: {only}, while teal-crane holds it" in done.err
    assert incursions(project) == []
    assert letters(project) == [f"INFO: {only}: a.txt"]


def test_a_run_that_is_killed_while_it_waits_has_claimed_nothing(project: Project) -> None:
    """Another that saw the same change tells of it."""
    from moot.api.guard.held_changes import HeldChange
    from moot.api.guard.watcher import Reports
    from moot.api.guard.who_changed import UNKNOWN, FileChange

    hold(project, CRANE, project.root, "a.txt")
    (held,) = project.presence.live
    first = FileChange(str(project.root), "a.txt", "1" * 40, "2" * 40, 1, 2)
    second = FileChange(str(project.root), "a.txt", "2" * 40, "3" * 40, 3, 4)
    with project.workspace() as workspace:
        killed, other = (Reports(workspace, OTTER, lambda _line: None) for _ in range(2))
        killed._record_or_queue([HeldChange(first, held, UNKNOWN)])
        killed.mail_holders()
        killed._record_or_queue([HeldChange(second, held, UNKNOWN)])
        killed.mail_holders()  # too soon after the first: it waits, and is never heard of again
        assert len(project.told_changes()) == 1
        other._record_or_queue([HeldChange(second, held, UNKNOWN)])
        other.mail_holders()
        assert len(project.told_changes()) == 2
        killed.mail_holders(is_last=True)
        assert len(project.told_changes()) == 2


def test_a_letter_that_cannot_be_sent_is_told_by_the_next_who_looks(project: Project) -> None:
    from moot.api.guard.held_changes import HeldChange
    from moot.api.guard.holder_mail import notify_holders
    from moot.api.guard.who_changed import UNKNOWN, FileChange

    hold(project, CRANE, project.root, "a.txt")
    (held,) = project.presence.live
    change = FileChange(str(project.root), "a.txt", "1" * 40, "2" * 40, 1, 2)
    nobody = msgspec.structs.replace(held, owner="nobody-here")
    with project.workspace() as workspace:
        assert notify_holders(workspace, [HeldChange(change, nobody, UNKNOWN)]) == {"a.txt"}
        assert notify_holders(workspace, [HeldChange(change, held, UNKNOWN)]) == set()
        assert len(project.told_changes()) == 1
        assert notify_holders(workspace, [HeldChange(change, held, UNKNOWN)]) == set()
    assert len(project.told_changes()) == 1
