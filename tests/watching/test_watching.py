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
from moot.system.watching import TooManyWatches
from moot.workspace.file_versions import Act, FileVersions
from tests.hooks.yard import CRANE, OTTER, Yard
from tests.watching.post import (
    blob,
    command,
    edit,
    hold,
    incursions,
    join,
    letters,
    post,
    spoke,
    told_paths,
    until,
)

UNKNOWN = "INFO: changed by someone unknown: "
ONLY = "changed while amber-otter's command ran; no one else known to Moot was at work"
ONLY_OTTER = f"INFO: {ONLY}: "


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


# Somebody is named.


def test_bytes_that_the_runs_agent_announced_are_on_record_with_both_versions(yard: Yard) -> None:
    hold(yard, CRANE, yard.root, "a.txt")
    join(yard, OTTER, yard.root)
    spoke(yard, CRANE)
    with post(yard) as otter, edit(yard, OTTER, yard.root, "announced\n"):
        write(yard.root / "a.txt", "announced\n")
        otter.wait_for_line("amber-otter changed what others hold, which is on record: a.txt")
    assert incursions(yard) == [(OTTER, "a.txt", blob("one\n"), blob("announced\n"))]
    assert letters(yard) == []


def has_count(yard: Yard, count: int) -> bool:
    return len(incursions(yard)) == count


def test_every_proved_change_is_one_more_and_the_same_bytes_are_none(yard: Yard) -> None:
    hold(yard, CRANE, yard.root, "a.txt")
    join(yard, OTTER, yard.root)
    spoke(yard, CRANE)
    with post(yard) as otter:
        for count, text in enumerate(("two\n", "three\n"), 1):
            with edit(yard, OTTER, yard.root, text):
                write(yard.root / "a.txt", text)
                until(partial(has_count, yard, count))
                write(yard.root / "a.txt", text)
        assert len(otter.lines) == 2
    assert len({once for once, _ in otter.person}) == 2  # and the person is told of each, once
    ids = [("one\n", "two\n"), ("two\n", "three\n")]
    assert incursions(yard) == [(OTTER, "a.txt", blob(was), blob(now)) for was, now in ids]


def test_if_the_hook_was_faster_it_is_on_record_once(yard: Yard) -> None:
    hold(yard, CRANE, yard.root, "a.txt")
    join(yard, OTTER, yard.root)

    def late(_folders: Sequence[Path], over: Event, _pause: int) -> Iterator[frozenset[str]]:
        over.wait()
        yield frozenset()

    spoke(yard, CRANE)
    with post(yard, watch=late):
        with edit(yard, OTTER, yard.root, "two\n"):
            write(yard.root / "a.txt", "two\n")
        root = str(yard.root)
        note = NoteIncursion(paths=("a.txt",), project_root=root, worktree=root)
        yard.execute(OTTER, note, stream=STREAM)
    assert incursions(yard) == [(OTTER, "a.txt", None, None)]


def test_what_another_agent_announced_is_left_to_its_own_run(yard: Yard) -> None:
    """Nobody signs under another's name."""
    yard.ok("agent", "register", "gray-heron")
    hold(yard, CRANE, yard.root, "a.txt")
    for name in (OTTER, "gray-heron"):
        join(yard, name, yard.root)
        spoke(yard, name)
    spoke(yard, CRANE)
    with (
        post(yard, OTTER) as otter,
        post(yard, "gray-heron") as heron,
        edit(yard, "gray-heron", yard.root, "two\n"),
    ):
        write(yard.root / "a.txt", "two\n")
        heron.wait_for_line("gray-heron changed what others hold")
    assert [name for name, *_ in incursions(yard)] == ["gray-heron"]
    assert otter.lines == []
    assert letters(yard) == []


# Only one is known.


def test_a_program_without_hooks_that_is_alone_is_told_in_neutral_words(yard: Yard) -> None:
    hold(yard, CRANE, yard.other, "a.txt")
    join(yard, OTTER, yard.root)
    spoke(yard, CRANE)
    with post(yard) as otter:
        write(yard.root / "a.txt", "changed\n")
        otter.wait_for_line(f"{ONLY}, while teal-crane holds it: a.txt")
    assert incursions(yard) == []
    assert letters(yard) == [f"{ONLY_OTTER}a.txt"]


def test_the_only_command_is_told_in_neutral_words(yard: Yard) -> None:
    hold(yard, CRANE, yard.root, "a.txt")
    join(yard, OTTER, yard.root)
    spoke(yard, CRANE)
    with post(yard) as otter, command(yard, OTTER, yard.root):
        write(yard.root / "a.txt", "changed\n")
        otter.wait_for_line(ONLY)
    assert incursions(yard) == []
    assert letters(yard) == [f"{ONLY_OTTER}a.txt"]


