"""A real project with a workspace and four agents, and a trace in it as far as a test needs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from moot.api.traces import running, tracing
from moot.api.traces.running import EndedRun
from moot.core.machine import Command
from moot.engine.job import JobOutcome
from moot.keys.folder import KeyFolder
from moot.protocols.trace import commands as ask
from moot.protocols.trace import events as did
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.model import Role, Stage, State
from moot.protocols.trace.policy import DEFAULT_POLICY, Policy
from moot.workspace.workspace import Workspace
from tests.project import Project

PLANNER, EXECUTOR, CRITIC, AUDITOR = "amber-otter", "teal-crane", "coral-finch", "slate-heron"
AGENTS = dict(zip(Role, (PLANNER, EXECUTOR, CRITIC, AUDITOR), strict=True))
PYTHON = sys.executable
TOOL = "python"


class TraceProject(Project):
    """`space` is the open workspace, `stream` the trace that was begun."""

    def __init__(self, root: Path, keys: Path) -> None:
        super().__init__(root, keys)
        self.stream = ""

    def open(self) -> None:
        self.space = Workspace(self.root / ".moot", KeyFolder(self.keys))
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.keys)}

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

    def execute_intent(self, intent: str, **env: str) -> EndedRun:
        environment = {**self.env, **env}
        return running.execute(self.space, self.stream, intent, EXECUTOR, environment, self.root)

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
        done = self.execute_intent(self.script("print('seen')"))
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


@contextmanager
def open_trace_project(place: Path, *more: str) -> Iterator[TraceProject]:
    """A repository with one committed file, `a.txt`, and an agent for each role.

    With `more` agents it has a ledger of its own, with other keys.
    """
    made = TraceProject(place / "project", place / "keys")
    made.init_git("a.txt")
    made.init(*AGENTS.values(), *more)
    made.open()
    with made.space:
        yield made


def reopened(project: TraceProject) -> TraceProject:
    """As another process finds it: nothing is remembered."""
    made = TraceProject(project.root, project.keys)
    made.open()
    made.stream = project.stream
    return made
