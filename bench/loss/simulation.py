"""The steps: somebody acts, the hook is asked, what it allows is done, and truth is compared."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from bench.loss import tool_calls
from bench.loss.acts import EDIT_KINDS, KINDS, Act, Scene, choose_act
from bench.loss.asking import Asked, Hooks
from bench.loss.ordinary import READING, choose_ordinary, commit_own
from bench.loss.record import NotedIncursion, RecordReader
from bench.loss.rehearsal import Effect, find_committed, list_worktrees, read_heads, rehearse
from bench.loss.trees import Place, Tree, changed_places, read_trees
from bench.loss.truth import Hold, Truth, Version
from bench.loss.world import PERSON, WORKTREES, Agent, World, make_text
from moot.api.scopes import release
from moot.surfaces.hooks.entry import session_for

# How often each kind of step comes, of a hundred.
MIX: Final = {"edit": 33, "ordinary": 14, "person": 9, "commit": 5, "give back": 3, "destroy": 36}
PERSON_EDITS: Final = "an edit by a person"
_SHOWN: Final = 300
_UNSEEN: Final = "after you last saw it"
_NOT_SEEN: Final = "not seen by you as it is now"


class Row(msgspec.Struct, kw_only=True):
    """What came of one step. Sizes are in bytes; `lost` cannot be had back, `saved` can.

    `is_unseen_read`: it was held back once from overwriting what the agent had read by a tool that
    has no hook. `due` are the holders whose files it reached, and who must be on record.
    """

    step: int
    agent: str
    tool: str
    kind: str
    command: str
    is_destructive: bool
    is_refused: bool = False
    is_needless: bool = False
    is_unseen_read: bool = False
    is_harmful: bool = False
    reason: str = ""
    due: int = 0
    unrecorded: tuple[str, ...] = ()
    misnamed: tuple[str, ...] = ()
    causeless: tuple[str, ...] = ()
    saved: int = 0
    lost: int = 0
    lost_files: tuple[str, ...] = ()
    undone: int = 0
    not_undone: tuple[str, ...] = ()
    hook_millis: float = 0
    as_process: bool = False


class Simulation:
    """One seeded course of events. `undo_every`: of how many saved versions one is brought back."""

    def __init__(self, world: World, truth: Truth, seed: int, process_every: int = 25) -> None:
        self.world, self.truth = world, truth
        self.chance = random.Random(seed)
        self.hooks = Hooks(world.main, world.env, process_every)
        self.record = RecordReader(world)
        self.number = 0
        self._on_record: set[NotedIncursion] = set()
        self._saved_count = 0
        self._undo_every = 10
        self._tree = read_trees(world.top)
        for agent in world.agents:
            self.hooks.ask(agent, tool_calls.start_message(agent, str(world.root(agent.worktree))))
        self.record.read_new()

    def take_step(self) -> Row:
        self.number += 1
        kind = self.chance.choices(list(MIX), list(MIX.values()))[0]
        return self._steps[kind](self)

    def _edit(self) -> Row:
        agent = self.chance.choice(self.world.agents)
        own = self.truth.own_paths(agent.name)
        names = (*self.world.files, *self.world.new_files)
        path = self.chance.choice(own if own and self.chance.random() < 0.4 else names)
        return self._act(agent, self._make_edit(agent, path), is_destructive=False)

    def _make_edit(self, agent: Agent, path: str) -> Act:
        """A line more; or the whole file, after the agent has read it, with a tool of its own."""
        root, place = self.world.root(agent.worktree), Place(agent.worktree, path)
        old = self._tree.get(place, b"").decode()
        self.truth.note_seen(agent.name, place, self._tree.get(place))
        first, line = old.split("\n")[0], f"{agent.name} {self.chance.getrandbits(64):016x}"
        if not first or self.chance.random() < 0.4:
            text = make_text(self.chance, agent.name)
            call = tool_calls.write_call(agent.tool, str(root), path, text)
            return Act("edit", call, path=path, text=text)
        call = tool_calls.edit_call(agent.tool, str(root), path, first, line)
        return Act("edit", call, path=path, text=old.replace(first, line, 1))

    def _ordinary(self) -> Row:
        agent = self.chance.choice(self.world.agents)
        path = self.chance.choice(self.world.files)
        act = choose_ordinary(agent, path, self.chance)
        row = self._act(agent, act, is_destructive=False)
        if act.command.startswith(READING):
            place = Place(agent.worktree, path)
            self.truth.note_seen(agent.name, place, self._tree.get(place))
        return row

    def _person(self) -> Row:
        """Nobody asks, and nobody is told."""
        names = (*self.world.files, *self.world.new_files)
        place = Place(self.chance.choice(WORKTREES), self.chance.choice(names))
        row = self._row(PERSON, "", PERSON_EDITS, "", is_destructive=False)
        file = self.world.root(place.worktree) / place.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(make_text(self.chance, PERSON), encoding="utf-8")
        self._weigh(row, PERSON, read_trees(self.world.top))
        return row

    def _commit(self) -> Row:
        agent = self.chance.choice(self.world.agents)
        there = {place.path for place in self._tree if place.worktree == agent.worktree}
        own = [path for path in self.truth.own_paths(agent.name) if path in there]
        if not own:
            return self._edit()
        act = commit_own(agent, own, self.chance)
        row = self._act(agent, act, is_destructive=False)
        self._release(agent)
        return row

    def _give_back(self) -> Row:
        agent = self.chance.choice(self.world.agents)
        self._release(agent)
        return self._row(agent.name, agent.tool, "gives everything back", "", is_destructive=False)

    def _release(self, agent: Agent) -> None:
        env = {**self.world.env, "MOOT_AGENT": agent.name}
        session = session_for(env, str(self.world.root(agent.worktree)))
        release(session, everything=True)
        session.close(checkpoint=False)
        self.truth.release(agent.name)
        self._on_record = {noted for noted in self._on_record if noted.owner != agent.name}

    def _destroy(self) -> Row:
        agent = self.chance.choice(self.world.agents)
        kind = self.chance.choice(KINDS)
        target, root = self._choose_target(agent), self.world.root(agent.worktree)
        there = [place.path for place in self._tree if place.worktree == agent.worktree]
        beside = self.chance.choice([path for path in self.world.files if path in there])
        if agent.tool == "claude" and kind == "whole file from memory":
            place = Place(agent.worktree, target)  # Claude Code itself insists on it
            self.truth.note_seen(agent.name, place, self._tree.get(place))
        act = choose_act(kind, Scene(agent, root, target, beside, self.chance))
        self._tree = read_trees(self.world.top)  # a second name may have been made
        row = self._act(agent, act, is_destructive=True)
        for name in root.glob("other-name-*"):
            name.unlink()
        self._tree = read_trees(self.world.top)
        return row

    def _choose_target(self, agent: Agent) -> str:
        of_others = self.truth.held_by_others(agent.name, agent.worktree)
        own = self.truth.own_paths(agent.name)
        persons = [
            place.path
            for place, writer in self.truth.writers.items()
            if writer == PERSON and place.worktree == agent.worktree and place in self._tree
        ]
        aims = ((0.45, of_others), (0.25, sorted(persons)), (0.25, own), (1, self.world.files))
        for likely, paths in aims:
            if paths and self.chance.random() < likely:
                return self.chance.choice(paths)
        return self.chance.choice(self.world.files)

    def _act(self, agent: Agent, act: Act, *, is_destructive: bool) -> Row:
        """Ask, do it if it may be done (for real) or not (in a copy), and compare."""
        row = self._row(agent.name, agent.tool, act.kind, act.command, is_destructive)
        folder = str(self.world.root(agent.worktree))
        message = tool_calls.message_before(agent, act.call, folder, self.number)
        asked = self._ask(row, agent, message)
        row.is_refused, row.reason = asked.is_refused, asked.reason[:_SHOWN]
        before, heads = self._tree, read_heads(self.world, self.world.top)
        if asked.is_refused:
            copy = self.world.top / "copy"
            effect = rehearse(self.world, act, agent.worktree, copy)
            row.is_harmful = self.truth.would_harm(agent.name, effect, before)
            row.is_needless = not row.is_harmful
            is_told = any(words in asked.reason for words in (_UNSEEN, _NOT_SEEN))
            row.is_unseen_read = row.is_needless and is_told
            self._note_told(agent, act, effect)
            if _UNSEEN in asked.reason:
                self._note_held(agent, act)
        else:
            effect = self._perform(agent, act, heads)
            row.is_harmful = self.truth.would_harm(agent.name, effect, before)
            if act.call.tells_end:
                done = tool_calls.message_after(agent, act.call, folder, self.number)
                self._ask(row, agent, done)
        self._compare_record(row, agent, act, effect)
        if not asked.is_refused:
            self._weigh(row, agent.name, read_trees(self.world.top))
            self._note_held(agent, act)
            if effect.committed:
                self.truth.note_commits("HEAD", "--branches", "--not", *set(heads.values()))
        self._mend_worktrees()
        return row

    def _perform(self, agent: Agent, act: Act, heads: dict[str, str]) -> Effect:
        env = {**self.world.env, "MOOT_AGENT": agent.name}
        if agent.tool == "gemini":  # its shell switches git's hooks off
            named = {"GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": "/dev/null"}
            env |= {"GIT_CONFIG_COUNT": "1", **named}
        top = self.world.top
        there = list_worktrees(top)
        act.perform(self.world.root(agent.worktree), env)
        changed = changed_places(self._tree, read_trees(top))
        committed = find_committed(self.world, top, heads)
        return Effect(changed, committed, there - list_worktrees(top))

    def _ask(self, row: Row, agent: Agent, message: dict[str, Any]) -> Asked:
        asked = self.hooks.ask(agent, message)
        row.hook_millis += asked.millis
        row.as_process |= asked.as_process
        return asked

    def _note_told(self, agent: Agent, act: Act, effect: Effect) -> None:
        """Whoever was refused because of unseen changes has been told of them."""
        for place in effect.changed:
            hold = self.truth.holds.get(place.path)
            if act.kind in EDIT_KINDS or (hold is not None and hold.agent == agent.name):
                self.truth.note_seen(agent.name, place, self._tree.get(place))

    def _note_held(self, agent: Agent, act: Act) -> None:
        """An edit that was allowed takes the file, under all of its names."""
        if not act.path:
            return
        root = self.world.root(agent.worktree)
        names = {act.path}
        file = root / act.path
        if file.is_symlink():
            names.add(str(Path(file.resolve()).relative_to(root.resolve())))
        for name in names:
            if self.truth.holds.get(name, Hold("", "")).agent != agent.name:
                self.truth.holds[name] = Hold(agent.name, agent.worktree)

    def _compare_record(self, row: Row, agent: Agent, act: Act, effect: Effect) -> None:
        """Is what this act reached on record, under the right names and under no others?"""
        new, told = self.record.read_new(), self.record.read_told()
        is_edit = act.kind in EDIT_KINDS
        harmed = self.truth.harmed_holders(agent.name, effect, is_edit=is_edit)
        known = self._on_record.union(new)
        row.due = len(harmed)
        row.unrecorded = tuple(
            f"{path} of {hold.agent}"
            for path, hold in harmed.items()
            if not any(
                noted.agent == agent.name and noted.owner == hold.agent and noted.covers(path)
                for noted in (known if row.is_refused else new)
            )
            and not any((each.owner, each.path) == (hold.agent, path) for each in told)
        )
        wrong = [str(noted) for noted in new if not self._is_right(noted, agent)]
        wrong += [str(each) for each in told if each.agent not in ("", agent.name)]
        row.misnamed = tuple(wrong)
        reached = {place.path for place in effect.places}
        reached |= set(self.truth.held_in_removed(agent.name, effect))
        words = str(act.call.input)
        row.causeless = tuple(
            str(noted)
            for noted in new
            if not any(noted.covers(path) for path in reached)
            and os.path.dirname(noted.key) not in words
        )
        self._on_record |= set(new)

    def _is_right(self, noted: NotedIncursion, agent: Agent) -> bool:
        hold = self.truth.holds.get(noted.key)
        return noted.agent == agent.name and hold is not None and noted.owner == hold.agent

    def _weigh(self, row: Row, name: str, after: Tree) -> None:
        """Which bytes of others are gone, and can they be had?"""
        for version in list(self.truth.find_gone(name, self._tree, after)):
            if not self.truth.is_in_git(version.blob):
                row.lost += version.size
                row.lost_files += (f"{'/'.join(version.place)} of {version.writer}",)
                continue
            row.saved += version.size
            self._saved_count += 1
            if self._saved_count % self._undo_every == 0:
                self._bring_back(row, version)
        self.truth.note_changes(name, self._tree, after)
        self._tree = after

    def _bring_back(self, row: Row, version: Version) -> None:
        """By `moot undo`, as a process, into a file of its own."""
        out = self.world.top / "brought-back"
        file = str(self.world.root(version.place.worktree) / version.place.path)
        code, printed = self.world.moot("undo", file, "--id", version.blob, "-o", str(out))
        if code == 0 and len(out.read_bytes()) == version.size:
            row.undone += 1
        else:
            row.not_undone += (f"{file}: {printed[:_SHOWN]}",)
        out.unlink(missing_ok=True)

    def _mend_worktrees(self) -> None:
        for name in WORKTREES[1:]:
            if not (self.world.root(name) / ".git").exists():
                self.world.add_worktree(name)
                self._tree = read_trees(self.world.top)

    def _row(self, agent: str, tool: str, kind: str, command: str, is_destructive: bool) -> Row:
        return Row(
            step=self.number,
            agent=agent,
            tool=tool,
            kind=kind,
            command=command,
            is_destructive=is_destructive,
        )

    _steps: Final[dict[str, Callable[[Simulation], Row]]] = {
        "edit": _edit,
        "ordinary": _ordinary,
        "person": _person,
        "commit": _commit,
        "give back": _give_back,
        "destroy": _destroy,
    }


def run_steps(
    simulation: Simulation, steps: int, seconds: float, tell: Callable[[Row], None]
) -> list[Row]:
    """So many steps, or fewer if time runs out."""
    end = time.monotonic() + seconds if seconds else float("inf")
    rows = list[Row]()
    while len(rows) < steps and time.monotonic() < end:
        rows.append(simulation.take_step())
        tell(rows[-1])
    return rows
