"""Writes tests/golden/vX.Y.Z/: a workspace as this version of Moot leaves it, for later ones.

    python tools/make_golden.py

Every later version must open, check and go on writing what is kept there. A folder is made once,
for a release, and never made again: its keys are random, so a second run gives other records, and
the point is that old ones stay readable. The work is done by the command line under a fixed clock,
in a folder whose name says nothing about the machine; only `example`, which has no commands, is
written through the engine.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from moot import __version__
from moot.core.clock import fixed_clock
from moot.keys.folder import KeyFolder
from moot.protocols.example.model import Ask, Finish, Withdraw
from moot.workspace.workspace import Workspace

OUT: Final = Path(__file__).parents[1] / "tests" / "golden" / f"v{__version__}"
# Names of folders are in the record: this one is the same on every machine.
STAGE: Final = Path("/tmp/moot-golden")
MOOT: Final = (sys.executable, "-P", "-m", "moot")
OTTER, CRANE, FINCH, HERON = "amber-otter", "teal-crane", "coral-finch", "slate-heron"
WREN, LARK = "plum-wren", "jade-lark"
PASSPHRASE: Final = "a passphrase for this golden record only"
LONGEST_SECONDS: Final = 120
KEPT_FILES: Final = ("payments.md", "bill", "question.json", "question.html", "question.md")
THREAD: Final = "RS-20260218-slow-logins"
KICKOFF: Final = """# Slow logins

## Research Question
Why do logins take three seconds since Monday?

## Context
The median was 0.3 seconds. Nothing was deployed on Monday.

## Excerpt
"It hangs before the form appears." §12

## Requested Outputs
Three hypotheses, and one test that tells them apart.
"""
DELTA: Final = """# Delta Contribution

## Deltas

```delta
{"operation": "ADD", "section": "hypothesis_slate", "target_id": null,
 "payload": {"name": "Cold cache", "claim": "c", "mechanism": "m", "anchors": ["§12"]},
 "rationale": "§12"}
```
"""
OUTSIDE: Final = """---
id: ext-7
from: someone-outside
to: teal-crane
subject: "QUESTION: Which cache?"
ack_required: true
---
The inner or the outer one?
"""
README: Final = """# What Moot {version} wrote

Made once by `tools/make_golden.py`, never edited and never made again: tests show that every later
version still reads it, checks it and goes on writing it.

- `workspace/` is the project's `.moot` folder; `project/` holds files next to it: a debate's file,
  a parliament's four files, a receipt in three forms.
- `exports/` holds what went to others: the whole record, one trace, the trust file.
- `keys/` is the key folder. **Its private keys are thrown away**: they were made for this folder,
  are public by being here, and sign nothing else. They are kept so that tests can append to the
  old record. The passphrase of `operator` is "{passphrase}".