# Nobody is named.


def test_a_change_by_someone_unknown_is_told_to_the_holder_once(yard: Yard) -> None:
    hold(yard, CRANE, yard.root, "a.txt")
    join(yard, OTTER, yard.root)
    spoke(yard, OTTER)
    with post(yard) as otter, post(yard, root=yard.root) as second:
        write(yard.root / "a.txt", "who was it\n")
        until(lambda: otter.lines or second.lines)
    assert incursions(yard) == []
    assert letters(yard) == [f"{UNKNOWN}a.txt"]
    (line,) = otter.lines + second.lines
    assert line == "changed by someone unknown, while teal-crane holds it: a.txt"


def test_two_commands_at_the_same_time_name_nobody(yard: Yard) -> None:
    hold(yard, CRANE, yard.root, "a.txt")
    join(yard, OTTER, yard.root)
    with post(yard) as otter, command(yard, CRANE, yard.root), command(yard, OTTER, yard.root):
        write(yard.root / "a.txt", "two\n")
        otter.wait_for_line("changed by someone unknown")
    assert incursions(yard) == []
    assert letters(yard) == [f"{UNKNOWN}a.txt"]


def test_the_letter_says_what_and_not_who(yard: Yard) -> None:
    hold(yard, CRANE, yard.root, "src")
    join(yard, OTTER, yard.root)
    with post(yard) as otter, command(yard, CRANE, yard.root), command(yard, OTTER, yard.root):
        for number in range(30):
            write(yard.root / "src" / "new" / f"f{number}.txt", f"{number}\n")
        otter.wait_for_line("changed by someone unknown")
    (first, *_more) = yard.ok("--as", CRANE, "mail", "inbox")["messages"]
    body = yard.ok("--as", CRANE, "mail", "show", first["id"])["message"]["body"]
    assert "What you hold was changed by someone unknown:" in body
    assert OTTER not in body
    assert f"in {yard.root}: made (nothing -> " in body
    assert len(letters(yard)) <= 2  # all of it together; the rest when the run ends


def test_a_holder_without_hooks_may_have_done_it_itself(yard: Yard) -> None:
    hold(yard, CRANE, yard.root, "a.txt", speaks=False)
    join(yard, OTTER, yard.root)
    with post(yard) as otter, command(yard, OTTER, yard.root):
        write(yard.root / "a.txt", "two\n")
        otter.wait_for_line("changed by someone unknown")
    assert incursions(yard) == []
    assert letters(yard) == [f"{UNKNOWN}a.txt"]


# Nothing to report.


def test_the_holders_own_edit_is_none_and_its_bytes_are_kept(yard: Yard) -> None:
    hold(yard, CRANE, yard.root, "a.txt")
    join(yard, OTTER, yard.root)
    with post(yard) as otter:
        with edit(yard, CRANE, yard.root, "the holder's\n"):
            write(yard.root / "a.txt", "the holder's\n")
        until(lambda: _is_kept(yard, "the holder's\n"))
    assert otter.lines == []
    assert incursions(yard) == []
    assert letters(yard) == []


def _is_kept(yard: Yard, text: str) -> bool:
    with FileVersions(yard.root / ".moot") as memory:
        kept = memory.last(str(yard.root), "a.txt", Act.KEPT)
    if kept is None or kept.blob != blob(text):
        return False
    return yard.git("cat-file", "blob", kept.blob).out == text


def test_what_git_does_not_have_is_kept_from_the_start(yard: Yard) -> None:
    write(yard.root / "a.txt", "not committed\n")
    hold(yard, CRANE, yard.root, "a.txt")
    with post(yard):
        assert _is_kept(yard, "not committed\n")


def test_a_holder_without_hooks_works_in_its_own_worktree(yard: Yard) -> None:
    hold(yard, CRANE, yard.root, "a.txt", speaks=False)
    join(yard, OTTER, yard.root)
    spoke(yard, OTTER)
    with post(yard) as otter:
        write(yard.root / "a.txt", "mine\n")
        until(lambda: _is_kept(yard, "mine\n"))
    assert otter.lines == []
    assert (incursions(yard), letters(yard)) == ([], [])


