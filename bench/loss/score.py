"""The truth compared with what Moot recorded, told and kept.

wrong name     an INCURSION, or a version that is noted as left by an agent, of which the truth
               has no such write by that agent
unrecorded     another agent's file was overwritten while it was held, and neither an INCURSION
               nor a letter to the holder tells of that file afterwards
lost           bytes that somebody else overwrote, that were on disk during a whole look of a
               hook, and that neither the disk nor git's objects have
"""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

import msgspec

from bench.loss.acts import HARMLESS_KINDS
from bench.loss.repository import Repository
from bench.loss.truth import Change, HookCall, Write, blob_of, read_log, read_tree
from bench.loss.world import PERSON, WORKTREES
from moot.core.clock import parse_time
from moot.keys.folder import KeyFolder
from moot.protocols.presence import STREAM
from moot.workspace.workspace import Workspace

MOST_NEEDLESS: Final = 0.01
_MILLION: Final = 1_000_000
_SLACK_NS: Final = 20 * _MILLION
# Who gives a file back so soon after it was changed need not be told of it any more.
_SOON_NS: Final = 5_000 * _MILLION
_ENDS: Final = ("scope_released", "scope_expired", "scope_taken_over", "scope_freed")
_COMMAND_OF: Final = re.compile(r"while ([a-z0-9-]+)'s command ran")
_UNSEEN: Final = ("after you last saw it", "you have not read the current version")


class Hold(NamedTuple):
    """A lease of a path or folder by its times, `until` is None if it never ended."""

    owner: str
    key: str
    worktree: str
    since_ns: int
    until_ns: int | None

    def covers(self, path: str, root: str, at_ns: int) -> bool:
        """Clearly: a write within the clock's steps of its beginning or end does not count."""
        is_there = not self.key or path == self.key or path.startswith(f"{self.key}/")
        is_then = self.since_ns + _SLACK_NS < at_ns
        if self.until_ns is not None:
            is_then = is_then and at_ns < self.until_ns - _SLACK_NS
        return is_there and is_then and self.worktree == root


class Incursion(NamedTuple):
    agent: str
    owner: str
    path: str
    outcome: str
    before: str | None
    after: str | None
    at_ns: int


class Letter(NamedTuple):
    """A message of the system to a holder; `suspect` is whose command ran, if it says so."""

    to: tuple[str, ...]
    text: str
    suspect: str
    at_ns: int


class Record(NamedTuple):
    holds: list[Hold]
    incursions: list[Incursion]
    letters: list[Letter]


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """All figures of a run; the lists name each case that misses an aim."""

    seed: int
    seconds: float
    agents: int
    in_runs: int
    steps: int
    calls: int
    as_process: int
    writes: int
    refused: int
    needless: tuple[str, ...]
    told_again: int
    harmless_commands: int
    accused: tuple[str, ...]
    overwrites: int
    given_back: int
    proved: int
    only_one_known: int
    only_one_right: int
    unknown: int
    unrecorded: tuple[str, ...]
    wrong_names: tuple[str, ...]
    wrong_authors: tuple[str, ...]
    saved_bytes: int
    lost: tuple[str, ...]
    between_looks: int
    before_millis: float
    after_millis: float

    @property
    def needless_share(self) -> float:
        return len(self.needless) / max(1, self.calls)

    @property
    def missed(self) -> tuple[str, ...]:
        """Every case in which an aim is missed."""
        more = self.needless if self.needless_share >= MOST_NEEDLESS else ()
        names = (*self.wrong_names, *self.wrong_authors, *self.accused)
        return (*names, *self.unrecorded, *self.lost, *more)


def score(top: Path, seed: int, seconds: float, in_runs: int) -> Figures:
    """Compare, after all processes have ended."""
    entries = read_log(top)
    writes = [each for each in entries if isinstance(each, Write)]
    hooks = [each for each in entries if isinstance(each, HookCall)]
    record = read_record(top)
    before = [each for each in hooks if each.moment == "before"]
    refused = [each for each in before if each.reason]
    needless = [each for each in refused if each.is_needless]
    again = [each for each in needless if any(text in each.reason for text in _UNSEEN)]
    at_work = [each for each in writes if _is_somebody_at_work(each, hooks)]
    found = list(_find_overwrites(at_work, writes, record.holds, top))
    overwrites = [each for each in found if not each.is_given_back or _find_record(each, record)]
    told = [_find_record(each, record) for each in overwrites]
    suspected = [each for each in record.letters if each.suspect]
    lost, between, saved = _find_lost(top, writes, hooks)
    slipped = [each for each in record.incursions if each.outcome == "slipped_past"]
    return Figures(
        seed=seed,
        seconds=round(seconds, 1),
        agents=len({each.actor for each in hooks}),
        in_runs=in_runs,
        steps=len(before) + sum(each.actor == PERSON for each in writes),
        calls=len(before),
        as_process=sum(each.as_process for each in hooks),
        writes=len(writes),
        refused=len(refused),
        needless=tuple(_show_call(each) for each in needless if each not in again),
        told_again=len(again),
        harmless_commands=sum(
            each.moment == "after" and each.kind in HARMLESS_KINDS for each in hooks
        ),
        accused=tuple(_show_call(each) for each in hooks if each.is_accused),
        overwrites=len(overwrites),
        given_back=len(found) - len(overwrites),
        proved=told.count("incursion"),
        only_one_known=told.count("suspect"),
        only_one_right=sum(_is_right(each, writes) for each in suspected),
        unknown=told.count("letter"),
        unrecorded=tuple(
            f"{each.write.actor} over {each.hold.owner}'s {each.change.path} ({each.write.kind})"
            for each, how in zip(overwrites, told, strict=True)
            if not how
        ),
        wrong_names=tuple(_show(each) for each in slipped if not _is_true(each, writes)),
        wrong_authors=tuple(_find_wrong_authors(top, writes)),
        saved_bytes=saved,
        lost=tuple(lost),
        between_looks=between,
        before_millis=_millis(before),
        after_millis=_millis(each for each in hooks if each.moment == "after"),
    )


