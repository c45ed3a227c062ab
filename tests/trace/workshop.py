"""A real project with a workspace and four agents, and a trace in it as far as a test needs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from moot.core.clock import system_clock
from moot.core.machine import Command, KeyClass
from moot.engine.agents import register
from moot.engine.job import JobOutcome
from moot.flows.trace import execution, tracing
from moot.flows.trace.execution import EndedRun
from moot.keys.folder import KeyFolder
from moot.protocols.trace import commands as ask
from moot.protocols.trace import events as did
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.model import Role, Stage, State
from moot.protocols.trace.policy import DEFAULT_POLICY, Policy
from moot.workspace.create import create_workspace
from moot.workspace.workspace import Workspace

PLANNER, EXECUTOR, CRITIC, AUDITOR = "amber-otter", "teal-crane", "coral-finch", "slate-heron"
AGENTS = dict(zip(Role, (PLANNER, EXECUTOR, CRITIC, AUDITOR), strict=True))
PYTHON = sys.executable
TOOL = "python"


class Workshop:
    """`space` is open; `root` is the project's root."""

    def __init__(self, root: Path, keys: Path, space: Workspace) -> None:
        self.root = root
        self.keys = keys
        self.space = space
        self.stream = ""
        self.env = {"PATH": os.environ["PATH"], "HOME": str(keys)}

    def begin(self, policy: Policy = DEFAULT_POLICY) -> str:
        self.stream = tracing.open_trace(self.space, "see", AGENTS, policy=policy).stream
        return self.stream

    def ask(self, role: Role, command: Command) -> JobOutcome:
        return self.space.engine.execute(self.stream, command, AGENTS[role])

    def approved(self, *tools: str) -> str:
        """A proposal that the critic has approved."""
        made = self.ask(
            Role.PLANNER,
            ask.CreateProposal(
                objective="look",
                required_tools=tools or (TOOL,),
                assumptions=("none",),
                expected_evidence=("a text",),
            ),
        )
        name = made.newest(did.ProposalCreated).event.proposal_id
        review = ask.ReviewProposal(proposal_id=name, status="approved", rationale="fine")
        self.ask(Role.CRITIC, review)
        return name

    def intend(self, proposal: str, *words: str, **more: Any) -> str:
        """An intent that may run: the critic agrees wherever it must."""
        usual = {"tool": TOOL, "risk": "low", "justification": "to see"}
        command = ask.SignIntent(proposal_id=proposal, command=words, **{**usual, **more})
        made = self.ask(Role.EXECUTOR, command).newest(did.ToolIntentSigned).event
        if made.needs:
            agreed = ask.ReviewIntent(intent_id=made.intent_id, status="approved", rationale="ok")
            self.ask(Role.CRITIC, agreed)
        return made.intent_id

    def script(self, code: str, **more: Any) -> str:
        """An intent that runs a piece of Python."""
        return self.intend(self.approved(), PYTHON, "-c", code, **more)

    def execute(self, intent: str, **env: str) -> EndedRun:
        environment = {**self.env, **env}
        return execution.execute(self.space, self.stream, intent, EXECUTOR, environment, self.root)

    @property
    def state(self) -> State:
        return self.space.engine.state(TRACE, self.stream)

    def stage(self) -> Stage:
        """A call, so that nobody (mypy included) takes what it was for what it is."""
        return self.state.stage

    @property
    def length(self) -> int:
        with self.space.store.read() as view:
            head = view.head(self.stream)
        return 0 if head is None else head.seq + 1

    def types(self) -> list[str]:
        with self.space.store.read() as view:
            found = [record.body.type for record in view.records(self.stream)]
        return [name.partition(".")[2] for name in found]

    def output(self, done: EndedRun, name: str) -> bytes:
        (one,) = (one for one in done.outputs if one.name == name)
        return b"".join(self.space.artifacts.chunks(one.ref.sha256))

    def last(self) -> Any:
        """The newest event."""
        from moot.engine.replay import read_record
        from moot.protocols.trace.machine import MACHINE

        with self.space.store.read() as view:
            (*_, record) = view.records(self.stream)
        return read_record(MACHINE, record).event

    def to_final(self) -> str:
        """Everything up to the final statement; returns the execution."""
        done = self.execute(self.script("print('seen')"))
        evidence = tracing.resolve_evidence(self.space, self.stream, f"{done.execution}/stdout")
        self.ask(
            Role.EXECUTOR,
            ask.IssueClaim(
                text="it prints",
                confidence="0.9",
                evidence=(evidence,),
                execution_ids=(done.execution,),
            ),
        )
        self.ask(Role.EXECUTOR, ask.SignFinalStatement(statement="it does"))
        return done.execution


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@contextmanager
def workshop(place: Path) -> Iterator[Workshop]:
    """A repository with one committed file, `a.txt`."""
    root, keys = place / "project", KeyFolder(place / "keys")
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "a.txt").write_text("one\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    create_workspace(root, keys, system_clock)
    with Workspace(root / ".moot", keys) as space:
        for name in AGENTS.values():
            signer = keys.add_key(space.trust.origin, name, KeyClass.AGENT)
            register(space.engine, name, signer, custodian=keys.custodian)
        yield Workshop(root, keys.path, space)


def reopened(shop: Workshop) -> Workshop:
    """As another process finds it: nothing is remembered."""
    space = Workspace(shop.root / ".moot", KeyFolder(shop.keys))
    made = Workshop(shop.root, shop.keys, space)
    made.stream = shop.stream
    return made