"""


class Stage:
    """The project in which the record is made. Time moves with every command."""

    def __init__(self) -> None:
        self.root = STAGE / "project"
        self.keys = STAGE / "keys"
        self.now = datetime(2026, 2, 18, 9, 0, tzinfo=UTC)
        self.count = 0

    @property
    def env(self) -> dict[str, str]:
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": str(STAGE / "home"),
            "LANG": "C.UTF-8",
            "MOOT_KEYS": str(self.keys),
            "MOOT_CLOCK": self.clock_text,
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    @property
    def clock_text(self) -> str:
        return self.now.strftime("%Y-%m-%dT%H:%M:%SZ")

    def wait(self, **span: int) -> None:
        self.now += timedelta(**span)

    def run(self, words: tuple[str, ...], given: str = "", **settings: str) -> str:
        done = subprocess.run(
            words,
            cwd=self.root,
            env={**self.env, **settings},
            input=given,
            capture_output=True,
            encoding="utf-8",
            timeout=LONGEST_SECONDS,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def moot(self, *words: str, by: str = "", **settings: str) -> Any:
        """The data of a command that must succeed; `by` is the agent that gives it."""
        self.wait(seconds=5)
        acting = ("--as", by) if by else ()
        return json.loads(self.run((*MOOT, "--json", *acting, *words), **settings))["data"]

    def refused(self, *words: str, by: str) -> None:
        """A command that must not succeed; what it leaves on record is wanted."""
        self.wait(seconds=5)
        done = subprocess.run(
            (*MOOT, "--json", "--as", by, *words),
            cwd=self.root,
            env=self.env,
            capture_output=True,
            timeout=LONGEST_SECONDS,
            check=False,
        )
        if done.returncode != 1:
            raise SystemExit(f"{words} was to be refused, and ended with {done.returncode}")

    def as_person(self, *words: str) -> Any:
        return self.moot(*words, MOOT_PASSPHRASE_FILE=str(STAGE / "passphrase"))

    def write(self, name: str, text: str) -> str:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return name

    def submit(self, document: Any) -> Any:
        self.count += 1
        file = self.write(f"messages/{self.count}.json", json.dumps(document))
        return self.moot("parliament", "submit", "bill", file)

    def tool(self, moment: str, **fields: Any) -> None:
        """What a coding tool tells its hook."""
        self.wait(seconds=5)
        call = {"session_id": "s-1", "cwd": str(self.root), "hook_event_name": moment, **fields}
        self.run((*MOOT, "hook", "claude"), json.dumps(call), MOOT_AGENT=HERON)


def main() -> None:
    if OUT.exists():
        raise SystemExit(f"{OUT} exists: what a version wrote is never made again")
    STAGE.mkdir(mode=0o700)  # fails if there is one: nothing of another run takes part
    try:
        stage = Stage()
        for act in ACTS:
            print(act.__name__)
            act(stage)
        keep(stage)
    finally:
        shutil.rmtree(STAGE)


def found(stage: Stage) -> None:
    stage.root.mkdir()
    (STAGE / "passphrase").write_text(PASSPHRASE + "\n", encoding="utf-8")
    (STAGE / "passphrase").chmod(0o600)
    stage.write("src/auth/cache.py", "LIMIT = 100\n")
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("config", "user.name", "golden"),
        ("config", "user.email", "golden@example.invalid"),
        ("add", "src"),
        ("commit", "--quiet", "-m", "first"),
    ):
        stage.run(("git", *words))
    stage.as_person("init")
    for name in (OTTER, CRANE, FINCH, HERON, WREN, LARK):
        stage.moot("join", "--register", name)


def change_keys(stage: Stage) -> None:
    stage.moot("agent", "rotate", FINCH, "--reason", "routine")
    stage.moot("agent", "retire", WREN, "--reason", "done", by=WREN)
    stage.moot("agent", "revoke", LARK, "--reason", "lost laptop")
    stage.as_person("agent", "rotate", LARK, "--reason", "a new laptop")


def hold_scopes(stage: Stage) -> None:
    """Enough events for a signed snapshot of the state among them."""
    many = [f"lib/part-{number}" for number in range(24)]
    stage.moot("reserve", *many, "--work", "T-1", by=HERON)
    stage.moot("release", "--all", by=HERON)
    stage.moot("reserve", "docs", "--ttl", "5", by=FINCH)
    stage.moot("reserve", "src/auth", "--work", "T-7", by=OTTER)
    stage.refused("reserve", "src/auth/cache.py", by=CRANE)
    words = ("--subject", "auth cache", "--summary", "half done", "--next-action", "test it")
    stage.moot("handoff", CRANE, *words, "--scope", "src/auth", "--work", "T-7", by=OTTER)
    (event,) = [
        one["id"] for one in stage.moot("event", "list")["events"] if one["kind"] == "HANDOFF"
    ]
    stage.moot("event", "seen", event, by=CRANE)
    stage.moot("event", "accept", event, by=CRANE)
    stage.wait(minutes=20)
    stage.moot("tick")
    stage.moot("agent", "heartbeat", by=OTTER)
    stage.moot("reserve", "src/auth", "--takeover-stale", by=OTTER)
    stage.moot("release", "--all", by=OTTER)
    stage.moot("reserve", *many[:8], by=HERON)
    stage.moot("release", "--all", by=HERON)


def share_plan(stage: Stage) -> None:
    plan = stage.write("plan.md", "1. Move the cache.\n")
    stage.moot("plan", "T-7", "--amend", plan, "--version", "0", by=OTTER)


def write_mail(stage: Stage) -> None:
    sent = stage.moot("send", CRANE, "QUESTION: Which cache?", by=OTTER)["id"]
    stage.moot("inbox", by=CRANE)
    stage.moot("mail", "ack", sent, "--status", "Will Action", by=CRANE)
    stage.moot("send", OTTER, "INFO: The inner one", "--re", sent, by=CRANE)
    stage.moot("mail", "import", stage.write("outside.md", OUTSIDE), by=CRANE)
    kickoff, delta = stage.write("kickoff.md", KICKOFF), stage.write("delta.md", DELTA)
    stage.moot("send", f"{CRANE},{FINCH}", "KICKOFF: Logins", kickoff, "--thread", THREAD, by=OTTER)
    stage.moot("send", OTTER, "DELTA[opus]: cache", delta, "--thread", THREAD, by=CRANE)
    stage.moot("mail", "compile", THREAD, by=OTTER)
    stage.wait(hours=2)
    stage.moot("mail", "tick")
    stage.wait(hours=2)
    stage.moot("mail", "tick")


def argue(stage: Stage) -> None:
    """Stuck, and three argue about it."""
    for name in (OTTER, CRANE, FINCH, HERON):  # hours have passed
        stage.moot("agent", "heartbeat", by=name)
    stuck = ("--subject", "Payments fail", "--blocker", "The sandbox rejects every card.")
    need = ("--requested-action", "Say which sandbox to use.", "--work", "pay-7")
    message = stage.moot("blocked", CRANE, *stuck, *need, by=OTTER)["message"]
    flow = ("flow", "blocked-to-debate", message, "--with", FINCH, "--rounds", "2")
    stage.moot(*flow, "--file", "payments.md")
    for name, summary in (
        (OTTER, "Use the new sandbox."),
        (CRANE, "The old one is dead."),
        (FINCH, "Test it first."),
    ):
        entry = ("--author", name, "--stance", "approve", "--confidence", "0.9")
        words = ("debate", "add", "payments.md", *entry, "--summary", summary)
        stage.moot(*words, "--body", f"{summary} So I say.", by=name)


def disagree(stage: Stage) -> None:
    """A debate whose second speaker stays silent."""
    limit = ("--turn-timeout", "60", "--escalation", "timeout-skip")
    new = ("debate", "new", "names.md", "--title", "Which names?", *limit)
    stage.moot(*new, "--agents", f"{OTTER},{CRANE}", "--context", "Short or long names?")
    entry = ("--stance", "reject", "--confidence", "0.4", "--summary", "Long ones.", "--body", "x")
    stage.moot("debate", "add", "names.md", "--author", OTTER, *entry, by=OTTER)
    stage.as_person("debate", "add-context", "names.md", "--title", "More", "Or none?")
    stage.wait(minutes=5)
    stage.moot("debate", "tick", "names.md")


def legislate(stage: Stage) -> None:
    """The same three as a parliament: statements, a bill, a round, an amendment, a vote."""
    stage.moot("flow", "consensus-to-parliament", "payments.md", "--dir", "bill")
    seats = _seats(stage)
    for seat in seats:
        stage.submit(_seed(stage, seat))
    bill = _seed(stage, "bill-v1")
    stage.moot("parliament", "drafter", "bill", bill["from"])
    stage.submit(bill)
    _rule(stage, "procedure", "round_start")
    for asker, asked in zip(seats, [*list(seats)[1:], next(iter(seats))], strict=True):
        _exchange(stage, asker, asked, dict.fromkeys(seats[asked], 4))
    _rule(stage, "order", "call_vote")
    for seat, motives in seats.items():
        content = {
            "vote": "YES",
            "reasoning": f"{seat} says YES.",
            "motive_scores": dict.fromkeys(motives, 4),
            "reservations": "",
            "conditions": [],
        }
        stage.submit({"type": "VOTE", "from": seat, "content": content})
    stage.moot("parliament", "tally", "bill")
    stage.as_person("parliament", "decide", "bill", "approve", "--reason", "What we need.")


def _seats(stage: Stage) -> dict[str, list[str]]:
    session = json.loads((stage.root / "bill" / "session.json").read_text("utf-8"))
    return {one["agent_id"]: one["motives"] for one in session["representatives"]}


def _seed(stage: Stage, name: str) -> Any:
    return json.loads((stage.root / "bill" / "seeds" / f"{name}.json").read_text("utf-8"))


def _rule(stage: Stage, kind: str, action: str) -> None:
    content = {"ruling_type": kind, "ruling": "So be it.", "target": None, "action": action}
    stage.submit({"type": "SPEAKER_RULING", "from": "speaker", "content": content})


def _exchange(stage: Stage, asker: str, asked: str, scores: dict[str, int]) -> None:
    question = {"topic": f"of {asked}", "question": "And then?", "motive_context": ""}
    said = stage.submit({"type": "QUESTION", "from": asker, "to": asked, "content": question})
    answer = {
        "answer": "It is tested.",
        "concessions": "",
        "stance": "maintain",
        "motive_scores": scores,
    }
    reply = {"type": "ANSWER", "from": asked, "to": asker, "content": answer}
    stage.submit({**reply, "in_reply_to": said["messages"][0]["id"]})


def work(stage: Stage) -> None:
    """The approved bill is carried out and proved; the critic challenges one claim."""
    roles = ("--executor", OTTER, "--critic", FINCH, "--auditor", HERON, "--tool", "sh")
    flow = ("flow", "approval-to-trace", "bill", *roles, "--expect", "a paid order")
    stage.moot(*flow, by=CRANE)
    yes = ("--verdict", "approved", "--rationale", "as decided")
    stage.moot("trace", "review", "t1", "p1", *yes)
    stage.write("src/payments/pay.sh", "echo paid > src/payments/done.txt; echo 'paid: 1 order'\n")
    why = ("--tool", "sh", "--risk", "low", "--why", "pay one order")
    written = ("--writes", "src/payments/done.txt")
    program = ("/bin/sh", "src/payments/pay.sh")
    stage.moot("trace", "intend", "t1", "p1", *why, *written, "--", *program)
    stage.moot("trace", "review-intent", "t1", "i1", *yes)
    stage.moot("reserve", "src/payments", by=OTTER)
    stage.moot("trace", "exec", "t1", "i1")
    claim = ("trace", "claim", "t1", "--confidence", "0.9", "--evidence", "x1/stdout", "--text")
    stage.moot(*claim, "Orders are paid.")
    stage.moot("trace", "challenge", "t1", "c1", "--reason", "one order, not all")
    stage.moot(*claim, "One order was paid.", "--supersedes", "c1")
    stage.moot("trace", "finalize", "t1", "--statement", "Payments work.")
    stage.moot("trace", "audit", "t1")
    stage.moot("flow", "done-to-ack", "t1", by=CRANE)
    stage.moot("release", "--all", by=OTTER)


def watch(stage: Stage) -> None:
    """Work that nobody planned, as a coding tool's hook sees it."""
    file = str(stage.root / "notes.txt")
    wanted = {"file_path": file, "content": "hello"}
    stage.tool("SessionStart", source="startup")
    stage.tool("PreToolUse", tool_name="Write", tool_input=wanted, tool_use_id="u-1")
    stage.write("notes.txt", "hello")
    done = {"type": "create", "filePath": file}
    stage.tool(
        "PostToolUse",
        tool_name="Write",
        tool_input=wanted,
        tool_response=done,
        tool_use_id="u-1",
    )
    stage.tool("SessionEnd", reason="other")


