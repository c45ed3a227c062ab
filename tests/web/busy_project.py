"""A project in which a lot has happened: work passed on, help asked for, overlaps held back and
taken over, a name picked up again, mail, decisions."""

from __future__ import annotations

from tests.project import CRANE, OTTER, Project

FINCH = "coral-finch"
VOICES = ("--with", "rules:approve,rules:sceptic,rules:listener")


def make_lively(project: Project) -> None:
    project.ok("agent", "register", FINCH)
    project.ok("--as", OTTER, "reserve", "src/auth", "--work", "T-7.1")
    project.ok("--as", CRANE, "reserve", "src/billing", "--work", "T-7.2", "--ttl", "60")
    assert project.refused("--as", FINCH, "reserve", "src/auth/cache.py", "--work", "T-7.1")
    project.ok(
        *("--as", OTTER, "handoff", CRANE, "--work", "T-7.1", "--scope", "src/auth"),
        *("--subject", "Session cache", "--summary", "The cache works, its tests do not."),
        *("--next-action", "Finish tests/test_cache.py"),
    )
    project.ok(
        *("--as", CRANE, "blocked", OTTER, "--work", "T-7.2"),
        *("--subject", "Which currency table?", "--blocker", "Two tables disagree."),
        *("--requested-action", "Say which one counts", "--urgency", "high"),
    )
    project.ok("--as", OTTER, "send", CRANE, "QUESTION: Which cache do we keep?")
    project.ok("--as", FINCH, "send", OTTER, "INFO: The nightly build is green again")
    project.ok(
        "ask", "Queue: Postgres or Kafka?", "--option", "Postgres", "--option", "Kafka", *VOICES
    )
