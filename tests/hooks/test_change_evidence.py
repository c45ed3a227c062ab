"""Who was at work when a held file changed, told by the journal of calls and by presence."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from moot.api.guard import held_changes
from moot.api.guard.copies import Copies, Editor
from moot.api.guard.held_changes import (
    OTHER_FILES_NS,
    CommandBeginning,
    Evidence,
    HeldChange,
    find_changes,
    find_changes_elsewhere,
    list_candidates,
)
from moot.api.guard.who_changed import (
    UNKNOWN,
    Announced,
    Cause,
    CauseKind,
    Certainty,
    FileChange,
    TextEdit,
    Verdict,
    identify_words,
)
from moot.api.guard.worktree_before import WorktreeBefore
from moot.core.paged_map import PagedMap
from moot.protocols.presence.model import Member, Reservation, State, SubAgent
from moot.system.background_processes import read_start
from moot.workspace.call_journal import REMOVED, Call, CallFile, CallKind, ProcessMark
from moot.workspace.file_versions import Act, FileVersion
from tests.project import CRANE, OTTER, Project

HERON = "gray-heron"
ONE = "5626abf0f72e58d7a153368ba57db4c673c0e171"  # of b"one\n", which is committed
SINCE, UNTIL = 5_000_000, 9_000_000
GONE = ProcessMark(2**22 + 1, "boot:1")


@pytest.fixture
def copies(project: Project) -> Iterator[Copies]:
    with Copies(project.root / ".moot", project.root) as copies:
        yield copies


@pytest.fixture
def gather(project: Project, copies: Copies) -> Iterator[Callable[..., Evidence]]:
    """Evidence since ever; the members of presence are those that are named."""
    with project.workspace() as space:

        def make(*members: Member, program: str = "", own: Call | None = None) -> Evidence:
            evidence = Evidence(space, copies, 0, program, own)
            by_name = PagedMap({each.name: each for each in members})
            evidence.state = State(members_by_name=by_name)
            return evidence

        yield make


def member(name: str, session: str | None = None, **more: object) -> Member:
    now = time.time_ns() // 1_000_000
    return msgspec.structs.replace(Member(name, 1, now, now, session_key=session), **more)


def command(agent: str = OTTER, **more: object) -> Call:
    made = Call(f"of-{agent}", agent, "", "", "Bash", CallKind.COMMAND, "/w", number=0)
    return made._replace(**more)  # type: ignore[arg-type]


def edit(agent: str, *files: CallFile, **more: object) -> Call:
    return command(agent, tool="Write", kind=CallKind.EDIT, files=files, **more)


def write(copies: Copies, call: Call, began: int = 6_000_000, ended: int | None = 8_000_000) -> int:
    """Put a call into the journal with these times and processes."""
    number = copies.versions.journal.begin(call)
    marks = msgspec.msgpack.encode(list(call.processes)) if call.processes else b""
    with copies.versions.transaction() as db:
        db.execute(
            "UPDATE calls SET began_ns = ?, ended_ns = ?, processes = ? WHERE number = ?",
            (began, ended, marks, number),
        )
    return number


def changed(copies: Copies, after: str = "2", before: str | None = "1") -> FileChange:
    return FileChange(str(copies.root), "a.txt", before, after, SINCE, UNTIL)


def test_a_change_is_the_holders_own_or_proved_by_its_verdict(copies: Copies) -> None:
    held = Reservation("a.txt", "a.txt", OTTER, 1, 1, 5)
    own = HeldChange(changed(copies), held, Verdict(Certainty.PROVED, OTTER))
    foreign = HeldChange(changed(copies), held, Verdict(Certainty.ONLY_KNOWN, CRANE))
    assert [own.is_own, own.is_proved] == [True, True]
    assert [foreign.is_own, foreign.is_proved] == [False, False]


def test_reading_is_no_cause_and_the_own_command_counts_once(
    copies: Copies, gather: Callable[..., Evidence]
) -> None:
    number = write(copies, command())
    write(copies, command(CRANE, kind=CallKind.READING))
    only_otter = Verdict(Certainty.ONLY_KNOWN, OTTER)
    own = command(number=number, began_ns=6_000_000)
    assert gather().explain(changed(copies), HERON) == only_otter
    assert gather(own=own).explain(changed(copies), HERON) == only_otter
    write(copies, command(CRANE))
    assert gather().explain(changed(copies), HERON) == UNKNOWN
    assert gather(own=own).explain(changed(copies), HERON) == UNKNOWN


@pytest.mark.parametrize(
    ("began", "ended", "counts"),
    [
        (1, SINCE, False),
        (1, SINCE + 1, True),
        (1, None, True),
        (UNTIL, None, True),
        (UNTIL + 1, None, False),
        (UNTIL + 1, UNTIL + 2, False),
    ],
)
def test_a_command_is_a_cause_if_it_ran_while_the_file_may_have_changed(
    copies: Copies, gather: Callable[..., Evidence], began: int, ended: int | None, counts: bool
) -> None:
    write(copies, command(), began, ended)
    found = list(gather()._find_causes(changed(copies)))
    assert found == ([Cause(OTTER, CauseKind.COMMAND)] if counts else [])


def test_an_edit_of_other_files_counts_for_a_minute_if_its_end_is_not_told(
    copies: Copies, gather: Callable[..., Evidence]
) -> None:
    assert OTHER_FILES_NS == 60 * 10**9
    late = msgspec.structs.replace(
        changed(copies), since_ns=OTHER_FILES_NS, until_ns=2 * OTHER_FILES_NS
    )
    beside = CallFile(str(copies.root), "b.txt")
    number = write(copies, edit(OTTER, beside), 0, None)
    assert list(gather()._find_causes(late)) == []
    copies.versions.journal.close([number])
    assert list(gather()._find_causes(late)) == [Cause(OTTER, CauseKind.OTHER_FILES)]
    write(copies, edit(CRANE, beside), 1, None)
    assert Cause(CRANE, CauseKind.OTHER_FILES) in list(gather()._find_causes(late))


def test_a_call_that_names_the_file_says_what_it_leads_to(
    copies: Copies, gather: Callable[..., Evidence]
) -> None:
    root, announced = str(copies.root), Announced(edits=(TextEdit("one", "two"),))
    said = CallFile(root, "a.txt", "1", ("2", REMOVED), msgspec.json.encode(announced))
    write(copies, edit(OTTER, said))
    write(copies, command(CRANE, files=(said._replace(announced=b"{"),)))
    assert list(gather()._find_causes(changed(copies))) == [
        Cause(CRANE, CauseKind.COMMAND, frozenset({"2", ""}), None),
        Cause(OTTER, CauseKind.EDIT, frozenset({"2", ""}), announced),
    ]


def test_who_calls_is_known_by_name_by_session_and_by_the_number_of_a_sub_agent(
    gather: Callable[..., Evidence],
) -> None:
    sub_agent = SubAgent("2", "tool-2", "helper", 1, 1)
    evidence = gather(member(OTTER, "key", sub_agents=(sub_agent,)), member(CRANE, "other"))
    who = evidence._name_of_caller
    assert who(command(OTTER)) == OTTER
    assert who(command("", session="key")) == OTTER
    assert who(command("", session="nobody's")) == ""
    assert who(command("", session="nobody's", sub_agent="tool-2")) == ""
    assert who(command(HERON)) == HERON
    assert who(command(OTTER, sub_agent="tool-2")) == f"{OTTER}/2"
    assert who(command("", session="key", sub_agent="tool-2")) == f"{OTTER}/2"
    assert who(command(OTTER, sub_agent="tool-3")) == f"{OTTER}/tool-3"
    assert who(command(HERON, sub_agent="tool-2")) == f"{HERON}/tool-2"


def test_the_session_of_a_change_is_that_of_the_call_which_names_the_file(
    copies: Copies, gather: Callable[..., Evidence]
) -> None:
    file, beside = (CallFile(str(copies.root), name) for name in ("a.txt", "b.txt"))
    write(copies, edit(OTTER, file, session="first"))
    write(copies, edit(OTTER, beside, session="second"))
    write(copies, edit(CRANE, file, session="third"))
    assert gather().find_session(changed(copies), OTTER) == "first"
    assert gather().find_session(changed(copies), CRANE) == "third"
    assert gather().find_session(changed(copies), HERON) == ""


def test_calls_end_with_their_processes_or_with_their_session(
    copies: Copies, gather: Callable[..., Evidence]
) -> None:
    alive = ProcessMark(os.getpid(), read_start(os.getpid()))
    write(copies, command(), ended=None)
    left = write(copies, command(CRANE), ended=None)
    write(copies, command(HERON), ended=None)
    write(copies, command(CRANE, processes=(GONE, alive)), ended=None)
    gone = write(copies, command(processes=(GONE,)), ended=None)
    own = write(copies, command(CRANE), ended=None)
    journal = copies.versions.journal

    def still_open() -> set[int]:
        return {each.number for each in journal.list_overlapping(2**62, 2**62)}

    before = still_open()
    members = member(OTTER), member(CRANE, left=True)
    gather(*members, own=command(CRANE, number=own)).close_finished()
    assert before - still_open() == {left, gone}


def test_agents_whose_hooks_have_never_spoken_may_have_done_it(
    copies: Copies, gather: Callable[..., Evidence]
) -> None:
    journal = copies.versions.journal
    journal.hear("", OTTER)
    journal.hear("key", "")
    others = member(OTTER), member(CRANE, "key"), member(HERON, left=True)
    assert gather(*others)._list_unguarded() == ()
    asleep, awake = member("plain-asleep", last_at=1, since=1), member("plain-awake")
    evidence = gather(*others, asleep, awake)
    assert evidence._list_unguarded() == ("plain-awake",)
    write(copies, command())
    evidence = gather(*others, awake)
    only_otter = Verdict(Certainty.ONLY_KNOWN, OTTER)
    assert evidence.explain(changed(copies), HERON) == UNKNOWN
    assert evidence.explain(changed(copies), HERON, only_calls=True) == only_otter


def test_the_program_of_a_run_counts_as_a_command(
    copies: Copies, gather: Callable[..., Evidence]
) -> None:
    evidence = gather(member("plain-awake"), program="plain-awake")
    known = Verdict(Certainty.ONLY_KNOWN, "plain-awake")
    assert evidence.explain(changed(copies), HERON) == known
    assert gather(member("plain-awake")).explain(changed(copies), HERON) == UNKNOWN


@pytest.mark.parametrize(("after", "is_new"), [("2", True), (ONE, False)])
def test_bytes_that_were_committed_prove_nothing_while_another_command_ran(
    copies: Copies, gather: Callable[..., Evidence], after: str, is_new: bool
) -> None:
    said = CallFile(str(copies.root), "a.txt", "1", (after,))
    write(copies, edit(OTTER, said))
    change = changed(copies, after)
    proved = Verdict(Certainty.PROVED, OTTER)
    assert gather().explain(change, HERON) == proved
    write(copies, command(CRANE))
    assert gather().explain(change, HERON) == (proved if is_new else UNKNOWN)


@pytest.mark.parametrize(("new", "is_new"), [("two", True), ("one", False)])
def test_an_announced_edit_is_tried_on_the_bytes_before(
    copies: Copies, gather: Callable[..., Evidence], new: str, is_new: bool
) -> None:
    announced = msgspec.json.encode(Announced(edits=(TextEdit("zero", new),)))
    (copies.root / "a.txt").write_text("zero\n")
    copies.keep(["a.txt"], Editor("", "", 1))
    write(copies, edit(OTTER, CallFile(str(copies.root), "a.txt", None, (), announced)))
    before, after = copies.identify(b"zero\n"), copies.identify(f"{new}\n".encode())
    change = changed(copies, after, before)
    proved = Verdict(Certainty.PROVED, OTTER)
    assert gather().explain(change, HERON) == proved
    write(copies, command(CRANE))
    assert gather().explain(change, HERON) == (proved if is_new else UNKNOWN)


def test_the_words_of_the_holders_edit_are_looked_for_in_what_is_there_now(
    copies: Copies, gather: Callable[..., Evidence]
) -> None:
    (copies.root / "a.txt").write_text("two  one\n")
    words = identify_words(b"one two\n")
    write(copies, edit(OTTER, CallFile(str(copies.root), "a.txt", "1", (words,))))
    write(copies, command(CRANE))
    change = changed(copies, copies.identify(b"two  one\n"))
    assert gather().explain(change, OTTER) == Verdict(Certainty.ONLY_KNOWN, OTTER)
    assert gather().explain(change, HERON) == UNKNOWN
    identify = gather()._identify_words
    assert identify(change) == words
    assert identify(changed(copies)) == ""
    assert identify(msgspec.structs.replace(change, worktree="/elsewhere")) == ""
    assert identify(msgspec.structs.replace(change, path="none.txt", after="")) == ""


def test_a_version_is_new_if_it_was_neither_seen_nor_committed(
    copies: Copies, gather: Callable[..., Evidence], tmp_path: Path
) -> None:
    is_new = gather()._is_new
    assert is_new(changed(copies))
    assert not is_new(changed(copies, ""))
    assert not is_new(changed(copies, ONE))
    assert not is_new(msgspec.structs.replace(changed(copies), worktree=str(tmp_path)))
    seen = FileVersion(str(copies.root), "a.txt", Act.KEPT, "", "", 4, "2")
    copies.versions.note([seen._replace(at=5)])
    assert is_new(changed(copies))
    copies.versions.note([seen])
    assert not is_new(changed(copies))


def hold(key: str, worktree: str = "", since: int = 0) -> Reservation:
    return Reservation(key, key, CRANE, 1, 1, since, worktree=worktree)


def begun(copies: Copies, project: Project, changed: str = "", gone: str = "") -> CommandBeginning:
    head = project.git("rev-parse", "HEAD").out.strip()
    sets = (frozenset(each.split()) for each in (changed, gone))
    return CommandBeginning(1, WorktreeBefore(str(copies.root), 1, head, *sets))


def test_candidates_are_changed_now_or_before_or_committed_otherwise(
    copies: Copies, project: Project
) -> None:
    (copies.root / "left.txt").write_text("left\n")
    copies.note_left(["left.txt"], Editor(OTTER, "", 1))
    beginning = begun(copies, project, "before.txt", "gone.txt")
    assert [*list_candidates(copies, beginning, ["now.txt"])] == [
        "now.txt",
        "before.txt",
        "gone.txt",
    ]
    (copies.root / "a.txt").write_text("two\n")
    assert project.git("commit", "--quiet", "-am", "second").code == 0
    assert [*list_candidates(copies, beginning, ())] == ["before.txt", "gone.txt", "a.txt"]
    assert [*list_candidates(copies, CommandBeginning(1), ())] == ["left.txt"]
    assert beginning.worktree is not None
    elsewhere = msgspec.structs.replace(beginning.worktree, root=str(project.other))
    assert [*list_candidates(copies, CommandBeginning(1, elsewhere), ())] == ["left.txt"]


def test_held_files_are_compared_with_the_commit_of_the_beginning(
    copies: Copies, project: Project
) -> None:
    beginning, two = begun(copies, project), copies.identify(b"two\n")
    (copies.root / "a.txt").write_text("two\n")
    (copies.root / "free.txt").write_text("two\n")
    held, changed = hold("a.txt"), ["a.txt", "free.txt"]
    ((change, around),) = find_changes(copies, [held], beginning, changed).changes
    assert (change.path, change.before, change.after, around) == ("a.txt", ONE, two, held)
    assert find_changes(copies, [held], beginning, changed).present == {"a.txt": two}
    assert find_changes(copies, [], beginning, changed) == ([], {})
    elsewhere = find_changes(copies, [hold("a.txt", "/elsewhere")], beginning, changed)
    assert [each.path for each, _ in elsewhere.changes] == ["a.txt"]
    assert elsewhere.present == {}
    assert beginning.worktree is not None
    unknown = msgspec.structs.replace(beginning.worktree, root=str(project.other))
    for other in (CommandBeginning(1), CommandBeginning(1, unknown)):
        ((change, _),) = find_changes(copies, [held], other, changed).changes
        assert change.before is None
    late = CommandBeginning(time.time_ns() + 10**12, beginning.worktree)
    assert find_changes(copies, [held], late, changed) == ([], {})


def test_held_files_are_compared_with_the_look_if_it_is_the_holders(
    copies: Copies, project: Project
) -> None:
    root, beginning = str(copies.root), begun(copies, project)
    copies.versions.journal.note_looks(root, {"a.txt": "2"}, SINCE)
    ((change, _),) = find_changes(copies, [hold("a.txt")], beginning, ()).changes
    assert (change.before, change.since_ns) == ("2", SINCE)
    late = hold("a.txt", since=6)
    assert find_changes(copies, [late], beginning, ()) == ([], {"a.txt": ONE})
    copies.versions.journal.note_looks(root, {"a.txt": "2"}, time.time_ns() + 10**12)
    assert find_changes(copies, [hold("a.txt")], beginning, ()) == ([], {})


def test_a_bounded_number_of_changes_is_told(
    copies: Copies, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert held_changes.MOST_CHANGES == 200
    monkeypatch.setattr(held_changes, "MOST_CHANGES", 2)
    names = ["1.txt", "2.txt", "3.txt"]
    for name in names:
        (copies.root / name).write_text(name)
    found = find_changes(copies, [hold("")], CommandBeginning(1), names)
    assert [each.path for each, _ in found.changes] == ["1.txt", "2.txt"]
    assert [*found.present] == names


def test_elsewhere_only_what_was_explained_is_compared_unless_the_command_ran_there(
    copies: Copies, project: Project
) -> None:
    def look(beginning: CommandBeginning) -> list[tuple[Path, list[str | None]]]:
        held = hold("a.txt", str(project.other)), hold("b.txt"), hold("c.txt", "/no/such/folder")
        found = find_changes_elsewhere(project.root / ".moot", project.root, held, beginning)
        return [(place, [each.before for each, _ in each.changes]) for place, each in found]

    (project.other / "a.txt").write_text("two\n")
    here = begun(copies, project)
    assert here.worktree is not None
    there = msgspec.structs.replace(here.worktree, root=str(project.other))
    assert look(here) == [(project.other, [])]
    assert look(CommandBeginning(1)) == [(project.other, [])]
    assert look(CommandBeginning(1, there)) == [(project.other, [ONE])]
    copies.versions.journal.note_looks(str(project.other), {"a.txt": "2"}, SINCE)
    assert look(here) == [(project.other, ["2"])]
