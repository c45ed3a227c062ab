"""Who changed which lines of a file, brought up to date with the disk and with HEAD.

A stored state counts only if its base is the file in HEAD and its content is the file on disk.
Otherwise the change is explained by the edits in the journal of calls that may have been written
since: if some of them, one after the other, lead exactly to the bytes on disk, the lines are
theirs. Every other change is nobody's.

Only plain text files that are committed have lines. Others are held whole: `load_lines` returns
None.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.api.guard.copies import Copies, Editor, PresentFile
from moot.api.guard.who_changed import Announced
from moot.core.errors import Malformed
from moot.lines.changed_outside import apply_outside_change
from moot.lines.edit_input import (
    Hunk,
    Reading,
    Replacement,
    read_hunks,
    read_replacements,
    read_whole_file,
)
from moot.lines.encoding import FileLines, decode, encode
from moot.lines.rebase import rebase_segments
from moot.lines.segments import (
    Agent,
    Segments,
    apply_edits,
    drop_unchanged,
    start_segments,
)
from moot.lines.text import split_lines
from moot.workspace.find import git_common_dir, worktree_root
from moot.workspace.line_store import StoredLines

if TYPE_CHECKING:
    from moot.protocols.presence.model import State
    from moot.workspace.call_journal import Call, CallFile

MOST_BYTES: Final = 5_000_000
# An edit whose end was never reported counts as pending for so long.
PENDING_NS: Final = 600 * 10**9
# More edits of one file at the same time are not followed.
MOST_PENDING: Final = 5
MOST_RESULTS: Final = 64
GIT_SECONDS: Final = 3.0
CHANGED_OUTSIDE: Final = "changed outside of the hooks"
_MOST_TRIES: Final = 3
_LOCK_FILES: Final = frozenset(
    ("package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "composer.lock", "go.sum")
)
_HELD_WHOLE: Final = (".lock", ".lockb", ".ipynb")
_ATTRIBUTES: Final = ("filter", "working-tree-encoding", "ident", "linguist-generated")


class LineFile(NamedTuple):
    """A file of lines: its state, its bytes on disk, and the edits of it that may be pending."""

    path: str
    state: FileLines
    content: bytes
    pending: tuple[Call, ...] = ()


def label_of(name: str, alias: str | None) -> str:
    """Return the name of an agent in the states of lines; a sub-agent's is different from its
    session's."""
    return f"{name}+{alias}" if alias else name


def label_of_call(presence: State, call: Call) -> str:
    """Return the label of the agent that made a call; empty if it is not known."""
    from moot.protocols.presence.model import find_member

    member = find_member(presence, call.agent) if call.agent else None
    if member is None:
        found = (each for each in presence.members if each.session_key == call.session)
        member = next(found, None)
    name = call.agent or (member.name if member is not None else "")
    known = member.sub_agents if member is not None else ()
    alias = next((each.alias for each in known if each.tool_id == call.sub_agent), None)
    return label_of(name, alias or call.sub_agent) if name else ""


def load_lines(
    copies: Copies, path: str, presence: State, ended: Call | None = None
) -> LineFile | None:
    """Return the state of a file as it is now; None if the file is held whole.

    `ended` is an edit of it that has just ended: if a formatter ran after it, the lines of the edit
    are still its own.
    """
    for _ in range(_MOST_TRIES):
        found = _load(copies, path, presence, ended)
        if found is None:
            return None
        known, stored, file = found
        if known == stored or copies.versions.lines.replace(str(copies.root), path, known, stored):
            return file
    return None


