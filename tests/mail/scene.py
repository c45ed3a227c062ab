"""The usual scene of the ledger's half: one thread, three agents, and short ways to write."""

from __future__ import annotations

from typing import Any

from moot.core.clock import MINUTE, Millis
from moot.core.errors import MootError
from moot.engine.job import JobOutcome
from moot.engine.registry_commands import rotate
from moot.protocols.mail import commands as ask
from moot.protocols.mail.machine import MACHINE
from moot.protocols.mail.model import MailMessage, Party, State
from moot.testing import World
from moot.testing.world import CUSTODIAN

THREAD = "auth-cache"
STREAM = f"mail/{THREAD}"
OTTER, CRANE, FINCH = "amber-otter", "teal-crane", "coral-finch"
HALF_HOUR: Millis = 30 * MINUTE

QUESTION = "# Question\n\n## Question\nWhich cache?\n\n## Urgency\nSoon\n"
INFO = "# Information\n\nDone.\n"
KICKOFF = (
    "# Slow logins\n\n## Research Question\nWhy are logins slow?\n\n## Context\nSince Monday.\n"
    "\n## Excerpt\nIt hangs. §12\n"
)
BLOCKED = (
    "# Work Blocked\n\n## Item\nT-7\n\n## Blocker\nNo migration\n\n## Type\nDependency\n"
    "\n## Needed\nWrite it\n"
)
CRITIQUE = "# Critique: H1\n\n## Target\nH1\n\n## Attack\nNo.\n\n## Severity\nMajor\n"
CLAIM = "# Work Claim\n\n## Item\nT-7\n\n## Agent\namber-otter\n"


def handoff(item: str = "T-7", sender: str = OTTER, to: str = CRANE) -> str:
    return (
        f"# Work Handoff\n\n## Item\n{item}\n\n## From\n{sender}\n\n## To\n{to}\n"
        "\n## State\nHalf done\n"
    )


def party(name: str, epoch: int = 1) -> Party:
    return Party(name, epoch)


def send(subject: str, body: str, *to: str, **more: Any) -> ask.Send:
    receivers = tuple(map(party, to or (CRANE,)))
    return ask.Send(**{"subject": subject, "body": body, "to": receivers, **more})


def question(*to: str, **more: Any) -> ask.Send:
    return send("QUESTION: Which cache?", QUESTION, *to, **more)


def info(*to: str, **more: Any) -> ask.Send:
    return send("INFO: Done", INFO, *to, **more)


def ack(number: int, status: str = "Received", notes: str = "") -> ask.Acknowledge:
    return ask.Acknowledge(id=f"{THREAD}:{number}", status=status, notes=notes)


class MailScenario:
    """A world with three agents who write into one thread."""

    def __init__(self) -> None:
        self.world = World()
        for name in (OTTER, CRANE, FINCH):
            self.world.agent(name)

    def run(self, actor: str, command: Any, **more: Any) -> JobOutcome:
        return self.world.engine.execute(STREAM, command, actor, **more)

    def refused(self, actor: str, command: Any) -> str:
        """The code of a refusal that left nothing behind."""
        before, length = self.state, self.length
        try:
            self.run(actor, command)
        except MootError as error:
            assert self.state == before
            assert self.length == length
            return error.code
        return "not refused"

    @property
    def state(self) -> State:
        return self.world.engine.state(MACHINE, STREAM)

    @property
    def length(self) -> int:
        with self.world.store.read() as view:
            head = view.head(STREAM)
        return 0 if head is None else head.seq + 1

    def message(self, number: int) -> MailMessage:
        found = self.state.find_message(f"{THREAD}:{number}")
        assert found is not None
        return found

    def later(self, minutes: float) -> list[Any]:
        """Let time pass and the machine act; the events it left."""
        self.world.clock.forward(minutes=minutes)
        done = self.world.engine.tick(STREAM)
        return [] if done is None else [one.event for one in done.recorded]

    def dues(self) -> list[tuple[str, str]]:
        return [(due.who, due.what) for _, due in self.world.engine.agenda([STREAM])]

    def adopted(self, name: str) -> None:
        """Another session goes on under `name`: a new key, a new holder."""
        engine, keys = self.world.engine, self.world.keys
        old = keys.signers[name][-1]
        signer = keys.make(name, salt="later")
        rotate(
            engine,
            name,
            signer,
            endorser=old,
            custodian=CUSTODIAN,
            reason="adopted",
            new_holder=True,
        )

    def rows(self, space: str, prefix: str = "") -> list[str]:
        with self.world.store.read() as view:
            return [row.key for row in view.rows(space, prefix)]
