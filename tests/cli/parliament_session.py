"""A parliament played through the command line: short words for the messages of a session."""

from __future__ import annotations

import json
from typing import Any

from tests.project import Project

FOLDER = "uploads"
FILES = ("ledger.json", "session.json", "bill.json", "round-summaries.json")
REPS = ("Rep. Swift:speed", "Rep. Thrift:cost", "Rep. Safe:safety")
MOTIVES = {"rep_1": "speed", "rep_2": "cost", "rep_3": "safety"}
NEW = (
    *("parliament", "new", FOLDER, "--problem", "Large uploads fail. Nobody knows why."),
    *(word for motive in MOTIVES.values() for word in ("--issue", motive)),
)
SECTIONS = {
    "problem": "Uploads over 2 GB fail.",
    "scope": {"in_scope": ["uploads"], "out_of_scope": ["billing"], "assumptions": []},
    "solution": "Send parts and join them.",
    "implementation": "First the server, then the clients.",
}

STATEMENT = {
    "type": "OPENING_STATEMENT",
    "from": "rep_1",
    "content": {
        "briefing": {"facts": ["f"], "constraints": [], "precedents": [], "open_questions": []},
        "direction": {
            "approach": "Cut files. Send parts. Join them.",
            "principle": "No byte twice.",
            "trade_offs": "",
        },
    },
}


def opened(project: Project, *reps: str) -> ParliamentSession:
    project.ok(*NEW, *(word for rep in (reps or REPS) for word in ("--rep", rep)))
    return ParliamentSession(project)


class ParliamentSession:
    """One session; every method is one call of `moot`."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.count = 0

    def file(self, document: Any) -> str:
        self.count += 1
        name = f"message-{self.count}.json"
        text = document if isinstance(document, str) else json.dumps(document)
        (self.project.root / name).write_text(text, encoding="utf-8")
        return name

    def moot(self, word: str, *more: str, **settings: str) -> Any:
        return self.project.ok("parliament", word, FOLDER, *more, **settings)

    def refused(self, word: str, *more: str, **settings: str) -> str:
        code, _ = self.project.refused("parliament", word, FOLDER, *more, **settings)
        return code

    def submit(self, document: Any, **settings: str) -> Any:
        return self.moot("submit", self.file(document), **settings)

    def statement(self, seat: str) -> Any:
        return self.submit({**STATEMENT, "from": seat})

    def say(self, kind: str, sender: str, content: Any, **more: Any) -> Any:
        return self.submit({"type": kind, "from": sender, **more, "content": content})

    def draft(self, version: int = 1, seat: str = "rep_1", **sections: Any) -> Any:
        content = {
            "bill_version": version,
            "title": "Uploads in parts",
            "summary": "Large files go up in parts.",
            "sections": {**SECTIONS, **sections},
        }
        return self.say("BILL_DRAFT", seat, content)

    def rule(
        self, kind: str, action: str, target: str | None = None, text: str = "So be it."
    ) -> Any:
        content = {"ruling_type": kind, "ruling": text, "target": target, "action": action}
        return self.say("SPEAKER_RULING", "speaker", content)

    def start(self) -> Any:
        return self.rule("procedure", "round_start")

    def end(self) -> Any:
        return self.rule("procedure", "round_end")

    def call_vote(self) -> Any:
        return self.rule("order", "call_vote")

    def ask(self, sender: str, to: str, topic: str = "lost parts", **more: Any) -> str:
        content = {"topic": topic, "question": "What then?", "motive_context": ""}
        said = self.say("QUESTION", sender, content, to=to, **more)
        name: str = said["messages"][0]["id"]
        return name

    def answer(self, sender: str, to: str, question: str, score: int = 4, **content: Any) -> Any:
        whole = {
            "answer": "It is sent again.",
            "concessions": "",
            "stance": "maintain",
            "motive_scores": {MOTIVES[sender]: score},
            **content,
        }
        return self.say("ANSWER", sender, whole, to=to, in_reply_to=question)

    def exchange(self, sender: str, to: str, score: int = 4, **content: Any) -> Any:
        return self.answer(to, sender, self.ask(sender, to), score, **content)

    def amend(self, seat: str, name: str, text: str, action: str = "add") -> Any:
        content = {
            "amendment_id": name,
            "target_section": "solution",
            "action": action,
            "description": f"{name} of {seat}",
            "rationale": "",
            "proposed_text": text,
        }
        return self.say("AMENDMENT", seat, content)

    def vote(self, seat: str, word: str, score: int = 4) -> Any:
        content = {
            "vote": word,
            "reasoning": f"{seat} says {word}.",
            "motive_scores": {MOTIVES[seat]: score},
            "reservations": "",
            "conditions": ["Name the price."] if word == "NO" else [],
        }
        return self.say("VOTE", seat, content)

    def votes(self, *words: str) -> Any:
        for seat, word in zip(MOTIVES, words, strict=True):
            self.vote(seat, word)
        return self.moot("tally")

    def to_debate(self) -> None:
        for seat in MOTIVES:
            self.statement(seat)
        self.moot("drafter", "rep_1")
        self.draft()

    def document(self, name: str) -> Any:
        return json.loads((self.project.root / FOLDER / name).read_text("utf-8"))


def files_of(parliament: ParliamentSession) -> dict[str, bytes]:
    folder = parliament.project.root / FOLDER
    return {name: (folder / name).read_bytes() for name in FILES}


def check_sound(parliament: ParliamentSession) -> None:
    said = parliament.moot("check")
    assert (said["valid"], said["findings"]) == (True, [])


def position(name: str, word: str) -> dict[str, str]:
    return {"amendment_id": name, "position": word, "reason": "So."}