def test_what_git_ignores_is_none(yard: Yard) -> None:
    write(yard.root / ".git" / "info" / "exclude", "*.log\n.moot\n")
    hold(yard, CRANE, yard.other, "src")
    join(yard, OTTER, yard.root)
    (yard.root / "src").mkdir()
    with post(yard):
        write(yard.root / "src" / "build.log", "noise\n")
        write(yard.root / "src" / "real.txt", "text\n")
        until(lambda: letters(yard))
        write(yard.root / "src" / "build.log", "more noise\n")
        write(yard.root / "src" / "other.txt", "more text\n")
    assert told_paths(yard) == {"src/real.txt", "src/other.txt"}


def test_a_file_that_nobody_holds_is_none(yard: Yard) -> None:
    hold(yard, CRANE, yard.other, "a.txt")
    join(yard, OTTER, yard.root)
    with post(yard) as otter:
        write(yard.root / "b.txt", "free\n")
        write(yard.root / "a.txt", "held\n")
        otter.wait_for_line("holds it: a.txt")
    assert told_paths(yard) == {"a.txt"}


# What is held changes; what is watched goes away.


def test_what_is_reserved_later_is_watched_too(yard: Yard) -> None:
    join(yard, OTTER, yard.root)
    with post(yard):
        hold(yard, CRANE, yard.other, "a.txt")
        until(lambda: _is_watched(yard))
    assert told_paths(yard) == {"a.txt"}


def _is_watched(yard: Yard) -> bool:
    """Writes on until it is noticed: when the thread looks at the ledger is its own affair."""
    file = yard.root / "a.txt"
    file.write_text(file.read_text("utf-8") + "more\n", encoding="utf-8")
    return bool(letters(yard))


def test_a_new_folder_below_a_held_one_is_watched(yard: Yard) -> None:
    hold(yard, CRANE, yard.other, "src")
    join(yard, OTTER, yard.root)
    (yard.root / "src").mkdir()
    with post(yard):
        write(yard.root / "src" / "deep" / "er" / "x.txt", "1\n")
        until(lambda: letters(yard))
        write(yard.root / "src" / "deep" / "er" / "y.txt", "2\n")
    assert told_paths(yard) == {"src/deep/er/x.txt", "src/deep/er/y.txt"}


def test_a_worktree_that_is_removed_ends_nothing(yard: Yard) -> None:
    hold(yard, CRANE, yard.other, "a.txt", "src")
    join(yard, OTTER, yard.root)
    with post(yard) as otter:
        assert yard.git("worktree", "remove", "--force", str(yard.other)).code == 0
        write(yard.root / "a.txt", "still noticed\n")
        otter.wait_for_line("holds it: a.txt")


def test_a_holder_is_told_that_its_worktree_was_removed(yard: Yard) -> None:
    hold(yard, CRANE, yard.other, "a.txt")
    join(yard, OTTER, yard.root)
    spoke(yard, OTTER)
    with post(yard) as otter:
        assert yard.git("worktree", "remove", "--force", str(yard.other)).code == 0
        otter.wait_for_line("changed by someone unknown, while teal-crane holds it: a.txt")
    assert letters(yard) == [f"{UNKNOWN}a.txt"]
    assert incursions(yard) == []


def test_the_runs_own_folder_may_be_deleted(yard: Yard) -> None:
    hold(yard, CRANE, yard.root, "src")
    join(yard, OTTER, yard.other)
    write(yard.other / "src" / "x.txt", "1\n")
    with post(yard, root=yard.other) as otter:
        shutil.rmtree(yard.other / "src")
        otter.wait_for_line("holds it: src/x.txt")
        shutil.rmtree(yard.other)
    assert letters(yard) == [f"{ONLY_OTTER}src/x.txt"]


# Limits and faults.


def test_thousands_at_once_are_bounded_and_told_together(yard: Yard) -> None:
    hold(yard, CRANE, yard.other, "src")
    join(yard, OTTER, yard.root)
    for number in range(400):
        write(yard.root / "src" / f"f{number}.txt", "1\n")
    with post(yard) as otter, command(yard, OTTER, yard.root):
        for number in range(400):
            (yard.root / "src" / f"f{number}.txt").write_text("2\n", encoding="utf-8")
        otter.wait_for_line("holds it: src/f")
    assert 1 <= len(letters(yard)) <= 4
    assert len(otter.lines) < 20


def test_at_the_systems_limit_it_says_so_and_compares(yard: Yard) -> None:
    hold(yard, CRANE, yard.other, "a.txt")
    join(yard, OTTER, yard.root)

    def at_the_limit(_1: Sequence[Path], _2: Event, _3: int) -> Iterator[frozenset[str]]:
        raise TooManyWatches("OS file watch limit reached")
        yield frozenset()

    with post(yard, watch=at_the_limit, beat=0.05) as otter:
        otter.wait_for_line("the system watches no more folders (OS file watch limit reached)")
        write(yard.root / "a.txt", "noticed all the same\n")
        otter.wait_for_line("holds it: a.txt")
    assert len([line for line in otter.lines if "watches no more" in line]) == 1
    assert letters(yard) == [f"{ONLY_OTTER}a.txt"]


