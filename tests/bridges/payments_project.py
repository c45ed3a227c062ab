"""A project whose work goes through every protocol: blocked, argued, decided, traced, done."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.project import CRANE, OTTER, Project

NOON = "2026-02-18T12:00:00Z"
FINCH, HERON = "coral-finch", "slate-heron"
AGENTS = (OTTER, CRANE, FINCH, HERON)
STUCK = ("--subject", "Payments fail", "--blocker", "The sandbox rejects every card.")
NEED = ("--requested-action", "Say which sandbox to use.")
SCOPE = "src/payments"
PYTHON = sys.executable


def at(minutes: int) -> dict[str, str]:
    return {"MOOT_CLOCK": f"2026-02-18T{12 + minutes // 60:02d}:{minutes % 60:02d}:00Z"}


class PaymentsProject(Project):
    """Work on payments gets stuck; agents argue, decide and do it. Each step is one `moot`."""

    def __init__(self, place: Path, passphrase: str) -> None:
        super().__init__(place / "project", place / "keys", MOOT_CLOCK=NOON)
        self.person = {"MOOT_PASSPHRASE_FILE": passphrase}
        self.count = 0

    def refusal(self, *words: str, **settings: str) -> str:
        """Return the code of a command that must fail."""
        return self.refused(*words, **settings)[0]

    def file(self, document: Any) -> str:
        self.count += 1
        name = f"said-{self.count}.txt"
        text = document if isinstance(document, str) else json.dumps(document)
        (self.root / name).write_text(text, encoding="utf-8")
        return name

    def records(self, stream: str) -> list[Any]:
        with self.workspace() as space, space.store.read() as view:
            return [record.body for record in view.records(stream)]

    def streams(self, protocol: str) -> list[str]:
        with self.workspace() as space, space.store.read() as view:
            return [name for name, _ in view.streams() if name.startswith(f"{protocol}/")]

    # Getting stuck.

    def blocked(self, work: str = "pay-7", *words: str) -> str:
        said = self.ok_as(OTTER, "blocked", CRANE, "--work", work, *STUCK, *NEED, *words)
        message: str = said["message"]
        return message

    # Arguing.

    def debate(self, message: str, *words: str, **settings: str) -> Any:
        return self.ok(
            *("flow", "blocked-to-debate", message, "--with", FINCH, "--rounds", "2"),
            *("--file", "payments.md", *words),
            **settings,
        )

    def say(self, name: str, stance: str, summary: str, file: str = "payments.md") -> Any:
        return self.ok_as(
            name,
            *("debate", "add", file, "--author", name, "--stance", stance),
            *("--confidence", "0.9", "--summary", summary, "--body", f"{summary} So I say."),
        )

    def agreed(self, stances: tuple[str, ...] = ("approve",) * 3) -> None:
        words = ("Use the new sandbox.", "The old one is dead.", "Test it first.")
        names = (OTTER, CRANE, FINCH)
        for name, stance, summary in zip(names, stances, words, strict=True):
            self.say(name, stance, summary)

    # Deciding.

    def parliament(self, *words: str, **settings: str) -> Any:
        return self.ok(
            "flow", "consensus-to-parliament", "payments.md", "--dir", "bill", *words, **settings
        )

    def submit(self, document: Any, **settings: str) -> Any:
        return self.ok("parliament", "submit", "bill", self.file(document), **settings)

    def rule(self, kind: str, action: str) -> Any:
        content = {"ruling_type": kind, "ruling": "So be it.", "target": None, "action": action}
        return self.submit({"type": "SPEAKER_RULING", "from": "speaker", "content": content})

    def session(self) -> Any:
        return json.loads((self.root / "bill" / "session.json").read_text("utf-8"))

    def seats(self) -> dict[str, list[str]]:
        return {one["agent_id"]: one["motives"] for one in self.session()["representatives"]}

    def seed(self, name: str) -> Any:
        return json.loads((self.root / "bill" / "seeds" / name).read_text("utf-8"))

    def scores(self, seat: str) -> dict[str, int]:
        return dict.fromkeys(self.seats()[seat], 4)

    def to_vote(self) -> None:
        """Statements and bill from their seeds, one round, every motive served."""
        for seat in self.seats():
            self.submit(self.seed(f"{seat}.json"))
        drafter = self.seed("bill-v1.json")["from"]
        self.ok("parliament", "drafter", "bill", drafter)
        self.submit(self.seed("bill-v1.json"))
        self.round()

    def round(self) -> None:
        self.rule("procedure", "round_start")
        names = list(self.seats())
        for asker, asked in zip(names, (*names[1:], names[0]), strict=True):
            question = {"topic": f"of {asked}", "question": "And then?", "motive_context": ""}
            said = self.submit(
                {"type": "QUESTION", "from": asker, "to": asked, "content": question}
            )
            answer = {
                "answer": "It is tested.",
                "concessions": "",
                "stance": "maintain",
                "motive_scores": self.scores(asked),
            }
            self.submit(
                {
                    "type": "ANSWER",
                    "from": asked,
                    "to": asker,
                    "in_reply_to": said["messages"][0]["id"],
                    "content": answer,
                }
            )

    def vote(self, word: str = "YES", conditions: Sequence[str] = ()) -> None:
        self.rule("order", "call_vote")
        for seat in self.seats():
            content = {
                "vote": word,
                "reasoning": f"{seat} says {word}.",
                "motive_scores": self.scores(seat),
                "reservations": "",
                "conditions": list(conditions),
            }
            self.submit({"type": "VOTE", "from": seat, "content": content})
        self.ok("parliament", "tally", "bill")

    def decide(self, word: str, *words: str) -> Any:
        return self.ok(
            *("parliament", "decide", "bill", word, "--reason", "It is what we need.", *words),
            **self.person,
        )

    def approved(self) -> str:
        """From BLOCKED to an approved bill; the message that began it."""
        message = self.blocked()
        self.debate(message)
        self.agreed()
        self.parliament()
        self.to_vote()
        self.vote()
        self.decide("approve")
        return message

    # Working.

    def trace(self, *words: str, planner: str = CRANE, **settings: str) -> Any:
        return self.ok_as(planner, "flow", "approval-to-trace", "bill", *PARTS, *words, **settings)

    def reviewed(self) -> None:
        self.ok("trace", "review", "t1", "p1", "--verdict", "approved", "--rationale", "fine")

    def intended(self, *command: str, writes: str = "src/payments/done.txt") -> str:
        words = ("--tool", "python", "--why", "to see", "--risk", "low", "--writes", writes)
        intent: str = self.ok("trace", "intend", "t1", "p1", *words, "--", *command)["intent"]
        yes = ("--verdict", "approved", "--rationale", "ok")
        self.ok("trace", "review-intent", "t1", intent, *yes)
        return intent

    def touch(self) -> tuple[str, ...]:
        code = "open('src/payments/done.txt', 'w').write('done'); print('paid')"
        return (PYTHON, "-c", code)


PARTS = (
    *("--executor", OTTER, "--critic", FINCH, "--auditor", HERON),
    *("--tool", "python", "--expect", "a paid order"),
)
