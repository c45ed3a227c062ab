"""A project in which a real tool is started: two agents, a model of ours, and what came of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.hooks.tool_calls import call
from tests.project import CRANE, OTTER, Project
from tests.real_tools.scripted_model import Model, Step
from tests.real_tools.tools import SECONDS, TOOLS, Tool, installed

EACH = pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
MOOT_RUN = ("moot", "run", "--")


def each_of(*names: str) -> pytest.MarkDecorator:
    """A test for these tools only."""
    return pytest.mark.parametrize("tool", [TOOLS[name] for name in names], ids=names)


class Played(NamedTuple):
    """How a tool's run ended, and the model that it talked to."""

    model: Model
    exit_status: int
    out: str
    err: str


class ToolProject(Project):
    """The hooks of `tool` are installed, unless a test takes them out again."""

    def __init__(self, tmp: Path, tool: Tool) -> None:
        self.tool = tool
        self.home = tmp / "home"
        super().__init__(tmp / "project", tmp / "keys", HOME=str(self.home), NO_PROXY="127.0.0.1")
        self.home.mkdir()
        self.bin = tmp / "bin"
        self.bin.mkdir()
        self.moot = self.bin / "moot"
        text = f'#!/bin/sh\nexec "{sys.executable}" -P -m moot "$@"\n'
        self.moot.write_text(text, encoding="utf-8")
        self.moot.chmod(0o755)
        self.env["PATH"] = f"{self.bin}:{installed()}:{self.env['PATH']}"
        self.init_git("kept.txt")
        self.init(OTTER, CRANE)
        self.ok("hook", "install", tool.name)

    def file(self, name: str) -> Path:
        return self.root / name

    def add_worktree(self) -> Path:
        assert self.git("worktree", "add", "-q", "-b", "feature", str(self.other)).code == 0
        return self.other

    def uninstall(self) -> None:
        """As if the hooks of this tool had never been installed."""
        self.ok("hook", "uninstall", self.tool.name, "--all")

    def tool_env(self, url: str, agent: str | None = None) -> dict[str, str]:
        named = {"MOOT_AGENT": agent} if agent else {}
        return {**self.env, **self.tool.env(url), **named}

    def play(
        self,
        *steps: Step,
        agent: str | None = OTTER,
        meanwhile: Callable[[], None] | None = None,
        cwd: Path | None = None,
    ) -> Model:
        """Run the tool once, to its end; the model that it talked to."""
        model = Model(*steps, meanwhile=meanwhile)
        return self.perform(model, self.tool.command, agent=agent, cwd=cwd).model

    def perform(
        self,
        model: Model,
        words: tuple[str, ...],
        *,
        agent: str | None = None,
        cwd: Path | None = None,
        without: tuple[str, ...] = (),
        settings: Mapping[str, str] | None = None,
    ) -> Played:
        """Run a program to its end, with our model for the tool to find.

        `without` are variables that it does not find, `settings` ones that it finds in addition.
        """
        where = cwd or self.root
        with model:
            self.tool.prepare(where, self.home, model.url)
            env = {**self.tool_env(model.url, agent), **(settings or {})}
            done = subprocess.run(
                words,
                cwd=where,
                env={name: value for name, value in env.items() if name not in without},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        print(done.stdout[-2000:], done.stderr[-2000:])  # noqa: T201 - shown if the test fails
        return Played(model, done.returncode, done.stdout, done.stderr)

    def edit_as_crane(self, name: str, text: str, cwd: Path | None = None) -> None:
        """The other agent edits a file as a tool would: checked, written, told of afterwards."""
        root = cwd or self.root
        more: dict[str, Any] = {"session_id": "crane-session"}
        self.hook("claude", call("claude-write", root, name, **more), CRANE)
        (root / name).write_text(text, encoding="utf-8")
        self.hook("claude", call("claude-write-done", root, name, **more), CRANE)