def decide(stage: Stage) -> None:
    """A question to three participants, a veto, a second version, and what proves it."""
    voices = f"{OTTER}=rules:approve,{CRANE}=rules:sceptic,{FINCH}=rules:reject"
    options = ("--option", "Postgres", "--option", "Kafka")
    question = ("ask", "Queue: Postgres or Kafka?", *options, "--context", "We have one server.")
    stage.moot(*question, "--with", voices)
    stage.as_person("decide", "q-1", "veto", "--reason", "Name the price.")
    stage.moot("ask", "--resume", "q-2")
    stage.as_person("decide", "q-2", "approve", "--reason", "We know it.")
    for form in ("json", "html", "md"):
        stage.moot("receipt", "q-2", "-o", f"question.{form}")


def run_errands(stage: Stage) -> None:
    """The smallest machine has no commands of its own: it is asked through the engine."""
    with Workspace(stage.root / ".moot", KeyFolder(stage.keys)) as workspace:
        workspace.engine.clock = fixed_clock(stage.clock_text)
        execute = workspace.engine.execute
        execute("example/today", Ask(title="water the plants", of=CRANE), OTTER)
        execute("example/today", Finish(id="e1"), CRANE, key="first", corr="affair-1")
        execute("example/today", Ask(title="prune", of=HERON), OTTER)
        execute("example/today", Withdraw(id="e2"), OTTER)


