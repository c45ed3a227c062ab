"""Run a trace: its roles are played by participants, its intents run by its own rules."""

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
from moot.api.runs.seats import recorded_seats, seat_participants
from moot.api.runs.turns import (
    USUAL,
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
from moot.protocols.decision import commands as decision_commands
from moot.protocols.decision.model import MAX_QUESTION, ChamberKind
from moot.protocols.trace import commands as ask
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.model import Profile, Review, Role, State
from moot.workspace.workspace import Workspace

# What the roles of a trace are asked for: the shape of each reply, and the task in words.


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
    """What a due asks for: its short name, the shape of the reply, the task in words."""

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
SCHEMAS: Final = {wanted.what: schema_of(wanted.shape) for wanted in REPLY_REQUESTS.values()}


# What runs is never the reply itself: an intent is signed, judged where the policy says so, and run
# by the trace's own rules, and only if the run was started with permission to.

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


class RunnableTrace(RecordedRun):
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
        super().__init__(record or NoRunRecord())
        self._workspace = workspace
        self._stream = stream
        self._seated = frozenset(seated)
        self._site = site
        # That a claim stands is no event of a trace; another run would ask the critic again.
        self._stands: set[str] = set()

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
            if due.what == RUN and self._site is not None:  # AGT-067: agreed upon, and allowed
                root, env = self._site
                # A refused run (a scope that another holds, say) stays due, for a person to see.
                with suppress(Refused):
                    running.execute(self._workspace, self._stream, _about(due), due.who, env, root)
                return
            if due.what in VERIFY:  # AGT-067: the audit is the machine's
                inspection.audit_trace(self._workspace, self._stream, due.who, Profile.DEFAULT)
                return

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
            view={"stage": str(state.stage), "about": _about(due)},
            quotes=(task, *events[-MOST_EVENTS:]),
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
        """What a run printed, shortened; the whole of it is stored."""
        for output in getattr(event, "outputs", ()):
            raw = b"".join(self._workspace.artifacts.chunks(output.sha256))[:MOST_OUTPUT]
            name = f"{event.execution_id}/{output.name}"
            text = raw.decode("utf-8", "replace")
            yield QuotedText(author="a program", trust=AuthorTrust.UNSIGNED, place=name, text=text)

    def submit(self, due: Due, reply_fields: dict[str, Any]) -> None:
        wanted = REPLY_REQUESTS[due.what]
        reply = read_reply(reply_fields, wanted.shape)
        running.recover(self._workspace, self._stream)
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
        found = [(one.actor.id, _words(one.event)) for one in self._records()]
        return [Utterance(who, text) for who, text in found if text][-MOST_CIRCLED:]

    def standing(self) -> dict[str, Any]:
        return {"state": str(self._state.stage)}

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


PREFIX: Final = "trace-"


def run_trace(
    workspace: Workspace,
    name: str,
    specs: Mapping[str, Spec],
    room: RunSurroundings,
    limits: Limits = USUAL,
    watch: RunWatcher | None = None,
    site: ExecutionSite | None = None,
) -> FinishedRun:
    """Let the participants work until it is verified; commands run only with `site`."""
    stream = tracing.require_trace(workspace, name)
    state = workspace.engine.state(TRACE, stream)
    players = tuple(dict.fromkeys(tracing.agent_in_role(state, role) for role in Role))
    for agent in specs:
        if agent not in players:
            raise Refused(
                "role_empty",
                f"{agent} plays no part in this",
                hint=f"those who do: {', '.join(players)}",
            )
    participants = seat_participants(specs, room, workspace)
    question = decision_commands.AskQuestion(
        question=state.task[:MAX_QUESTION],
        seats=recorded_seats(workspace, players, specs, participants),
        chamber=ChamberKind.TRACE,
        rule="critic",
        rounds=1,
    )
    decision = f"{PREFIX}{tracing.short_name(stream)}"
    begin_decision(
        workspace.engine, decision, question, decision_commands.OpenSession(session=stream)
    )
    record = DecisionRunRecord(workspace.engine, decision)
    runnable = RunnableTrace(workspace, stream, specs, site, record)
    return run_seats(runnable, participants, workspace.engine.clock, decision, limits, watch)