def _millis(hooks: Iterable[HookCall]) -> float:
    taken = [each.ended_ns - each.began_ns for each in hooks if not each.as_process]
    return round(median(taken) / _MILLION, 1) if taken else 0.0


class Overwrite(NamedTuple):
    """A write over bytes of another, in a file that `hold` covers."""

    write: Write
    change: Change
    hold: Hold

    @property
    def is_given_back(self) -> bool:
        """Its holder gave the file back a moment later."""
        until = self.hold.until_ns
        return until is not None and until - self.write.at_ns < _SOON_NS


def _is_somebody_at_work(write: Write, hooks: list[HookCall]) -> bool:
    """Does a hook look at this worktree later? The person goes on when all agents are done."""
    return any(each.worktree == write.worktree and each.began_ns > write.at_ns for each in hooks)


def _find_overwrites(
    writes: list[Write], every: list[Write], holds: list[Hold], top: Path
) -> Iterator[Overwrite]:
    """What the holder, or somebody else but the actor, had left there is gone."""
    authors = _find_authors(every)
    for write in writes:
        for change in write.changes:
            author = authors.get((write.worktree, change.path, change.before))
            if author is None or author == write.actor:
                continue
            for hold in holds:
                if hold.owner != write.actor and hold.covers(
                    change.path, str(top / write.worktree), write.at_ns
                ):
                    yield Overwrite(write, change, hold)
                    break


def _find_authors(writes: list[Write]) -> dict[tuple[str, str, str], str]:
    """By worktree, path and id: who wrote these bytes there first."""
    authors: dict[tuple[str, str, str], str] = {}
    for write in writes:
        for change in write.changes:
            if change.after:
                authors.setdefault((write.worktree, change.path, change.after), write.actor)
    return authors


def _find_record(overwrite: Overwrite, record: Record) -> str:
    """How it was recorded: "incursion", "suspect" (only one was known), "letter", or not at all."""
    write, path = overwrite.write, overwrite.change.path
    since = write.at_ns - _SLACK_NS
    for noted in record.incursions:
        is_same = (noted.agent, noted.path, noted.after) == (
            write.actor,
            path,
            overwrite.change.after,
        )
        if is_same and noted.at_ns >= since:
            return "incursion"
    letters = [
        letter
        for letter in record.letters
        if letter.at_ns >= since and overwrite.hold.owner in letter.to and path in letter.text
    ]
    if any(letter.suspect for letter in letters):
        return "suspect"
    return "letter" if letters else ""


def _is_true(incursion: Incursion, writes: list[Write]) -> bool:
    return any(
        write.actor == incursion.agent
        and change.path == incursion.path
        and (incursion.after is None or change.after == incursion.after)
        for write in writes
        for change in write.changes
    )


def _is_right(letter: Letter, writes: list[Write]) -> bool:
    """Did the agent whose command ran write one of the files that the letter names?"""
    return any(
        write.actor == letter.suspect and change.path in letter.text
        for write in writes
        for change in write.changes
    )


def _find_wrong_authors(top: Path, writes: list[Write]) -> Iterator[str]:
    """Versions that the memory of copies calls left by an agent that did not write them."""
    written = defaultdict[tuple[str, str, str], set[str]](set)
    for write in writes:
        for change in write.changes:
            key = str(top / write.worktree), change.path, change.after
            written[key].add(write.actor)
    file = top / WORKTREES[0] / ".moot" / "files.db"
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        rows = database.execute(
            "SELECT DISTINCT worktree, path, blob, agent FROM versions WHERE act = 'left'"
        ).fetchall()
    for worktree, path, blob, agent in rows:
        actors = written.get((worktree, path, blob))
        if agent and actors and agent not in actors:
            yield f"{path} {blob[:8]} is noted as {agent}'s, and is {', '.join(sorted(actors))}'s"


