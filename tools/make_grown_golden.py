"""Writes tests/golden/grown/NAME/: what the record has learnt since the last release's folder.

    python -m tools.make_grown_golden NAME

Between two releases the format grows: new kinds of events, new optional fields. What this version
writes with them is kept here, made once and never again, so that each later commit must open, check
and continue it, and not only each later release. The stage is that of `make_golden.py`.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

from tools.make_golden import CRANE, FINCH, OTTER, STAGE, Stage, found

from moot.core.clock import fixed_clock
from moot.keys.folder import KeyFolder
from moot.protocols.presence import STREAM
from moot.protocols.presence import commands as ask
from moot.workspace.workspace import Workspace

GROWN: Final = Path(__file__).parents[1] / "tests" / "golden" / "grown"
PLANS: Final = ("1. move the cache\n", "1. move the cache\n2. measure\n")
README: Final = """# What the record learnt between releases: {name}

Made once by `tools/make_grown_golden.py`, never edited and never made again. Its private keys were
made for this folder, are public by being here, and sign nothing else.
"""


def share_plans(stage: Stage) -> None:
    for version, text in enumerate(PLANS):
        stage.write("plan.md", text)
        stage.moot("plan", "T-7", "--amend", "plan.md", "--version", str(version), by=OTTER)


def use_sub_agents(stage: Stage) -> None:
    """Two sub-agents of one session, one of which keeps off the other's file, and ends."""
    root = str(stage.root)

    def edit(scope: str, sub_agent: str) -> ask.Reserve:
        return ask.Reserve(
            scopes=(scope,), project_root=root, worktree=root, automatic=True, once=True,
            sub_agent=sub_agent,
        )  # fmt: skip

    with Workspace(stage.root / ".moot", KeyFolder(stage.keys)) as workspace:
        workspace.engine.clock = fixed_clock(stage.clock_text)
        execute = workspace.engine.execute
        execute(STREAM, ask.BeginSubAgent(sub_agent="toolu_1", sub_agent_kind="explore"), CRANE)
        execute(STREAM, edit("src/auth/cache.py", "toolu_1"), CRANE)
        execute(STREAM, edit("src/auth/limit.py", "toolu_2"), CRANE)
        execute(STREAM, ask.EndSubAgent(sub_agent="toolu_1", reason="done"), CRANE)


def answer_under_seal(stage: Stage) -> None:
    voices = f"{OTTER}=rules:approve,{CRANE}=rules:sceptic,{FINCH}=rules:reject"
    options = ("--option", "Postgres", "--option", "Kafka")
    stage.moot("ask", "Queue: Postgres or Kafka?", *options, "--with", voices)
    stage.as_person("decide", "q-1", "approve", "--reason", "We know it.")
    stage.as_person("outcome", "q-1", "right", "--reason", "It runs.")
    stage.moot("receipt", "q-1", "-o", "question.json")


def export(stage: Stage) -> None:
    (STAGE / "exports").mkdir()
    stage.moot("ledger", "export", "-o", "../exports/record.moot")
    stage.moot("trust", "export", "-o", "../exports/trust.json")
    shutil.copy(stage.root / "question.json", STAGE / "exports" / "question.json")


def keep(stage: Stage, out: Path) -> None:
    for database in (stage.root / ".moot" / "ledger.db", stage.keys / "kept.db"):
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    unwanted = shutil.ignore_patterns("*-wal", "*-shm", "*.lock", "seeds", ".gitignore")
    shutil.copytree(stage.root / ".moot", out / "workspace", ignore=unwanted)
    shutil.copytree(stage.keys, out / "keys", ignore=unwanted)
    shutil.copytree(STAGE / "exports", out / "exports")
    (out / "README.md").write_text(README.format(name=out.name), encoding="utf-8")


def main(name: str) -> None:
    if (GROWN / name).exists():
        raise SystemExit(f"{GROWN / name} exists: what was written is never made again")
    STAGE.mkdir(mode=0o700)
    try:
        stage = Stage()
        for act in (found, share_plans, use_sub_agents, answer_under_seal, export):
            act(stage)
        keep(stage, GROWN / name)
    finally:
        shutil.rmtree(STAGE)


if __name__ == "__main__":
    os.umask(0o022)
    main(sys.argv[1])
