"""Before and after an edit, if settings say `protect.files = "lines"`: which lines may be edited?

An agent's lines of a file are a reservation below the file, `FILE/@agent`. The states of lines
(`line_state.py`) say which lines these are. They count as long as the reservation is held: released
lines are nobody's. Edits that other agents have begun and that may not be written yet count too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.api.guard.copies import Copies
from moot.api.guard.holders import (
    REGION,
    Holder,
    LineConflict,
    LineNotice,
    describe_holder,
    file_of_region,
    find_blockers,
    region_of,
    requester_of,
)
from moot.api.guard.line_state import (
    LineFile,
    label_of,
    label_of_call,
    load_lines,
    read_announced,
)
from moot.api.guard.who_changed import Announced
from moot.api.session import read_presence
from moot.core.errors import StoreFailed
from moot.core.text import Quoted
from moot.lines.rules import (
    Block,
    Obstacle,
    Reason,
    find_deleted_lines,
    find_obstacles,
    list_blocks,
)
from moot.lines.segments import (
    Segments,
    apply_edits,
    change_owner,
    count_file_lines,
    list_agents,
)
from moot.lines.text import split_lines
from moot.lines.units import find_shared_units, find_unit

if TYPE_CHECKING:
    from moot.api.guard.guarded_paths import GuardedPaths
    from moot.api.session import Session
    from moot.lines.edit_input import Reading
    from moot.protocols.presence.model import Reservation, State
    from moot.protocols.presence.overlap import OverlapConflict
    from moot.workspace.call_journal import Call

LONGEST_LINE: Final = 120


class _Checked(NamedTuple):
    """The file as it will be when pending edits are written, with the agent's own label."""

    segments: Segments
    content: bytes


def find_regions(session: Session, files: Iterable[str]) -> dict[str, str]:
    """Return for each file the scope of the session agent's lines in it."""
    label = own_label(session, read_presence(session.workspace), session.actor())
    return {scope: region_of(scope, label) for scope in files}


def drop_empty_regions(
    session: Session, presence: State, conflicts: Sequence[OverlapConflict]
) -> tuple[OverlapConflict, ...]:
    """Leave out reservations of lines whose owner has no uncommitted line in the file any more."""
    return tuple(each for each in conflicts if not _is_empty(session, presence, each.held))


def _is_empty(session: Session, presence: State, held: Reservation) -> bool:
    file = file_of_region(held.key)
    if file == held.key or not os.path.isfile(os.path.join(held.worktree, file)):
        return False
    path, label = _split_region(held.key)
    try:
        with Copies(session.workspace.path, Path(held.worktree)) as copies:
            loaded = load_lines(copies, path, presence)
    except StoreFailed:
        return False
    if loaded is None or label in list_agents(loaded.state.segments):
        return False
    return all(label_of_call(presence, call) != label for call in loaded.pending)


def own_label(session: Session, presence: State, name: str) -> str:
    """Return the label of the session's agent."""
    return label_of(name, requester_of(session, presence, name).alias)


def load_editable(session: Session, copies: Copies, scopes: Iterable[str]) -> dict[str, LineFile]:
    """Return those of the files that are held line by line."""
    presence = read_presence(session.workspace)
    if _has_unguarded_agent(session, copies, presence):
        return {}
    loaded = {scope: load_lines(copies, scope, presence) for scope in scopes}
    return {scope: file for scope, file in loaded.items() if file is not None}


def _has_unguarded_agent(session: Session, copies: Copies, presence: State) -> bool:
    """Return whether an agent that no hook reports works in this worktree."""
    from moot.api.presence.observation import observe
    from moot.protocols.presence.model import Liveness
    from moot.protocols.presence.views import observe_liveness

    heard = copies.versions.journal.list_active_names()
    heard |= {session.actor(), session.tool_session_name}
    silent = [
        member.name
        for member in presence.members
        if not member.left
        and not {member.name, member.session_key} & heard
        and member.worktree in (None, "", str(copies.root))
    ]
    if not silent:
        return False
    observation = observe(session.workspace, silent)
    return any(
        observe_liveness(presence, name, observation).liveness is Liveness.ACTIVE for name in silent
    )


