"""A repository with two worktrees, a workspace and two agents; and what tools send there.

`calls/*.json` are events as each tool really sends them, with `$ROOT` for the session's folder
and `$FILE` for the file that is edited.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import Reserve
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.protocols.presence.model import State
from moot.surfaces.hooks.entry import Reply, answer
from tests.cli.project import Project, Result

OTTER, CRANE = "amber-otter", "teal-crane"
CALLS = Path(__file__).parent / "calls"


class Yard(Project):
    """`root` is the main worktree, `other` the second one."""

    @property
    def other(self) -> Path:
        return self.root.parent / "second"

    def git(self, *words: str, cwd: str | Path | None = None, **settings: str) -> Result:
        done = subprocess.run(
            ["git", *words],
            cwd=cwd or self.root,
            env={**self.env, **IDENTITY, **settings},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def hook(
        self, tool: str, said: dict[str, Any] | bytes, agent: str | None = OTTER, **settings: str
    ) -> Reply:
        """The answer of this process, quickly."""
        data = said if isinstance(said, bytes) else json.dumps(said).encode()
        here = str(self.root) if isinstance(said, bytes) else str(said.get("cwd") or self.root)
        env = {**self.env, **({"MOOT_AGENT": agent} if agent else {}), **settings}
        return answer(tool, data, env, here)

    def start_hook(
        self, tool: str, said: dict[str, Any] | bytes, agent: str | None = OTTER, **settings: str
    ) -> subprocess.Popen[bytes]:
        """A real process, fed and running."""
        data = said if isinstance(said, bytes) else json.dumps(said).encode()
        env = {**self.env, **({"MOOT_AGENT": agent} if agent else {}), **settings}
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "moot", "hook", tool],
            cwd=self.root,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert child.stdin is not None
        child.stdin.write(data)
        child.stdin.close()
        child.stdin = None  # `communicate` would flush it
        return child

    def reserve(self, agent: str, *scopes: str, work: str | None = None) -> None:
        root = str(self.root)
        command = Reserve(scopes=scopes, project_root=root, worktree=root, work=work)
        self.execute(agent, command, stream=STREAM)

    @property
    def presence(self) -> State:
        with self.workspace() as space:
            return space.engine.state(PRESENCE, STREAM)

    def owners(self) -> dict[str, str]:
        return {held.scope: held.owner for held in self.presence.live}

    def letters(self, agent: str = "teal-crane") -> list[dict[str, Any]]:
        """What is in somebody's inbox, the newest first, each with its subject and body."""
        inbox = self.ok("--as", agent, "mail", "inbox", "--all", "--peek")["messages"]
        inbox.sort(key=lambda each: str(each["at"]), reverse=True)
        return [self.ok("--as", agent, "mail", "show", each["id"])["message"] for each in inbox]

    def told_changes(self, agent: str = "teal-crane") -> list[tuple[str, str, str, str]]:
        """The changes that a holder was told of, the newest first: while whose command (empty: by
        someone unknown), which file, and git's ids before and after."""
        changes = []
        for letter in self.letters(agent):
            who = re.search(r"changed while (\S+)'s command ran; no one else", letter["subject"])
            for line in re.findall(r"^- (.*) in .*: \w+ \((\S+) -> (\S+)\)$", letter["body"], re.M):
                path, *ids = line
                blobs = ("" if each == "nothing" else each for each in ids)
                changes.append((who[1] if who else "", path, *blobs))
        return changes

    def events(self, kind: str) -> list[dict[str, Any]]:
        """All v1 events of a kind on record."""
        with self.workspace() as space, space.store.read() as view:
            rows = [json.loads(row.value) for row in view.rows("presence.events")]
        return [row for row in rows if row["event_type"] == kind]


IDENTITY = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


def call(name: str, root: Path, file: str = "a.txt", **more: Any) -> dict[str, Any]:
    """A captured event; `more` replaces fields of it."""
    text = (CALLS / f"{name}.json").read_text("utf-8")
    said: dict[str, Any] = json.loads(text.replace("$ROOT", str(root)).replace("$FILE", file))
    return {**said, **more}


def reason(reply: Reply) -> str:
    """The reason of a refusal, which must be the answer that blocks in every tool."""
    assert (reply.code, reply.err) == (0, "")
    said = json.loads(reply.out)
    text: str = said["reason"]
    inner = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": text,
    }
    assert said == {"decision": "block", "reason": text, "hookSpecificOutput": inner}
    return text


def told(reply: Reply) -> str:
    """The text a reply puts into the model's context, by JSON."""
    assert (reply.code, reply.err) == (0, "")
    text: str = json.loads(reply.out)["hookSpecificOutput"]["additionalContext"]
    return text