def _find_lost(top: Path, writes: list[Write], hooks: list[HookCall]) -> tuple[list[str], int, int]:
    """Bytes that somebody else destroyed: those that are lost, how many came and went between two
    looks, and how many can be brought back."""
    authors, written_at = _find_authors(writes), dict[tuple[str, str, str], int]()
    on_disk = {blob_of(data) for name in WORKTREES for data in read_tree(top / name).values()}
    destroyed = list[tuple[Write, Change, int]]()
    for write in writes:
        for change in write.changes:
            key = write.worktree, change.path, change.before
            author = authors.get(key)
            if author not in (None, write.actor) and change.before not in on_disk:
                destroyed.append((write, change, written_at.get(key, 0)))
            written_at[write.worktree, change.path, change.after] = write.at_ns
    missing = _find_missing(top, {change.before for _, change, _ in destroyed})
    lost, between, saved = list[str](), 0, 0
    for write, change, since in destroyed:
        size = write.sizes.get(change.before, 0)
        if change.before not in missing:
            saved += size
        elif _was_looked_at(change.path, write, since, hooks):
            author = authors[write.worktree, change.path, change.before]
            lost.append(
                f"{size} bytes of {author} in {change.path}, by {write.actor} ({write.kind})"
            )
        else:
            between += size
    return lost, between, saved


def _was_looked_at(path: str, write: Write, since: int, hooks: list[HookCall]) -> bool:
    """Was it there during a whole hook that looks at it: before a command, or before and after an
    edit of that very file, in this worktree?"""
    return any(
        each.worktree == write.worktree
        and since < each.began_ns
        and each.ended_ns < write.at_ns
        and not each.reason
        and ((each.moment == "before" and each.is_command) or path in each.targets)
        and each.kind not in HARMLESS_KINDS
        for each in hooks
    )


def _find_missing(top: Path, blobs: Iterable[str]) -> set[str]:
    done = subprocess.run(
        ["git", "cat-file", "--batch-check"],
        input="".join(f"{blob}\n" for blob in sorted(blobs)),
        cwd=top / WORKTREES[0],
        env=Repository(top, WORKTREES[0]).env,
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=120,
    )
    return {line.split()[0] for line in done.stdout.splitlines() if line.endswith(" missing")}


def read_record(top: Path) -> Record:
    """Leases, INCURSIONs and the system's letters, by their times."""
    holds: dict[int, Hold] = {}
    incursions, letters = list[Incursion](), list[Letter]()
    with (
        Workspace(top / WORKTREES[0] / ".moot", KeyFolder(top / "keys")) as workspace,
        workspace.store.read() as view,
    ):
        for record in view.records_after(0, limit=10_000_000):
            body = json.loads(record.raw)
            data, at_ns = body["data"], parse_time(body["at"]) * _MILLION
            kind = body["type"].partition(".")[2]
            if record.stream == STREAM:
                _note_hold(holds, kind, data, body["actor"]["id"], at_ns)
            if kind == "incursion_noted":
                noted = Incursion(
                    body["actor"]["id"],
                    data["owner"],
                    data["scope"],
                    data["outcome"],
                    data.get("blob_before"),
                    data.get("blob_after"),
                    at_ns,
                )
                incursions.append(noted)
            elif kind == "message_sent" and body["actor"]["id"] == "system":
                letters.append(_read_letter(data, at_ns))
    return Record(list(holds.values()), incursions, letters)


def _read_letter(data: dict[str, Any], at_ns: int) -> Letter:
    text = json.dumps(data, ensure_ascii=False)
    found = _COMMAND_OF.search(text)
    names = tuple(name for name, _epoch in data["to"])
    return Letter(names, text, found.group(1) if found else "", at_ns)


def _note_hold(
    holds: dict[int, Hold], kind: str, data: dict[str, Any], actor: str, at_ns: int
) -> None:
    number = data.get("fencing")
    if kind == "scope_reserved":
        old = holds.get(number or 0)
        since = old.since_ns if old is not None else at_ns
        holds[data["fencing"]] = Hold(actor, data["key"], data["worktree"], since, None)
    elif kind in _ENDS and number in holds:
        holds[number] = holds[number]._replace(until_ns=at_ns)
    elif kind == "agent_left":
        own = {key: hold for key, hold in holds.items() if hold.owner == actor}
        ended = {key: hold for key, hold in own.items() if hold.until_ns is None}
        holds |= {key: hold._replace(until_ns=at_ns) for key, hold in ended.items()}


def _show(incursion: Incursion) -> str:
    after = (incursion.after or "nothing")[:8]
    return f"{incursion.agent} did not change {incursion.owner}'s {incursion.path} to {after}"


def _show_call(call: HookCall) -> str:
    where = ", ".join(call.targets)
    return f"step {call.step} of {call.actor}: {call.kind} {where}: {call.reason}".rstrip(": ")