def _load(
    copies: Copies, path: str, presence: State, ended: Call | None
) -> tuple[StoredLines | None, StoredLines, LineFile] | None:
    root = str(copies.root)
    known = copies.versions.lines.find(root, path)
    present, head = copies.read(path), read_head_commit(copies.root)
    if present is None or present.data is None or not _has_lines(copies.root, path, present):
        return None
    is_same_head = known is not None and bool(head) and known.head == head
    state = _decode(known)
    base = state.base if state is not None and is_same_head else _find_base(copies.root, path)
    if base is None or (not is_same_head and _has_attributes(copies.root, path)):
        return None
    since_ns = time.time_ns() - PENDING_NS
    pending = copies.versions.journal.list_open_edits(root, path, since_ns)
    if state is None or (state.base, state.content) != (base, present.blob):
        state = _bring_up_to_date(copies, state, base, present, presence, pending, ended, path)
    if state is None:
        return None
    stored = StoredLines(head, encode(state))
    return known, stored, LineFile(path, state, present.data, tuple(pending))


def _decode(known: StoredLines | None) -> FileLines | None:
    try:
        return None if known is None else decode(known.state)
    except Malformed:
        return None


def _bring_up_to_date(
    copies: Copies,
    state: FileLines | None,
    base: str,
    present: PresentFile,
    presence: State,
    pending: Sequence[Call],
    ended: Call | None,
    path: str,
) -> FileLines | None:
    base_data, data = copies.read_version(base), present.data
    if base_data is None or data is None or _line_ends(base_data) != _line_ends(data):
        return None
    new_base, file = split_lines(base_data), split_lines(data)
    newline_by: Agent = None
    old_base = old = None
    if state is not None:
        old_base, old = copies.read_version(state.base), copies.read_version(state.content)
    if state is None or old_base is None or old is None:
        segments = start_segments(len(new_base.lines))
        segments = apply_outside_change(segments, new_base.lines, file.lines)
        return FileLines(base, present.blob, segments)
    segments, newline_by = state.segments, state.newline_by
    if state.content != present.blob:
        explained = _explain(copies, segments, old, present, presence, pending, ended, path)
        if explained is None:
            copies.keep([path], Editor("", "", time.time_ns() // 1_000_000, CHANGED_OUTSIDE))
            explained = apply_outside_change(segments, split_lines(old).lines, file.lines), None
        segments = explained[0]
        if split_lines(old).has_final_newline != file.has_final_newline:
            newline_by = explained[1]
    if state.base != base:
        segments = rebase_segments(
            segments, split_lines(old_base).lines, file.lines, new_base.lines
        )
    segments = drop_unchanged(segments, new_base.lines, file.lines)
    if new_base.has_final_newline == file.has_final_newline:
        newline_by = None
    return FileLines(base, present.blob, segments, newline_by)


def _explain(
    copies: Copies,
    segments: Segments,
    old: bytes,
    present: PresentFile,
    presence: State,
    pending: Sequence[Call],
    ended: Call | None,
    path: str,
) -> tuple[Segments, Agent] | None:
    """Find edits of the journal that lead, one after the other, from `old` to the file on disk."""
    assert present.data is not None
    calls = {call.number: call for call in (*pending, *([] if ended is None else [ended]))}
    files = [
        (label_of_call(presence, call), file)
        for call in list(calls.values())[-MOST_PENDING:]
        for file in call.files
        if file.path == path and file.worktree == str(copies.root)
    ]
    tries = 0
    waiting = [(old, segments, tuple(range(len(files))), "")]
    while waiting and tries < MOST_RESULTS:
        content, so_far, left, _ = waiting.pop()
        for number in left:
            label, file = files[number]
            for reading in _read_file_edit(file, content, present):
                tries += 1
                following = _apply(so_far, label or None, reading)
                if reading.content == present.data:
                    return following, label or None
                rest = tuple(each for each in left if each != number)
                waiting.append((reading.content, following, rest, label))
    if ended is None:
        return None
    label = label_of_call(presence, ended)
    own = [file for name, file in files if name == label]
    for reading in (each for file in own for each in _read_file_edit(file, old, present)):
        written = split_lines(reading.content).lines
        changed = _apply(segments, label or None, reading)
        now = split_lines(present.data).lines
        return apply_outside_change(changed, written, now), label or None
    return None


def _apply(segments: Segments, label: Agent, reading: Reading) -> Segments:
    for step in reading.steps:
        segments = apply_edits(segments, label, step)
    return segments


def _read_file_edit(file: CallFile, content: bytes, present: PresentFile) -> Iterator[Reading]:
    """Yield what an edit of the journal makes of the content. Of a whole-file write only the id of
    its result is in the journal."""
    assert present.data is not None
    if file.announced:
        yield from read_announced(msgspec.json.decode(file.announced, type=Announced), content)
    elif file.leads_to(present.blob):
        yield read_whole_file(content, present.data)


def read_announced(announced: Announced, content: bytes) -> list[Reading]:
    """Return every reading of a tool's edit; nothing if its text is not in the file."""
    if announced.whole is not None:
        whole = _encode(announced.whole)
        texts = [whole]
        if b"\r\n" in content and b"\r\n" not in whole:
            texts.append(whole.replace(b"\n", b"\r\n"))
        return [read_whole_file(content, text) for text in texts]
    if announced.hunks:
        hunks = [
            Hunk(
                tuple(map(_encode, hunk.old)),
                tuple(map(_encode, hunk.new)),
                _encode(hunk.context),
                hunk.at_end,
            )
            for hunk in announced.hunks
        ]
        return read_hunks(content, hunks)
    edits = [
        Replacement(_encode(edit.old), _encode(edit.new), edit.everywhere)
        for edit in announced.edits
    ]
    return read_replacements(content, edits) if edits else []


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


# Which files have lines.


def _has_lines(root: Path, path: str, present: PresentFile) -> bool:
    """Return whether this is a plain text file with one name, in this repository."""
    name, data = os.path.basename(path), present.data
    if not present.blob or data is None or not stat.S_ISREG(present.mode):
        return False
    if len(data) > MOST_BYTES or b"\0" in data[:8192] or "\n" in path:
        return False
    if name in _LOCK_FILES or name.lower().endswith(_HELD_WHOLE):
        return False
    try:
        data.decode()
        if os.lstat(root / path).st_nlink != 1:
            return False
    except (UnicodeDecodeError, OSError):
        return False
    return os.path.realpath(worktree_root((root / path).parent) or "") == os.path.realpath(root)


def _line_ends(data: bytes) -> bool:
    """Return whether the lines end in the way of Windows. git may convert them when it commits."""
    return b"\r\n" in data


def _find_base(root: Path, path: str) -> str | None:
    """Return the id of the file in HEAD; None if it is not committed."""
    from moot.system.git_commands import find_blobs

    name = f"HEAD:{path}"
    found = find_blobs(root, [name], GIT_SECONDS)
    return None if found is None else found[name]


def _has_attributes(root: Path, path: str) -> bool:
    """Return whether git changes the file on its way into a commit, or it is generated."""
    from moot.system.git_commands import GitQuestion, ask_git

    words = ("check-attr", "-z", *_ATTRIBUTES, "--", path)
    (answer,) = ask_git([GitQuestion(root, words)], GIT_SECONDS)
    if answer is None:
        return True
    values = answer.split(b"\0")[2::3]
    return any(value not in (b"unspecified", b"unset", b"false") for value in values)


def read_head_commit(root: Path) -> str:
    """Return the commit that is checked out, read from git's files; empty if that is not plain."""
    marker = root / ".git"
    try:
        folder = marker
        if marker.is_file():
            folder = root / marker.read_text("utf-8").strip().removeprefix("gitdir: ")
        head = (folder / "HEAD").read_text("utf-8").strip()
        if not head.startswith("ref: "):
            return head
        common = git_common_dir(root)
        return "" if common is None else _read_reference(common, head.removeprefix("ref: "))
    except (OSError, ValueError):
        return ""


def _read_reference(common: Path, name: str) -> str:
    try:
        return (common / name).read_text("ascii").strip()
    except FileNotFoundError:
        lines = (common / "packed-refs").read_text("utf-8").split("\n")
        return next((line.split(" ")[0] for line in lines if line.endswith(f" {name}")), "")


def list_labels(files: Iterable[LineFile]) -> frozenset[str]:
    """Return the labels that have lines in these files."""
    found = (segment.agent for file in files for segment in file.state.segments)
    return frozenset(label for label in found if label is not None)