def erase(stage: Stage) -> None:
    """One stored file is taken out: its hash stays on record."""
    sessions = stage.moot("trace", "observed")["sessions"]
    events = stage.moot("ledger", "log", sessions[0]["id"])["events"]
    (sha256,) = [one["data"]["artifact"] for one in events if one["data"].get("artifact")]
    stage.moot("artifact", "erase", sha256, "--reason", "held a name")


def export(stage: Stage) -> None:
    (STAGE / "exports").mkdir()
    stage.moot("ledger", "export", "-o", "../exports/record.moot")
    stage.moot("trace", "export", "t1", "-o", "../exports/trace.moot")
    stage.moot("trust", "export", "-o", "../exports/trust.json")


ACTS: Final = (
    *(
        found,
        change_keys,
        hold_scopes,
        share_plan,
        write_mail,
        argue,
        disagree,
        legislate,
        work,
        watch,
    ),
    *(decide, run_errands, erase, export),
)


def keep(stage: Stage) -> None:
    """Copy what counts, each database as one file."""
    for database in (stage.root / ".moot" / "ledger.db", stage.keys / "kept.db"):
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    OUT.mkdir(parents=True)
    unwanted = shutil.ignore_patterns("*-wal", "*-shm", "*.lock", "seeds", ".gitignore")
    shutil.copytree(stage.root / ".moot", OUT / "workspace", ignore=unwanted)
    shutil.copytree(stage.keys, OUT / "keys", ignore=unwanted)
    shutil.copytree(STAGE / "exports", OUT / "exports")
    (OUT / "project").mkdir()
    for name in KEPT_FILES:
        source, target = stage.root / name, OUT / "project" / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=unwanted)
        else:
            shutil.copy(source, target)
    readme = README.format(version=__version__, passphrase=PASSPHRASE)
    (OUT / "README.md").write_text(readme, encoding="utf-8")


if __name__ == "__main__":
    os.umask(0o022)
    main()
