"""Decisions in every state: a debate that goes on, a parliament in its second round, a trace with
an objection, beside the question that `busy_project.py` has asked."""

from __future__ import annotations

from tests.cli.parliament_session import opened
from tests.project import CRANE, OTTER, Project
from tests.web.busy_project import FINCH

DEBATE_FILE = "uploads.md"
AUDITOR = "slate-heron"
PARLIAMENT = "parliament/"


def make_decisions(project: Project) -> None:
    argue(project)
    sit(project)
    prove(project)


def argue(project: Project) -> str:
    """One round is over, the second goes on: it is teal-crane's turn. Gives the debate's id."""
    project.ok(
        *("debate", "new", DEBATE_FILE, "--title", "Do uploads go up in parts?"),
        *("--agents", f"{OTTER},{CRANE},{FINCH}", "--turn-timeout", "1800"),
    )
    say(project, OTTER, "approve", "0.8", "A lost part is sent again, not the whole file.")
    say(project, CRANE, "reject", "0.7", "Joining parts doubles the disk we need.")
    say(project, FINCH, "neutral", "0.4", "Nobody has measured how often uploads fail.")
    say(project, OTTER, "approve", "0.9", "Measured: one in nine fails above 2 GB.")
    lines = project.ok("ledger", "log")["streams"]
    return str(next(line["id"] for line in lines if line["id"].startswith("debate/")))


def say(project: Project, author: str, stance: str, sure: str, text: str) -> None:
    words = ("--stance", stance, "--confidence", sure, "--summary", text, "--body", text)
    project.ok("debate", "add", DEBATE_FILE, "--author", author, *words)


def sit(project: Project) -> None:
    """A parliament in its second round, with a bill of two versions."""
    parliament = opened(project)
    parliament.to_debate()
    parliament.start()
    parliament.exchange("rep_1", "rep_2", 2)
    parliament.exchange("rep_2", "rep_3", 3)
    parliament.exchange("rep_3", "rep_1", 5)
    parliament.end()
    parliament.start()
    parliament.exchange("rep_1", "rep_2", 4)
    parliament.amend("rep_3", "amend-001", "Every part has a checksum.")


def prove(project: Project) -> None:
    """A trace with a run, a claim and an objection."""
    project.ok("agent", "register", AUDITOR)
    (project.root / "prices.txt").write_text("bread 2\nmilk 1\n")
    project.ok(
        *("trace", "new", "--task", "Is the price list complete?", "--planner", OTTER),
        *("--executor", CRANE, "--critic", FINCH, "--auditor", AUDITOR),
    )
    project.ok(
        *("trace", "propose", "t1", "--objective", "Count the prices", "--tool", "wc"),
        *("--assume", "one price a line", "--expect", "a number"),
    )
    project.ok("trace", "review", "t1", "p1", "--verdict", "approved", "--rationale", "it reads")
    words = ("--tool", "wc", "--risk", "low", "--why", "one line is one price")
    project.ok("trace", "intend", "t1", "p1", *words, "--", "wc", "-l", "prices.txt")
    project.ok("trace", "exec", "t1", "i1")
    claim = ("--text", "All prices are there", "--confidence", "0.9", "--evidence", "x1/stdout")
    project.ok("trace", "claim", "t1", *claim)
    project.ok("trace", "challenge", "t1", "c1", "--reason", "a number does not say which ones")
