"""Each real tool in its own terminal, started by `moot run` alone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from tests.project import CRANE
from tests.real_tools.scripted_model import Model
from tests.real_tools.terminal import end_servants_of, run_in_terminal
from tests.real_tools.tool_project import EACH, MOOT_RUN, ToolProject, each_of
from tests.real_tools.tools import SECONDS, Tool

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "claude": ("claude", "--dangerously-skip-permissions", "do it"),
    "codex": (
        *("codex", "--dangerously-bypass-approvals-and-sandbox"),
        *("--dangerously-bypass-hook-trust", "-m", "gpt-5.5", "do it"),
    ),
    "gemini": ("gemini", "--yolo", "-i", "do it"),
    "opencode": ("opencode", "--prompt", "do it"),
}
# What a person at the terminal reads of it; Gemini CLI and opencode show that it failed, not why.
SHOWS_REASON = frozenset({"claude", "codex"})


def answer_first_questions(project: ToolProject) -> None:
    """What a tool asks somebody who has never started it, about itself and not about hooks."""
    root, home = str(project.root), project.home
    if project.tool.name == "claude":
        known = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": ["fake"], "rejected": []},
            "projects": {root: {"hasTrustDialogAccepted": True}},
        }
        (home / ".claude.json").write_text(json.dumps(known), encoding="utf-8")
        (home / ".claude").mkdir()
        settings = json.dumps({"skipDangerousModePermissionPrompt": True})
        (home / ".claude/settings.json").write_text(settings, encoding="utf-8")
    if project.tool.name == "codex":
        project.tool.prepare(project.root, home, "http://127.0.0.1:9")
        config = home / ".codex/config.toml"
        seen = '[notice.model_migrations]\n"gpt-5.5" = "gpt-6-sol"\n[tui]\nanimations = false\n'
        config.write_text(config.read_text("utf-8") + seen, encoding="utf-8")


def perform_in_terminal(
    project: ToolProject, words: tuple[str, ...], answers: Mapping[bytes, bytes] | None = None
) -> tuple[Model, str]:
    """Until the free file is written, which is the model's second step."""
    names = ("held.txt", "free.txt")
    with Model(*(project.tool.write(str(project.file(name))) for name in names)) as model:
        project.tool.prepare(project.root, project.home, model.url)
        try:
            drawn = run_in_terminal(
                (*MOOT_RUN, *words),
                project.root,
                project.tool_env(model.url),
                project.file("free.txt").exists,
                SECONDS,
                answers,
            )
        finally:
            end_servants_of(project.home)
    print(drawn[-3000:])  # noqa: T201 - shown if the test fails
    return model, drawn


def words_on(drawn: str) -> str:
    """What was drawn, as words: a terminal's own signs between them are one space."""
    return " ".join(re.sub(r"\x1b\[[0-9;?>]*[A-Za-z]", " ", drawn).split())


@EACH
def test_in_its_terminal_it_is_guarded(project: ToolProject, tool: Tool) -> None:
    project.uninstall()
    project.reserve(CRANE, "held.txt")
    answer_first_questions(project)
    model, drawn = perform_in_terminal(project, COMMANDS[tool.name])
    assert project.file("free.txt").exists()
    assert not project.file("held.txt").exists()
    assert "held.txt is held by teal-crane" in model.heard
    if tool.name in SHOWS_REASON:
        assert "held by teal-crane" in words_on(drawn)


@each_of("codex")
def test_a_yes_at_the_terminal_is_the_trust_that_codex_wants(
    project: ToolProject, tool: Tool
) -> None:
    project.uninstall()
    project.reserve(CRANE, "held.txt")
    answer_first_questions(project)
    bypass = "--dangerously-bypass-hook-trust"
    words = tuple(word for word in COMMANDS[tool.name] if word != bypass)
    model, _drawn = perform_in_terminal(project, words, {b"[y/N]": b"y\r"})
    assert not project.file("held.txt").exists()
    assert "held.txt is held by teal-crane" in model.heard
    assert "trusted_hash" in (project.home / ".codex/config.toml").read_text("utf-8")