def find_line_conflicts(
    session: Session,
    guarded: GuardedPaths,
    copies: Copies,
    files: Mapping[str, LineFile],
    announced: Mapping[str, Announced],
    call_number: int,
) -> tuple[LineConflict, ...]:
    """Return the lines of others that an edit would touch. Records the attempt once for each owner.

    `call_number` is the number of this edit in the journal: edits with smaller numbers came first.
    """
    name, root = session.actor(), guarded.worktree_root
    presence = read_presence(session.workspace)
    label = own_label(session, presence, name)
    by_file = {os.path.realpath(path): each for path, each in announced.items()}
    conflicts: list[LineConflict] = []
    for scope, file in files.items():
        held = _held_labels(session, presence, scope, label)
        earlier = [call for call in file.pending if call.number < call_number]
        says = by_file.get(os.path.realpath(root / scope))
        found = _find_in_file(copies, presence, file, label, held, earlier, says)
        conflicts += [_describe(session, guarded, file, scope, obstacle) for obstacle in found]
    if conflicts:
        from moot.api.guard.checks import note_incursions

        regions = dict.fromkeys(region_of(each.path, each.agent) for each in conflicts)
        note_incursions(session, tuple(regions), root, name, was_refused=True)
    return tuple(conflicts)


def _held_labels(
    session: Session, presence: State, scope: str, label: str
) -> dict[str, Reservation | None]:
    """Return the labels whose lines in this file are held against the agent."""
    from moot.protocols.presence.model import key_of_file, reservations_below
    from moot.protocols.presence.overlap import is_in_the_way

    requester = requester_of(session, presence, session.actor())
    prefix = f"{key_of_file(scope)}{REGION}"
    below = reservations_below(presence, key_of_file(scope))
    regions = (held for held in below if held.key.startswith(prefix))
    held = {
        each.key.removeprefix(prefix): each
        for each in regions
        if is_in_the_way(presence, each, requester)
    }
    return {found: each for found, each in held.items() if found != label}


def _find_in_file(
    copies: Copies,
    presence: State,
    file: LineFile,
    label: str,
    held: Mapping[str, object],
    earlier: Sequence[Call],
    announced: Announced | None,
) -> list[Obstacle]:
    segments = _with_held_owners(file.state.segments, presence, file.path, label, held)
    checked = _Checked(segments, file.content)
    waiting: list[str] = []
    for call in earlier:
        other = label_of_call(presence, call)
        written = _write_pending(file, call, checked, other)
        if written is None:
            if other != label:
                return [_whole_file_obstacle(checked, other)]
            continue
        checked = written
        waiting += [other] if other != label else []
    others = sorted(each for each in list_agents(checked.segments) if each not in (None, label))
    if announced is None:
        return [_whole_file_obstacle(checked, others[0] or "")] if others else []
    readings = read_announced(announced, checked.content)
    if not readings:
        return _find_missing_text(copies, file, checked, label, announced, waiting)
    return _check_readings(checked, label, readings)


def _check_readings(checked: _Checked, label: str, readings: Sequence[Reading]) -> list[Obstacle]:
    """Return what is in the way of one reading of the input at least."""
    for reading in readings:
        found = find_obstacles(checked.segments, label, reading.steps)
        if found:
            return found
    return []


def _with_held_owners(
    segments: Segments, presence: State, path: str, label: str, held: Mapping[str, object]
) -> Segments:
    """Make lines nobody's that were released, and the agent's own that it adopted."""
    from moot.protocols.presence.model import find_reservation, key_of_file

    for owner in list_agents(segments) - {None, label}:
        assert owner is not None
        if owner in held:
            continue
        is_live = find_reservation(presence, region_of(key_of_file(path), owner)) is not None
        segments = change_owner(segments, owner, label if is_live else None)
    return segments


def _write_pending(file: LineFile, call: Call, checked: _Checked, label: str) -> _Checked | None:
    """Return the file as it will be after a pending edit; None if that cannot be known."""
    for each in (each for each in call.files if each.path == file.path):
        if each.leads_to(file.state.content):
            return checked  # it is written already
        if not each.announced:
            return None
        announced = msgspec.json.decode(each.announced, type=Announced)
        for reading in read_announced(announced, checked.content)[:1]:
            segments = checked.segments
            for step in reading.steps:
                segments = apply_edits(segments, label or None, step)
            return _Checked(segments, reading.content)
    return checked


def _whole_file_obstacle(checked: _Checked, owner: str) -> Obstacle:
    lines = count_file_lines(checked.segments)
    return Obstacle(Reason.CHANGES_LINE, Block(owner, 0, lines, 0, 0), 0)


