"""What is written down before a call acts, and what an edit has left whose end no hook tells."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from moot.api.guard.call_journaling import (
    Caller,
    copy_unreported_edits,
    journal_command,
    journal_edit,
)
from moot.api.guard.copies import Copies
from moot.api.guard.guarded_paths import GuardedPaths
from moot.api.guard.who_changed import Announced, TextEdit, identify_words
from moot.api.guard.worktree_before import WorktreeBefore, decode_worktree
from moot.workspace.call_journal import REMOVED, Call, CallFile, CallKind
from moot.workspace.file_versions import Act
from tests.project import OTTER, Project

CALLER = Caller("s", OTTER)
ONE = "5626abf0f72e58d7a153368ba57db4c673c0e171"  # of b"one\n", which is committed


@pytest.fixture
def copies(project: Project) -> Iterator[Copies]:
    with Copies(project.root / ".moot", project.root) as copies:
        yield copies


def begun(copies: Copies, tool: str) -> Call:
    found = copies.versions.journal.find_begun("s", "c", tool)
    assert found is not None
    return found


@pytest.mark.requirement("GRD-022")
@pytest.mark.parametrize(
    ("text", "kind"),
    [("cat a.txt", CallKind.READING), ("make", CallKind.COMMAND), ("", CallKind.COMMAND)],
)
def test_a_command_is_written_down_with_how_it_began(
    copies: Copies, text: str, kind: CallKind
) -> None:
    before = WorktreeBefore(str(copies.root), 7, "1", frozenset({"a.txt"}), frozenset())
    journal_command(copies, CALLER, ("Bash", "c"), text, "/w", before)
    call = begun(copies, "Bash")
    assert (call.kind, call.text, call.folder, call.agent) == (kind, text, "/w", OTTER)
    assert decode_worktree(call.state) == before
    assert call.last_process == 0 if kind is CallKind.READING else call.last_process > 1


def test_how_the_worktree_was_may_be_unknown(copies: Copies) -> None:
    journal_command(copies, CALLER, ("Bash", "c"), "make", "/w", None)
    assert begun(copies, "Bash").state == b""


def start_edit(
    copies: Copies, announced: dict[str, Announced], *scopes: str, tells_end: bool = False
) -> dict[str, str]:
    guarded = GuardedPaths(copies.root / ".moot", copies.root, scopes)
    by_path = {f"{copies.root}/{path}": each for path, each in announced.items()}
    call = ("Write", "c")
    return dict(journal_edit(copies, guarded, CALLER, call, by_path, tells_end=tells_end).present)


@pytest.mark.requirement("GRD-022")
def test_an_edit_is_written_down_with_what_it_leads_to(copies: Copies) -> None:
    root, two = str(copies.root), copies.identify(b"two\n")
    (copies.root / "link").symlink_to(".")
    edits = Announced(edits=(TextEdit("one", "two"),))
    for announced, predicted, kept in (
        (Announced(whole="two\n"), (two, identify_words(b"two\n")), b""),
        (edits, (two, identify_words(b"two\n")), msgspec.json.encode(edits)),
        (Announced(removed=True), (REMOVED,), b""),
    ):
        for name in ("a.txt", "link/a.txt"):
            assert start_edit(copies, {name: announced}, "a.txt") == {"a.txt": ONE}
            files = begun(copies, "Write").files
            assert files == (CallFile(root, "a.txt", ONE, predicted, kept),)
    assert start_edit(copies, {"new.txt": Announced(whole="two\n")}, "new.txt") == {"new.txt": ""}
    assert begun(copies, "Write").files[0].leads_to(two)


def test_of_a_file_without_announcement_or_too_large_only_the_name_is_written_down(
    copies: Copies,
) -> None:
    root, whole = str(copies.root), Announced(whole="two\n")
    assert start_edit(copies, {"b.txt": whole}, "a.txt") == {"a.txt": ONE}
    assert begun(copies, "Write").files == (CallFile(root, "a.txt", ONE),)
    assert start_edit(copies, {}, "a.txt") == {"a.txt": ONE}
    assert begun(copies, "Write").files == (CallFile(root, "a.txt", ONE),)
    for name, megabytes in (("large", 9), ("huge", 65)):
        with open(copies.root / name, "wb") as file:
            file.truncate(megabytes << 20)
    before = start_edit(copies, {"large": whole, "huge": whole}, "huge", "large")
    assert [*before] == ["large"]
    assert begun(copies, "Write").files == (
        CallFile(root, "huge", None),
        CallFile(root, "large", before["large"]),
    )


def test_what_an_untold_edit_announced_is_its_own_once_all_of_it_is_there(copies: Copies) -> None:
    root, journal = str(copies.root), copies.versions.journal
    announced = {name: Announced(whole="two\n") for name in ("a.txt", "b.txt")}
    start_edit(copies, announced, "a.txt", "b.txt")
    (copies.root / "b.txt").write_text("two\n")
    copy_unreported_edits(copies.root / ".moot", copies, 5)
    assert len(journal.list_untold()) == 1
    two = copies.identify(b"two\n")
    (copies.root / "a.txt").write_text("two\n")
    copy_unreported_edits(copies.root / ".moot", copies, 6)
    assert journal.list_untold() == journal.list_overlapping(2**62, 2**62) == []
    for name, at in (("a.txt", 6), ("b.txt", 5)):
        left = copies.versions.newest(root, name)
        assert left is not None
        assert (left.act, left.agent, left.session, left.at) == (Act.LEFT, OTTER, "s", at)
        look = journal.find_look(root, name)
        assert look is not None
        assert look.blob == left.blob == two


@pytest.mark.parametrize("names", [["a.txt", "b.txt"], ["b.txt", "a.txt"]])
def test_what_no_edit_announced_is_copied_as_nobodys_and_the_edit_stays_open(
    copies: Copies, names: list[str]
) -> None:
    root, journal = str(copies.root), copies.versions.journal
    start_edit(copies, {name: Announced(whole="two\n") for name in names}, *names)
    (copies.root / "a.txt").write_text("three\n")
    (copies.root / "b.txt").write_text("two\n")
    copy_unreported_edits(copies.root / ".moot", copies, 5)
    kept = copies.versions.newest(root, "a.txt")
    assert kept is not None
    assert (kept.act, kept.agent, kept.blob) == (Act.KEPT, "", copies.identify(b"three\n"))
    assert journal.find_look(root, "a.txt") is None
    assert journal.list_untold() == []
    assert len(journal.list_overlapping(2**62, 2**62)) == 1


def test_only_edits_without_a_told_end_are_looked_at(copies: Copies) -> None:
    start_edit(copies, {"a.txt": Announced(whole="two\n")}, "a.txt", tells_end=True)
    (copies.root / "a.txt").write_text("two\n")
    copy_unreported_edits(copies.root / ".moot", copies, 5)
    assert copies.versions.newest(str(copies.root), "a.txt") is None
