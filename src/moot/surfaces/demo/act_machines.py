"""--machines: several machines share one ledger; the keeper is killed, and later rolled back.

Each machine is a clone with its own key folder.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
import time
from typing import Any, Final

from moot.surfaces.demo.stage import (
    MOOT,
    USUAL_MINUTES,
    DemoCall,
    DemoStage,
    Line,
    Lines,
    grep,
    say,
    wait,
)

NAMES: Final = ("build", "laptop", "desktop", "studio", "cabin")
AGENTS: Final = ("coral-finch", "amber-otter", "teal-crane", "jade-heron", "zinc-lynx")
FILE: Final = "src/auth/cache.py"
WRITES: Final = 6
_LONGEST_WAIT: Final = 60.0


class MachineOnStage(DemoStage):
    """One machine: a folder with its own clone and its own keys."""

    def __init__(self, stage: DemoStage, name: str, agent: str) -> None:
        super().__init__(stage.out / "machines" / name)
        self.name, self.agent = name, agent
        self.repository.parent.mkdir(parents=True)
        self.act = stage.act
        self.settings["BB_AGENT_STALE_MINUTES"] = USUAL_MINUTES

    @property
    def own(self) -> dict[str, str]:
        return {"MOOT_AGENT": self.agent}


class MachinesAct:
    """Played line by line; `results` fills up on the way."""

    def __init__(self, stage: DemoStage, count: int) -> None:
        self._stage = stage
        self._count = count
        self._keeper: subprocess.Popen[bytes] | None = None
        self._port = _free_port()
        self.results: dict[str, Any] = {"count": count}

    def play(self) -> Lines:
        yield self._stage.title("Machines", f"{self._count} clones, {self._count} key folders")
        pairs = list(zip(NAMES, AGENTS, strict=True))[: self._count]
        machines = [MachineOnStage(self._stage, name, agent) for name, agent in pairs]
        try:
            yield from self._set_up(machines)
            yield from self._refuse_edit(machines[1], machines[-1])
            yield from self._kill_keeper(machines)
            yield from self._roll_back(machines)
        finally:
            self._kill()

    def _set_up(self, machines: list[MachineOnStage]) -> Lines:
        build = machines[0]
        build.repository.mkdir()
        build.write(FILE, "LIMIT = 100\n")
        yield from build.begin()
        yield from build.in_git("init", "--quiet")
        for name, value in (("name", "demo"), ("email", "demo@example.invalid")):
            yield from build.in_git("config", f"user.{name}", value)
        yield from build.in_git("add", "src")
        yield from build.in_git("commit", "--quiet", "-m", "first")
        yield from build.moot("init")
        yield from self._start(build)
        yield say(f"{build.name} keeps the ledger; the others join by invitation.", True)
        for machine in machines[1:]:
            invitation = build.data("invite")["invitation"]
            yield Line("run", "moot invite")
            self._clone(build, machine)
            yield from machine.begin()
            joined = DemoCall(point="joined", part=grep("joined|copied"))
            words = ("init", "--join", invitation, "--name", machine.name)
            yield from machine.moot(*words, how=joined)
        for machine in machines:
            yield from machine.moot("agent", "register", machine.agent)

    def _clone(self, build: MachineOnStage, machine: MachineOnStage) -> None:
        if build.git is None:
            shutil.copytree(build.repository / "src", machine.repository / "src")
            return
        words = ("clone", "--quiet", str(build.repository), str(machine.repository))
        subprocess.run((build.git, *words), check=True, capture_output=True, timeout=_LONGEST_WAIT)

    def _refuse_edit(self, holder: MachineOnStage, other: MachineOnStage) -> Lines:
        yield from holder.moot("reserve", "src/auth", how=DemoCall(settings=holder.own))
        yield say(f"{holder.agent} on {holder.name} holds src/auth.", point=True)
        yield say(f"{other.agent} on {other.name} is about to write there; its hook asks:", True)
        printed = []
        for line in other.ask_hook(other.agent, FILE):
            printed.append(line.text)
            yield line
        if not any("deny" in text for text in printed):
            raise other.failed("the edit was not refused")
        self.results["refused"] = True

    def _kill_keeper(self, machines: list[MachineOnStage]) -> Lines:
        build, writer = machines[0], machines[1]
        yield say(
            f"{writer.agent} reserves {WRITES} more files; meanwhile the keeper is killed.", True
        )
        acknowledged: list[str] = []
        started = threading.Event()
        at_work = threading.Thread(target=_reserve_all, args=(writer, acknowledged, started))
        at_work.start()
        started.wait(_LONGEST_WAIT)
        assert self._keeper is not None
        yield Line("run", f"kill -9 {self._keeper.pid}")
        self._kill()
        yield wait("the keeper is away")
        away = DemoCall(expect=4, part=grep("^error"), settings=machines[-1].own, point=".")
        yield from machines[-1].moot("reserve", "docs", how=away)
        yield from self._start(build)
        at_work.join(_LONGEST_WAIT)
        for machine in machines:
            held = {row["scope"] for row in machine.data("scope", "list")["reservations"]}
            if not set(acknowledged) <= held or len(acknowledged) != WRITES:
                raise machine.failed(f"{set(acknowledged) - held} was acknowledged and is missing")
        if {machine.data("verify")["verdict"] for machine in machines} != {"valid"}:
            raise build.failed("a machine's record is not intact")
        self.results |= {"acknowledged": len(acknowledged), "lost": 0}
        yield say(
            f"All {WRITES} acknowledged reservations are on record, once, on all {len(machines)}"
            " machines; every record is intact.",
            point=True,
        )

    def _roll_back(self, machines: list[MachineOnStage]) -> Lines:
        build, others = machines[0], machines[1:]
        ledger = build.repository / ".moot" / "ledger.db"
        yield say(
            "The keeper's owner restores an older ledger, and deletes what would show it.", True
        )
        self._kill()
        build.data("ledger", "backup", "../older.db")
        yield from self._start(build)
        yield from others[0].moot("reserve", "src/new.py", how=DemoCall(settings=others[0].own))
        for machine in others:
            machine.data("status")  # each has seen it
        self._kill()
        for rest in ledger.parent.glob("ledger.db*"):
            rest.unlink()
        shutil.copy(build.out / "older.db", ledger)
        for memory in build.keys.glob("kept.db*"):
            memory.unlink()
        yield Line("run", "cp ../older.db .moot/ledger.db; rm -f ../keys/kept.db*")
        yield from self._start(build)
        found = []
        for machine in others:
            refused = DemoCall(expect=1, part=grep("^error"), settings=machine.own, point=".")
            yield say(f"{machine.name}:", point=True)
            yield from machine.moot("reserve", "src/newer.py", how=refused)
            found.append(machine.name)
        self.results["found_by"] = found

    def _start(self, build: MachineOnStage) -> Lines:
        listen = f"127.0.0.1:{self._port}"
        yield Line("run", f"moot keep --listen {listen} &")
        self._keeper = build.background("keep", "--listen", listen)
        build.wait_until(lambda: _listens(self._port), "the keeper never listened")

    def _kill(self) -> None:
        if self._keeper is not None:
            self._keeper.kill()
            self._keeper.wait()
            if self._keeper.stdin is not None:
                self._keeper.stdin.close()
            self._keeper = None


def _reserve_all(
    machine: MachineOnStage, acknowledged: list[str], started: threading.Event
) -> None:
    """Reserve one scope after the other; repeat each until it is acknowledged."""
    end = time.monotonic() + _LONGEST_WAIT
    number = 0
    while number < WRITES and time.monotonic() < end:
        scope = f"src/part-{number}.py"
        words = ("--json", "reserve", scope, "--agent", machine.agent)
        if machine.answer(*MOOT, *words)["ok"]:
            acknowledged.append(scope)
            number += 1
        if number == WRITES // 2:
            started.set()
    started.set()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True
