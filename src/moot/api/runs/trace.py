"""Run a trace: participants play its roles, and its own rules run the intents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec

from moot.agents.brief import AuthorTrust, Brief, QuotedText, schema_of
from moot.agents.outcome import CallFailure
from moot.agents.participant import Spec
from moot.agents.participant_kinds import RunSurroundings
from moot.agents.runnable import TIMES, PassOverResult, RunWatcher, Utterance
from moot.api.runs.seats import describe_seats, seat_participants
from moot.api.runs.turns import (
    DEFAULT_LIMITS,
    DecisionRunRecord,
    FinishedRun,
    Limits,
    NoRunRecord,
    RecordedRun,
    RunRecord,
    begin_decision,
    read_reply,
    run_seats,
)
from moot.api.traces import inspection, running, tracing
from moot.core.errors import Refused
from moot.core.machine import Command, Due, Recorded
from moot.core.names import OPERATOR
from moot.engine.replay import read_record
from moot.protocols.decision.commands import AskQuestion, OpenSession
from moot.protocols.decision.model import MAX_QUESTION, ChamberKind
from moot.protocols.trace.commands import (
    ChallengeClaim,
    CreateProposal,
    ReviewIntent,
    ReviewProposal,
    SignFinalStatement,
    SignIntent,
    WithdrawClaim,
)
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.model import Profile, Review, Role, State
from moot.workspace.workspace import Workspace

# What the roles of a trace are asked for: the shape of each reply, and its task.


class ProposalReply(msgspec.Struct, forbid_unknown_fields=True):
    objective: str
    tools: list[str]
    assumptions: list[str] = []
    expected_evidence: list[str] = []


class ReviewReply(msgspec.Struct, forbid_unknown_fields=True):
    verdict: Literal["approved", "conditional", "rejected", "blocked"]
    rationale: str
    conditions: list[str] = []


class IntentReply(msgspec.Struct, forbid_unknown_fields=True):
    """`command` is the program and its arguments, without a shell."""

    tool: str
    command: list[str]
    risk: Literal["low", "medium", "high", "critical"]
    why: str
    writes: list[str] = []


class IntentReviewReply(msgspec.Struct, forbid_unknown_fields=True):
    verdict: Literal["approved", "blocked"]
    rationale: str


class ClaimReply(msgspec.Struct, forbid_unknown_fields=True):
    """`evidence` names outputs of runs, such as x1/stdout."""

    text: str
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)]
    evidence: list[str]


class ClaimReviewReply(msgspec.Struct, forbid_unknown_fields=True):
    verdict: Literal["stands", "challenged"]
    reason: str = ""


class ChallengeReply(msgspec.Struct, forbid_unknown_fields=True):
    """A better claim in the place of the challenged one, or its withdrawal."""

    action: Literal["revise", "withdraw"]
    reason: str
    text: str = ""
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    evidence: list[str] = []


class StatementReply(msgspec.Struct, forbid_unknown_fields=True):
    statement: str


class ReplyRequest(NamedTuple):
    """What a due step asks for: its short name, the shape of the reply, and the task."""

    what: str
    shape: type[msgspec.Struct]
    task: str


_PROPOSE: Final = ReplyRequest(
    "proposal",
    ProposalReply,
    "You plan. Propose how to do the task quoted below: the objective, the tools it needs, what "
    "you assume, and which evidence will show that it is done.",
)
JUDGE: Final = "judge a claim"
REVISE_INTENT: Final = "revise a blocked intent"
REVISE_PROPOSAL: Final = "revise a blocked proposal"
REPLY_REQUESTS: Final[dict[str, ReplyRequest]] = {
    "propose": _PROPOSE,
    REVISE_PROPOSAL: _PROPOSE,
    "review a proposal": ReplyRequest(
        "review",
        ReviewReply,
        "You are the critic. Judge the proposal that waits: approved, conditional (each intent "
        "needs you too), rejected, or blocked until it is revised. Say why.",
    ),
    "say what you will run": ReplyRequest(
        "intent",
        IntentReply,
        "You execute. Say exactly what you would run for the approved proposal: the program and "
        "its arguments, how risky it is, what it writes, and why. Nothing runs by saying so.",
    ),
    REVISE_INTENT: ReplyRequest(
        "intent",
        IntentReply,
        "You execute. The critic has blocked the intent that `about` names. Say what you would run "
        "instead, so that the critic's reason is met. Nothing runs by saying so.",
    ),
    "review an intent": ReplyRequest(
        "intent_review",
        IntentReviewReply,
        "You are the critic. Approve the intent that waits, or block it, and say why.",
    ),
    "claim what was found": ReplyRequest(
        "claim",
        ClaimReply,
        "You execute. Claim what the finished runs show, how sure you are, and on which of their "
        "outputs it rests.",
    ),
    JUDGE: ReplyRequest(
        "claim_review",
        ClaimReviewReply,
        "You are the critic. Look at the claim that `about` names and at its evidence. Say that it "
        "stands, or challenge it and say why the evidence is weak or contradicts it.",
    ),
    "answer a challenge": ReplyRequest(
        "challenge_answer",
        ChallengeReply,
        "You execute. The claim that `about` names is challenged. Put a better one in its place, "
        "with its evidence and how sure you are, or withdraw it; and say why.",
    ),
    "finish with a final statement": ReplyRequest(
        "statement", StatementReply, "You execute. Close the work with a final statement."
    ),
}
SCHEMAS: Final = {request.what: schema_of(request.shape) for request in REPLY_REQUESTS.values()}


# A reply never runs by itself: an intent is signed, judged if the policy says so, and run by the
# trace's own rules, and only if the run was started with permission to execute.

MAX_EVENTS: Final = 60
MAX_OUTPUT: Final = 4_000
RUN: Final = "run an intent"
VERIFY: Final = ("verify", "complete the verification")
FINISH: Final = "finish with a final statement"
# Fields with the roles' own texts; repetition shows in the last few of them.
TEXT_FIELDS: Final = ("objective", "rationale", "justification", "command", "text", "reason")
MAX_HISTORY: Final = 2 * TIMES


class ExecutionSite(NamedTuple):
    """Where intents run, and with which environment; participants do not get these."""

    root: Path
    env: Mapping[str, str]


class RunnableTrace(RecordedRun):
    def __init__(
        self,
        workspace: Workspace,
        stream: str,
        seated: Iterable[str],
        site: ExecutionSite | None = None,
        record: RunRecord | None = None,
    ) -> None:
        """With `site`, approved intents are run; without it they wait (AGT-067)."""
        super().__init__(record or NoRunRecord())
        self._workspace = workspace
        self._stream = stream
        self._seated = frozenset(seated)
        self._site = site
        # A trace does not record that the critic upheld a claim; another run asks again.
        self._upheld: set[str] = set()

    @property
    def _state(self) -> State:
        return self._workspace.engine.state(TRACE, self._stream)

    def advance(self) -> None:
        """Run approved intents and the audit, once each; then the state is read again.

        A run that failed is not repeated: its intent is closed, and the executor must sign another.
        """
        for due in self._agenda():
            if due.who not in self._seated:
                continue
            if due.what == RUN and self._site is not None:  # AGT-067: approved and permitted
                root, env = self._site
                # A refused run (for example, another agent holds the scope) stays due.
                with suppress(Refused):
                    running.execute(
                        self._workspace, self._stream, _subject_id(due), due.who, env, root
                    )
                return
            if due.what in VERIFY:  # AGT-067: Moot does the audit
                inspection.audit_trace(self._workspace, self._stream, due.who, Profile.DEFAULT)
                return

    def _agenda(self) -> list[Due]:
        return [due for _, due in self._workspace.engine.agenda([self._stream])]

    def dues(self) -> Sequence[Due]:
        """Return what a participant can answer; else what a person must do."""
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
            if critic in self._seated and claim.id not in self._upheld:
                yield Due(who=critic, what=JUDGE, subject=claim.id, since=claim.since)

    def may_be_asked_together(self, due: Due) -> bool:
        del due
        return False

    def brief(self, due: Due) -> Brief:
        state, request = self._state, REPLY_REQUESTS[due.what]
        task = QuotedText(author="the task", trust=AuthorTrust.MATERIAL, text=state.task)
        events = list(self._events())
        mine = sum(quote.author == due.who for quote in events)
        return Brief(
            agent=due.who,
            role="one of the four roles of a recorded piece of work",
            what=request.what,
            task=request.task,
            schema=SCHEMAS[request.what],
            view={"stage": str(state.stage), "about": _subject_id(due)},
            quotes=(task, *events[-MAX_EVENTS:]),
            number=mine,
        )

    def _events(self) -> Iterator[QuotedText]:
        players = {binding.agent for binding in self._state.roles}
        for one in self._records():
            text = json.dumps(msgspec.to_builtins(one.event), ensure_ascii=False)
            trust = AuthorTrust.AGENT if one.actor.id in players else AuthorTrust.SYSTEM
            place = f"event {one.seq}, {type(one.event).__name__}"
            yield QuotedText(author=one.actor.id, trust=trust, place=place, text=text)
            yield from self._outputs(one.event)

    def _records(self) -> list[Recorded[Any]]:
        with self._workspace.store.read() as view:
            return [read_record(TRACE, record) for record in view.records(self._stream)]

    def _outputs(self, event: Any) -> Iterator[QuotedText]:
        """Quote what a run printed, shortened; the full output is stored."""
        for output in getattr(event, "outputs", ()):
            raw = b"".join(self._workspace.artifacts.chunks(output.sha256))[:MAX_OUTPUT]
            name = f"{event.execution_id}/{output.name}"
            text = raw.decode("utf-8", "replace")
            yield QuotedText(author="a program", trust=AuthorTrust.UNSIGNED, place=name, text=text)

    def submit(self, due: Due, reply_fields: dict[str, Any]) -> None:
        request = REPLY_REQUESTS[due.what]
        reply = read_reply(reply_fields, request.shape)
        running.recover(self._workspace, self._stream)
        command = _COMMANDS[request.what](self, due, reply)
        if command is not None:
            tracing.execute_step(self._workspace, self._stream, command, due.who)

    def pass_over(self, due: Due, failure: CallFailure) -> PassOverResult:
        """Wait: no other agent may play the role, and a trace has no timeouts."""
        del due, failure
        return PassOverResult.NEVER

    def history(self) -> Sequence[Utterance]:
        """Return the latest texts of the roles: endless revising shows there (AGT-069)."""
        found = [(one.actor.id, _own_words(one.event)) for one in self._records()]
        return [Utterance(who, text) for who, text in found if text][-MAX_HISTORY:]

    def standing(self) -> dict[str, Any]:
        return {"state": str(self._state.stage)}

    def propose(self, due: Due, reply: ProposalReply) -> Command:
        blocked = due.what == REVISE_PROPOSAL
        return CreateProposal(
            objective=reply.objective,
            required_tools=tuple(reply.tools),
            assumptions=tuple(reply.assumptions),
            expected_evidence=tuple(reply.expected_evidence),
            supersedes=_subject_id(due) if blocked else None,
        )

    def review(self, due: Due, reply: ReviewReply) -> Command:
        return ReviewProposal(
            proposal_id=_subject_id(due),
            status=reply.verdict,
            rationale=reply.rationale,
            conditions=tuple(reply.conditions),
        )

    def sign_intent(self, due: Due, reply: IntentReply) -> Command:
        approved = [one.id for one in self._state.proposals.values() if one.review in _APPROVALS]
        return SignIntent(
            proposal_id=approved[-1] if approved else "",
            tool=reply.tool,
            command=tuple(reply.command),
            risk=reply.risk,
            justification=reply.why,
            writes=tuple(reply.writes),
            supersedes=_subject_id(due) if due.what == REVISE_INTENT else None,  # AGT-069
        )

    def review_intent(self, due: Due, reply: IntentReviewReply) -> Command:
        return ReviewIntent(
            intent_id=_subject_id(due), status=reply.verdict, rationale=reply.rationale
        )

    def judge(self, due: Due, reply: ClaimReviewReply) -> Command | None:
        if reply.verdict == "stands":
            self._upheld.add(due.subject)
            return None
        return ChallengeClaim(claim_id=due.subject, reason=reply.reason)

    def answer(self, due: Due, reply: ChallengeReply) -> Command:
        # AGT-069: the executor answers a challenge.
        if reply.action == "withdraw":
            return WithdrawClaim(claim_id=due.subject, reason=reply.reason)
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
        return SignFinalStatement(statement=reply.statement)


def _own_words(event: Any) -> str:
    texts = (getattr(event, name, None) for name in TEXT_FIELDS)
    return " ".join(" ".join(one) if isinstance(one, tuple) else one for one in texts if one)


def _subject_id(due: Due) -> str:
    return due.subject.partition(":")[0]


_APPROVALS: Final = (Review.APPROVED, Review.CONDITIONAL)
_COMMANDS: Final[dict[str, Callable[[RunnableTrace, Due, Any], Command | None]]] = {
    "proposal": RunnableTrace.propose,
    "review": RunnableTrace.review,
    "intent": RunnableTrace.sign_intent,
    "intent_review": RunnableTrace.review_intent,
    "claim": RunnableTrace.claim,
    "claim_review": RunnableTrace.judge,
    "challenge_answer": RunnableTrace.answer,
    "statement": RunnableTrace.finish,
}


PREFIX: Final = "trace-"


def run_trace(
    workspace: Workspace,
    name: str,
    specs: Mapping[str, Spec],
    surroundings: RunSurroundings,
    limits: Limits = DEFAULT_LIMITS,
    watch: RunWatcher | None = None,
    site: ExecutionSite | None = None,
) -> FinishedRun:
    """Let the participants work until the trace is verified; commands run only with `site`."""
    stream = tracing.require_trace(workspace, name)
    state = workspace.engine.state(TRACE, stream)
    players = tuple(dict.fromkeys(tracing.agent_in_role(state, role) for role in Role))
    for agent in specs:
        if agent not in players:
            raise Refused(
                "role_empty",
                f"{agent} has no role in this trace",
                hint=f"the roles are played by {', '.join(players)}",
            )
    participants = seat_participants(specs, surroundings, workspace)
    question = AskQuestion(
        question=state.task[:MAX_QUESTION],
        seats=describe_seats(workspace, players, specs, participants),
        chamber=ChamberKind.TRACE,
        rule="critic",
        rounds=1,
    )
    decision = f"{PREFIX}{tracing.short_name(stream)}"
    begin_decision(workspace.engine, decision, question, OpenSession(session=stream))
    record = DecisionRunRecord(workspace.engine, decision)
    runnable = RunnableTrace(workspace, stream, specs, site, record)
    return run_seats(runnable, participants, workspace.engine.clock, decision, limits, watch)