def _find_missing_text(
    copies: Copies,
    file: LineFile,
    checked: _Checked,
    label: str,
    announced: Announced,
    waiting: Sequence[str],
) -> list[Obstacle]:
    """Say who has the text that the edit does not find. If nobody has, the tool itself refuses."""
    if waiting and read_announced(announced, file.content):
        return [_whole_file_obstacle(checked, waiting[0])]
    base = copies.read_version(file.state.base)
    if base is None:
        return []
    lines = split_lines(base).lines
    for edit in announced.edits:
        wanted = list(split_lines(edit.old.encode("utf-8", "surrogatepass")).lines)
        found = find_deleted_lines(checked.segments, label, list(lines), wanted)
        if found:
            return found
    for hunk in announced.hunks:
        wanted = [line.encode("utf-8", "surrogatepass") for line in hunk.old]
        found = find_deleted_lines(checked.segments, label, list(lines), wanted)
        if found:
            return found
    return []


def _describe(
    session: Session, guarded: GuardedPaths, file: LineFile, scope: str, obstacle: Obstacle
) -> LineConflict:
    block, lines = obstacle.block, list(split_lines(file.content).lines)
    owner = block.agent or ""
    unit = find_unit(lines, min(obstacle.line, len(lines) - 1), scope) if lines else None
    text = lines[obstacle.line] if obstacle.line < min(block.end, len(lines)) else b""
    return LineConflict(
        path=Quoted(scope),
        agent=owner,
        first=block.start + 1,
        last=max(block.end, block.start + 1),
        line=obstacle.line + 1,
        text=Quoted(text.decode("utf-8", "replace")[:LONGEST_LINE]),
        unit=Quoted(unit.name if unit else ""),
        reason=str(obstacle.reason),
        holder=_find_holder(session, guarded, region_of(scope, owner)),
    )


def _find_holder(session: Session, guarded: GuardedPaths, region: str) -> Holder | None:
    conflicts = find_blockers(session, [region], guarded.worktree_root, session.actor())
    state = read_presence(session.workspace)
    exact = (each for each in conflicts if each.held.scope == region)
    return next((describe_holder(each, state) for each in exact), None)


# What an agent is told about the lines of others.


def describe_lines(
    session: Session, guarded: GuardedPaths, regions: Iterable[Reservation]
) -> list[LineNotice]:
    """Return which lines of their files these reservations of lines stand for."""
    presence = read_presence(session.workspace)
    notices: list[LineNotice] = []
    with Copies(guarded.workspace, guarded.worktree_root) as copies:
        for held in regions:
            file, label = _split_region(held.key)
            loaded = load_lines(copies, file, presence)
            if loaded is not None:
                ranges = _list_ranges(loaded, label)
                notices.append(LineNotice(Quoted(file), held.holder, ranges))
    return notices


def _split_region(key: str) -> tuple[str, str]:
    file = file_of_region(key)
    return file.removeprefix("./"), key[len(file) + len(REGION) :]


def _list_ranges(file: LineFile, label: str) -> tuple[tuple[int, int], ...]:
    blocks = (block for block in list_blocks(file.state.segments) if block.agent == label)
    return tuple((block.start + 1, max(block.start + 1, block.end)) for block in blocks)


def claim_shared_units(
    session: Session, workspace: Path, file: LineFile, label: str
) -> list[LineNotice]:
    """Return the functions that have lines of this agent and of another one; each once."""
    from moot.api.guard.notices import claim_notice

    presence = read_presence(session.workspace)
    lines = list(split_lines(file.content).lines)
    mine = _list_shown_lines(file, label)
    notices: list[LineNotice] = []
    for other in _held_labels(session, presence, file.path, label):
        shared = find_shared_units(lines, file.path, mine, _list_shown_lines(file, other))
        for unit, found in shared.items():
            told = "unit", session.tool_session_name, label, file.path, unit.name, other
            if unit.name and claim_notice(workspace, *told):
                first, last = min(found) + 1, max(found) + 1
                notice = LineNotice(Quoted(file.path), other, ((first, last),), Quoted(unit.name))
                notices.append(notice)
    return notices


def _list_shown_lines(file: LineFile, label: str) -> list[int]:
    blocks = (block for block in list_blocks(file.state.segments) if block.agent == label)
    return [line for block in blocks for line in range(block.start, block.end)]


def release_committed(session: Session, guarded: GuardedPaths) -> None:
    """Release the agent's lines in files in which it has no uncommitted line any more."""
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.commands import Release

    presence, root = read_presence(session.workspace), str(guarded.worktree_root)
    name = session.actor()
    requester = requester_of(session, presence, name)
    empty = [
        held.key
        for held in presence.live
        if REGION in held.key
        and held.is_held_by(requester.name, requester.epoch)
        and held.worktree == root
        and _is_empty(session, presence, held)
    ]
    if empty:
        release = Release(
            scopes=tuple(empty), project_root=str(session.workspace.root), worktree=root
        )
        session.workspace.engine.execute(STREAM, release, name)
