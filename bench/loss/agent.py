"""One agent as a process: ask the hook, act if it may, tell the end, and log the truth.

`python -m bench.loss.agent TOP NAME SEED STEPS PROCESS_EVERY`; the person is `a person`.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from bench.loss import tool_calls
from bench.loss.acts import ALL, EDIT_KINDS, HARMLESS_KINDS, Act, Scene, choose_act, last_look
from bench.loss.asking import Asked, Hooks
from bench.loss.repository import Repository
from bench.loss.truth import HookCall, TruthLog
from bench.loss.world import AGENTS, CAST, FILES, NEW_FILES, PERSON, WORKTREES, Agent, make_text
from moot.api.presence.scopes import release
from moot.protocols.presence import STREAM
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.surfaces.hooks.entry import session_for

STOP: Final = "stop"
_SECONDS: Final = 120
_PAUSES: Final = (0.0, 0.02, 0.1, 0.4)
_ACCUSES: Final = "this changed files that others hold"
_BENCH: Final = str(Path(__file__).parents[2])


class Worker:
    """The course of one agent."""

    def __init__(self, top: Path, agent: Agent, seed: int, process_every: int) -> None:
        self.world = Repository(top, WORKTREES[0])
        self.agent, self.root = agent, top / agent.worktree
        self.env = {**self.world.env, **_lent(os.environ), "MOOT_AGENT": agent.name}
        self.chance = random.Random(f"{seed} {agent.name}")
        self.log = TruthLog(top, agent.name)
        self.hooks = Hooks(self.world.main, self.env, process_every)
        self.own = set[str]()
        self.step = 0
        self._background = list[subprocess.Popen[bytes]]()
        self.hooks.ask(agent, tool_calls.start_message(agent, str(self.root)))

    def take_step(self) -> None:
        self._take(choose_act(self._see()))

    def _see(self) -> Scene:
        return Scene(self.agent, self.root, tuple(sorted(self.own)), self.chance)

    def _take(self, act: Act) -> None:
        self.step += 1
        message = self._identify(act, tool_calls.message_before)
        had_stake = self._others_have_stake(act) if act.targets else False
        asked = self._ask(act, "before", message, had_stake=had_stake)
        if asked.is_refused:
            return
        is_done = self._perform(act)
        if act.call.tells_end and (is_done or self.agent.tool != "opencode"):
            self._ask(act, "after", self._identify(act, tool_calls.message_after))
        if act.kind in EDIT_KINDS and is_done:
            self.own.add(act.path)
        if act.kind == "commit of its own files":
            self._give_back()

    def finish(self) -> None:
        """Wait for the background, then run one harmless command.

        What a hook could not record, because the ledger was busy, the next look records.
        """
        for each in self._background:
            each.wait(_SECONDS)
        self._take(last_look(self._see()))

    def _identify(self, act: Act, make: Any) -> dict[str, Any]:
        number = self.step * 10 + AGENTS.index(self.agent.name)
        message: dict[str, Any] = make(self.agent, act.call, str(self.root), number)
        if act.sub_agent:
            message |= {"agent_id": f"{self.agent.name}-{act.sub_agent}", "agent_type": "general"}
        return message

    def _ask(
        self, act: Act, moment: Any, message: dict[str, Any], *, had_stake: bool = False
    ) -> Asked:
        began = time.time_ns()
        asked = self.hooks.ask(self.agent, message)
        refused = moment == "before" and asked.is_refused
        self.log.add(
            HookCall(
                actor=self.agent.name,
                step=self.step,
                kind=act.kind,
                worktree=self.agent.worktree,
                moment=moment,
                is_command=bool(act.command),
                began_ns=began,
                ended_ns=time.time_ns(),
                targets=act.targets,
                reason=asked.reason,
                is_needless=refused and not (had_stake or self._others_have_stake(act)),
                is_accused=act.kind in HARMLESS_KINDS and _ACCUSES in asked.told,
                as_process=asked.as_process,
            )
        )
        return asked

    def _others_have_stake(self, act: Act) -> bool:
        """Does another hold a target, or has unsaved bytes in one?"""
        session = session_for(self.env, str(self.root))
        try:
            live = session.workspace.engine.state(PRESENCE, STREAM).live
            held = [each.key for each in live if each.owner != self.agent.name or each.alias]
        finally:
            session.close(checkpoint=False)
        if any(_meets(target, key) for target in act.targets for key in held):
            return True
        others = [name.encode() for name in (*AGENTS, PERSON) if name != self.agent.name]
        return any(
            any(name in data for name in others) and self._is_unsaved(path, data)
            for path, data in self._read_targets(act.targets)
        )

    def _read_targets(self, targets: tuple[str, ...]) -> list[tuple[str, bytes]]:
        names = {*FILES, *NEW_FILES}
        if targets != ALL:
            names = {name for name in names if any(_meets(each, name) for each in targets)}
        found = list[tuple[str, bytes]]()
        for name in sorted(names):
            try:
                found.append((name, (self.root / name).read_bytes()))
            except OSError:
                continue
        return found

    def _is_unsaved(self, path: str, data: bytes) -> bool:
        done = subprocess.run(
            ["git", "show", f"HEAD:{path}"],
            cwd=self.root,
            env=self.env,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
        )
        return done.returncode != 0 or done.stdout != data

    def _perform(self, act: Act) -> bool:
        """False if the tool itself fails: the lines that it wants to replace are not there."""
        if act.is_script:
            child = self._start(act)
            self._background.append(child) if act.is_background else child.wait(_SECONDS)
            return True
        if act.kind == "slow tests":
            self._start(act).wait(_SECONDS)
            return True
        if act.command:
            self._log_act(act, lambda: _wait_for(self._start(act)))
            return True
        is_done = True

        def edit() -> None:
            nonlocal is_done
            file = self.root / act.path
            text = file.read_text("utf-8") if act.old and file.is_file() else ""
            is_done = not act.old or act.old in text
            if is_done:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text.replace(act.old, act.new, 1) if act.old else act.new, "utf-8")

        self._log_act(act, edit)
        return is_done

    def _log_act(self, act: Act, perform: Any) -> None:
        self.log.perform(self.agent.worktree, act.kind, self.step, perform)

    def _start(self, act: Act) -> subprocess.Popen[bytes]:
        words: tuple[str, ...] = (
            sys.executable,
            "-P",
            "-m",
            "bench.loss.truth",
            str(self.world.top),
        )
        words += (self.agent.name, str(self.step), act.kind.replace(" ", "-"), self.agent.worktree)
        pause = self.chance.choice(_PAUSES)
        more = {"WRITE": " ".join(words), "TEXT": act.text, "PAUSE": str(pause)}
        return subprocess.Popen(
            ["bash", "-c", act.command],
            cwd=self.root,
            env={**self.env, **more, "PYTHONPATH": _BENCH},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _give_back(self) -> None:
        session = session_for(self.env, str(self.root))
        release(session, everything=True)
        session.close(checkpoint=False)
        self.own.clear()


def _wait_for(child: subprocess.Popen[bytes]) -> None:
    child.wait(_SECONDS)


def _meets(target: str, key: str) -> bool:
    whole = target == "." or not key
    return (
        whole or target == key or f"{target}/".startswith(f"{key}/") or key.startswith(f"{target}/")
    )


def _lent(environ: Any) -> dict[str, str]:
    """What `moot run` gave to this process, if it runs below one."""
    return {name: text for name, text in environ.items() if name.startswith("MOOT_")}


def act_as_person(top: Path, seed: int) -> None:
    """Edit and remove files, now and then, until the others are done. No hook is asked."""
    chance, log, step = random.Random(f"{seed} person"), TruthLog(top, PERSON), 0
    while not (top / STOP).exists():
        step += 1
        worktree = chance.choice(WORKTREES)
        file = top / worktree / chance.choice((*FILES, *NEW_FILES))

        def edit(file: Path = file) -> None:
            if chance.random() < 0.15:
                file.unlink(missing_ok=True)
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(make_text(chance, PERSON), "utf-8")

        log.perform(worktree, "a person's edit", step, edit)
        time.sleep(chance.uniform(0.1, 0.6))


def main() -> None:
    top, name, seed, steps, process_every = sys.argv[1:]
    if name == PERSON:
        act_as_person(Path(top), int(seed))
        return
    agent = next(each for each in CAST if each.name == name)
    worker = Worker(Path(top), agent, int(seed), int(process_every))
    for _ in range(int(steps)):
        worker.take_step()
    worker.finish()


if __name__ == "__main__":
    main()
