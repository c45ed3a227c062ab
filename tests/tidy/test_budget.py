"""A budget of lines for each package, with the reason for its size.

A package grows over its number only together with its row, so a reviewer sees the growth and its
reason in the same change. After deleting code, lower the numbers with

    python -m tests.tidy.test_budget --write
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

from tests.tidy.source import PACKAGE, Module, modules

# The lines are those of Python files, rounded up to the next STEP. `api` is listed by inner
# package; "api" itself and "moot" are the modules directly in these folders.
STEP = 50
BUDGET = {
    "moot": (50, "the names that `import moot` offers, loaded when they are used"),
    "agents": (2550, "participants of every kind, their briefs, replies and cost"),
    "api": (1200, "the session, the table of operations, rehearsing a command"),
    "api/bridges": (3300, "a flow for each way from one protocol to another, and the whole path"),
    "api/debates": (2700, "debate files on disk, their rounds, and comparing positions"),
    "api/decisions": (3900, "questions, rulings, and receipts that prove them offline"),
    "api/guard": (11450, "reads shell commands beforehand; copies, journal, who changed a file"),
    "api/hook_setup": (2550, "merges our hooks into settings of four tools and git, byte for byte"),
    "api/hosts": (850, "commands for ledgers of several machines"),
    "api/mail": (2450, "sending, reading, duties, searching and answering of messages"),
    "api/observed": (850, "what hooks saw, without secrets, and the times nobody watched"),
    "api/page": (1950, "whole screens for the page, each read in one go"),
    "api/parliaments": (2400, "session files, turns and final documents"),
    "api/presence": (4200, "agents, reservations, liveness, names, status and agenda"),
    "api/runs": (2700, "participants take turns in five protocols, with budgets and resuming"),
    "api/traces": (2600, "plans, approvals, executing commands, evidence and reports"),
    "api/workspace": (1500, "making, checking, exporting and rebuilding a workspace"),
    "coding_tools": (3850, "everything that depends on which of the four coding tools it is"),
    "core": (4550, "records, canonical bytes, signatures, tree of heads, registry"),
    "engine": (3550, "lock, read, decide, sign, append; snapshots and checkpoints"),
    "hosts": (5850, "keeper, joined machines, their connection, and PostgreSQL"),
    "keys": (1150, "key files with passphrases, and the memory of checkpoints"),
    "lines": (1450, "who changed which lines: segments, rules, edit inputs, merge, units"),
    "pages": (3000, "reports as values, and how they become HTML"),
    "protocols": (36100, "ten state machines; five follow public documents with hundreds of norms"),
    "runner": (2300, "`moot run`: starting, watching and answering for a program"),
    "store": (2950, "SQLite and memory behind one contract, and artifacts by hash"),
    "surfaces": (18000, "every command, the hooks, MCP tools, the page and the demonstration"),
    "system": (2000, "git, beads, processes and running approved commands"),
    "testing": (200, "given, when, then for state machines"),
    "usage": (1250, "tokens and cost that tools report, and telemetry"),
    "verify": (4200, "verifies exported bundles and shares no code with the rest"),
    "workspace": (3250, "folders, locks, settings, caches and what is remembered outside"),
}
ROW = re.compile(r'^    "([a-z_/]+)": \((\d+), ', re.MULTILINE)


def find_package(module: Module) -> str:
    folders = module.path.relative_to(PACKAGE).parts[:-1]
    return "/".join(folders[: 2 if folders[:1] == ("api",) else 1]) or "moot"


def count_lines() -> Counter[str]:
    lines = Counter[str]()
    for module in modules():
        lines[find_package(module)] += module.text.count("\n")
    return lines


def round_up(lines: int) -> int:
    return -(-lines // STEP) * STEP


def test_no_package_is_larger_than_its_row() -> None:
    over = {
        package: f"{lines} lines, its row allows {BUDGET[package][0]}"
        for package, lines in count_lines().items()
        if lines > BUDGET[package][0]
    }
    assert over == {}, "delete as much as you add, or raise the row and say why"


def test_every_package_has_a_row_and_every_row_a_package() -> None:
    assert list(BUDGET) == ["moot", *sorted(count_lines().keys() - {"moot"})]


def test_a_row_is_a_round_number_with_a_reason() -> None:
    for package, (lines, why) in BUDGET.items():
        assert lines % STEP == 0, package
        assert len(why.split()) >= 5, package


def write_budget() -> None:
    """Set the number of every row to the size that its package has now."""
    lines = count_lines()
    file = Path(__file__)
    text = ROW.sub(
        lambda row: f'    "{row[1]}": ({round_up(lines[row[1]])}, ', file.read_text("utf-8")
    )
    file.write_text(text, "utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m tests.tidy.test_budget --write")
    write_budget()