def test_where_no_copy_can_be_made_the_rest_goes_on(yard: Yard) -> None:
    """As on a full disk: git's folder for this object cannot be made."""
    hold(yard, CRANE, yard.root, "a.txt")
    join(yard, OTTER, yard.root)
    write(yard.root / ".git" / "objects" / blob("mine\n")[:2], "in the way")
    with post(yard) as otter:
        with command(yard, CRANE, yard.root):
            write(yard.root / "a.txt", "mine\n")
            otter.wait_for_line("no copies are kept of what others hold")
        with command(yard, OTTER, yard.root):
            write(yard.root / "a.txt", "not mine\n")
            otter.wait_for_line("a.txt")
    assert all("not watched" not in line for line in otter.lines)
    assert len([line for line in otter.lines if "no copies are kept" in line]) == 1


def test_a_run_that_ends_at_once_still_looks(yard: Yard) -> None:
    hold(yard, CRANE, yard.other, "a.txt")
    join(yard, OTTER, yard.root)
    with post(yard):
        write(yard.root / "a.txt", "quick\n")
    assert letters(yard) == [f"{ONLY_OTTER}a.txt"]


@pytest.mark.parametrize("scope", ["port:3000", "no/such/folder/file.txt"])
def test_what_is_no_file_yet_can_be_held(yard: Yard, scope: str) -> None:
    hold(yard, CRANE, yard.root, scope)
    with post(yard) as otter:
        pass
    assert otter.lines == []


def test_moot_run_watches_for_its_program(yard: Yard) -> None:
    hold(yard, CRANE, yard.other, "a.txt")
    done = yard.spawn(
        "run", "--name", "gray-heron", "--", "sh", "-c", "echo changed > a.txt", cwd=yard.root
    )
    assert done.code == 0, done
    only = ONLY.replace(OTTER, "gray-heron")
    assert f"moot: {only}, while teal-crane holds it: a.txt" in done.err
    assert incursions(yard) == []
    assert letters(yard) == [f"INFO: {only}: a.txt"]


def test_a_run_that_is_killed_while_it_waits_has_claimed_nothing(yard: Yard) -> None:
    """Another that saw the same change tells of it."""
    from moot.flows.guard.held_changes import HeldChange
    from moot.flows.guard.who_changed import UNKNOWN, FileChange
    from moot.flows.watching.reports import Reports

    hold(yard, CRANE, yard.root, "a.txt")
    (held,) = yard.presence.live
    first = FileChange(str(yard.root), "a.txt", "1" * 40, "2" * 40, 1, 2)
    second = FileChange(str(yard.root), "a.txt", "2" * 40, "3" * 40, 3, 4)
    with yard.workspace() as workspace:
        killed, other = (Reports(workspace, OTTER, lambda _line: None) for _ in range(2))
        killed._sort_out([HeldChange(first, held, UNKNOWN)])
        killed.write_letters()
        killed._sort_out([HeldChange(second, held, UNKNOWN)])
        killed.write_letters()  # too soon after the first: it waits, and is never heard of again
        assert len(yard.told_changes()) == 1
        other._sort_out([HeldChange(second, held, UNKNOWN)])
        other.write_letters()
        assert len(yard.told_changes()) == 2
        killed.write_letters(is_last=True)
        assert len(yard.told_changes()) == 2


def test_a_letter_that_cannot_be_sent_is_told_by_the_next_who_looks(yard: Yard) -> None:
    from moot.flows.guard.held_changes import HeldChange
    from moot.flows.guard.who_changed import UNKNOWN, FileChange
    from moot.flows.watching.letters import tell_holders

    hold(yard, CRANE, yard.root, "a.txt")
    (held,) = yard.presence.live
    change = FileChange(str(yard.root), "a.txt", "1" * 40, "2" * 40, 1, 2)
    nobody = msgspec.structs.replace(held, owner="nobody-here")
    with yard.workspace() as workspace:
        assert tell_holders(workspace, [HeldChange(change, nobody, UNKNOWN)]) == {"a.txt"}
        assert tell_holders(workspace, [HeldChange(change, held, UNKNOWN)]) == set()
        assert len(yard.told_changes()) == 1
        assert tell_holders(workspace, [HeldChange(change, held, UNKNOWN)]) == set()
    assert len(yard.told_changes()) == 1
