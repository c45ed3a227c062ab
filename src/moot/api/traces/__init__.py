"""Traces: work that can be proved, from a task to an audited report.

claims.py             claims about runs, challenges to them, and the final statement
execution.py          operations that run intents, recover dead runs, and run participants
guarded_execution.py  refuses to run a command whose executor has not reserved what it writes
inspection.py         verifies the bytes of a trace, then audits it by the trace's own rules
lifecycle.py          opens and aborts traces, and binds a role to its agent's new key
planning.py           proposals and intents, and the critic's reviews of both
reading.py            read-only views of traces, and of work that hooks only observed
running.py            runs an approved intent: records its start, stores its outputs
tracing.py            finds traces, the agents in their roles, and single events by id
verification.py       operations that audit, export and verify traces
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.api.traces import claims as claims
    from moot.api.traces import execution as execution
    from moot.api.traces import lifecycle as lifecycle
    from moot.api.traces import planning as planning
    from moot.api.traces import reading as reading
    from moot.api.traces import verification as verification
