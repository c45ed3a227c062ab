"""Traces: work that can be proved, from a task to a verified report.

lifecycle.py      a trace is begun, stopped, and a part of it gets a new key
planning.py       proposals and intents, and the critic's judgement of both
execution.py      an intent is run; runs that died are recorded; participants do all of it
claims.py         what runs show, objections to it, the final statement
reading.py        where a trace stands; a trace as a page; all traces; work only watched by a hook
verification.py   is a trace intact, complete and within its policy?
recording.py      what all steps have in common: which trace, who acts, what is recorded first
"""

from moot.api.traces.claims import (
    ClaimStep,
    FinalStatement,
    RecordedClaim,
    challenge,
    claim,
    finalize,
    withdraw,
)
from moot.api.traces.execution import (
    ExecutedIntent,
    RecoveredRuns,
    StoredOutput,
    TraceRun,
    execute,
    recover,
    run,
)
from moot.api.traces.lifecycle import AbortedTrace, NewTrace, RotatedRole, abort, new, rotate
from moot.api.traces.planning import (
    RecordedProposal,
    ReviewedIntent,
    ReviewedProposal,
    SignedIntent,
    intend,
    propose,
    review,
    review_intent,
)
from moot.api.traces.reading import (
    IntentView,
    ObservedWork,
    TraceLine,
    TraceList,
    TraceReport,
    TraceStatus,
    list_traces,
    observed,
    report,
    status,
)
from moot.api.traces.verification import (
    ExportedTrace,
    TraceAudit,
    TraceCheck,
    TraceFinding,
    TraceVerdict,
    VerifiedTraces,
    audit,
    export,
    verify,
)

__all__ = [
    "AbortedTrace",
    "ClaimStep",
    "ExecutedIntent",
    "ExportedTrace",
    "FinalStatement",
    "IntentView",
    "NewTrace",
    "ObservedWork",
    "RecordedClaim",
    "RecordedProposal",
    "RecoveredRuns",
    "ReviewedIntent",
    "ReviewedProposal",
    "RotatedRole",
    "SignedIntent",
    "StoredOutput",
    "TraceAudit",
    "TraceCheck",
    "TraceFinding",
    "TraceLine",
    "TraceList",
    "TraceReport",
    "TraceRun",
    "TraceStatus",
    "TraceVerdict",
    "VerifiedTraces",
    "abort",
    "audit",
    "challenge",
    "claim",
    "execute",
    "export",
    "finalize",
    "intend",
    "list_traces",
    "new",
    "observed",
    "propose",
    "recover",
    "report",
    "review",
    "review_intent",
    "rotate",
    "run",
    "status",
    "verify",
    "withdraw",
]
