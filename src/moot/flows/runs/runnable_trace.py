"""A trace for the runner: the planner proposes, the critic judges, the executor intends and claims.

What runs is never the reply itself: an intent is signed, judged where the policy says so, and
run by the trace's own rules, and only if whoever started the run allowed it. The audit is the
machine's own check, signed by the auditor.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from moot.agents.brief import Brief
from moot.agents.budget import Spent
from moot.agents.outcome import CallFailure, CallOutcome, RunEnd
from moot.agents.quoting import AuthorTrust, QuotedText
from moot.agents.repeats import TIMES, Utterance
from moot.agents.runnable import PassOverResult
from moot.core.errors import Malformed, Refused
from moot.core.machine import Command, Due
from moot.core.names import OPERATOR
from moot.engine.replay import read_record
from moot.flows.runs.run_record import NoRunRecord, RunRecord
from moot.flows.runs.trace_prompts import (
    JUDGE,
    REPLY_REQUESTS,
    REVISE_INTENT,
    REVISE_PROPOSAL,
    SCHEMAS,
    ChallengeReply,
    ClaimReply,
    ClaimReviewReply,
    IntentReply,
    IntentReviewReply,
    ProposalReply,
    ReviewReply,
    StatementReply,
)
from moot.flows.trace import auditing, execution, tracing
from moot.protocols.trace import commands as ask
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.model import Profile, Review, Role, State
from moot.workspace.workspace import Workspace

MOST_EVENTS: Final = 60
MOST_OUTPUT: Final = 4_000
RUN: Final = "run an intent"
VERIFY: Final = ("verify", "complete the verification")
FINISH: Final = "finish with a final statement"
# What the roles say in their own words; a circle shows in the last few of them.
WORDS: Final = ("objective", "rationale", "justification", "command", "text", "reason")
MOST_CIRCLED: Final = 2 * TIMES


class ExecutionSite(NamedTuple):
    """Where intents run, and with which environment; None of it is given to a participant."""

    root: Path
    env: Mapping[str, str]


class RunnableTrace:
    def __init__(
        self,
        workspace: Workspace,
        stream: str,
        seated: Iterable[str],
        site: ExecutionSite | None = None,
        record: RunRecord | None = None,
    ) -> None:
        """With `site`, intents that may run are run; without it they wait for someone else
        (AGT-067)."""
        self._workspace = workspace
        self._stream = stream
        self._seated = frozenset(seated)
        self._site = site
        self._record = record or NoRunRecord()
        # That a claim stands is no event of a trace; another run would ask the critic once more.
        self._stands: set[str] = set()

    @property
    def _state(self) -> State:
        return self._workspace.engine.state(TRACE, self._stream)

    def advance(self) -> None:
        """Runs that were agreed upon, and the audit: once each, then everything is looked at anew.

        A run that failed is not repeated: its intent is closed, and the executor must sign another.
        """
        for due in self._agenda():
            if due.who not in self._seated:
                continue
            if due.what == RUN and self._site is not None:  # AGT-067: agreed upon, and allowed
                self._run(due, self._site)
                return
            if due.what in VERIFY:  # AGT-067: the audit is the machine's
                auditing.audit_trace(self._workspace, self._stream, due.who, Profile.DEFAULT)
                return

    def _run(self, due: Due, site: ExecutionSite) -> None:
        """A refused run (a scope that another holds, say) stays due, for a person to see."""
        with suppress(Refused):
            execution.execute(
                self._workspace, self._stream, _about(due), due.who, site.env, site.root
            )

    def _agenda(self) -> list[Due]:
        return [due for _, due in self._workspace.engine.agenda([self._stream])]

    def dues(self) -> Sequence[Due]:
        """What a participant can answer; for the rest a person is waited for."""
        found = [*self._to_judge(), *self._agenda()]
        ours = [due for due in found if due.what in REPLY_REQUESTS]
        return ours or [
            Due(who=OPERATOR, what=due.what, subject=f"{due.who}: {due.subject}") for due in found
        ]

    def _to_judge(self) -> Iterator[Due]:
        """Before the work is closed the critic looks at every claim that stands, once (AGT-069)."""
        if not any(due.what == FINISH for due in self._agenda()):
            return
        state = self._state
        critic = tracing.agent_in_role(state, Role.CRITIC)
        for claim in state.claims.values():
            if critic in self._seated and claim.id not in self._stands:
                yield Due(who=critic, what=JUDGE, subject=claim.id, since=claim.since)

    def may_be_asked_together(self, due: Due) -> bool:
        del due
        return False

    def brief(self, due: Due) -> Brief:
        state, wanted = self._state, REPLY_REQUESTS[due.what]
        task = QuotedText(author="the task", trust=AuthorTrust.MATERIAL, text=state.task)
        events = list(self._events())
        mine = sum(quote.author == due.who for quote in events)
        return Brief(
            agent=due.who,
            role="one of the four roles of a recorded piece of work",
            what=wanted.what,
            task=wanted.task,
            schema=SCHEMAS[wanted.what],
            view={"stage": str(state.stage), "about": due.subject.partition(":")[0]},
            quotes=(task, *events[-MOST_EVENTS:]),
            number=mine,
        )

    def _events(self) -> Iterator[QuotedText]:
        with self._workspace.store.read() as view:
            records = [read_record(TRACE, record) for record in view.records(self._stream)]
        for one in records:
            name = type(one.event).__name__
            text = json.dumps(msgspec.to_builtins(one.event), ensure_ascii=False)
            trust = AuthorTrust.AGENT if one.actor.id in self._roles() else AuthorTrust.SYSTEM
            place = f"event {one.seq}, {name}"
            yield QuotedText(author=one.actor.id, trust=trust, place=place, text=text)
            yield from self._outputs(one.event)

    def _roles(self) -> set[str]:
        return {
            tracing.agent_in_role(self._state, role)
            for role in Role
            if self._state.binding_of(role)
        }

    def _outputs(self, event: Any) -> Iterator[QuotedText]:
        """What a run printed, shortened; the whole of it is stored."""
        for output in getattr(event, "outputs", ()):
            raw = b"".join(self._workspace.artifacts.chunks(output.sha256))[:MOST_OUTPUT]
            name = f"{event.execution_id}/{output.name}"
            text = raw.decode("utf-8", "replace")
            yield QuotedText(author="a program", trust=AuthorTrust.UNSIGNED, place=name, text=text)

    def submit(self, due: Due, reply_fields: dict[str, Any]) -> None:
        wanted = REPLY_REQUESTS[due.what]
        try:
            reply = msgspec.convert(reply_fields, wanted.shape)
        except msgspec.ValidationError as error:
            raise Malformed(str(error), code="bad_reply", hint="follow the schema") from None
        execution.recover(self._workspace, self._stream)
        command = _COMMANDS[wanted.what](self, due, reply)
        if command is not None:
            tracing.execute_step(self._workspace, self._stream, command, due.who)

    def pass_over(self, due: Due, failure: CallFailure) -> PassOverResult:
        """No role is played by another, and a trace has no clock: it waits."""
        del due, failure
        return PassOverResult.NEVER

    def history(self) -> Sequence[Utterance]:
        """The latest words of the roles: what is blocked and revised without end is a circle
        (AGT-069)."""
        with self._workspace.store.read() as view:
            records = [read_record(TRACE, record) for record in view.records(self._stream)]
        found = [(one.actor.id, _words(one.event)) for one in records]
        return [Utterance(who, text) for who, text in found if text][-MOST_CIRCLED:]

    def standing(self) -> dict[str, Any]:
        return {"state": str(self._state.stage)}

    def spent(self) -> Spent:
        return self._record.spent()

    def record_outcome(self, outcome: CallOutcome) -> None:
        self._record.record_outcome(outcome)

    def record_end(self, ended: RunEnd) -> None:
        self._record.record_end(ended)

    # A reply as a command -------------------------------------------------------------------------

    def propose(self, due: Due, reply: ProposalReply) -> Command:
        blocked = due.what == REVISE_PROPOSAL
        return ask.CreateProposal(
            objective=reply.objective,
            required_tools=tuple(reply.tools),
            assumptions=tuple(reply.assumptions),
            expected_evidence=tuple(reply.expected_evidence),
            supersedes=_about(due) if blocked else None,
        )

    def review(self, due: Due, reply: ReviewReply) -> Command:
        return ask.ReviewProposal(
            proposal_id=_about(due),
            status=reply.verdict,
            rationale=reply.rationale,
            conditions=tuple(reply.conditions),
        )

    def intend(self, due: Due, reply: IntentReply) -> Command:
        agreed = [one.id for one in self._state.proposals.values() if one.review in _AGREED]
        return ask.SignIntent(
            proposal_id=agreed[-1] if agreed else "",
            tool=reply.tool,
            command=tuple(reply.command),
            risk=reply.risk,
            justification=reply.why,
            writes=tuple(reply.writes),
            supersedes=_about(due) if due.what == REVISE_INTENT else None,  # AGT-069
        )

    def review_intent(self, due: Due, reply: IntentReviewReply) -> Command:
        return ask.ReviewIntent(
            intent_id=_about(due), status=reply.verdict, rationale=reply.rationale
        )

    def judge(self, due: Due, reply: ClaimReviewReply) -> Command | None:
        if reply.verdict == "stands":
            self._stands.add(due.subject)
            return None
        return ask.ChallengeClaim(claim_id=due.subject, reason=reply.reason)

    def answer(self, due: Due, reply: ChallengeReply) -> Command:
        # AGT-069: the executor answers a challenge.
        if reply.action == "withdraw":
            return ask.WithdrawClaim(claim_id=due.subject, reason=reply.reason)
        better = ClaimReply(reply.text, reply.confidence, reply.evidence)
        return self.claim(due, better, supersedes=due.subject)

    def claim(self, _due: Due, reply: ClaimReply, supersedes: str | None = None) -> Command:
        return tracing.claim_command(
            self._workspace,
            self._stream,
            reply.text,
            f"{reply.confidence:g}",
            reply.evidence,
            supersedes=supersedes,
        )

    def finish(self, _due: Due, reply: StatementReply) -> Command:
        return ask.SignFinalStatement(statement=reply.statement)


def _words(event: Any) -> str:
    texts = (getattr(event, name, None) for name in WORDS)
    return " ".join(" ".join(one) if isinstance(one, tuple) else one for one in texts if one)


def _about(due: Due) -> str:
    return due.subject.partition(":")[0]


_AGREED: Final = (Review.APPROVED, Review.CONDITIONAL)
_COMMANDS: Final[dict[str, Callable[[RunnableTrace, Due, Any], Command | None]]] = {
    "proposal": RunnableTrace.propose,
    "review": RunnableTrace.review,
    "intent": RunnableTrace.intend,
    "intent_review": RunnableTrace.review_intent,
    "claim": RunnableTrace.claim,
    "claim_review": RunnableTrace.judge,
    "challenge_answer": RunnableTrace.answer,
    "statement": RunnableTrace.finish,
}
