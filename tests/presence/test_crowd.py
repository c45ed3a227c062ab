"""Thirty processes at once: no error, nothing lost, and never two owners of one file.

`MOOT_CROWD_SECONDS=20` makes it last longer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from moot.api.presence import arrival
from moot.core.record import Record
from moot.protocols.presence import STREAM
from moot.protocols.presence.machine import MACHINE as PRESENCE
from tests.project import Project

PROCESSES = 30
SECONDS = float(os.environ.get("MOOT_CROWD_SECONDS", "3"))
BRIEF = 1.0
WORKER = Path(__file__).with_name("crowd_process.py")


@pytest.fixture
def crowded(tmp_path: Path) -> tuple[Project, list[str]]:
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, tmp_path / "keys")
    project.ok("init")
    with project.workspace() as space:
        names = [arrival.register_fresh_name(space) for _ in range(PROCESSES)]
    return project, names


def set_loose(project: Project, names: Iterable[str], seconds: float) -> dict[str, dict[str, Any]]:
    """All begin together; each tells what was acknowledged to it."""
    words = (sys.executable, str(WORKER), str(project.root / ".moot"), str(project.keys))
    running = {
        name: subprocess.Popen(
            [*words, name, str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in names
    }
    for one in running.values():
        assert one.stdout is not None
        assert one.stdout.readline() == b"ready\n"
    for one in running.values():
        assert one.stdin is not None
        one.stdin.write(b"go\n")
        one.stdin.flush()
    told = {name: one.communicate(timeout=300) for name, one in running.items()}
    assert {name: err.decode() for name, (_, err) in told.items() if err} == {}
    return {name: json.loads(out) for name, (out, _) in told.items()}


def share(a: str, b: str) -> bool:
    """An independent version: this test uses no code of the product for paths."""
    one, two = a.split("/"), b.split("/")
    short = min(len(one), len(two))
    return one[:short] == two[:short]


def replayed(records: Iterable[Record]) -> Iterator[tuple[str, str, int]]:
    """What the signed records say, step by step: (what, who, number). Fails on two owners."""
    live: dict[str, tuple[str, int]] = {}
    newest = 0
    for record in records:
        body = record.body
        kind, who = body.type.removeprefix("presence."), body.actor.id
        if kind == "scope_reserved":
            key, number = body.data["key"], body.data["fencing"]
            others = [
                held for held, (owner, _) in live.items() if owner != who and share(held, key)
            ]
            assert others == [], (record.seq, who, key, live)
            assert number > newest, record.seq
            newest, live[key] = number, (who, number)
        elif kind == "scope_released":
            number = body.data["fencing"]
            assert live.pop(body.data["key"]) == (who, number), record.seq
        else:
            assert kind == "incursion_noted", record.seq
            continue
        yield kind, who, number
    for who, number in live.values():
        yield "held", who, number


@pytest.mark.parametrize("seconds", [BRIEF, pytest.param(SECONDS, marks=pytest.mark.thorough)])
def test_a_crowd_never_shares_a_file_and_loses_nothing(
    crowded: tuple[Project, list[str]], seconds: float
) -> None:
    project, names = crowded
    told = set_loose(project, names, seconds)
    with project.workspace() as space, space.store.read() as view:
        history = list(replayed(view.records(STREAM)))
        shown = {(one.owner, one.fencing) for one in space.engine.state(PRESENCE, STREAM).live}
    for kind, said in (("scope_reserved", "reserved"), ("scope_released", "released")):
        recorded = {(who, number) for what, who, number in history if what == kind}
        assert recorded == {(name, n) for name in names for n in told[name][said]}
    held = {(name, number) for name in names for number in told[name]["held"].values()}
    assert {(who, number) for what, who, number in history if what == "held"} == held
    assert shown == held
    assert all(one["beats"] or one["reserved"] or one["refused"] for one in told.values())
    verdict = project.run("verify")
    assert verdict.code == 0, verdict
    assert verdict.out.startswith("INTACT")
